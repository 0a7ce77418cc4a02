import type { Brand } from './brand.js';
import { limits } from './limits.js';
import { TurnlogError } from './turnlog-error.js';

/** The name of a time zone that this system knows; see `parseTimeZone`. */
export type TimeZone = Brand<string, 'TimeZone'>;

/** A day of a zone as instants: `startMs` is its first, `endMs` that of the next day. */
export interface DayRange {
  readonly startMs: number;
  readonly endMs: number;
}

/** Who named a zone decides whose mistake an unknown one is. */
export type TimeZoneSource = 'flag' | 'config';

/**
 * A zone by its name.
 *
 * @throws TURNLOG_BAD_FLAG or TURNLOG_BAD_CONFIG when this system knows none of that name; details: zone.
 */
export function parseTimeZone(name: string, source: TimeZoneSource): TimeZone {
  if (isTimeZone(name)) return name;
  throw new TurnlogError(source === 'flag' ? 'TURNLOG_BAD_FLAG' : 'TURNLOG_BAD_CONFIG', {
    details: { zone: name },
    message: `there is no time zone ${JSON.stringify(name)}; use a name such as Europe/Berlin or UTC`,
  });
}

/** Whether this system knows a zone of that name. */
export function isTimeZone(name: string): name is TimeZone {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The zone of this system. */
export function systemTimeZone(): TimeZone {
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return isTimeZone(name) ? name : utc;
}

/** Coordinated universal time, which every system knows. */
export const utc: TimeZone = 'UTC' as TimeZone;

/** The date of an instant in a zone, `YYYY-MM-DD`. The one way from an instant to a day. */
export function dayOf(tsMs: number, zone: TimeZone): string {
  return dateText(wallMs(tsMs, zone));
}

/**
 * What a clock of the zone shows at an instant, in RFC 3339 with milliseconds and the zone's offset, which is `Z` in
 * universal time alone. Its first ten characters are the day. Null for years that have no four digits.
 */
export function wallClockText(tsMs: number, zone: TimeZone): string | null {
  const wall = wallMs(tsMs, zone);
  const text = new Date(wall + (tsMs - Math.floor(tsMs / 1_000) * 1_000)).toISOString();
  if (!/^\d{4}-/.test(text)) return null;
  return zone === utc ? text : text.replace('Z', offsetText(wall - Math.floor(tsMs / 1_000) * 1_000));
}

/** To the minute, as the form has no seconds: the few zones that had them gave them up before 1973. */
function offsetText(offsetMs: number): string {
  const minutes = Math.trunc(Math.abs(offsetMs) / 60_000);
  const sign = offsetMs < 0 ? '-' : '+';
  return `${sign}${padded(Math.trunc(minutes / 60), 2)}:${padded(minutes % 60, 2)}`;
}

/**
 * The instants of a day in a zone, of 23 and 25 hours where the clock was changed; a day that a zone left out
 * is empty. In the few nights in which a clock went back over midnight a day begins where its date first shows.
 * Null when `day` is no `YYYY-MM-DD` of the calendar.
 */
export function rangeOfDay(day: string, zone: TimeZone): DayRange | null {
  const midnight = midnightOf(day);
  if (midnight === null) return null;
  return { startMs: firstInstant(midnight, zone), endMs: firstInstant(midnight + dayMs, zone) };
}

/** The day after a day of the calendar; null when `day` is none. */
export function dayAfter(day: string): string | null {
  const midnight = midnightOf(day);
  return midnight === null ? null : dateText(midnight + dayMs);
}

const dayMs = 86_400_000;
const dayForm = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Midnight of a date as if its clock showed universal time. */
function midnightOf(day: string): number | null {
  const found = dayForm.exec(day);
  if (found === null) return null;
  const ms = wallFrom(Number(found[1]), Number(found[2]), Number(found[3]));
  return dateText(ms) === day ? ms : null;
}

function wallFrom(year: number, month: number, day: number): number {
  // Date.UTC takes the years 0 to 99 for those of the last century.
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

function dateText(wall: number): string {
  const date = new Date(wall);
  const year = date.getUTCFullYear();
  const text = year < 0 ? `-${padded(-year, 6)}` : padded(year, 4);
  return `${text}-${padded(date.getUTCMonth() + 1, 2)}-${padded(date.getUTCDate(), 2)}`;
}

function padded(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** Zones in use at a time are few; the bound keeps names from data from filling the memory. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: TimeZone): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  if (formats.size >= limits.timeZonesMax) formats.clear();
  const made = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, made);
  return made;
}

/** What a clock of the zone shows at an instant, as if it showed universal time; parts of a second are dropped. */
function wallMs(tsMs: number, zone: TimeZone): number {
  const second = Math.floor(tsMs / 1_000) * 1_000;
  if (zone === utc) return second;
  const parts = new Map<string, string>();
  for (const { type, value } of formatOf(zone).formatToParts(second)) parts.set(type, value);
  const number = (name: string): number => Number(parts.get(name));
  const year = parts.get('era')?.startsWith('B') === true ? 1 - number('year') : number('year');
  const time = (number('hour') * 60 + number('minute')) * 60 + number('second');
  return wallFrom(year, number('month'), number('day')) + time * 1_000;
}

/** A zone lies less than this far from universal time. */
const offsetMsMax = 26 * 3_600_000;
const sampleMs = 6 * 3_600_000;

/** The first instant at which a clock of the zone shows `midnight` or later. */
function firstInstant(midnight: number, zone: TimeZone): number {
  const offsets = new Set<number>();
  for (let at = midnight - offsetMsMax; at <= midnight + offsetMsMax; at += sampleMs) {
    offsets.add(wallMs(at, zone) - at);
  }
  const showing = [...offsets]
    .map((offset) => midnight - offset)
    .filter((instant) => wallMs(instant, zone) === midnight);
  return showing.length > 0 ? Math.min(...showing) : firstBehindGap(midnight, zone);
}

/** As `firstInstant`, where no clock ever showed midnight because it was put forward over it. */
function firstBehindGap(midnight: number, zone: TimeZone): number {
  let low = midnight - offsetMsMax;
  let high = midnight + offsetMsMax;
  while (low < high) {
    const middle = Math.floor((low + high) / 2_000) * 1_000;
    if (wallMs(middle, zone) < midnight) low = middle + 1_000;
    else high = middle;
  }
  return low;
}
