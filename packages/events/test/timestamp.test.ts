import fc from 'fast-check';
import { formatTimestamp, parseTimestamp } from '../src/index.js';

const valid: readonly (readonly [title: string, text: string, ms: number])[] = [
  ['C-37 a time of ours', '2026-10-05T08:30:00.125Z', Date.UTC(2026, 9, 5, 8, 30, 0, 125)],
  ['C-37 no fraction', '2026-10-06T07:00:20Z', Date.UTC(2026, 9, 6, 7, 0, 20)],
  ['C-37 a long fraction is cut', '2026-10-05T08:30:00.1259999999Z', Date.UTC(2026, 9, 5, 8, 30, 0, 125)],
  ['C-37 a short fraction', '2026-10-05T08:30:00.5Z', Date.UTC(2026, 9, 5, 8, 30, 0, 500)],
  ['C-37 east of UTC', '2026-10-05T10:30:00+02:00', Date.UTC(2026, 9, 5, 8, 30)],
  ['C-37 west of UTC', '2026-10-04T23:00:00-09:30', Date.UTC(2026, 9, 5, 8, 30)],
  ['C-37 small letters', '2026-10-05t08:30:00z', Date.UTC(2026, 9, 5, 8, 30)],
  ['C-37 29 February of a leap year', '2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['C-37 29 February 2000', '2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
  ['C-37 the epoch', '1970-01-01T00:00:00Z', 0],
  ['C-37 the year 0', '0000-01-01T00:00:00.000Z', -62_167_219_200_000],
  ['C-37 the last millisecond', '9999-12-31T23:59:59.999Z', 253_402_300_799_999],
  ['C-37 a leap second', '2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
];

test.each(valid)('%s is read', (_title, text, ms) => {
  expect(parseTimestamp(text)).toBe(ms);
});

const invalid: readonly (readonly [title: string, text: string])[] = [
  ['C-37 30 February', '2026-02-30T10:00:00.000Z'],
  ['C-37 29 February of a common year', '2026-02-29T10:00:00.000Z'],
  ['C-37 29 February 1900', '1900-02-29T10:00:00.000Z'],
  ['C-37 31 April', '2026-04-31T10:00:00.000Z'],
  ['C-37 month 13', '2026-13-01T10:00:00.000Z'],
  ['C-37 month 0', '2026-00-01T10:00:00.000Z'],
  ['C-37 day 0', '2026-01-00T10:00:00.000Z'],
  ['C-37 hour 24', '2026-01-01T24:00:00.000Z'],
  ['C-37 minute 60', '2026-01-01T10:60:00.000Z'],
  ['C-37 a leap second in mid-day', '2026-01-01T10:00:60Z'],
  ['C-37 second 61', '2016-12-31T23:59:61Z'],
  ['C-37 no offset', '2026-01-01T10:00:00.000'],
  ['C-37 a day only', '2026-01-01'],
  ['C-37 a blank for the T', '2026-01-01 10:00:00Z'],
  ['C-37 a dot without digits', '2026-01-01T10:00:00.Z'],
  ['C-37 an offset without colon', '2026-01-01T10:00:00+0200'],
  ['C-37 an offset of 24 hours', '2026-01-01T10:00:00+24:00'],
  ['C-37 text behind', '2026-01-01T10:00:00Z '],
  ['C-37 text in front', ' 2026-01-01T10:00:00Z'],
  ['C-37 letters', 'yesterday'],
  ['C-37 nothing', ''],
];

test.each(invalid)('%s is no time', (_title, text) => {
  expect(parseTimestamp(text)).toBeNull();
});

test('times are written as ISO with milliseconds and read back', () => {
  const times = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 });
  fc.assert(
    fc.property(fc.array(times), (list) => {
      for (const ms of list) {
        const text = formatTimestamp(ms);
        expect(text).toBe(new Date(ms).toISOString());
        expect(parseTimestamp(text)).toBe(ms);
      }
    }),
  );
});

test('a time that has no 24 characters becomes the nearest that has', () => {
  expect(formatTimestamp(8.64e15)).toBe('9999-12-31T23:59:59.999Z');
  expect(formatTimestamp(-8.64e15)).toBe('0000-01-01T00:00:00.000Z');
  expect(formatTimestamp(Number.POSITIVE_INFINITY)).toBe('9999-12-31T23:59:59.999Z');
  expect(formatTimestamp(Number.NaN)).toBe('1970-01-01T00:00:00.000Z');
  expect(formatTimestamp(1.9)).toBe('1970-01-01T00:00:00.001Z');
});
