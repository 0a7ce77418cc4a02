/**
 * Times of a log. Written: `YYYY-MM-DDTHH:MM:SS.mmmZ`, 24 characters, UTC. Read: any RFC 3339 date-time of a
 * real calendar day with an offset. The calendar is reckoned here, because `Date.parse` takes 30 February.
 */

const dayMs = 86_400_000;
const daysBeforeEpoch = 719_528;
const yearMax = 9_999;
/** 0000-01-01T00:00:00.000Z and the last millisecond of the year 9999: what 24 characters can hold. */
const earliestMs: number = -62_167_219_200_000;
const latestMs = 253_402_300_799_999;

const zero = 0x30;

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

const monthLengths: readonly number[] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const daysBeforeMonth: readonly number[] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

function isCalendarDay(year: number, month: number, day: number): boolean {
  const length = month === 2 && isLeapYear(year) ? 29 : monthLengths[month - 1];
  return length !== undefined && day >= 1 && day <= length;
}

/** Days from 1970-01-01 to a real calendar day of the years 0 to 9999. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const leapYearsBefore =
    year === 0
      ? 0
      : Math.floor((year - 1) / 4) - Math.floor((year - 1) / 100) + Math.floor((year - 1) / 400) + 1;
  const leapDay = month > 2 && isLeapYear(year) ? 1 : 0;
  const daysBeforeThisMonth = daysBeforeMonth[month - 1] ?? 0;
  return year * 365 + leapYearsBefore + daysBeforeThisMonth + leapDay + day - 1 - daysBeforeEpoch;
}

/** The number that `count` digits at `at` form; NaN when one of them is no digit. */
function digitsAt(text: string, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index += 1) {
    const digit = text.charCodeAt(index) - zero;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function isSeparated(text: string): boolean {
  const separator = text.charCodeAt(10) | 0x20;
  return (
    text.charCodeAt(4) === 0x2d &&
    text.charCodeAt(7) === 0x2d &&
    separator === 0x74 &&
    text.charCodeAt(13) === 0x3a &&
    text.charCodeAt(16) === 0x3a
  );
}

/** The offset that fills the rest of `text` from `at`, in minutes east of UTC; NaN when there is none. */
function offsetMinutesAt(text: string, at: number): number {
  const sign = text.charCodeAt(at);
  if (sign === 0x5a || sign === 0x7a) return text.length === at + 1 ? 0 : Number.NaN;
  if ((sign !== 0x2b && sign !== 0x2d) || text.length !== at + 6) return Number.NaN;
  if (text.charCodeAt(at + 3) !== 0x3a) return Number.NaN;
  const hours = digitsAt(text, at + 1, 2);
  const minutes = digitsAt(text, at + 4, 2);
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN;
  return (hours * 60 + minutes) * (sign === 0x2d ? -1 : 1);
}

/** Where the fraction that may stand at 19 ends; -1 when it has a dot without digits. */
function fractionEnd(text: string): number {
  if (text.charCodeAt(19) !== 0x2e) return 19;
  let at = 20;
  while (Number.isFinite(digitsAt(text, at, 1))) at += 1;
  return at === 20 ? -1 : at;
}

function millisecondsOf(text: string, end: number): number {
  let value = 0;
  for (let index = 20; index < 23; index += 1)
    value = value * 10 + (index < end ? text.charCodeAt(index) - zero : 0);
  return value;
}

/** Whether second 60 is one that RFC 3339 allows: the last of a day in UTC. */
function isLeapSecond(minuteMs: number): boolean {
  return ((minuteMs % dayMs) + dayMs) % dayMs === dayMs - 60_000;
}

/** The form that we write, and how much of it goes up to the minute, with its colon. */
const writtenLength = 24;
const minuteLength = 17;

/** The minute that was read last: the next record of a log is most often of the same. No text begins with this one. */
const lastMinute = { prefix: 'none so far', ms: 0 };

/** Milliseconds within the minute of a time in the form that we write; negative for any other, and second 60. */
function msInMinute(text: string): number {
  if (text.charCodeAt(19) !== 0x2e || text.charCodeAt(23) !== 0x5a) return -1;
  const second = digitsAt(text, 17, 2);
  const ms = digitsAt(text, 20, 3);
  return second < 60 && ms >= 0 ? second * 1_000 + ms : -1;
}

function parseAny(text: string): number | null {
  if (!isSeparated(text)) return null;
  const year = digitsAt(text, 0, 4);
  const month = digitsAt(text, 5, 2);
  const day = digitsAt(text, 8, 2);
  const hour = digitsAt(text, 11, 2);
  const minute = digitsAt(text, 14, 2);
  const second = digitsAt(text, 17, 2);
  if (!(year <= yearMax && isCalendarDay(year, month, day))) return null;
  if (!(hour <= 23 && minute <= 59 && second <= 60)) return null;
  const end = fractionEnd(text);
  const offsetMinutes = end < 0 ? Number.NaN : offsetMinutesAt(text, end);
  if (Number.isNaN(offsetMinutes)) return null;
  const minuteMs = daysSinceEpoch(year, month, day) * dayMs + (hour * 60 + minute - offsetMinutes) * 60_000;
  if (second === 60 && !isLeapSecond(minuteMs)) return null;
  return minuteMs + second * 1_000 + (end > 19 ? millisecondsOf(text, end) : 0);
}

/**
 * Milliseconds since the epoch of an RFC 3339 date-time with offset on a real calendar day, else null. Digits
 * of the second beyond the third are cut. A leap second reads as the first of the next day.
 */
export function parseTimestamp(text: string): number | null {
  if (text.length === writtenLength && text.startsWith(lastMinute.prefix)) {
    const ms = msInMinute(text);
    if (ms >= 0) return lastMinute.ms + ms;
  }
  const ms = parseAny(text);
  if (ms !== null && text.length === writtenLength && msInMinute(text) >= 0) {
    lastMinute.prefix = text.slice(0, minuteLength);
    lastMinute.ms = ms - msInMinute(text);
  }
  return ms;
}

function padded(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** The text up to the second, with its dot, of the second that was formatted last. */
const lastSecond = { second: Number.NaN, prefix: '' };

function secondPrefix(second: number): string {
  if (second !== lastSecond.second) {
    // toISOString reckons the proleptic Gregorian calendar, which is ours.
    lastSecond.prefix = new Date(second * 1_000).toISOString().slice(0, -4);
    lastSecond.second = second;
  }
  return lastSecond.prefix;
}

/**
 * `YYYY-MM-DDTHH:MM:SS.mmmZ` of milliseconds since the epoch. Parts of a millisecond are cut; times outside of
 * the years 0 to 9999, and NaN, become the nearest time that has 24 characters.
 */
export function formatTimestamp(ms: number): string {
  const whole = Math.floor(Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, earliestMs), latestMs));
  const second = Math.floor(whole / 1_000);
  return `${secondPrefix(second)}${padded(whole - second * 1_000, 3)}Z`;
}
