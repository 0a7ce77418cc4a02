import { formatTimestamp } from '@turnlog/events';
import type { RecoveredEvent } from './recover.js';

/**
 * Events that a handle had to refuse because they could not be written. The next record that is stored says so
 * first, unless it is the single refused event itself, tried again under its key.
 */
export class GapTracker {
  #count = 0;
  #sinceMs = 0;
  #untilMs = 0;
  /** Key of the only refused event; null when it had none or there are more. */
  #key: string | null = null;
  #isReported = false;

  note(count: number, key: string | null, nowMs: number): void {
    this.#key = this.#count === 0 && count === 1 ? key : null;
    if (this.#count === 0) this.#sinceMs = nowMs;
    this.#count += count;
    this.#untilMs = nowMs;
    this.#isReported = false;
  }

  /** The record to put before an append with `key`; null when there is nothing to say. */
  report(key: string | null, openTurn: number | null): RecoveredEvent | null {
    if (this.#count === 0) return null;
    this.#isReported = true;
    if (key !== null && key === this.#key) return null;
    return {
      type: 'log.recovered',
      reason: 'gap',
      damage: [],
      open_turn: openTurn,
      lost: {
        events: this.#count,
        since: formatTimestamp(this.#sinceMs),
        until: formatTimestamp(this.#untilMs),
      },
    };
  }

  /** The append that the report went with was not accepted: the next one has to say it. */
  retract(): void {
    this.#isReported = false;
  }

  /** The append that the report went with was accepted. */
  settle(): void {
    if (!this.#isReported) return;
    this.#count = 0;
    this.#key = null;
    this.#isReported = false;
  }
}
