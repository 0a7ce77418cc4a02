import type { Clock } from '@turnlog/kernel';
import type { FailedSession } from './catch-up.js';

/** How long a session that failed is left alone: the first time, and at most. */
const restMs = 1_000;
const restMsMax = 3_600_000;

/** Keeps sessions that cannot be read from being tried again at every wake: twice as long with each failure. */
export class SessionRest {
  readonly #clock: Clock;
  readonly #resting = new Map<string, Resting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isResting(session: string): boolean {
    return (this.#resting.get(session)?.untilMs ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonicMs();
  }

  /**
   * Takes the failures of one round: whoever was tried and is not among them has recovered. Returns all that have
   * failed and not recovered, those that were left alone too.
   */
  note(failed: readonly FailedSession[]): readonly FailedSession[] {
    const names = new Set(failed.map(({ session }) => session));
    for (const session of this.#resting.keys()) {
      if (!names.has(session) && !this.isResting(session)) this.#resting.delete(session);
    }
    for (const { session, error } of failed) {
      const ms = Math.min((this.#resting.get(session)?.ms ?? restMs / 2) * 2, restMsMax);
      this.#resting.set(session, { untilMs: this.#clock.monotonicMs() + ms, ms, error });
    }
    return [...this.#resting].map(([session, { error }]) => ({ session, error }));
  }
}

interface Resting extends Pick<FailedSession, 'error'> {
  readonly untilMs: number;
  readonly ms: number;
}
