import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  dayAfter,
  dayOf,
  isTimeZone,
  parseTimeZone,
  rangeOfDay,
  systemTimeZone,
  type TimeZone,
  wallClockText,
} from '@turnlog/kernel';
import fc from 'fast-check';

const zone = (name: string): TimeZone => parseTimeZone(name, 'flag');
const at = (text: string): number => Date.parse(text);
const hours = (day: string, name: string): number => {
  const range = rangeOfDay(day, zone(name));
  return range === null ? Number.NaN : (range.endMs - range.startMs) / 3_600_000;
};

// The days of the failure log come with the specifications; a plain checkout does not have them.
const cases = join(__dirname, '../../../../shared/cases/B96-time-zones');
const instants = [
  '2026-01-25T04:08:00.000Z',
  '2026-01-25T07:59:59.999Z',
  '2026-01-25T08:00:00.000Z',
  '2026-03-08T09:30:00.000Z',
  '2026-03-08T10:30:00.000Z',
  '2026-03-29T00:30:00.000Z',
  '2026-03-29T01:30:00.000Z',
  '2026-10-25T00:30:00.000Z',
  '2026-10-25T01:30:00.000Z',
];
const expected: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'America/Los_Angeles': {
    '2026-01-24': 2,
    '2026-01-25': 1,
    '2026-03-08': 2,
    '2026-03-28': 2,
    '2026-10-24': 2,
  },
  UTC: { '2026-01-25': 3, '2026-03-08': 2, '2026-03-29': 2, '2026-10-25': 2 },
  'Europe/Berlin': { '2026-01-25': 3, '2026-03-08': 2, '2026-03-29': 2, '2026-10-25': 2 },
};

test.each(Object.entries(expected))('B96 the days of %s', (name, days) => {
  const counts: Record<string, number> = {};
  for (const instant of instants) {
    const day = dayOf(at(instant), zone(name));
    counts[day] = (counts[day] ?? 0) + 1;
  }
  expect(counts).toEqual(days);
});

test('B96 the table of this test is that of the case', () => {
  if (!existsSync(cases)) return;
  const read = (name: string): string => readFileSync(join(cases, name), 'utf8');
  expect(JSON.parse(read('expected.json'))).toMatchObject(expected);
  const stored = read('events.jsonl').trimEnd().split('\n');
  expect(stored.map((line) => (JSON.parse(line) as { ts: string }).ts)).toEqual(instants);
});

const lengths: readonly (readonly [title: string, day: string, name: string, hours: number])[] = [
  ['B97 put forward in spring', '2026-03-08', 'America/Los_Angeles', 23],
  ['B97 put back in autumn', '2026-11-01', 'America/Los_Angeles', 25],
  ['B97 put forward in spring, Europe', '2026-03-29', 'Europe/Berlin', 23],
  ['B97 put back in autumn, Europe', '2026-10-25', 'Europe/Berlin', 25],
  ['B97 half an hour', '2026-04-05', 'Australia/Lord_Howe', 24.5],
  ['B97 midnight left out', '2018-11-04', 'America/Sao_Paulo', 23],
  ['B97 a day left out', '2011-12-30', 'Pacific/Apia', 0],
  ['B97 put back over midnight, the day before', '2006-10-28', 'America/St_Johns', 24],
  ['B97 put back over midnight, the day itself', '2006-10-29', 'America/St_Johns', 25],
  ['B97 no change', '2026-06-01', 'Asia/Kathmandu', 24],
  ['B97 a zone of seconds', '1880-01-01', 'Europe/Amsterdam', 24],
];

test.each(lengths)('%s: %s in %s has %d hours', (_title, day, name, length) => {
  expect(hours(day, name)).toBe(length);
});

test('a day begins where it does, to the millisecond', () => {
  expect(rangeOfDay('2026-01-25', zone('America/Los_Angeles'))).toEqual({
    startMs: at('2026-01-25T08:00:00.000Z'),
    endMs: at('2026-01-26T08:00:00.000Z'),
  });
  // No clock showed midnight: the day begins at one.
  expect(rangeOfDay('2018-11-04', zone('America/Sao_Paulo'))?.startMs).toBe(at('2018-11-04T03:00:00.000Z'));
});

