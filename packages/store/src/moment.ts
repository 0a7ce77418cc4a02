import { parseTimestamp } from '@turnlog/events';
import { limits, rangeOfDay, type TimeZone } from '@turnlog/kernel';

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `90d`, `24h`, `30m`, `10s`; null for anything else. */
export function parseDuration(text: string): number | null {
  const found = /^(\d{1,9})([smhd])$/.exec(text);
  if (found === null) return null;
  return Number(found[1]) * (unitMs[found[2] ?? ''] ?? 0);
}

/** A moment as people name it: an instant, a day, or a time before now. */
export type Moment =
  | { readonly kind: 'instant'; readonly ms: number }
  | { readonly kind: 'day'; readonly day: string }
  | { readonly kind: 'ago'; readonly ms: number };

/** The moment in `2026-10-05T08:00:00Z`, `2026-10-05`, `7d`; null for anything else. */
export function parseMoment(text: string): Moment | null {
  const agoMs = parseDuration(text);
  if (agoMs !== null) return { kind: 'ago', ms: agoMs };
  const ms = parseTimestamp(text);
  if (ms !== null) return { kind: 'instant', ms };
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== null;
  return isDay ? { kind: 'day', day: text } : null;
}

const agoMsMax = limits.agoDaysMax * 86_400_000;

/** The instant a moment means, in milliseconds since the epoch. As an end, a day includes itself. */
export function instantOf(moment: Moment, as: 'start' | 'end', zone: TimeZone, nowMs: number): number {
  if (moment.kind === 'instant') return moment.ms;
  if (moment.kind === 'ago') return nowMs - Math.min(moment.ms, agoMsMax);
  // Days of the calendar only: `parseMoment` has seen to that.
  const range = rangeOfDay(moment.day, zone);
  return (as === 'start' ? range?.startMs : range?.endMs) ?? 0;
}
