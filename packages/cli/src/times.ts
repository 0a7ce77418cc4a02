import { parseTimestamp } from '@turnlog/events';
import { rangeOfDay, type TimeZone } from '@turnlog/kernel';

export const unknownTime = 'unknown time';

/** Wall-clock times of one zone, for people. */
export class WallClock {
  readonly zone: TimeZone;
  readonly #format: Intl.DateTimeFormat;

  constructor(zone: TimeZone) {
    this.zone = zone;
    this.#format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
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
    const parts = new Map(this.#format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const date = `${padded(parts.get('year'), 4)}-${padded(parts.get('month'), 2)}-${padded(parts.get('day'), 2)}`;
    return `${date} ${padded(parts.get('hour'), 2)}:${padded(parts.get('minute'), 2)}:${padded(parts.get('second'), 2)}`;
  }
}

function padded(text: string | undefined, width: number): string {
  return (text ?? '').padStart(width, '0');
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `90d`, `24h`, `30m`, `10s`; null for anything else. */
export function parseDuration(text: string): number | null {
  const found = /^(\d{1,9})([smhd])$/.exec(text);
  if (found === null) return null;
  return Number(found[1]) * (unitMs[found[2] ?? ''] ?? 0);
}

/** A moment as a flag names it: an instant, a day, or a time before now. */
export type Moment =
  | { readonly kind: 'instant'; readonly ms: number }
  | { readonly kind: 'day'; readonly day: string }
  | { readonly kind: 'ago'; readonly ms: number };

export function parseMoment(text: string): Moment | null {
  const agoMs = parseDuration(text);
  if (agoMs !== null) return { kind: 'ago', ms: agoMs };
  const ms = parseTimestamp(text);
  if (ms !== null) return { kind: 'instant', ms };
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== null;
  return isDay ? { kind: 'day', day: text } : null;
}

/** The instant a moment means, in milliseconds since the epoch. As an end, a day includes itself. */
export function instantOf(moment: Moment, as: 'start' | 'end', clock: WallClock, nowMs: number): number {
  if (moment.kind === 'instant') return moment.ms;
  if (moment.kind === 'ago') return nowMs - moment.ms;
  // Days of the calendar only: `parseMoment` has seen to that.
  const range = rangeOfDay(moment.day, clock.zone);
  return (as === 'start' ? range?.startMs : range?.endMs) ?? 0;
}
