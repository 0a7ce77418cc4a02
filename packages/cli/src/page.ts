import { sha256Hex, TurnlogError } from '@turnlog/kernel';
import type { Arguments } from './arguments.js';
import type { Flag } from './flag.js';
import * as flags from './flags.js';

/** A part of a list, and where the next one begins. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Rows behind this page. */
  readonly left: number;
  /** For --cursor; null behind the last page. */
  readonly next: string | null;
}

const digestCharacters = 8;

/**
 * The page that --limit and --cursor ask for. A cursor names the last row that was listed, so rows that come or go
 * before it shift nothing; it holds for the flags it was made with.
 *
 * @param query the flags that decide what is in the list and in which order.
 * @throws TURNLOG_CURSOR_MISMATCH when it was made by another query, or its row has left the list.
 */
export function pageOf<Row>(
  args: Arguments,
  query: readonly Flag<unknown>[],
  rows: readonly Row[],
  identityOf: (row: Row) => string,
): Page<Row> {
  const digest = sha256Hex(Buffer.from(JSON.stringify(query.map((flag) => args.get(flag) ?? null))));
  const mark = digest.slice(0, digestCharacters);
  const start = startOf(args.get(flags.cursorFlag), mark, rows.map(identityOf));
  const end = Math.min(start + (args.get(flags.limitFlag) ?? rows.length), rows.length);
  const last = rows[end - 1];
  const isCut = end < rows.length && last !== undefined;
  return {
    rows: rows.slice(start, end),
    left: rows.length - end,
    next: isCut ? Buffer.from(`${mark}${identityOf(last)}`).toString('base64url') : null,
  };
}

function startOf(cursor: string | undefined, mark: string, identities: readonly string[]): number {
  if (cursor === undefined) return 0;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const found = identities.indexOf(text.slice(digestCharacters));
  if (text.startsWith(mark) && found !== -1) return found + 1;
  throw new TurnlogError('TURNLOG_CURSOR_MISMATCH', { details: { cursor } });
}