const allZones = Intl.supportedValuesOf('timeZone');
const anyZone = fc.constantFrom(...allZones, 'UTC', 'Etc/GMT+12').map(zone);
const anyInstant = fc.integer({ min: at('1900-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });

test('the day of an instant is the one that Intl shows, for 200 zones and instants', () => {
  fc.assert(
    fc.property(anyZone, anyInstant, (name, instant) => {
      // Another calendar, locale and order of parts than the helper asks for.
      const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short' }).format(instant);
      expect(dayOf(instant, name)).toBe(shown);
    }),
    { numRuns: 200 },
  );
});

test('the days of a zone follow one another without gap or overlap, and hold their instants', () => {
  // Nights in which a clock went back over midnight are left out: their dates show twice.
  fc.assert(
    fc.property(
      anyZone,
      fc.integer({ min: at('2012-01-01T00:00:00Z'), max: at('2037-01-01T00:00:00Z') }),
      (name, instant) => {
        const day = dayOf(instant, name);
        const range = rangeOfDay(day, name);
        const next = rangeOfDay(dayAfter(day) ?? '', name);
        expect(range).not.toBeNull();
        expect(range?.endMs).toBe(next?.startMs);
        expect(instant).toBeGreaterThanOrEqual(range?.startMs ?? Number.POSITIVE_INFINITY);
        expect(instant).toBeLessThan(range?.endMs ?? Number.NEGATIVE_INFINITY);
        expect(dayOf(range?.startMs ?? 0, name)).toBe(day);
        expect(dayOf((range?.startMs ?? 0) - 1, name) < day).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

test('years before the first and with fewer than four digits', () => {
  const first = at('0000-01-01T00:00:00Z');
  expect(dayOf(first, zone('UTC'))).toBe('0000-01-01');
  expect(dayOf(first - 1, zone('UTC'))).toBe('-000001-12-31');
  expect(rangeOfDay('0099-12-31', zone('UTC'))).toEqual({
    startMs: at('0099-12-31T00:00:00Z'),
    endMs: at('0100-01-01T00:00:00Z'),
  });
});

test.each(['', '2026-02-30', '2026-13-01', '2026-1-1', '2026-01-01T00:00:00Z', 'today', ' 2026-01-01'])(
  '%j is no day',
  (day) => {
    expect(rangeOfDay(day, zone('UTC'))).toBeNull();
    expect(dayAfter(day)).toBeNull();
  },
);

test('an unknown zone is refused by whoever named it', () => {
  for (const name of ['', 'Nowhere/Land', 'UTC ', '../etc', '__proto__', 'Europe/Berlin\n']) {
    expect(isTimeZone(name)).toBe(false);
    const details = { zone: name };
    expect(() => parseTimeZone(name, 'flag')).toThrow(
      expect.objectContaining({ code: 'TURNLOG_BAD_FLAG', details }),
    );
    expect(() => parseTimeZone(name, 'config')).toThrow(
      expect.objectContaining({ code: 'TURNLOG_BAD_CONFIG', details }),
    );
  }
  expect(parseTimeZone('europe/berlin', 'flag')).toBe('europe/berlin');
});

test('the zone of the system is one that it knows', () => {
  expect(isTimeZone(systemTimeZone())).toBe(true);
});

test('more zones than are remembered give the same days', () => {
  const instant = at('2026-01-25T04:08:00.000Z');
  const days = allZones.map((name) => dayOf(instant, zone(name)));
  expect(allZones.map((name) => dayOf(instant, zone(name)))).toEqual(days);
});

test('what a clock shows names the instant: it reads back as the same one, on the day of the zone', () => {
  const recent = fc.integer({ min: at('1973-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });
  fc.assert(
    fc.property(anyZone, recent, (name, instant) => {
      const text = wallClockText(instant, name) ?? '';
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)$/);
      expect(Date.parse(text)).toBe(instant);
      expect(text.slice(0, 10)).toBe(dayOf(instant, name));
      expect(text.slice(11, 19)).toBe(
        new Intl.DateTimeFormat('sv-SE', { timeZone: name, timeStyle: 'medium' }).format(instant),
      );
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['2026-03-08T09:59:59.999Z', 'America/Los_Angeles', '2026-03-08T01:59:59.999-08:00'],
  ['2026-03-08T10:00:00.000Z', 'America/Los_Angeles', '2026-03-08T03:00:00.000-07:00'],
  ['2026-01-05T10:00:00.000Z', 'UTC', '2026-01-05T10:00:00.000Z'],
  ['2026-01-05T10:00:00.000Z', 'Europe/London', '2026-01-05T10:00:00.000+00:00'],
  ['2026-01-05T10:00:00.001Z', 'Asia/Kathmandu', '2026-01-05T15:45:00.001+05:45'],
  ['1969-12-31T23:59:59.999Z', 'Asia/Tokyo', '1970-01-01T08:59:59.999+09:00'],
  ['9999-12-31T23:00:00.000Z', 'Asia/Tokyo', null],
])('at %s a clock of %s shows %s', (instant, name, shown) => {
  expect(wallClockText(at(instant), zone(name))).toBe(shown);
});
