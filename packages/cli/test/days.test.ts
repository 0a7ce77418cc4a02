import fc from 'fast-check';
import { caseBytes, TestProgram } from './support.js';

type Days = Readonly<Record<string, number>>;

const folder = 'B96-time-zones';
const expected: Readonly<Record<string, Days>> = {
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

function counted(days: Iterable<string>): Days {
  const counts: Record<string, number> = {};
  for (const day of days) counts[day] = (counts[day] ?? 0) + 1;
  return counts;
}

function sum(days: Days): number {
  return Object.values(days).reduce((total, count) => total + count, 0);
}

const lineAt = (seq: number, ts: string): string =>
  `${JSON.stringify({ schema_version: '0.18.0', seq, ts, event: { type: 'item.completed', item: { id: `i${seq}`, type: 'agent_message', text: 'r' } } })}\n`;

const isoOf = (instant: number): string => new Date(instant).toISOString();

/** All records in the session `all`, and each in one of its own: a list has one day for each session. */
function planted(instants: readonly string[], all: string | Uint8Array = ''): TestProgram {
  const program = new TestProgram();
  instants.forEach((ts, index) => {
    program.plant(`one-${index}`, lineAt(1, ts));
  });
  const sorted = [...instants].sort();
  program.plant('all', all.length > 0 ? all : sorted.map((ts, index) => lineAt(index + 1, ts)).join(''));
  return program;
}

async function printed(program: TestProgram, argv: readonly string[]): Promise<string> {
  const { exit, stdout, stderr } = await program.run(argv, { columns: 200 });
  // A day without records is a negative result of `show`.
  if (exit > 1) throw new Error(stderr);
  return stdout;
}

/** Every record holds one of these. */
const words = 'r r1 r2 r3 r4 r5 r6 r7 r8 r9';

interface Facet {
  readonly value: string;
  readonly count: number;
}

interface Row {
  readonly day: string;
  readonly session: string;
  readonly events: number;
}

/** Every way that names days, as days and their counts. A new way joins here, and is held to all that follows. */
const surfaces: Readonly<Record<string, (program: TestProgram, zone: string) => Promise<Days>>> = {
  'stats for programs': async (program, zone) => {
    const argv = ['stats', '--by', 'session,day', '--tz', zone, '--json'];
    const { rows }: { readonly rows: readonly Row[] } = JSON.parse(await printed(program, argv));
    const ofAll = rows.filter(({ session }) => session === 'all');
    return Object.fromEntries(ofAll.map(({ day, events }) => [day, events]));
  },
  'stats for people, by the sessions of a day': async (program, zone) => {
    const text = await printed(program, ['stats', '--by', 'day,session', '--tz', zone]);
    expect(text.split('\n')[0]).toContain(`(${zone})`);
    return counted([...text.matchAll(/^(\d{4}-\d\d-\d\d) +one-/gm)].map(([, day = '']) => day));
  },
  list: async (program, zone) => {
    const text = await printed(program, ['sessions', '--tz', zone, '--limit', '1000']);
    expect(text.split('\n')[0]).toContain(`(${zone})`);
    return counted([...text.matchAll(/^one-.* (\d{4}-\d\d-\d\d) \d\d:/gm)].map(([, day = '']) => day));
  },
  'facets of a search': async (program, zone) => {
    const argv = ['search', words, '--session', 'all', '--facets', '--limit', '0', '--tz', zone, '--json'];
    const { facets }: { readonly facets: { readonly day: readonly Facet[] } } = JSON.parse(
      await printed(program, argv),
    );
    return Object.fromEntries(facets.day.map(({ value, count }) => [value, count] as const).sort());
  },
  'export as Markdown': async (program, zone) => {
    const text = await printed(program, ['export', 'all', '--tz', zone]);
    return counted([...text.matchAll(/<sub>#\d+ · (\d{4}-\d\d-\d\d)T/g)].map(([, day = '']) => day));
  },
  'export as a page': async (program, zone) => {
    const text = await printed(program, ['export', 'all', '--format', 'html', '--tz', zone]);
    expect(text).toMatch(new RegExp(`<dd>[-0-9]{10} [0-9:]{5} ${zone}</dd>`));
    return counted([...text.matchAll(/title="(\d{4}-\d\d-\d\d)T/g)].map(([, day = '']) => day));
  },
};

/** Ways that are asked for a day, and say how much of it there is. */
const filters: Readonly<
  Record<string, (program: TestProgram, zone: string, day: string) => Promise<number>>
> = {
  show: async (program, zone, day) => {
    const argv = ['show', 'all', '--since', day, '--until', day, '--tz', zone, '--json'];
    return JSON.parse(await printed(program, argv)).records.length;
  },
  stats: async (program, zone, day) => {
    const argv = ['stats', '--by', 'session', '--since', day, '--until', day, '--tz', zone, '--json'];
    const { rows }: { readonly rows: readonly Row[] } = JSON.parse(await printed(program, argv));
    return rows.find(({ session }) => session === 'all')?.events ?? 0;
  },
  search: async (program, zone, day) => {
    const span = ['--since', day, '--until', day, '--tz', zone];
    const argv = ['search', words, '--session', 'all', ...span, '--limit', '0', '--json'];
    return JSON.parse(await printed(program, argv)).total.value;
  },
  list: async (program, zone, day) => {
    const from = async (since: string): Promise<number> => {
      const argv = ['sessions', '--since', since, '--tz', zone, '--limit', '1000', '--json'];
      const { sessions } = JSON.parse(await printed(program, argv));
      return sessions.filter(({ id }: { readonly id: string }) => id !== 'all').length;
    };
    const next = isoOf(Date.parse(`${day}T00:00:00Z`) + 86_400_000).slice(0, 10);
    return (await from(day)) - (await from(next));
  },
};

function caseInstants(): readonly string[] {
  const lines = caseBytes(folder, 'events.jsonl').toString().trimEnd().split('\n');
  return lines.map((text): string => JSON.parse(text).ts);
}

test.each(Object.entries(expected))(
  'I-17, B96: every way names the same days of %s, and they sum to all records',
  async (zone, days) => {
    expect(sum(days)).toBe(caseInstants().length);
    const program = planted(caseInstants(), caseBytes(folder, 'events.jsonl'));
    for (const [name, daysOf] of Object.entries(surfaces)) {
      expect([name, await daysOf(program, zone)]).toEqual([name, days]);
    }
    const around = Object.keys(days).flatMap((day) =>
      [-1, 0, 1].map((step) => isoOf(Date.parse(`${day}T12:00:00Z`) + step * 86_400_000).slice(0, 10)),
    );
    for (const [name, countOf] of Object.entries(filters)) {
      for (const day of new Set(around)) {
        expect([name, day, await countOf(program, zone, day)]).toEqual([name, day, days[day] ?? 0]);
      }
    }
  },
);

test('I-17 200 random zones and instants: every way names the day that Intl shows', async () => {
  const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
  const anyInstant = fc
    .integer({ min: Date.parse('2000-01-01T00:00:00Z'), max: Date.parse('2099-12-31T00:00:00Z') })
    .map(isoOf);
  await fc.assert(
    fc.asyncProperty(anyZone, anyInstant, async (zone, instant) => {
      const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
      const day = shown.format(Date.parse(instant));
      const program = planted([instant]);
      for (const [name, daysOf] of Object.entries(surfaces)) {
        expect([name, await daysOf(program, zone)]).toEqual([name, { [day]: 1 }]);
      }
      for (const [name, countOf] of Object.entries(filters)) {
        expect([name, await countOf(program, zone, day)]).toEqual([name, 1]);
      }
    }),
    { numRuns: 200 },
  );
}, 120_000);

const oddDays: readonly (readonly [day: string, zone: string, hours: number, first: string, next: string])[] =
  [
    ['2026-03-08', 'America/Los_Angeles', 23, '2026-03-08T08:00:00.000Z', '2026-03-09T07:00:00.000Z'],
    ['2026-11-01', 'America/Los_Angeles', 25, '2026-11-01T07:00:00.000Z', '2026-11-02T08:00:00.000Z'],
    ['2026-03-29', 'Europe/Berlin', 23, '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25', 'Europe/Berlin', 25, '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['2026-01-05', 'UTC', 24, '2026-01-05T00:00:00.000Z', '2026-01-06T00:00:00.000Z'],
  ];

test.each(oddDays)(
  'B97: %s in %s has %d hours to the millisecond, every way',
  async (day, zone, hours, first, next) => {
    const [start, end] = [Date.parse(first), Date.parse(next)];
    expect((end - start) / 3_600_000).toBe(hours);
    const program = planted([start - 1, start, end - 1, end].map(isoOf));
    for (const [name, daysOf] of Object.entries(surfaces)) {
      expect([name, Object.values(await daysOf(program, zone))]).toEqual([name, [1, 2, 1]]);
      expect([name, (await daysOf(program, zone))[day]]).toEqual([name, 2]);
    }
    for (const [name, countOf] of Object.entries(filters)) {
      expect([name, await countOf(program, zone, day)]).toEqual([name, 2]);
    }
  },
);

test('a time long ago is before everything, however long', async () => {
  const program = planted(['2026-01-05T10:00:00.000Z']);
  for (const ago of ['36500d', '999999999d', '999999999h']) {
    const { total } = JSON.parse(await printed(program, ['stats', '--since', ago, '--json']));
    expect([ago, total.events]).toEqual([ago, 2]);
    expect(await printed(program, ['stats', '--since', ago])).not.toContain('unknown time');
  }
});
