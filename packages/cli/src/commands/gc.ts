import { formatTimestamp } from '@turnlog/events';
import {
  type CleanUpPlan,
  type CleanUpReport,
  carryOutCleanUp,
  planCleanUp,
  type RetentionPolicy,
  retentionPolicy,
  type Store,
} from '@turnlog/store';
import type { Context } from '../command.js';
import { confirm } from '../confirm.js';
import { errorExits, exits, shownCode } from '../exit-codes.js';
import * as flags from '../flags.js';
import { type Column, formatTable } from '../output/table.js';
import { bytesText, Progress, progressMode } from '../progress.js';

/** Plans what leaves the store, and does it with --apply. */
export async function gc(context: Context): Promise<number> {
  const { args } = context;
  const store = await context.openStore();
  const policy = policyOf(context);
  const plan = planCleanUp(store, {
    policy,
    keep: args.get(flags.keepFlag) ?? [],
    ...(args.has(flags.purgeTrashFlag) ? { purge: 'everything' } : {}),
  });
  const isApplying = args.has(flags.applyFlag) && !args.has(flags.dryRunFlag);
  const report = isApplying ? await carryOut(context, store, plan) : null;
  await print(context, store, rowsOf(plan, report), countsOf(plan, report), policy, report);
  const failure = report?.failure ?? null;
  return failure === null ? exits.done : errorExits[failure.error.code];
}

/** Flags go before the user's file, each value by itself. */
function policyOf({ args, settings }: Context): RetentionPolicy {
  const maxSessions = args.get(flags.maxSessionsFlag);
  const maxAgeMs = args.get(flags.maxAgeFlag);
  const trashDays = args.get(flags.trashDaysFlag);
  return retentionPolicy({
    ...settings.retention,
    ...(maxSessions === undefined ? {} : { maxSessions }),
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
    ...(trashDays === undefined ? {} : { trashDays }),
  });
}

async function carryOut(context: Context, store: Store, plan: CleanUpPlan): Promise<CleanUpReport> {
  const { io, args, output, clock, stop } = context;
  const { settling, sessions, purging } = plan;
  if (settling.length + sessions.going.length + purging.length > 0) {
    const { shown } = output;
    const what = shown`Remove ${sessions.going.length} sessions, purge ${purging.length} from the trash?`;
    await confirm(context, what);
  }
  const progress = new Progress(output, clock, progressMode(io, args));
  try {
    const onStep = (done: number, total: number): void =>
      progress.update({ phase: 'gc', done, total, unit: 'steps' });
    return await carryOutCleanUp(store, plan, { signal: stop, onStep });
  } finally {
    await progress.end();
  }
}

interface SettlingRow {
  readonly kind: 'settle';
  readonly step: string;
  readonly trash: string;
  readonly done: boolean;
}

interface SessionRow {
  readonly kind: 'session';
  readonly id: string;
  readonly goes: boolean;
  readonly reason: string;
  readonly fork: string | null;
  readonly last_ts: string | null;
  readonly bytes: number;
  readonly done: boolean;
  readonly trash: string | null;
}

interface PurgeRow {
  readonly kind: 'purge';
  readonly trash: string;
  readonly id: string;
  readonly removed_at: string;
  readonly bytes: number | null;
  readonly done: boolean;
}

interface Rows {
  readonly settling: readonly SettlingRow[];
  readonly sessions: readonly SessionRow[];
  readonly purging: readonly PurgeRow[];
}

function rowsOf(plan: CleanUpPlan, report: CleanUpReport | null): Rows {
  const settled = new Set(report?.settled ?? []);
  const removed = new Map((report?.removed ?? []).map((each) => [each.id, each.trash]));
  const stayed = new Map((report?.stayed ?? []).map(({ id, why }) => [id, why]));
  const purged = new Map((report?.purged ?? []).map(({ name, bytes }) => [name, bytes]));
  const { going, staying } = plan.sessions;
  const planned = new Set(going.map(({ session }) => session.id));
  const row = (
    session: (typeof going)[number]['session'],
    reason: string,
    fork: string | null,
  ): SessionRow => ({
    kind: 'session',
    id: session.id,
    goes: planned.has(session.id) && !stayed.has(session.id),
    reason: stayed.get(session.id) ?? reason,
    fork,
    last_ts: session.lastTsMs === null ? null : formatTimestamp(session.lastTsMs),
    bytes: session.bytes,
    done: removed.has(session.id),
    trash: removed.get(session.id) ?? null,
  });
  return {
    settling: plan.settling.map((step) => ({
      kind: 'settle',
      step: step.kind,
      trash: step.name,
      done: settled.has(step),
    })),
    sessions: [
      ...going.map(({ session, reason }) => row(session, reason, null)),
      ...staying.map(({ session, why, fork }) => row(session, why, fork)),
    ],
    purging: plan.purging.map(({ name, sessionId, removedMs }) => ({
      kind: 'purge',
      trash: name,
      id: sessionId,
      removed_at: formatTimestamp(removedMs),
      bytes: purged.get(name) ?? null,
      done: purged.has(name),
    })),
  };
}

