import { type SessionId, TurnlogError } from '@turnlog/kernel';
import type { LogReader } from '@turnlog/log';
import { type ConversationPiece, conversation, instantOf, type Store } from '@turnlog/store';
import type { Context } from '../command.js';
import { asTurnlogError, envelopeOf, toldOnStdout } from '../error-envelope.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import * as flags from '../flags.js';
import { ConversationText } from '../output/conversation-text.js';
import { type Piece, pieceJson } from '../output/piece.js';
import { type RecordView, viewOf } from '../output/record-lines.js';
import { parseRangeReference, type RangeReference } from '../reference.js';
import { sessionJson } from './sessions.js';

/** How many records are held to print the newest first. */
const newestFirstMax = 1_000;

/** Prints a session, a turn or a range of records. A whole session begins with what it shares with its parent. */
export async function show(context: Context): Promise<number> {
  const { args, output } = context;
  refuseRawOnTerminal(context);
  const reference = parseRangeReference(context.args.positionals[0] ?? '');
  if (reference.range !== null && args.has(flags.turnFlag)) {
    throw badFlag('a range and --turn exclude each other', {});
  }
  const store = await context.openStore();
  const id = store.resolve(reference.session);
  const isRaw = args.has(flags.rawFlag);
  const reader = store.read(id, isRaw ? { unreadable: 'show' } : {});
  try {
    if (isRaw && !isSelecting(context, reference)) return await printBytes(context, reader);
    // What fails at once, or finds nothing where a place was named, fails before anything is printed.
    const pieces = begun(selected(context, sourceOf(context, { store, id, reader }, reference)));
    if (pieces.isEmpty) refuseEmptyRange(context, reference, reader);
    if (isRaw) return await printRawRecords(context, pieces);
    const session = sessionJson(store.summarize(id));
    const isJson = output.form !== 'text' || args.get(flags.formatFlag) === 'json';
    const count = isJson
      ? await printJson(context, reader, pieces, session)
      : await printText(context, { store, reader, reference, session }, pieces);
    return foundExit(count, context, reference);
  } finally {
    reader.close();
  }
}

/** Bytes of a log may hold anything that a terminal obeys. */
export function refuseRawOnTerminal({ args, io }: Context): void {
  if (args.has(flags.rawFlag) && io.isTty.stdout && !args.has(flags.forceFlag)) {
    throw badFlag('--raw prints bytes as they are stored; to send them to a terminal say --force', {});
  }
}

const filterFlags = [flags.roleFlag, flags.kindFlag, flags.sinceFlag, flags.untilFlag, flags.limitFlag];

function isSelecting({ args }: Context, reference: RangeReference): boolean {
  const isFiltered = filterFlags.some((flag) => args.has(flag)) || args.get(flags.orderFlag) === 'newest';
  return isFiltered || reference.range !== null || args.has(flags.turnFlag);
}

/** @throws TURNLOG_NOT_FOUND when a range was named and nothing but the range left nothing. */
function refuseEmptyRange(context: Context, { range }: RangeReference, reader: LogReader): void {
  if (range === null || filterFlags.some((flag) => context.args.has(flag))) return;
  const lastSeq = reader.state.order.highestSeq;
  throw new TurnlogError('TURNLOG_NOT_FOUND', {
    details: { sessionId: reader.sessionId, from: range.from, to: range.to, lastSeq },
    message: `the session has no record in this range; its last seq is ${lastSeq}`,
  });
}

/** A negative answer is one that a filter or a turn left nothing of; an empty session is just empty. */
function foundExit(count: number, context: Context, reference: RangeReference): number {
  return count > 0 || !isSelecting(context, reference) ? exits.done : exits.negative;
}

interface Begun extends Iterable<Piece> {
  readonly isEmpty: boolean;
}

/** The same pieces, the first of which has been read. */
function begun(pieces: Iterable<Piece>): Begun {
  const iterator = pieces[Symbol.iterator]();
  const first = iterator.next();
  return {
    isEmpty: first.done === true,
    *[Symbol.iterator]() {
      try {
        for (let next = first; next.done !== true; next = iterator.next()) yield next.value;
      } finally {
        iterator.return?.();
      }
    },
  };
}

/** What was asked for of the pieces, in the order asked for. A part that is missing is named whatever is asked for. */
function* selected(context: Context, source: Iterable<ConversationPiece>): Iterable<Piece> {
  const { args, output } = context;
  const matches = matcherOf(context);
  const limit = args.get(flags.limitFlag);
  if (args.get(flags.orderFlag) === 'newest') {
    yield* newestFirst(matching(), limit ?? newestFirstMax);
    return;
  }
  let count = 0;
  for (const piece of matching()) {
    yield piece;
    count += piece.kind === 'record' ? 1 : 0;
    if (count === limit) return;
  }

  function* matching(): Iterable<Piece> {
    for (const piece of source) {
      if (piece.kind === 'missing') yield piece;
      else {
        const view = viewOf(piece.record, output.egress);
        if (matches(view)) yield { kind: 'record', sessionId: piece.sessionId, view };
      }
    }
  }
}

