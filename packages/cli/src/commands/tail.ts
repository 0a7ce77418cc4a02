import { join } from 'node:path';
import { sha256Hex } from '@turnlog/kernel';
import { follow, type LogCursor, type LogReader, type LogRecord, logNames } from '@turnlog/log';
import type { Store } from '@turnlog/store';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import * as flags from '../flags.js';
import { recordJson } from '../output/record-json.js';
import { recordLines, viewOf } from '../output/record-lines.js';
import { joinShown } from '../output/shown.js';
import { wakerOf } from '../waker.js';
import { refuseRawOnTerminal } from './show.js';

const countDefault = 10;
const seqWidthMin = 4;

/** Prints the last records, read from the end; with -f whatever comes, until it is stopped. */
export async function tail(context: Context): Promise<number> {
  const { args, output, stop } = context;
  refuseRawOnTerminal(context);
  const store = await context.openStore();
  const id = store.resolve(args.positionals[0] ?? '');
  const isFollowing = args.has(flags.followFlag);
  const { records, cursor } = lastRecords(
    store,
    id,
    args.get(flags.countOfRecordsFlag) ?? countDefault,
    isFollowing,
  );
  const isDocument = output.form === 'json' && !isFollowing && !args.has(flags.rawFlag);
  if (isDocument) {
    const rows = records.map((record) => recordJson(viewOf(record, output.egress), output.words));
    const head = output.documentUpTo({ session_id: id }, 'records');
    await output.lines([output.shown`${head}${joinShown(rows, ',')}]}`]);
    return exits.done;
  }
  for (const record of records) await printRecord(context, record);
  if (!isFollowing) {
    if (output.form === 'json-lines') await output.summary({ records: records.length });
    return exits.done;
  }
  const follower = store.follower(id, cursor);
  const waker = wakerOf(context, store, join(store.sessionDirectory(id), logNames.events));
  try {
    const options = { signal: stop, wake: () => waker.next() };
    for await (const record of follow(follower, context.clock, options)) await printRecord(context, record);
  } finally {
    await waker.close();
  }
  return exits.done;
}

interface Last {
  readonly records: readonly LogRecord[];
  /** Where a follower goes on. */
  readonly cursor: LogCursor;
}

function lastRecords(store: Store, id: string, count: number, isFollowing: boolean): Last {
  const reader = store.read(id);
  try {
    // One more, so that a follower knows where it stands when nothing is to be printed.
    const found = reader.tail(Math.max(count, 1));
    // What no newline ends may still be growing: a follower delivers it when it is whole.
    const whole = isFollowing ? found.filter(({ flags: odd }) => !odd.includes('unterminated')) : found;
    return { records: count === 0 ? [] : whole.slice(-count), cursor: cursorBehind(reader, whole.at(-1)) };
  } finally {
    reader.close();
  }
}

function cursorBehind(reader: LogReader, last: LogRecord | undefined): LogCursor {
  const { generation } = reader;
  if (last === undefined) return { generation, offset: 0, sha256: null, seq: 0 };
  // A record that shares its line with others is no whole line to recognise the place by.
  const sha256 = last.flags.includes('salvaged') ? null : sha256Hex(last.bytes);
  return { generation, offset: last.end, sha256, seq: last.seq };
}

async function printRecord({ args, output }: Context, record: LogRecord): Promise<void> {
  if (args.has(flags.rawFlag)) {
    await output.exactly(Buffer.concat([record.bytes, Buffer.from('\n')]));
    return;
  }
  const view = viewOf(record, output.egress);
  if (output.form !== 'text') await output.lines([recordJson(view, output.words)]);
  else {
    const remark = view.item === null || view.item.isDone ? {} : { remark: 'started' };
    await output.lines(recordLines(view, output, { seqWidth: seqWidthMin, isFull: false, ...remark }));
  }
}
