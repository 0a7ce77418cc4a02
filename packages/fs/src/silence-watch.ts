import type { Clock } from '@turnlog/kernel';

/** How long things that should show signs of life have shown none, on a clock that cannot be set. */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly sign: string; readonly sinceMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For how many milliseconds `subject` has shown this `sign`; 0 when it is seen for the first time. */
  silentMs(subject: string, sign: string): number {
    const nowMs = this.#clock.monotonicMs();
    const seen = this.#seen.get(subject);
    if (seen !== undefined && seen.sign === sign) return nowMs - seen.sinceMs;
    this.#seen.set(subject, { sign, sinceMs: nowMs });
    return 0;
  }

  /** Forgets everything about subjects whose name begins with `prefix`. */
  forget(prefix: string): void {
    for (const subject of this.#seen.keys()) if (subject.startsWith(prefix)) this.#seen.delete(subject);
  }
}
