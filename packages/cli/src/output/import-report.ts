import type { BatchReport, FoundSources, SourceReport } from '@turnlog/importers';
import { shownCode } from '../exit-codes.js';
import type { Output } from './output.js';
import type { Shown } from './shown.js';

/** One file as programs see it. */
function sourceJson(source: SourceReport): Readonly<Record<string, unknown>> {
  const { path, format, outcome, sessionId, ledger, error } = source;
  return {
    path,
    kind: format,
    state: outcome,
    session: sessionId,
    children: source.childSessionIds,
    forked: source.isForked,
    records: recordsIn(source),
    ledger,
    refused: source.refused,
    pending_bytes: source.pendingBytes,
    vanished: source.vanishedCount,
    unanswered: source.unansweredCount,
    without_usage: source.withoutUsageCount,
    conflicts_with: source.conflictsWith,
    error: error === null ? null : { code: shownCode(error.code), message: error.message },
  };
}

function recordsIn({ ledger }: Pick<SourceReport, 'ledger'>): number {
  return Object.values(ledger.records).reduce((sum, count) => sum + count, 0);
}

/** The counts of an import (IM-22). */
function summaryOf(report: BatchReport): Readonly<Record<string, unknown>> {
  const { outcomes, ledger, sources } = report;
  return {
    sources: sources.length - outcomes.unknown,
    imported: outcomes.new + outcomes.grown + outcomes.rewritten,
    unchanged: outcomes.unchanged,
    failed: outcomes.failed,
    refused: report.damagedCount,
    unknown: outcomes.unknown,
    links: report.linkCount,
    unreadable: report.unreadable.length,
    sessions: {
      new: outcomes.new,
      grown: outcomes.grown,
      unchanged: outcomes.unchanged,
      rewritten: outcomes.rewritten,
      forked: report.forkedCount,
      conflict: outcomes.conflict,
      recorded_live: outcomes['recorded-live'],
    },
    files: {
      empty: outcomes.empty,
      waiting: outcomes.waiting,
      unknown: outcomes.unknown,
      links: report.linkCount,
      unreadable: report.unreadable.length,
      failed: outcomes.failed,
      with_damage: report.damagedCount,
    },
    bytes: {
      read: ledger.bytes,
      mapped: ledger.mapped,
      kept: ledger.kept,
      refused: ledger.refused,
      pending: report.pendingBytes,
    },
    records: ledger.records,
    unanswered: report.unansweredCount,
    without_usage: report.withoutUsageCount,
  };
}

/** @param mode `pass`: one of many, of which only what it did is told. */
export async function printReport(
  output: Output,
  report: BatchReport,
  { mode }: { readonly mode: 'whole' | 'pass' },
): Promise<void> {
  const told = mode === 'whole' ? report.sources : report.sources.filter(isNews);
  if (output.form === 'json') {
    await output.document({
      dry_run: false,
      sources: told.map(sourceJson),
      unreadable: report.unreadable.map(({ path, error }) => ({
        path,
        code: shownCode(error.code),
        message: error.message,
      })),
      summary: summaryOf(report),
    });
    return;
  }
  if (output.form === 'json-lines') {
    for (const source of told) await output.row(sourceJson(source));
    if (mode === 'whole') await output.summary(summaryOf(report));
    return;
  }
  await output.lines(report.sources.filter(isNews).map((source) => sourceLine(output, source)));
  for (const { path, error } of report.unreadable) {
    await output.warn(output.shown`${path}: ${shownCode(error.code)}: ${error.message}`);
  }
  if (mode === 'whole' || told.length > 0) await output.note(closingNote(output, report));
}

const quietOutcomes: ReadonlySet<SourceReport['outcome']> = new Set([
  'unchanged',
  'unknown',
  'empty',
  'waiting',
  'recorded-live',
]);

/** Whether a person wants to hear of it, and not only how many there are of its kind. */
function isNews({ outcome }: SourceReport): boolean {
  return !quietOutcomes.has(outcome);
}

function sourceLine(output: Output, source: SourceReport): Shown {
  const { outcome, sessionId, path, error, ledger } = source;
  const { shown } = output;
  if (error !== null) {
    return shown`${output.paint('red', 'failed')}  ${shownCode(error.code)}: ${error.message}  ${path}`;
  }
  const isTrouble = outcome === 'conflict' || ledger.refused > 0;
  const remarks = [
    `${recordsIn(source)} records`,
    source.isForked ? 'forked' : '',
    source.childSessionIds.length === 0 ? '' : `${source.childSessionIds.length} sub-agents`,
    source.vanishedCount === 0 ? '' : `${source.vanishedCount} not in the file any more`,
    source.conflictsWith === null ? '' : `stays out: ${source.conflictsWith} was imported`,
    ledger.refused === 0 ? '' : `${ledger.refused} bytes damaged`,
  ];
  const what = remarks.filter((remark) => remark !== '').join(', ');
  const state = output.paint(isTrouble ? 'red' : 'green', outcome);
  return shown`${output.paint('strong', sessionId ?? '-')}  ${state}, ${what}  ${path}`;
}

function closingNote({ shown }: Output, report: BatchReport): Shown {
  const { outcomes, sources } = report;
  const imported = outcomes.new + outcomes.grown + outcomes.rewritten;
  const rest = counted([
    [outcomes.conflict, 'in conflict'],
    [outcomes.failed, 'failed'],
    [report.damagedCount, 'with damage'],
    [outcomes['recorded-live'], 'recorded live'],
    [outcomes.waiting, 'waiting'],
    [outcomes.empty, 'empty'],
    [outcomes.unknown, 'unknown'],
    [report.linkCount, 'links'],
    [report.unreadable.length, 'unreadable'],
  ]);
  if (sources.length === outcomes.unknown) return shown`nothing to import${rest}`;
  return shown`imported ${imported}, unchanged ${outcomes.unchanged}${rest}`;
}

function counted(counts: readonly (readonly [count: number, what: string])[]): string {
  return counts.map(([count, what]) => (count === 0 ? '' : `, ${count} ${what}`)).join('');
}

/** What an import would look at. */
export async function printFound(
  output: Output,
  { found, linkCount, unreadable }: FoundSources,
): Promise<void> {
  const known = found.filter(({ format }) => format !== null);
  const unknown = found.length - known.length;
  const summary = { sources: known.length, unknown, links: linkCount, unreadable: unreadable.length };
  const rows = known.map(({ path, format }) => ({ path, kind: format }));
  if (output.form === 'json') await output.document({ dry_run: true, sources: rows, summary });
  else if (output.form === 'json-lines') {
    for (const row of rows) await output.row(row);
    await output.summary(summary);
  } else {
    await output.lines(rows.map(({ path, kind }) => output.shown`would import ${kind ?? ''}  ${path}`));
    const rest = counted([
      [unknown, 'unknown'],
      [linkCount, 'links'],
      [unreadable.length, 'unreadable'],
    ]);
    await output.note(output.shown`nothing was changed${rest}`);
  }
}
