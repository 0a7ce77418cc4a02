import { TurnlogError } from '@turnlog/kernel';
import { chunksOf, documentsOf, parseChunkId, type RecordDocument } from '@turnlog/search';
import { cursorBehindRow, rowBehindCursor } from '@turnlog/store';
import { z } from 'zod';
import { jsonBytes, outputBytes, textWithin } from '../output-limits.js';
import { defineTool, reading, type Tool, type ToolAnswer, type ToolContext } from '../tool.js';
import { listEnd, paging, rows, seq } from '../tool-input.js';

const input = z.strictObject({
  id: z.string().optional(),
  session: z.string().optional(),
  from_seq: seq,
  to_seq: seq,
  ...paging,
});

type Input = z.output<typeof input>;

export const getTool: Tool = defineTool({
  name: 'turnlog_get',
  description:
    'Records as recorded: by the id of a hit (session:seq, or session:seq:n for its text from that piece on), or a session from from_seq to to_seq.',
  input,
  output: z.object({ records: rows, ...listEnd }),
  annotations: reading,
  answer,
});

/** Which records are meant. */
interface Span {
  readonly session: string;
  readonly from: number;
  readonly to: number;
  /** How many pieces at the start of the text are passed over. */
  readonly pieces: number;
}

async function answer(given: Input, context: ToolContext): Promise<ToolAnswer> {
  const span = spanOf(given, context);
  const query = { tool: 'get', session: span.session, to: span.to };
  const behind = given.cursor === undefined ? null : Number(rowBehindCursor(query, given.cursor));
  const from = behind === null ? span.from : behind + 1;
  const head = { ...context.head, ...context.egress.value({ session: span.session }) };
  const reader = context.store.read(span.session);
  try {
    const start = Math.max(from, reader.firstReadableSeq);
    const isGone = start > from && given.id !== undefined;
    const records = reader.readRange(isGone ? from : start, span.to, { archived: true });
    const page = new RecordPage(outputBytes(given.max_bytes) - jsonBytes(head), span, context);
    for (const document of documentsOf(records, { session: span.session })) {
      if (!page.take(document)) break;
    }
    if (given.id !== undefined && page.items.length === 0) throw notThere(given.id);
    const isMore = page.lastSeq !== null && page.isFull;
    return {
      ...head,
      records: page.items,
      next_cursor: isMore ? cursorBehindRow(query, String(page.lastSeq)) : null,
      capped: page.isFull || page.isCut,
    };
  } finally {
    reader.close();
  }
}

function notThere(id: string): TurnlogError {
  return new TurnlogError('TURNLOG_NOT_FOUND', {
    details: { id },
    message: `there is no record ${JSON.stringify(id)}`,
  });
}

function spanOf(given: Input, { store }: ToolContext): Span {
  const { id, session, from_seq: from = 1, to_seq: to = Number.MAX_SAFE_INTEGER } = given;
  if (from > to) {
    throw new TurnlogError('TURNLOG_BAD_FLAG', {
      details: { from_seq: from, to_seq: to },
      message: `from_seq ${from} is behind to_seq ${to}`,
    });
  }
  if (id === undefined && session !== undefined)
    return { session: store.resolve(session), from, to, pieces: 0 };
  const key = id === undefined || session !== undefined ? null : parseChunkId(id);
  if (key === null) {
    throw new TurnlogError('TURNLOG_BAD_FLAG', {
      details: { id: id ?? null, session: session ?? null },
      message: 'records are named by an id as session:seq, or by a session with from_seq and to_seq',
    });
  }
  return { session: store.resolve(key.session), from: key.seq, to: key.seq, pieces: key.n };
}

/** Bytes that the members of an item take beside its text, at least; what is left must hold some text. */
const leastTextBytes = 64;

/** Records that fit into an answer. The first one is cut where it alone is too long, the others come with the next. */
class RecordPage {
  readonly items: object[] = [];
  lastSeq: number | null = null;
  isFull = false;
  isCut = false;
  #bytesLeft: number;
  readonly #span: Span;
  readonly #context: ToolContext;

  constructor(bytes: number, span: Span, context: ToolContext) {
    this.#bytesLeft = bytes - 1_024;
    this.#span = span;
    this.#context = context;
  }

  /** Whether there may be room for another one. */
  take(found: RecordDocument): boolean {
    const item = this.#itemOf(found);
    const bytes = jsonBytes(item) + 1;
    if (bytes > this.#bytesLeft && this.items.length > 0) {
      this.isFull = true;
      return false;
    }
    this.items.push(bytes > this.#bytesLeft ? this.#cut(item) : item);
    this.#bytesLeft -= bytes;
    this.lastSeq = found.record.seq;
    return true;
  }

  #itemOf({ record, document }: RecordDocument): RecordItem {
    const { egress } = this.#context;
    const { session, pieces } = this.#span;
    // Secrets are taken out of the whole text: what is cut is found no more.
    const text = egress.text(document?.text ?? '');
    const rest = pieces === 0 ? text : chunksOf(text).slice(pieces).join('');
    return {
      ...egress.value({
        id: `${session}:${record.seq}`,
        ts: record.ts,
        turn: record.turn,
        role: document?.role ?? 'system',
        kind: document?.kind ?? record.type,
        tool: document?.tool ?? null,
      }),
      text: rest,
      truncated_bytes: document?.unindexedBytes ?? 0,
    };
  }

  #cut(item: RecordItem): RecordItem {
    this.isCut = true;
    const bytes = Math.max(this.#bytesLeft - jsonBytes({ ...item, text: '' }), leastTextBytes);
    const text = textWithin(item.text, bytes);
    const left = Buffer.byteLength(item.text) - Buffer.byteLength(text);
    return { ...item, text, truncated_bytes: item.truncated_bytes + left };
  }
}

interface RecordItem {
  readonly text: string;
  readonly truncated_bytes: number;
}
