import { resolve } from 'node:path';
import { formatTimestamp } from '@turnlog/events';
import { sha256Hex } from '@turnlog/kernel';
import { instantOf } from '@turnlog/store';
import {
  collectStatistics,
  type Prices,
  parsePrices,
  type StatsKey,
  type StatsReport,
  type StatsRequest,
  statsJson,
} from '@turnlog/views';
import type { Context } from '../command.js';
import { exits, shownCode } from '../exit-codes.js';
import type { Flag } from '../flag.js';
import * as flags from '../flags.js';
import type { Output } from '../output/output.js';
import { statsTable } from '../output/stats-table.js';
import { pageOf } from '../page.js';
import { readTextFile } from '../text-file.js';

/** What decides which rows there are; a page of them changes no sum. */
const queryFlags: readonly Flag<unknown>[] = [
  flags.byFlag,
  flags.workspaceFlag,
  flags.sinceFlag,
  flags.untilFlag,
  flags.rollupFlag,
  flags.tzFlag,
];

/** Counts, usage and cost of the store. */
export async function stats(context: Context): Promise<number> {
  const { output } = context;
  const request = requestOf(context);
  const store = await context.openStore();
  const whole = await collectStatistics(store, request);
  const page = pageOf(context.args, queryFlags, whole.rows, ({ key }) => rowMark(output, key));
  const report = { ...whole, rows: page.rows };
  if (output.form === 'text') {
    await printText(context, report);
    if (page.next !== null)
      await output.note(output.shown`${page.left} more rows; say --cursor ${page.next}`);
  } else {
    const { rows, ...told } = statsJson(report, formatTimestamp);
    const unread = report.unread.map(({ session, code, message }) => ({
      session,
      code: shownCode(code),
      message,
    }));
    const rest = { ...told, unread, left: page.left, next_cursor: page.next };
    if (output.form === 'json') await output.document({ ...rest, rows });
    else {
      for (const row of Array.isArray(rows) ? rows : []) await output.row({ ...Object(row) });
      await output.summary(rest);
    }
  }
  // What could not be read is in no sum.
  return report.unread.length === 0 ? exits.done : exits.negative;
}

/** What a cursor names a row by. It is printed, and no redactor reads what is encoded: so no key stands in it. */
function rowMark({ egress }: Output, key: StatsKey): string {
  return sha256Hex(Buffer.from(egress.jsonText(JSON.stringify(key)).text)).slice(0, rowMarkCharacters);
}

const rowMarkCharacters = 16;

function requestOf({ args, cwd, clock, io, output, settings, stop }: Context): StatsRequest {
  const since = args.get(flags.sinceFlag);
  const until = args.get(flags.untilFlag);
  const workspace = args.get(flags.workspaceFlag);
  const pricesPath = args.get(flags.pricesFlag);
  const nowMs = clock.now();
  const readPrices = (path: string): Prices => parsePrices(readTextFile(io.environment?.fs, path), path);
  return {
    by: args.get(flags.byFlag) ?? ['workspace'],
    zone: settings.zone,
    since: since === undefined ? null : instantOf(since, 'start', output.wallClock.zone, nowMs),
    until: until === undefined ? null : instantOf(until, 'end', output.wallClock.zone, nowMs),
    workspace: workspace === undefined ? null : resolve(cwd, workspace),
    subAgents: args.has(flags.rollupFlag) ? 'rolled-up' : 'apart',
    prices: pricesPath === undefined ? null : readPrices(resolve(cwd, pricesPath)),
    signal: stop,
  };
}

async function printText({ output }: Context, report: StatsReport): Promise<void> {
  const { shown } = output;
  await output.lines(statsTable(report, output));
  const { unknownTime, differences } = report;
  if (unknownTime.eventCount > 0) {
    await output.note(shown`${unknownTime.eventCount} events of unknown time are in no span and left out`);
  }
  for (const { session } of differences) {
    await output.note(shown`${session}: its thread states another usage than its turns add up to`);
  }
  for (const { session, code, message } of report.unread) {
    await output.warn(shown`${session} could not be read and is left out: ${shownCode(code)}: ${message}`);
  }
}
