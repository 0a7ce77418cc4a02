import type { Clock } from '@turnlog/kernel';
import type { FailedSession } from './catch-up.js';

/** How long a session that failed is left alone: the first time, and at most. */
const restMs = 1_000;
const restMsMax = 3_600_000;

/** Keeps sessions that cannot be read from being tried again at every wake: twice as long with each failure. */
export class SessionRest {
  readonly #clock: Clock;
  readonly #resting = new Map<string, { readonly untilMs: number; readonly ms: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isResting(session: string): boolean {
    return (this.#resting.get(session)?.untilMs ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonicMs();
  }

  /** Takes the failures of one round: whoever was tried and is not among them has recovered. */
  note(failed: readonly FailedSession[]): void {
    const names = new Set(failed.map(({ session }) => session));
    for (const session of this.#resting.keys()) {
      if (!names.has(session) && !this.isResting(session)) this.#resting.delete(session);
    }
    for (const session of names) {
      const ms = Math.min((this.#resting.get(session)?.ms ?? restMs / 2) * 2, restMsMax);
      this.#resting.set(session, { untilMs: this.#clock.monotonicMs() + ms, ms });
    }
  }
}
