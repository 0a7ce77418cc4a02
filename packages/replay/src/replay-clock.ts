import { parseTimestamp } from '@turnlog/events';
import type { ClockMode } from './fixture.js';

/**
 * The clock of a replay. It stands where the exchange or record that was served last has put it (`recorded`), where
 * the fixture begins (`fixed`), or where the test moves it (`manual`). A sleep ends at once and moves it. It never
 * goes back.
 */
export class ReplayClock {
  readonly mode: ClockMode;
  readonly startMs: number;
  #nowMs: number;

  constructor(start: string, mode: ClockMode) {
    this.mode = mode;
    this.startMs = parseTimestamp(start) ?? 0;
    this.#nowMs = this.startMs;
  }

  /** Milliseconds since the epoch. */
  readonly now = (): number => this.#nowMs;

  /** Ends at once, however long. */
  readonly sleep = async (ms: number): Promise<void> => {
    this.advance(ms);
    await Promise.resolve();
  };

  /** Moves the clock forward. */
  readonly advance = (ms: number): void => {
    if (ms > 0) this.#nowMs += ms;
  };

  /** Something that was recorded at this time has been served. */
  serve(timeMs: number | null): void {
    if (this.mode === 'recorded' && timeMs !== null && timeMs > this.#nowMs) this.#nowMs = timeMs;
  }
}
