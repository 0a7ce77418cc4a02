import { resolve } from 'node:path';
import {
  type BlameReport,
  type BlameRequest,
  type BlameRow,
  blame as blamePath,
  blameRowJson,
  changingOps,
  lineOriginJson,
  type PathOp,
} from '@turnlog/search';
import type { Context } from '../command.js';
import { exits, shownCode } from '../exit-codes.js';
import type { Flag } from '../flag.js';
import { blameTable, originLines } from '../output/blame-table.js';
import { pageOf } from '../page.js';
import * as searchFlags from '../search-flags.js';

/** What decides which records there are. */
const queryFlags: readonly Flag<unknown>[] = [
  searchFlags.readsFlag,
  searchFlags.mentionsFlag,
  searchFlags.followRenamesFlag,
];

/** Says which records touched a path, or which one wrote a line of it. */
export async function blame(context: Context): Promise<number> {
  const { args, output } = context;
  const request = requestOf(context);
  const report = await blamePath(await context.openStore(), request);
  const page = pageOf(args, queryFlags, report.records, ({ session, seq }) => `${session}:${seq}`);
  if (output.form === 'text') await printText(context, report, page);
  else {
    const told = {
      path: request.path,
      line: request.line,
      origin: lineOriginJson(report.origin),
      left: page.left,
      next_cursor: page.next,
      unread: report.unread.map(({ session, code, message }) => ({
        session,
        code: shownCode(code),
        message,
      })),
    };
    const records = page.rows.map(blameRowJson);
    if (output.form === 'json') await output.document({ ...told, records });
    else {
      for (const record of records) await output.row(record);
      await output.summary(told);
    }
  }
  const isFound = report.records.length > 0 || report.origin?.status === 'added';
  return isFound && report.unread.length === 0 ? exits.done : exits.negative;
}

const lineForm = /^(?<path>.+):(?<line>[1-9]\d{0,8})$/su;

function requestOf({ args, cwd }: Context): BlameRequest {
  const [given = ''] = args.positionals;
  const { path = given, line } = lineForm.exec(given)?.groups ?? {};
  const ops: readonly PathOp[] = [
    ...changingOps,
    ...(args.has(searchFlags.readsFlag) ? (['read'] as const) : []),
    ...(args.has(searchFlags.mentionsFlag) ? (['mention'] as const) : []),
  ];
  return {
    // What begins in this directory is that one file; any other relative path is one of every workspace.
    path: /^\.{1,2}(?:\/|$)/.test(path) ? resolve(cwd, path) : path,
    line: line === undefined ? null : Number(line),
    ops,
    renames: args.has(searchFlags.followRenamesFlag) ? 'followed' : 'not-followed',
  };
}

interface Page {
  readonly rows: readonly BlameRow[];
  readonly left: number;
  readonly next: string | null;
}

async function printText({ output }: Context, report: BlameReport, page: Page): Promise<void> {
  const { shown } = output;
  const { origin, request } = report;
  if (origin !== null) await output.lines(originLines(origin, output));
  else if (page.rows.length > 0) await output.lines(blameTable(page.rows, output));
  else await output.note(shown`no record touched ${request.path}`);
  if (page.next !== null) await output.note(shown`${page.left} more; say --cursor ${page.next}`);
  for (const { session, code, message } of report.unread) {
    await output.warn(shown`${session} could not be read and is left out: ${shownCode(code)}: ${message}`);
  }
}
