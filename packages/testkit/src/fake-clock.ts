import type { Clock } from '@turnlog/kernel';

/**
 * - `waits`: a sleep ends when the test has moved the clock far enough.
 * - `skips`: a sleep moves the clock itself and ends at once.
 */
export type FakeSleep = 'waits' | 'skips';

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** A clock that only a test moves. It starts at 2026-10-05T08:00:00.000Z. */
export class FakeClock implements Clock {
  readonly #sleep: FakeSleep;
  #nowMs = Date.UTC(2026, 9, 5, 8);
  #monotonicMs = 0;
  readonly #timers = new Set<Timer>();

  constructor(sleep: FakeSleep = 'waits') {
    this.#sleep = sleep;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    if (this.#sleep === 'skips') {
      this.advance(ms);
      // A turn of the event loop, so that others come to work while one sleeps.
      return new Promise((resolve) => setImmediate(resolve));
    }
    return new Promise((resolve) => {
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      const abort = (): void => {
        cancel();
        resolve();
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  after(ms: number, callback: () => void): () => void {
    const timer: Timer = { dueMs: this.#monotonicMs + ms, callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** How many sleeps and timers wait. */
  get waitingCount(): number {
    return this.#timers.size;
  }

  /** Moves both clocks and runs what became due, in its order. */
  advance(ms: number): void {
    const endMs = this.#monotonicMs + ms;
    for (let timer = this.#nextDue(endMs); timer !== null; timer = this.#nextDue(endMs)) {
      this.#moveTo(Math.max(timer.dueMs, this.#monotonicMs));
      this.#timers.delete(timer);
      timer.callback();
    }
    this.#moveTo(endMs);
  }

  /** Sets the wall clock, as an administrator or a time server does; the monotonic clock goes on. */
  setNow(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  #moveTo(monotonicMs: number): void {
    this.#nowMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #nextDue(endMs: number): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.#timers) {
      if (timer.dueMs <= endMs && (next === null || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  }
}
