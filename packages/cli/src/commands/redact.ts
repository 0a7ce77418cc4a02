import {
  previewRedaction,
  type RedactionCandidate,
  type RedactionReport,
  type RedactionRequest,
  redactSession,
  SecretScan,
  secretSearch,
} from '@turnlog/audit';
import { isTurnlogError, type SessionId, TurnlogError } from '@turnlog/kernel';
import { parseSessionId, type Store } from '@turnlog/store';
import * as auditFlags from '../audit-flags.js';
import type { Context } from '../command.js';
import { confirm } from '../confirm.js';
import { badFlag } from '../flag.js';
import * as flags from '../flags.js';
import { Progress, progressMode } from '../progress.js';
import { type PurgeReport, purgeDerived } from '../purge-derived.js';
import { lockWaitOf } from '../stopping.js';
import {
  exitOfRedaction,
  type FailedSession,
  type FoundRecord,
  printRedaction,
  type RedactionOutcome,
} from './redact-output.js';

/** Replaces records by their hashes, or lists those that may have to go. */
export async function redact(context: Context): Promise<number> {
  const { args } = context;
  const patterns = args.get(auditFlags.scanFlag);
  const [reference, ...seqs] = args.positionals;
  if (patterns !== undefined) {
    if (seqs.length > 0) throw badFlag('--scan finds the records by itself: name no SEQ', { flag: 'scan' });
    return await scan(context, reference ?? null, patterns);
  }
  if (args.has(auditFlags.applyRedactionFlag)) throw badFlag('--apply goes with --scan', { flag: 'apply' });
  if (reference === undefined) throw badFlag('redact takes an ID and SEQ…, or --scan PATTERN', {});
  return await redactNamed(context, reference, [...new Set(seqs.map(Number))]);
}

/** What is destroyed is named in full. @throws TURNLOG_NOT_FOUND */
function existing(store: Store, text: string): SessionId {
  const id = parseSessionId(text);
  if (store.has(id)) return id;
  throw new TurnlogError('TURNLOG_NOT_FOUND', {
    details: { sessionId: id },
    message: `there is no session ${id}`,
  });
}

const reasonCodePointsMax = 200;
const actorCodePointsMax = 100;

function requestOf({ args, io }: Context, seqs: readonly number[]): RedactionRequest {
  const reason = args.get(auditFlags.redactionReasonFlag);
  if (seqs.length > 0 && (reason === undefined || reason.trim() === '')) {
    throw badFlag('redact wants --reason CODE', { flag: 'reason' });
  }
  if (reason !== undefined && (/\p{Cc}/u.test(reason) || [...reason].length > reasonCodePointsMax)) {
    throw badFlag(`a reason is one line of at most ${reasonCodePointsMax} characters`, { flag: 'reason' });
  }
  const { USER, LOGNAME, USERNAME } = io.env;
  const user = [USER, LOGNAME, USERNAME].find((name) => name !== undefined && name !== '') ?? 'unknown';
  return {
    seqs,
    reason: reason ?? null,
    actor: [...user.replaceAll(/\p{Cc}/gu, '')].slice(0, actorCodePointsMax).join(''),
    guessable: args.has(auditFlags.acceptGuessableFlag) ? 'accept' : 'refuse',
  };
}

async function redactNamed(context: Context, text: string, seqs: readonly number[]): Promise<number> {
  const { args, output } = context;
  const request = requestOf(context, seqs);
  const store = await context.openStore();
  const id = existing(store, text);
  const isDry = args.has(flags.dryRunFlag);
  let report: RedactionReport;
  try {
    const { targets } = previewRedaction(store, id, request);
    if (!isDry && targets.length > 0) {
      await confirm(context, output.shown`Redact ${targets.length} records of ${id} for good?`);
    }
    report = await carryOut(context, store, { id, request, isDry });
  } catch (error) {
    if (!isDry && isRedactedBefore(error)) await finishPurge(context, store, id);
    throw error;
  }
  const purge = isDry ? null : await purging(context, store, [id]);
  const outcome = { isDry, isScan: false, found: [], reports: [report], failed: [], purge };
  await printRedaction(context, outcome);
  return exitOfRedaction(outcome);
}

function isRedactedBefore(error: unknown): error is TurnlogError {
  return isTurnlogError(error, 'TURNLOG_GONE') && error.details['reason'] === 'redacted';
}

/** A redaction may have been cut short behind the log itself: then the rest is still to be done. */
async function finishPurge(context: Context, store: Store, id: SessionId): Promise<void> {
  const session = await store.open(id, lockWaitOf(context.args));
  await session.close();
  await purging(context, store, [id]);
}

