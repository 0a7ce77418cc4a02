import { logicalDigest, TurnlogError } from '@turnlog/kernel';
import { formatChunkId, parseChunkId } from './chunk-id.js';
import type { SortKey } from './sort-key.js';

/**
 * Where the next page of an answer begins (SE-33): strictly behind the last hit of this one. A cursor belongs to one
 * query with its filters, and says which state of the index it was made from.
 */
export interface PageCursor {
  readonly after: SortKey;
  /** What decides between equal scores before the id does: the lexical score behind a fused one, else 0. */
  readonly lexical: number;
  /** Names the state of the index that the page before was read from. */
  readonly index: string;
}

/** The text of a cursor; opaque to whoever gets it. `question` is everything that the answer depends on. */
export function encodePageCursor(question: unknown, { after, lexical, index }: PageCursor): string {
  const { tier, score } = after;
  return Buffer.from(
    JSON.stringify({
      q: digestOf(question),
      t: tier,
      s: score,
      ...(lexical === 0 ? {} : { l: lexical }),
      id: formatChunkId(after),
      i: index,
    }),
  ).toString('base64url');
}

/**
 * The cursor in `text`.
 *
 * @throws TURNLOG_CURSOR_MISMATCH when it is none, or belongs to another question.
 */
export function decodePageCursor(question: unknown, text: string): PageCursor {
  const found = membersOf(text);
  const { q, t: tier, s: score, l: lexical = 0, id, i: index } = found;
  const key = typeof id === 'string' ? parseChunkId(id) : null;
  const isRight =
    q === digestOf(question) &&
    (tier === 0 || tier === 1) &&
    typeof score === 'number' &&
    typeof lexical === 'number' &&
    typeof index === 'string' &&
    key !== null;
  if (!isRight) {
    throw new TurnlogError('TURNLOG_CURSOR_MISMATCH', {
      details: {},
      message: 'the cursor belongs to another query',
    });
  }
  return { after: { ...key, tier, score }, lexical, index };
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function digestOf(question: unknown): string {
  return logicalDigest(JSON.parse(JSON.stringify(question))).slice(0, 16);
}
