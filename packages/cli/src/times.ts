import { parseTimestamp } from '@turnlog/events';
import { type TimeZone, wallClockText } from '@turnlog/kernel';

export const unknownTime = 'unknown time';

/** Wall-clock times of one zone, for people. */
export class WallClock {
  readonly zone: TimeZone;

  constructor(zone: TimeZone) {
    this.zone = zone;
  }

  /** `YYYY-MM-DD HH:MM:SS` of a stored time; what is unknown is called so. */
  dateTime(ts: string | null): string {
    const ms = ts === null ? null : parseTimestamp(ts);
    return ms === null ? unknownTime : this.#wallTime(ms);
  }

  /** The same of an instant. */
  instant(ms: number): string {
    return this.#wallTime(ms);
  }

  /** `HH:MM:SS` of a stored time. */
  time(ts: string | null): string {
    const text = this.dateTime(ts);
    return text === unknownTime ? text : text.slice(-8);
  }

  #wallTime(ms: number): string {
    const text = wallClockText(ms, this.zone);
    return text === null ? unknownTime : `${text.slice(0, 10)} ${text.slice(11, 19)}`;
  }
}