async function purging(context: Context, store: Store, ids: readonly SessionId[]): Promise<PurgeReport> {
  const { io, args, output, clock } = context;
  const progress = new Progress(output, clock, progressMode(io, args));
  try {
    progress.update({ phase: 'purge', done: 0, total: 1, unit: 'steps' });
    return await purgeDerived(store, ids);
  } finally {
    await progress.end();
  }
}

async function scan(
  context: Context,
  reference: string | null,
  patterns: readonly string[],
): Promise<number> {
  const { args, settings } = context;
  const isApplying = args.has(auditFlags.applyRedactionFlag);
  const scanner = new SecretScan(secretSearch(patterns, settings.redactionPatterns));
  // Refused before anything is looked at.
  if (isApplying) requestOf(context, [1]);
  const store = await context.openStore();
  const ids = reference === null ? store.ids().map(parseSessionId) : [existing(store, reference)];
  const { found, failed } = await findAll(context, store, ids, scanner);
  const isDry = !isApplying || args.has(flags.dryRunFlag);
  const applied = isApplying ? await apply(context, store, found, isDry) : { reports: [], failed: [] };
  const done = applied.reports.map(({ sessionId }) => parseSessionId(sessionId));
  const purge = isDry || done.length === 0 ? null : await purging(context, store, done);
  const outcome: RedactionOutcome = {
    isDry,
    isScan: true,
    found,
    reports: applied.reports,
    failed: [...failed, ...applied.failed],
    purge,
  };
  await printRedaction(context, outcome);
  return exitOfRedaction(outcome);
}

/** One session that cannot be read hides no other; a single one is the failure of the command. */
async function findAll(
  { io, args, output, clock, stop }: Context,
  store: Store,
  ids: readonly SessionId[],
  scanner: SecretScan,
): Promise<{ readonly found: readonly FoundRecord[]; readonly failed: readonly FailedSession[] }> {
  const found: FoundRecord[] = [];
  const failed: FailedSession[] = [];
  const progress = new Progress(output, clock, progressMode(io, args));
  try {
    for (const [position, id] of ids.entries()) {
      await new Promise((done) => setImmediate(done));
      if (stop.aborted) break;
      progress.update({ phase: 'scan', done: position, total: ids.length, unit: 'sessions' });
      try {
        found.push(...candidatesIn(store, id, scanner));
      } catch (error) {
        if (ids.length === 1 || !isTurnlogError(error)) throw error;
        failed.push({ id, error });
      }
    }
  } finally {
    await progress.end();
  }
  return { found, failed };
}

function candidatesIn(store: Store, id: SessionId, scanner: SecretScan): readonly FoundRecord[] {
  const reader = store.read(id, { unreadable: 'show' });
  try {
    const placed = (candidate: RedactionCandidate): FoundRecord => {
      const { seq, ts, type } = candidate.record;
      return { id, seq, ts, type, kinds: candidate.kinds, isRedactable: candidate.isRedactable };
    };
    return [...scanner.candidates(store.environment.fs, reader)].map(placed);
  } finally {
    reader.close();
  }
}

interface Applied {
  readonly reports: readonly RedactionReport[];
  readonly failed: readonly FailedSession[];
}

async function apply(
  context: Context,
  store: Store,
  found: readonly FoundRecord[],
  isDry: boolean,
): Promise<Applied> {
  const sessions = seqsOf(found);
  const count = sessions.reduce((sum, [, seqs]) => sum + seqs.length, 0);
  if (!isDry && count > 0) {
    const { shown } = context.output;
    await confirm(context, shown`Redact ${count} records of ${sessions.length} sessions for good?`);
  }
  const reports: RedactionReport[] = [];
  const failed: FailedSession[] = [];
  for (const [id, seqs] of sessions) {
    if (context.stop.aborted) break;
    const request = requestOf(context, seqs);
    try {
      reports.push(await carryOut(context, store, { id, request, isDry }));
    } catch (error) {
      if (sessions.length === 1 || !isTurnlogError(error)) throw error;
      failed.push({ id, error });
    }
  }
  return { reports, failed };
}

/** The records that can be redacted, by session, each once. */
function seqsOf(
  found: readonly FoundRecord[],
): readonly (readonly [id: SessionId, seqs: readonly number[]])[] {
  const bySession = new Map<SessionId, Set<number>>();
  for (const { id, seq } of found.filter(({ isRedactable }) => isRedactable)) {
    bySession.set(id, (bySession.get(id) ?? new Set()).add(seq));
  }
  return [...bySession].map(([id, seqs]) => [id, [...seqs]]);
}

interface Carrying {
  readonly id: SessionId;
  readonly request: RedactionRequest;
  readonly isDry: boolean;
}

async function carryOut(
  { args }: Context,
  store: Store,
  { id, request, isDry }: Carrying,
): Promise<RedactionReport> {
  if (isDry) return previewRedaction(store, id, request);
  return await redactSession(store, id, request, lockWaitOf(args));
}
