import { resolve } from 'node:path';
import {
  type BlameReport,
  type BlameRequest,
  type BlameRow,
  blame as blamePath,
  blameRowJson,
  changingOps,
  type LineOrigin,
  lineOriginJson,
  type PathOp,
} from '@turnlog/search';
import type { Context } from '../command.js';
import { exits, shownCode } from '../exit-codes.js';
import { badFlag, type Flag } from '../flag.js';
import { blameTable, originLines, proofLines } from '../output/blame-table.js';
import { pageOf } from '../page.js';
import * as searchFlags from '../search-flags.js';
import { type BlameProofs, proveRecords, type Unproven } from './blame-proofs.js';

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
  const store = await context.openStore();
  const report = await blamePath(store, request, (text) => output.egress.text(text));
  const page = pageOf(args, queryFlags, report.records, ({ session, seq }) => `${session}:${seq}`);
  const proofs = args.has(searchFlags.proveFlag) ? proveRecords(store, shownRecords(report, page)) : null;
  if (output.form === 'text') await printText(context, report, page, proofs);
  else await printJson(context, report, page, proofs);
  const isFound = report.records.length > 0 || report.origin?.status === 'added';
  const isWhole = !report.partial && report.unread.length === 0 && (proofs?.unproven ?? []).length === 0;
  return isFound && isWhole ? exits.done : exits.negative;
}

async function printJson(
  { output }: Context,
  { request, origin, unread, partial }: BlameReport,
  page: Page,
  proofs: BlameProofs | null,
): Promise<void> {
  const told = {
    path: request.path,
    line: request.line,
    origin: originJson(origin, proofs),
    left: page.left,
    next_cursor: page.next,
    partial,
    unread: unread.map(({ session, code, message }) => ({ session, code: shownCode(code), message })),
    ...(proofs === null ? {} : { unproven: proofs.unproven.map(unprovenJson) }),
  };
  const records = page.rows.map((row) => recordJson(row, proofs));
  if (output.form === 'json') await output.document({ ...told, records });
  else {
    for (const record of records) await output.row(record);
    await output.summary(told);
  }
}

type Members = Readonly<Record<string, unknown>>;

/** The records that are told of: those of the page, or the one that a line is traced to. */
function shownRecords({ origin }: BlameReport, page: Page): readonly BlameRow[] {
  const traced = origin?.record ?? null;
  return traced === null ? page.rows : [traced];
}

function recordJson(row: BlameRow, proofs: BlameProofs | null): Members {
  const told = blameRowJson(row);
  return proofs === null ? told : { ...told, proof: proofs.of(row) };
}

function originJson(origin: LineOrigin | null, proofs: BlameProofs | null): Members | null {
  const told = lineOriginJson(origin);
  const record = origin?.record ?? null;
  return told === null || record === null ? told : { ...told, record: recordJson(record, proofs) };
}

function unprovenJson({ session, seq, error }: Unproven): Members {
  return { session, seq, code: shownCode(error.code), message: error.message };
}

const lineForm = /^(?<path>.+):(?<line>[1-9]\d{0,8})$/su;

function requestOf({ args, cwd, stop }: Context): BlameRequest {
  const [given = ''] = args.positionals;
  if (given.trim() === '') throw badFlag('blame wants PATH[:LINE], not an empty one', {});
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
    signal: stop,
  };
}

interface Page {
  readonly rows: readonly BlameRow[];
  readonly left: number;
  readonly next: string | null;
}

async function printText(
  { output }: Context,
  report: BlameReport,
  page: Page,
  proofs: BlameProofs | null,
): Promise<void> {
  const { shown } = output;
  const { origin, request, partial } = report;
  if (origin !== null) await output.lines(originLines(origin, output));
  else if (page.rows.length > 0) await output.lines(blameTable(page.rows, output));
  else if (!partial) await output.note(shown`no record touched ${request.path}`);
  if (partial) await output.note(shown`it was stopped before all sessions had been read`);
  if (proofs !== null) await output.lines(proofLines(shownRecords(report, page), proofs, output));
  for (const { session, seq, error } of proofs?.unproven ?? []) {
    await output.warn(shown`${session}:${seq} is not proved: ${shownCode(error.code)}: ${error.message}`);
  }
  if (page.next !== null) await output.note(shown`${page.left} more; say --cursor ${page.next}`);
  for (const { session, code, message } of report.unread) {
    await output.warn(shown`${session} could not be read and is left out: ${shownCode(code)}: ${message}`);
  }
}
