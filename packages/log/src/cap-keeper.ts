import { type Clock, isTurnlogError, limits } from '@turnlog/kernel';
import type { Cap } from './cap.js';
import { type EvictedLog, Eviction, type EvictionStep } from './eviction.js';
import type { EvictionPlan, NoEviction } from './eviction-plan.js';
import { turnBaseOf } from './log-state.js';
import type { MaintenanceReports } from './maintenance-report.js';

/**
 * Keeps a log within its cap: sees after each turn whether it has outgrown it, and takes turns out while appending
 * goes on. One run at a time; what fails is told as maintenance and tried again later, after a pause that doubles.
 */
export class CapKeeper {
  readonly #log: EvictedLog;
  readonly #cap: Cap;
  readonly #clock: Clock;
  readonly #reports: MaintenanceReports;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  /** Not before this moment of the monotonic clock, after a failure. */
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #retryMs: number = limits.evictionRetryMs;
  /** What was told last of a log that stays over its cap, so that it is told once. */
  #told: string | null = null;

  constructor(log: EvictedLog, cap: Cap, reports: MaintenanceReports) {
    this.#log = log;
    this.#cap = cap;
    this.#clock = log.env.clock;
    this.#reports = reports;
  }

  /** A turn or the thread has ended, or the log was opened: starts a run where one is due. */
  check(): void {
    if (this.#running !== null || this.#stop.signal.aborted || !this.#isOver()) return;
    if (this.#clock.monotonicMs() < this.#notBeforeMs) return;
    this.#start();
  }

  /** Brings the log down to its target now, whatever failed before; resolves when that is done or has failed. */
  async maintain(): Promise<void> {
    await this.#running;
    // Somebody else who waited may have begun the next one.
    if (this.#running === null && this.#isOver()) this.#start();
    await this.#running;
  }

  /** Ends the work: a hook is not waited for, and nothing new is begun. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #isOver(): boolean {
    const { maxEvents, maxBytes } = this.#cap;
    const { lifecycle, length } = this.#log.writer.state;
    return (maxEvents > 0 && lifecycle.eventCount > maxEvents) || (maxBytes > 0 && length > maxBytes);
  }

  /** Begins behind the call that led here, which returns first. */
  #start(): void {
    this.#running = Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = null;
      });
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    let step: EvictionStep = 'summary';
    try {
      if (!this.#mayAnyGo()) {
        this.#tell({ kind: 'keep', reason: 'nothing-may-go' });
        return;
      }
      const eviction = new Eviction(this.#log, this.#cap, this.#stop.signal, (begun) => {
        step = begun;
      });
      this.#tell(await eviction.run());
      this.#retryMs = limits.evictionRetryMs;
      this.#notBeforeMs = Number.NEGATIVE_INFINITY;
    } catch (cause) {
      // Whoever closes the log has given the run up: the next open begins it anew.
      if (this.#stop.signal.aborted && isTurnlogError(cause)) return;
      this.#reports.add({ step, message: `turns could not leave the log (${step})`, cause });
      this.#notBeforeMs = this.#clock.monotonicMs() + this.#retryMs;
      this.#retryMs = Math.min(this.#retryMs * 2, limits.evictionRetryMsMax);
    }
  }

  /** Whether a closed turn could leave at all: looked at before the log is synced for it. */
  #mayAnyGo(): boolean {
    const { state } = this.#log.writer;
    const newest = state.lifecycle.turnCount - this.#cap.keepTurns;
    return turnBaseOf(state) <= Math.min(newest, this.#cap.guard?.() ?? newest);
  }

  #tell(outcome: EvictionPlan | NoEviction): void {
    const message = noticeOf(outcome);
    if (message !== null && message !== this.#told) this.#reports.add({ step: 'cap', message, cause: null });
    this.#told = message;
  }
}

/** What people should know of a log that is still over its target; null when it is not. */
function noticeOf(outcome: EvictionPlan | NoEviction): string | null {
  if (outcome.kind === 'evict') {
    return outcome.reaches
      ? null
      : 'all turns that may leave the log have left it, and it is still over its target';
  }
  return outcome.reason === 'nothing-may-go'
    ? 'the log is over its cap and no closed turn may leave it: its open or its newest turns are that long'
    : null;
}