interface Counts {
  readonly sessions: number;
  readonly going: number;
  readonly removed: number;
  readonly purging: number;
  readonly purged: number;
  readonly settling: number;
  readonly settled: number;
  readonly left: number;
}

function countsOf(plan: CleanUpPlan, report: CleanUpReport | null): Counts {
  const { going, staying } = plan.sessions;
  const planned = plan.settling.length + going.length + plan.purging.length;
  return {
    sessions: going.length + staying.length,
    going: going.length,
    removed: report?.removed.length ?? 0,
    purging: plan.purging.length,
    purged: report?.purged.length ?? 0,
    settling: plan.settling.length,
    settled: report?.settled.length ?? 0,
    left: report?.leftCount ?? planned,
  };
}

async function print(
  context: Context,
  store: Store,
  rows: Rows,
  counts: Counts,
  policy: RetentionPolicy,
  report: CleanUpReport | null,
): Promise<void> {
  const { output } = context;
  const failed = failureOf(report);
  const facts = { applied: report !== null, policy: policyJson(policy), failed };
  if (output.form === 'json') {
    await output.document({ root: store.root, ...facts, ...rows, summary: counts });
  } else if (output.form === 'json-lines') {
    for (const row of [...rows.settling, ...rows.sessions, ...rows.purging]) await output.row({ ...row });
    await output.summary({ ...facts, ...counts });
  } else await printText(context, rows, counts, report);
}

function failureOf(report: CleanUpReport | null): Readonly<Record<string, string>> | null {
  const failure = report?.failure ?? null;
  if (failure === null) return null;
  return { at: failure.at, code: shownCode(failure.error.code), message: failure.error.message };
}

function policyJson(policy: RetentionPolicy): Readonly<Record<string, number | null>> {
  const { maxSessions, maxAgeMs, emptyAfterMs, trashMs } = policy;
  return { max_sessions: maxSessions, max_age_ms: maxAgeMs, empty_after_ms: emptyAfterMs, trash_ms: trashMs };
}

interface TextRow {
  readonly action: string;
  readonly name: string;
  readonly why: string;
  readonly at: string | null;
}

function textRows({ settling, sessions, purging }: Rows, isVerbose: boolean): readonly TextRow[] {
  return [
    ...settling.map(({ step, trash }) => ({ action: 'settle', name: trash, why: step, at: null })),
    ...sessions
      .filter(({ goes }) => goes || isVerbose)
      .map(({ id, goes, reason, fork, last_ts: at }) => ({
        action: goes ? 'remove' : 'keep',
        name: id,
        why: fork === null ? reason : `${reason} ${fork}`,
        at,
      })),
    ...purging.map(({ trash, removed_at: at }) => ({ action: 'purge', name: trash, why: 'trash', at })),
  ];
}

async function printText(
  { args, output }: Context,
  rows: Rows,
  counts: Counts,
  report: CleanUpReport | null,
): Promise<void> {
  const { shown } = output;
  const listed = textRows(rows, args.has(flags.verboseFlag));
  const columns: readonly Column<TextRow>[] = [
    { title: 'ACTION', value: ({ action }) => action },
    { title: 'SESSION OR TRASH', value: ({ name }) => name, widthMin: 12, style: () => 'strong' },
    { title: 'WHY', value: ({ why }) => why, widthMin: 5, worth: 2 },
    {
      title: `LAST EVENT OR REMOVAL (${output.wallClock.zone})`,
      value: ({ at }) => (at === null ? '' : output.wallClock.dateTime(at)),
      worth: 1,
    },
  ];
  if (listed.length > 0) await output.lines(formatTable(listed, columns, output));
  for (const { id, why } of report?.stayed ?? []) await output.note(shown`${id} stays: ${why}`);
  if (report === null) {
    const bytes = rows.sessions.filter(({ goes }) => goes).reduce((sum, row) => sum + row.bytes, 0);
    const advice = counts.left === 0 ? '' : '; --apply does it';
    await output.note(
      shown`would remove ${counts.going} of ${counts.sessions} sessions (${bytesText(bytes)}) and purge ${counts.purging}${advice}`,
    );
    return;
  }
  await output.note(shown`removed ${counts.removed} of ${counts.sessions} sessions, purged ${counts.purged}`);
  const { failure } = report;
  if (failure !== null) {
    await output.warn(
      shown`stopped at ${failure.at}, ${counts.left} left: ${shownCode(failure.error.code)}: ${failure.error.message}`,
    );
  }
}