function newestFirst(pieces: Iterable<Piece>, limit: number): readonly Piece[] {
  const kept: Piece[] = [];
  for (const piece of pieces) {
    kept.push(piece);
    if (kept.length > limit) kept.shift();
  }
  return kept.reverse();
}

interface Source {
  readonly store: Store;
  readonly id: SessionId;
  readonly reader: LogReader;
}

function* sourceOf(
  { args }: Context,
  { store, id, reader }: Source,
  { range }: RangeReference,
): Iterable<ConversationPiece> {
  const turn = args.get(flags.turnFlag);
  const isWhole = turn === undefined && range === null;
  if (isWhole && !args.has(flags.rawFlag)) {
    yield* conversation(store, id);
    return;
  }
  const ranged =
    range === null ? reader.records() : reader.readRange(range.from, range.to, { archived: true });
  for (const record of turn === undefined ? ranged : reader.readTurn(turn, { archived: true })) {
    yield { kind: 'record', sessionId: id, record };
  }
}

function matcherOf({ args, output, clock }: Context): (view: RecordView) => boolean {
  const roles = args.get(flags.roleFlag);
  const kinds = args.get(flags.kindFlag);
  const since = args.get(flags.sinceFlag);
  const until = args.get(flags.untilFlag);
  const nowMs = clock.now();
  const fromMs = since === undefined ? null : instantOf(since, 'start', output.wallClock.zone, nowMs);
  const toMs = until === undefined ? null : instantOf(until, 'end', output.wallClock.zone, nowMs);
  return ({ record, described }) => {
    if (roles !== undefined && !roles.includes(described.role)) return false;
    if (kinds !== undefined && !kinds.includes(described.kind)) return false;
    if (fromMs === null && toMs === null) return true;
    // A record whose time is unknown is in no span of time.
    const ms = record.ts === null ? Number.NaN : Date.parse(record.ts);
    return ms >= (fromMs ?? Number.NEGATIVE_INFINITY) && ms < (toMs ?? Number.POSITIVE_INFINITY);
  };
}

async function printBytes({ output }: Context, reader: LogReader): Promise<number> {
  for (const block of reader.bytes(0, reader.length)) await output.exactly(block.slice());
  return exits.done;
}

async function printRawRecords({ output }: Context, pieces: Iterable<Piece>): Promise<number> {
  let count = 0;
  for (const piece of pieces) {
    if (piece.kind === 'missing') continue;
    await output.exactly(Buffer.concat([piece.view.record.bytes, Buffer.from('\n')]));
    count += 1;
  }
  return count === 0 ? exits.negative : exits.done;
}

async function printJson(
  context: Context,
  reader: LogReader,
  pieces: Iterable<Piece>,
  session: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { output } = context;
  const { shown, words } = output;
  const damage = reader.state.damage.count;
  if (output.form === 'json-lines') {
    const counts = await printRows(context, pieces, reader.sessionId, 'lines');
    await output.summary({ ...counts, damage });
    return counts.records;
  }
  await output.pieces(output.documentUpTo({ session }, 'records'));
  try {
    const counts = await printRows(context, pieces, reader.sessionId, 'list');
    const rest = words.members({ damage: reader.damage(), summary: { ...counts, damage } });
    await output.lines([shown`],${rest}}`]);
    return counts.records;
  } catch (error) {
    // The document has begun: it ends as one, with what went wrong in it.
    const failure = asTurnlogError(error);
    const { error: told } = envelopeOf(failure, output.egress);
    await output.lines([shown`],${words.members({ error: told })}}`]);
    throw toldOnStdout(failure);
  }
}

interface Counts {
  readonly records: number;
  /** Records of them that are read from the log of another session. */
  readonly shared: number;
  /** Parts that could not be read. */
  readonly missing: number;
}

/** The elements of a list, or a line for each. */
async function printRows(
  { output, stop }: Context,
  pieces: Iterable<Piece>,
  ownId: string,
  form: 'list' | 'lines',
): Promise<Counts> {
  let [records, shared, missing] = [0, 0, 0];
  for (const piece of pieces) {
    if (stop.aborted) break;
    const row = pieceJson(piece, ownId, output.words);
    if (form === 'lines') await output.lines([row]);
    else await output.pieces(records + missing === 0 ? row : output.shown`,${row}`);
    if (piece.kind === 'missing') missing += 1;
    else {
      records += 1;
      shared += piece.sessionId === ownId ? 0 : 1;
    }
  }
  return { records, shared, missing };
}

interface ShownSession {
  readonly store: Store;
  readonly reader: LogReader;
  readonly reference: RangeReference;
  readonly session: Readonly<Record<string, unknown>>;
}

async function printText(
  context: Context,
  { store, reader, reference, session }: ShownSession,
  pieces: Iterable<Piece>,
): Promise<number> {
  const { args, output, stop } = context;
  const isOldestFirst = args.get(flags.orderFlag) !== 'newest';
  const text = new ConversationText(store, reader, output, {
    isFull: args.has(flags.fullFlag),
    headings: isOldestFirst ? 'turns' : 'none',
  });
  if (!isSelecting(context, reference)) await text.printHeader(session);
  try {
    for (const piece of pieces) {
      if (stop.aborted) break;
      await text.print(piece);
    }
    await text.end();
  } finally {
    text.close();
  }
  return text.recordCount;
}
