import type { PlannedRedaction, RedactionReport } from '@turnlog/audit';
import type { SessionId, TurnlogError } from '@turnlog/kernel';
import type { RedactionKindName } from '@turnlog/store';
import type { Context } from '../command.js';
import { errorExits, exits, shownCode } from '../exit-codes.js';
import type { Output } from '../output/output.js';
import { type Column, formatTable } from '../output/table.js';
import type { PurgeReport } from '../purge-derived.js';

/** A record in which something was found. */
export interface FoundRecord {
  readonly id: SessionId;
  readonly seq: number;
  readonly ts: string | null;
  readonly type: string;
  readonly kinds: readonly RedactionKindName[];
  readonly isRedactable: boolean;
}

export interface FailedSession {
  readonly id: SessionId;
  readonly error: TurnlogError;
}

export interface RedactionOutcome {
  readonly isDry: boolean;
  readonly isScan: boolean;
  readonly found: readonly FoundRecord[];
  readonly reports: readonly RedactionReport[];
  readonly failed: readonly FailedSession[];
  /** Null when nothing was changed. */
  readonly purge: PurgeReport | null;
}

/** What no redaction reaches, in words. */
const beyondTheStore = 'exports, fixtures, bundles and backups that were made before';

/** A failure decides; else whether anything was found, or done. */
export function exitOfRedaction({ isScan, found, reports, failed, purge }: RedactionOutcome): number {
  const [failure] = [...(purge?.failures ?? []), ...failed];
  if (failure !== undefined) return failed.length > 0 ? exits.negative : errorExits[failure.error.code];
  const isNothing = isScan ? found.length === 0 : reports.every(({ targets }) => targets.length === 0);
  return isNothing ? exits.negative : exits.done;
}

export async function printRedaction({ output }: Context, outcome: RedactionOutcome): Promise<void> {
  if (output.form === 'text') {
    await printText(output, outcome);
    return;
  }
  const { isDry, found, reports, failed, purge } = outcome;
  const candidates = found.map(({ isRedactable, ...record }) => ({ ...record, redactable: isRedactable }));
  const sessions = reports.map(sessionJson);
  const facts = {
    dry_run: isDry,
    purged: purge === null ? null : purge.outcomes,
    failed: [
      ...failed.map(({ id, error }) => ({ id, what: 'session', ...failureJson(error) })),
      ...(purge?.failures ?? []).map(({ what, error }) => ({ id: null, what, ...failureJson(error) })),
    ],
    out_of_reach: [beyondTheStore],
  };
  const summary = {
    candidates: found.length,
    sessions: reports.length,
    records: reports.reduce((sum, { targets }) => sum + targets.length, 0),
  };
  if (output.form === 'json') {
    await output.document({ ...facts, candidates, sessions, summary });
    return;
  }
  for (const row of [...candidates, ...sessions]) await output.row(row);
  await output.summary({ ...facts, ...summary });
}

function failureJson(error: TurnlogError): Readonly<Record<string, string>> {
  return { code: shownCode(error.code), message: error.message };
}

function sessionJson(report: RedactionReport): Readonly<Record<string, unknown>> {
  const { sessionId, targets, assets, statementSeq, outOfReach, maintenance } = report;
  return {
    id: sessionId,
    statement_seq: statementSeq,
    records: targets.map(recordJson),
    assets: { removed: assets.going, shared: assets.shared },
    out_of_reach: outOfReach,
    maintenance,
  };
}

function recordJson(target: PlannedRedaction): Readonly<Record<string, unknown>> {
  const { index, record, leaf, cause, reason, isGuessable } = target;
  const { seq, type, length, archive } = record;
  return { seq, index, type, cause, reason, leaf, bytes: length, archive, guessable: isGuessable };
}

async function printText(output: Output, outcome: RedactionOutcome): Promise<void> {
  const { isDry, isScan, found, reports, failed, purge } = outcome;
  const { shown } = output;
  if (found.length > 0) await output.lines(formatTable(found, foundColumns(output), output));
  for (const report of reports) await printReport(output, report, isDry ? 'would be redacted' : 'redacted');
  for (const { id, error } of failed)
    await output.warn(shown`${id}: ${shownCode(error.code)}: ${error.message}`);
  for (const { what, error } of purge?.failures ?? []) {
    const again = 'the log is redacted; say the same again to purge the rest';
    await output.warn(shown`${what}: ${shownCode(error.code)}: ${error.message} (${again})`);
  }
  const records = reports.reduce((sum, { targets }) => sum + targets.length, 0);
  if (isScan)
    await output.note(shown`found ${found.length} records${found.length === 0 ? '' : advice(reports)}`);
  if (records === 0) {
    if (!isScan) await output.note(shown`no redaction is unfinished: name the SEQ of what is to go`);
    return;
  }
  if (isDry) await output.note(shown`would redact ${records} records`);
  else await output.note(shown`redacted ${records} records; not reached: ${beyondTheStore}`);
}

function advice(reports: readonly RedactionReport[]): string {
  return reports.length === 0 ? '; --apply --reason CODE redacts them' : '';
}

function foundColumns(output: Output): readonly Column<FoundRecord>[] {
  return [
    { title: 'SESSION', value: ({ id }) => id, widthMin: 12, style: () => 'strong' },
    { title: 'SEQ', value: ({ seq }) => String(seq), align: 'right' },
    { title: 'TYPE', value: ({ type }) => type, worth: 2 },
    {
      title: 'FOUND',
      value: ({ kinds, isRedactable }) => `${kinds.join(', ')}${isRedactable ? '' : ' (cannot be redacted)'}`,
    },
    {
      title: `TIME (${output.wallClock.zone})`,
      value: ({ ts }) => (ts === null ? '' : output.wallClock.dateTime(ts)),
      worth: 1,
    },
  ];
}

const causes: Readonly<Record<PlannedRedaction['cause'], string>> = {
  named: '',
  summary: ', a summary of what goes',
  unfinished: ', begun before',
};

async function printReport(output: Output, report: RedactionReport, what: string): Promise<void> {
  const { shown } = output;
  const { sessionId, targets, assets, outOfReach, maintenance } = report;
  await output.lines(
    targets.map(
      ({ record, cause, reason }) =>
        shown`${sessionId}:${record.seq}  ${record.type}  ${what}, reason ${reason}${causes[cause]}`,
    ),
  );
  for (const sha256 of assets.going) {
    const isRaw = assets.raw.includes(sha256);
    const whose = isRaw
      ? 'a piece of the raw copy of the file they were imported from'
      : 'an asset of theirs';
    await output.note(shown`${sha256} goes with them: ${whose}`);
  }
  for (const sha256 of assets.shared) {
    await output.warn(shown`asset ${sha256} stays: other records name it, or cannot be read`);
  }
  for (const path of outOfReach) await output.warn(shown`not looked into: ${path}`);
  for (const message of maintenance) await output.warn(shown`${message}`);
}
