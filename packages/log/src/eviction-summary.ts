import { type Clock, isTurnlogError, TurnlogError } from '@turnlog/kernel';
import { EngineEvent } from './append.js';
import type { Cap } from './cap.js';
import { type EvictionPlan, planUpTo } from './eviction-plan.js';
import { closedTurns, type LogReader } from './log-reader.js';
import type { LogWriter } from './log-writer.js';
import { type Summary, type SummaryRequest, summarizedTo, summaryEvent, summaryKey } from './summary-hook.js';

/** R1 of an eviction: what leaves is summarized in the log itself, before anything is replaced. */

/** A plan, and the record that sums up what it takes out. */
export interface SummarizedPlan {
  readonly plan: EvictionPlan;
  readonly summary: { readonly id: string; readonly seq: number };
}

/** The summary that an eviction before has left when it could not be finished: its range is the plan. */
export function findSummary(
  writer: LogWriter,
  reader: LogReader,
  lastCandidate: number,
): SummarizedPlan | null {
  const fromSeq = reader.state.firstSeq ?? 1;
  for (const { key, seq } of writer.opened.keys.all()) {
    const toSeq = summarizedTo(key, fromSeq);
    const isNew = toSeq !== null && toSeq > (reader.state.evicted?.toSeq ?? 0);
    const plan = isNew ? planUpTo(closedTurns(reader), toSeq, lastCandidate) : null;
    if (plan !== null && isSummary(reader, seq))
      return { plan, summary: { id: summaryId(fromSeq, plan.toSeq), seq } };
  }
  return null;
}

/** Whether the record of that seq is a summary: anybody may use such a key. */
function isSummary(reader: LogReader, seq: number): boolean {
  for (const { type } of reader.readRange(seq, seq)) return type === 'log.summary';
  return false;
}

export interface SummaryWork {
  readonly clock: Clock;
  readonly cap: Cap;
  /** Aborted when the log is being closed. */
  readonly signal: AbortSignal;
  readonly asUpkeep: <Result>(work: () => Result) => Result;
}

/**
 * Has the summary made and appends it, durably.
 *
 * @throws TURNLOG_HOOK_FAILED; what `append` and `sync` throw.
 */
export async function writeSummary(
  work: SummaryWork,
  writer: LogWriter,
  reader: LogReader,
  plan: EvictionPlan,
): Promise<SummarizedPlan> {
  const fromSeq = reader.state.firstSeq ?? 1;
  const timeout = new AbortController();
  const request: SummaryRequest = {
    sessionId: reader.sessionId,
    fromSeq,
    toSeq: plan.toSeq,
    events: plan.events,
    turns: plan.turns,
    records: () => reader.recordsBefore(plan.cut),
    signal: timeout.signal,
  };
  const event = summaryEvent(request, await askHook(work, request, timeout));
  const seq = work.asUpkeep(() => {
    const appended = writer.append(new EngineEvent(event), { key: summaryKey(fromSeq, plan.toSeq) });
    writer.sync();
    return appended.seq;
  });
  return { plan, summary: { id: event.id, seq } };
}

function summaryId(fromSeq: number, toSeq: number): string {
  return `sum-${fromSeq}-${toSeq}`;
}

/** The hook has so long, and no longer than the log is open. What it does after that is not waited for. */
async function askHook(
  work: SummaryWork,
  request: SummaryRequest,
  timeout: AbortController,
): Promise<Summary> {
  const { hook, hookTimeoutMs } = work.cap;
  if (hook === undefined) return {};
  const { sessionId } = request;
  let stopWaiting: () => void = () => undefined;
  const givenUp = new Promise<never>((_resolve, reject) => {
    const giveUp = (message: string): void => {
      timeout.abort();
      reject(hookFailed(sessionId, message));
    };
    const cancel = work.clock.after(hookTimeoutMs, () =>
      giveUp(`the summary hook took longer than ${hookTimeoutMs} ms`),
    );
    const onClose = (): void => giveUp('the log was closed before the summary hook was done');
    work.signal.addEventListener('abort', onClose, { once: true });
    stopWaiting = () => {
      cancel();
      work.signal.removeEventListener('abort', onClose);
    };
  });
  try {
    return await Promise.race([Promise.resolve(request).then(hook), givenUp]);
  } catch (cause) {
    throw isTurnlogError(cause, 'TURNLOG_HOOK_FAILED')
      ? cause
      : hookFailed(sessionId, 'the summary hook failed', cause);
  } finally {
    stopWaiting();
  }
}

function hookFailed(sessionId: string, message: string, cause?: unknown): TurnlogError {
  const details = { sessionId };
  return new TurnlogError(
    'TURNLOG_HOOK_FAILED',
    cause === undefined ? { details, message } : { details, message, cause },
  );
}
