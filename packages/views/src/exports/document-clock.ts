import { parseTimestamp } from '@turnlog/events';
import { type TimeZone, utc, wallClockText } from '@turnlog/kernel';

const unknown = 'unknown time';

/** Times of records as a document shows them: those of one zone, whose days are those of lists and statistics. */
export class DocumentClock {
  readonly zone: TimeZone;

  constructor(zone: TimeZone = utc) {
    this.zone = zone;
  }

  /** RFC 3339 with the offset of the zone. */
  exact(ts: string | null): string {
    return this.#text(ts) ?? unknown;
  }

  /** `HH:MM:SS`. */
  time(ts: string | null): string {
    return this.#text(ts)?.slice(11, 19) ?? unknown;
  }

  /** Day, hour and minute, with the name of the zone: enough for a heading, the seconds stand with each record. */
  minutes(ts: string | null): string {
    const text = this.#text(ts);
    return text === null ? unknown : `${text.slice(0, 10)} ${text.slice(11, 16)} ${this.zone}`;
  }

  #text(ts: string | null): string | null {
    if (ts === null || this.zone === utc) return ts;
    const ms = parseTimestamp(ts);
    return ms === null ? null : wallClockText(ms, this.zone);
  }
}
