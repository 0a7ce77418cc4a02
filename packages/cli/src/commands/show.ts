import { TurnlogError } from '@turnlog/kernel';
import type { LogReader, LogRecord } from '@turnlog/log';
import type { Context } from '../command.js';
import { asTurnlogError, envelopeOf, toldOnStdout } from '../error-envelope.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import * as flags from '../flags.js';
import { safeJson } from '../output/json.js';
import { recordJson } from '../output/record-json.js';
import { type RecordView, viewOf } from '../output/record-lines.js';
import { Timeline } from '../output/timeline.js';
import { parseRangeReference, type RangeReference } from '../reference.js';
import { instantOf } from '../times.js';
import { sessionJson } from './sessions.js';

/** How many records are held to print the newest first. */
const newestFirstMax = 1_000;

/** Prints a session, a turn or a range of records. */
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
    const records = begun(selected(context, reader, reference));
    if (records.isEmpty) refuseEmptyRange(context, reference, reader);
    if (isRaw) return await printRawRecords(context, records);
    const isJson = output.form !== 'text' || args.get(flags.formatFlag) === 'json';
    const count = isJson
      ? await printJson(context, reader, records, sessionJson(store.summarize(id)))
      : await printText(context, reader, records, reference, sessionJson(store.summarize(id)));
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

interface Begun extends Iterable<RecordView> {
  readonly isEmpty: boolean;
}

/** The same views, the first of which has been read. */
function begun(views: Iterable<RecordView>): Begun {
  const iterator = views[Symbol.iterator]();
  const first = iterator.next();
  return {
    isEmpty: first.done === true,
    *[Symbol.iterator]() {
      for (let next = first; next.done !== true; next = iterator.next()) yield next.value;
    },
  };
}

/** The views of what was asked for, in the order asked for. */
function* selected(context: Context, reader: LogReader, reference: RangeReference): Iterable<RecordView> {
  const { args } = context;
  const matches = matcherOf(context);
  const limit = args.get(flags.limitFlag);
  const source = sourceOf(reader, reference, args.get(flags.turnFlag));
  if (args.get(flags.orderFlag) === 'newest') {
    yield* newestFirst(source, matches, limit ?? newestFirstMax);
    return;
  }
  let count = 0;
  for (const record of source) {
    if (count === limit) return;
    const view = viewOf(record);
    if (!matches(view)) continue;
    count += 1;
    yield view;
  }
}

function newestFirst(
  source: Iterable<LogRecord>,
  matches: (view: RecordView) => boolean,
  limit: number,
): readonly RecordView[] {
  const kept: RecordView[] = [];
  for (const record of source) {
    const view = viewOf(record);
    if (!matches(view)) continue;
    kept.push(view);
    if (kept.length > limit) kept.shift();
  }
  return kept.reverse();
}

function sourceOf(
  reader: LogReader,
  { range }: RangeReference,
  turn: number | undefined,
): Iterable<LogRecord> {
  if (turn !== undefined) return reader.readTurn(turn);
  return range === null ? reader.records() : reader.readRange(range.from, range.to);
}

function matcherOf({ args, output, clock }: Context): (view: RecordView) => boolean {
  const roles = args.get(flags.roleFlag);
  const kinds = args.get(flags.kindFlag);
  const since = args.get(flags.sinceFlag);
  const until = args.get(flags.untilFlag);
  const nowMs = clock.now();
  const fromMs = since === undefined ? null : instantOf(since, 'start', output.wallClock, nowMs);
  const toMs = until === undefined ? null : instantOf(until, 'end', output.wallClock, nowMs);
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
  for (const block of reader.bytes(0, reader.length)) await output.raw(block.slice());
  return exits.done;
}

async function printRawRecords({ output }: Context, views: Iterable<RecordView>): Promise<number> {
  let count = 0;
  for (const { record } of views) {
    await output.raw(Buffer.concat([record.bytes, Buffer.from('\n')]));
    count += 1;
  }
  return count === 0 ? exits.negative : exits.done;
}

async function printJson(
  context: Context,
  reader: LogReader,
  views: Iterable<RecordView>,
  session: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { output } = context;
  if (output.form === 'json-lines') {
    const count = await printRows(context, views, '');
    await output.summary({ records: count, damage: reader.state.damage.count });
    return count;
  }
  await output.raw(`{"schema_version":1,"session":${safeJson(session)},"records":[`);
  try {
    const count = await printRows(context, views, ',');
    const counts = { records: count, damage: reader.state.damage.count };
    await output.raw(`],"damage":${safeJson(reader.damage())},"summary":${safeJson(counts)}}\n`);
    return count;
  } catch (error) {
    // The document has begun: it ends as one, with what went wrong in it.
    const failure = asTurnlogError(error);
    await output.raw(`],"error":${safeJson(envelopeOf(failure).error)}}\n`);
    throw toldOnStdout(failure);
  }
}

/** Rows with a separator between them, or each on a line where there is none. */
async function printRows(
  { output, stop }: Context,
  views: Iterable<RecordView>,
  separator: string,
): Promise<number> {
  let count = 0;
  for (const view of views) {
    if (stop.aborted) break;
    const text = recordJson(view);
    await output.raw(separator === '' ? `${text}\n` : `${count === 0 ? '' : separator}${text}`);
    count += 1;
  }
  return count;
}

async function printText(
  context: Context,
  reader: LogReader,
  views: Iterable<RecordView>,
  reference: RangeReference,
  session: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { args, output, stop } = context;
  const isOldestFirst = args.get(flags.orderFlag) !== 'newest';
  const timeline = new Timeline(reader, output, {
    isFull: args.has(flags.fullFlag),
    headings: isOldestFirst ? 'turns' : 'none',
  });
  if (!isSelecting(context, reference)) await timeline.printHeader(session);
  let count = 0;
  for (const view of views) {
    if (stop.aborted) break;
    await timeline.print(view);
    count += 1;
  }
  await timeline.end();
  return count;
}
