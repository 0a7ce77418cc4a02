import { codexRecord, recordMs } from './codex-record.js';
import type { CodexCopy } from './codex-state.js';
import type { SourceObject } from './source-object.js';
import type { Lookahead, StoreView } from './thread-format.js';

/**
 * Copied history: a thread that goes on from another begins with the other's lines, their times rewritten to one
 * instant. It is told from the thread's own lines by two tests, neither of which is enough alone: the burst of
 * lines without a pause, and the payloads that the parent has.
 */

/** A longer pause between two lines ends the burst. */
const burstGapMs = 100;

/** What a record of copied history turns out to be; `notice` tells the new agent that it is one. */
export type CopyVerdict = 'inherited' | 'notice' | 'own' | 'wait';

export function isPause(beforeMs: number | null, afterMs: number | null): boolean {
  return beforeMs !== null && afterMs !== null && Math.abs(afterMs - beforeMs) > burstGapMs;
}

/** Judges one record, without changing anything. */
export function judgeCopied(
  copy: CodexCopy,
  object: SourceObject,
  ahead: Lookahead,
  lacksPayload: boolean,
): { readonly verdict: CopyVerdict; readonly isPast: boolean } {
  const begins = copy.isPast || beginsHere(copy.lastMs, object, ahead, 0);
  if (begins === 'wait') return { verdict: 'wait', isPast: false };
  const isBounded = copy.parentSession === null || copy.isBounded || lacksPayload;
  if (begins) return { verdict: isBounded ? 'own' : 'inherited', isPast: true };
  const { detail } = codexRecord(object);
  if (detail !== 'function_call_output' || !isBounded) return { verdict: 'inherited', isPast: false };
  const next = ahead.peek(1);
  if (next === 'later') return { verdict: 'wait', isPast: false };
  const isLast = typeof next === 'string' ? false : beginsHere(recordMs(object), next, ahead, 1);
  if (isLast === 'wait') return { verdict: 'wait', isPast: false };
  return { verdict: isLast ? 'notice' : 'inherited', isPast: false };
}

/** Whether, by the burst alone, own records begin with `object`, the `n`-th behind the present one. */
function beginsHere(
  beforeMs: number | null,
  object: SourceObject,
  ahead: Lookahead,
  n: number,
): boolean | 'wait' {
  const ms = recordMs(object);
  if (isPause(beforeMs, ms)) return true;
  return codexRecord(object).detail === 'task_started' ? isLastStart(ms, ahead, n) : false;
}

/** Whether no other turn starts or ends in the rest of the burst. */
function isLastStart(startMs: number | null, ahead: Lookahead, n: number): boolean | 'wait' {
  let beforeMs = startMs;
  for (let at = n + 1; ; at += 1) {
    const next = ahead.peek(at);
    if (next === 'later') return 'wait';
    if (next === 'end') return true;
    if (next === 'limit') return false;
    const ms = recordMs(next);
    if (isPause(beforeMs, ms)) return true;
    if (turnMarks.has(codexRecord(next).detail)) return false;
    beforeMs = ms ?? beforeMs;
  }
}

const turnMarks: ReadonlySet<string> = new Set(['task_started', 'task_complete', 'turn_aborted']);

/** Whether the parent of a copy lacks what the record holds. */
export function lacks(store: StoreView, copy: CodexCopy, payload: Uint8Array): boolean {
  return copy.parentSession !== null && !store.holds(copy.parentSession, payload);
}
