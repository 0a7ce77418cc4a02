import { formatTimestamp } from '@turnlog/events';
import { readDerived } from '@turnlog/fs';
import { CrashSignal, enumerateDisks } from '@turnlog/testkit';
import {
  collectStatistics,
  parsePrices,
  publishViews,
  type StatsDimension,
  type StatsReport,
  type StatsRequest,
  statsJson,
} from '@turnlog/views';
import fc from 'fast-check';
import { arbitraryLines } from './arbitrary-log.js';
import {
  answer,
  caseLog,
  line,
  logOf,
  TestStore,
  turnCompleted,
  turnStarted,
  usage,
  utc,
  zone,
} from './support.js';

async function storeOf(sessions: Readonly<Record<string, string | Uint8Array>>): Promise<TestStore> {
  const place = await TestStore.make();
  for (const [id, bytes] of Object.entries(sessions)) place.plant(id, bytes);
  return place;
}

function collect(place: TestStore, request: Partial<StatsRequest> = {}): Promise<StatsReport> {
  return collectStatistics(place.store, { zone: utc, ...request });
}

/** Rows as `key: measure`, the key's parts joined. */
function table(
  report: StatsReport,
  measure: (row: StatsReport['rows'][number]) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    report.rows.map((row) => [report.by.map((name) => row.key[name] ?? 'unknown').join(' '), measure(row)]),
  );
}

const tokens = (row: StatsReport['rows'][number]): unknown =>
  row.measures.usage === null ? null : [Number(row.measures.usage.input), Number(row.measures.usage.output)];
const totalTokens = ({ total }: StatsReport): readonly (number | null)[] => [
  total.usage === null ? null : Number(total.usage.input),
  total.usage === null ? null : Number(total.usage.output),
];

const run = (more: object = {}): object => ({ type: 'run.started', program: 'p', cwd: '/srv/a', ...more });

describe('days', () => {
  const zones = ['America/Los_Angeles', 'UTC', 'Europe/Berlin'] as const;

  test.each(zones)('B96 the days of %s, and they add up to the total', async (name) => {
    const log = caseLog('B96-time-zones/events.jsonl') ?? timesLog;
    const report = await collect(await storeOf({ case: log }), { by: ['day'], zone: zone(name) });
    expect(table(report, ({ measures }) => measures.eventCount)).toEqual(expectedDays[name]);
    expect(report.total.eventCount).toBe(9);
  });

  test('B49 unknown times fall into a bucket of their own, never into 1970', async () => {
    const log = caseLog('B49-bad-timestamps/events.jsonl');
    if (log === null) return;
    const place = await storeOf({ case: log });
    const report = await collect(place, { by: ['day'] });
    expect(table(report, ({ measures }) => measures.eventCount)).toEqual({ '2026-01-05': 1, unknown: 7 });
    const json = statsJson(report, formatTimestamp) as { rows: readonly { day: string }[] };
    expect(json.rows.map(({ day }) => day)).toEqual(['2026-01-05', 'unknown']);
    publishViews(place.store, 'case');
    expect(place.json('case', 'activity')).toMatchObject({
      records: [
        [null, 7],
        [expect.any(Number), 1],
      ],
    });
    expect(place.json('case', 'memory')).toMatchObject({ generated_at: '2026-01-05T10:00:08.000Z' });
  });

  test('the sum over days is the total, in any zone and for any logs', async () => {
    const anyZone = fc.constantFrom('UTC', 'America/Los_Angeles', 'Asia/Kathmandu', 'Pacific/Apia').map(zone);
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryLines, { minLength: 1, maxLength: 3 }),
        anyZone,
        async (logs, name) => {
          const place = await storeOf(
            Object.fromEntries(logs.map((lines, index) => [`s-${index}`, lines.join('')])),
          );
          for (const by of [['day'], ['session', 'day'], ['workspace'], ['session']] as const) {
            const { rows, total } = await collect(place, { by, zone: name });
            const sum = (measure: (row: (typeof rows)[number]) => bigint | number): bigint =>
              rows.reduce((before, row) => before + BigInt(measure(row)), 0n);
            expect(sum(({ measures }) => measures.eventCount)).toBe(BigInt(total.eventCount));
            expect(sum(({ measures }) => measures.turnCount)).toBe(BigInt(total.turnCount));
            expect(sum(({ measures }) => measures.callCount)).toBe(BigInt(total.callCount));
            expect(sum(({ measures }) => measures.usage?.input ?? 0)).toBe(total.usage?.input ?? 0n);
            expect(sum(({ measures }) => measures.cost.picodollars ?? 0)).toBe(total.cost.picodollars ?? 0n);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test('since and until cut to the millisecond, also where the view only knows a quarter of an hour', async () => {
    const times = ['10:00:00.000', '10:07:29.999', '10:07:30.000', '10:14:59.999', '10:15:00.000'];
    const lines = times.map((time, index) =>
      line(index + 1, { type: 'error', message: 'x' }, `2026-01-05T${time}Z`),
    );
    const place = await storeOf({
      case: [...lines, line(6, { type: 'error', message: 'x' }, null)].join(''),
    });
    const count = async (since: string | null, until: string | null): Promise<number> => {
      const at = (time: string | null): number | null =>
        time === null ? null : Date.parse(`2026-01-05T${time}Z`);
      return (await collect(place, { since: at(since), until: at(until) })).total.eventCount;
    };
    expect(await count(null, null)).toBe(6);
    expect(await count('10:07:30.000', null)).toBe(3);
    expect(await count('10:07:30.001', null)).toBe(2);
    expect(await count(null, '10:07:30.000')).toBe(2);
    expect(await count('10:00:00.001', '10:14:59.999')).toBe(2);
    expect(await count('10:15:00.000', '10:15:00.001')).toBe(1);
    const report = await collect(place, { since: 0 });
    expect([report.total.eventCount, report.unknownTime.eventCount]).toEqual([5, 1]);
  });

  test('a span counts only sessions that have something inside of it, and says nothing of the others', async () => {
    const end = { type: 'thread.completed', thread_id: 't', session_id: 'early', subtype: 'success' };
    const ended = { ...end, outcome_code: 'success', usage: usage(99, 9), num_turns: 1 };
    const early = logOf([turnStarted, turnCompleted(10, 1), ended]);
    const child = [run({ parent: { session: 'early' } }), turnStarted, turnCompleted(5, 2)];
    const place = await storeOf({
      early,
      later: logOf(child).replaceAll('2026-01-05', '2026-01-06'),
      timeless: line(1, { type: 'error', message: 'x' }, null),
    });
    const since = Date.parse('2026-01-06T00:00:00Z');
    const all = await collect(place, { by: ['session'] });
    expect([all.sessionCount, all.differences.length]).toEqual([3, 1]);
    const apart = await collect(place, { by: ['session'], since });
    expect(apart.rows.map(({ key, sessionCount }) => [key.session, sessionCount])).toEqual([['later', 1]]);
    expect([apart.sessionCount, apart.differences, apart.unknownTime.eventCount]).toEqual([1, [], 1]);
    const before = await collect(place, { by: ['day'], until: since });
    expect([before.sessionCount, before.rows.map(({ sessionCount }) => sessionCount)]).toEqual([1, [1]]);
    // The session that a sub-agent stands in need not have anything of its own inside.
    const rolled = await collect(place, { by: ['session'], since, subAgents: 'rolled-up' });
    expect([rolled.sessionCount, table(rolled, tokens)]).toEqual([1, { early: [5, 2] }]);
    expect((await collect(place, { since: since * 2 })).sessionCount).toBe(0);
  });
});

const timesLog = [
  '2026-01-25T04:08:00.000Z',
  '2026-01-25T07:59:59.999Z',
  '2026-01-25T08:00:00.000Z',
  '2026-03-08T09:30:00.000Z',
  '2026-03-08T10:30:00.000Z',
  '2026-03-29T00:30:00.000Z',
  '2026-03-29T01:30:00.000Z',
  '2026-10-25T00:30:00.000Z',
  '2026-10-25T01:30:00.000Z',
]
  .map((ts, index) => line(index + 1, { type: 'error', message: 'x' }, ts))
  .join('');

const expectedDays = {
  'America/Los_Angeles': {
    '2026-01-24': 2,
    '2026-01-25': 1,
    '2026-03-08': 2,
    '2026-03-28': 2,
    '2026-10-24': 2,
  },
  UTC: { '2026-01-25': 3, '2026-03-08': 2, '2026-03-29': 2, '2026-10-25': 2 },
  'Europe/Berlin': { '2026-01-25': 3, '2026-03-08': 2, '2026-03-29': 2, '2026-10-25': 2 },
} as const;

describe('usage over sessions', () => {
  const original = logOf([
    run(),
    turnStarted,
    answer('msg_1', 60, 20),
    answer('msg_1', 100, 50),
    turnCompleted(100, 50),
  ]);
  const copied = [run({ forked_from: { session: 's-1' } }), turnStarted];
  const added = [turnStarted, answer('msg_2', 100, 50), turnCompleted(100, 50)];

  test('streamed snapshots and repeats count once, also read and published again and again', async () => {
    const place = await storeOf({ 's-1': original });
    for (let round = 0; round < 3; round += 1) {
      const report = await collect(place);
      expect([...totalTokens(report), report.importedRows.answers]).toEqual([100, 50, 1]);
      publishViews(place.store, 's-1');
    }
  });

  test('B91: a resumed copy that says what it repeats adds only what is new, and is linked', async () => {
    const repeat = answer('msg_1', 100, 50, { repeat_of: 's-1' });
    const place = await storeOf({
      's-1': original,
      's-2': logOf([...copied, repeat, turnCompleted(100, 50), ...added]),
    });
    const report = await collect(place, { by: ['session'] });
    expect(table(report, tokens)).toEqual({ 's-1': [100, 50], 's-2': [100, 50] });
    expect(totalTokens(report)).toEqual([200, 100]);
    expect(report.links).toEqual([{ session: 's-2', linkedTo: ['s-1'] }]);
  });

  test('B91: a copy that does not know it is one counts once all the same, in the session that began first', async () => {
    const place = await storeOf({
      'a-later': logOf([...copied, answer('msg_1', 100, 50), turnCompleted(100, 50), ...added])
        .split('2026-01-05')
        .join('2026-01-06'),
      'z-first': original,
    });
    const report = await collect(place, { by: ['session'] });
    expect(table(report, tokens)).toEqual({ 'a-later': [100, 50], 'z-first': [100, 50] });
    expect(totalTokens(report)).toEqual([200, 100]);
    // What is asked for does not change where an answer counts.
    const later = await collect(place, { since: Date.parse('2026-01-06T00:00:00Z') });
    expect(totalTokens(later)).toEqual([100, 50]);
  });

  test('sub-agents count in their own session, or rolled up in that of their parent, never in both', async () => {
    const place = await storeOf({
      parent: logOf([run(), turnStarted, turnCompleted(10, 1)]),
      'parent.child': logOf([
        run({ agent: 'subagent', parent: { session: 'parent' }, cwd: '/srv/b' }),
        turnStarted,
        turnCompleted(5, 2),
      ]),
      'parent.child.deep': logOf([
        run({ parent: { session: 'parent.child' } }),
        turnStarted,
        turnCompleted(3, 3),
      ]),
      stray: logOf([run({ parent: { session: 'nobody' } }), turnStarted, turnCompleted(1, 1)]),
      'loop-a': logOf([run({ parent: { session: 'loop-b' } }), turnStarted, turnCompleted(1, 0)]),
      'loop-b': logOf([run({ parent: { session: 'loop-a' } }), turnStarted, turnCompleted(1, 0)]),
    });
    const apart = await collect(place, { by: ['session'] });
    expect(table(apart, tokens)).toEqual({
      'loop-a': [1, 0],
      'loop-b': [1, 0],
      parent: [10, 1],
      'parent.child': [5, 2],
      'parent.child.deep': [3, 3],
      stray: [1, 1],
    });
    const rolled = await collect(place, { by: ['session'], subAgents: 'rolled-up' });
    expect(table(rolled, tokens)).toMatchObject({ parent: [18, 6], stray: [1, 1] });
    expect(rolled.rows.map(({ key }) => key.session)).not.toContain('parent.child');
    expect(totalTokens(rolled)).toEqual(totalTokens(apart));
    const byWorkspace = await collect(place, { by: ['workspace'], subAgents: 'rolled-up' });
    expect(table(byWorkspace, tokens)).toEqual({ '/srv/a': [21, 7] });
  });

  test('turns that failed after they were blocked count once', async () => {
    const events = [
      turnStarted,
      { type: 'turn.blocked', message: 'x', usage: usage(9, 9) },
      { type: 'turn.failed', message: 'x', usage: usage(10, 1) },
    ];
    const report = await collect(
      await storeOf({ 's-1': logOf([...events, turnStarted, { type: 'turn.failed', message: 'x' }]) }),
    );
    expect(totalTokens(report)).toEqual([10, 1]);
    expect([report.total.turnCount, report.total.turnsWithoutUsage]).toEqual([2, 1]);
  });

  test('a session that states no usage has none, not one of 0', async () => {
    const report = await collect(
      await storeOf({ 's-1': logOf([turnStarted, { type: 'turn.failed', message: 'x' }]) }),
      { by: ['session'] },
    );
    expect(report.rows[0]?.measures.usage).toBeNull();
    const json = statsJson(report, formatTimestamp) as { total: Record<string, unknown> };
    expect(json.total).toMatchObject({
      usage: null,
      without_usage: 1,
      cost: { usd: null, sources: [], unpriced: 0 },
    });
  });
});

describe('rows', () => {
  const call = (id: string, tool: string, status = 'completed'): object => ({
    type: 'item.completed',
    item: { id, type: 'tool_invocation', tool_name: tool, status },
  });
  const sessions = {
    's-1': logOf([
      run({ model: 'm-1' }),
      turnStarted,
      call('a', 'shell'),
      call('b', 'shell', 'failed'),
      turnCompleted(10, 1),
    ]),
    's-2': logOf([
      run({ cwd: '/srv/b' }),
      turnStarted,
      call('a', 'edit'),
      answer('x', 4, 4, { model: 'm-2' }),
      answer('y', 5, 5),
      turnCompleted(0, 0),
    ]),
  };

  test('by model there are tokens, by tool there are calls, by both there is a refusal', async () => {
    const place = await storeOf(sessions);
    expect(table(await collect(place, { by: ['model'] }), tokens)).toEqual({ 'm-1': [15, 6], 'm-2': [4, 4] });
    const tools = await collect(place, { by: ['tool'] });
    expect(table(tools, ({ measures }) => [measures.callCount, measures.failedCallCount])).toEqual({
      edit: [1, 0],
      shell: [2, 1],
    });
    const both: readonly StatsDimension[] = ['model', 'tool'];
    await expect(collect(place, { by: both })).rejects.toThrow(
      expect.objectContaining({ code: 'TURNLOG_BAD_FLAG' }),
    );
    expect(statsJson(tools, formatTimestamp)).toMatchObject({
      rows: [{ tool: 'edit', sessions: 1, tool_calls: 1, failed_tool_calls: 0 }, { tool: 'shell' }],
      total: { sessions: 2, events: 11, turns: 2, tool_calls: 3, usage: { input_tokens: 19 } },
    });
  });

  test('several keys, a workspace, and rows in the order of their keys whatever the directory says', async () => {
    const place = await storeOf(sessions);
    const report = await collect(place, { by: ['workspace', 'day', 'model'] });
    expect(table(report, tokens)).toEqual({
      '/srv/a 2026-01-05 m-1': [10, 1],
      '/srv/b 2026-01-05 m-1': [5, 5],
      '/srv/b 2026-01-05 m-2': [4, 4],
    });
    const one = await collect(place, { by: ['session'], workspace: '/srv/b' });
    expect([one.rows.map(({ key }) => key.session), one.sessionCount, totalTokens(one)]).toEqual([
      ['s-2'],
      1,
      [9, 9],
    ]);
  });

  test('one bad session hides no other', async () => {
    const place = await storeOf({ ...sessions, bad: 'rubbish\nrubbish\n' });
    const report = await collect(place);
    expect(report.sessionCount).toBe(2);
    expect(report.unread).toEqual([
      { session: 'bad', code: 'TURNLOG_LOG_UNREADABLE', message: expect.any(String) },
    ]);
  });

  test('looking at statistics changes nothing on the disk', async () => {
    const place = await storeOf(sessions);
    const before = place.disk.mutationCount;
    await collect(place, { by: ['day'], since: 1 });
    expect(place.disk.mutationCount).toBe(before);
  });

  test('a store without sessions, and one that is not there, give an empty report', async () => {
    const report = await collect(await TestStore.make(), { by: ['day'] });
    expect([report.rows, report.sessionCount, report.total.usage]).toEqual([[], 0, null]);
  });

  test('work that is called off returns what was read', async () => {
    const signal = AbortSignal.abort();
    expect((await collect(await storeOf(sessions), { signal })).sessionCount).toBe(0);
  });

  test('figures beyond 2^53 are texts that say so', async () => {
    const big = `{"schema_version":"0.18.0","seq":2,"ts":null,"event":{"type":"turn.completed","usage":{"input_tokens":9007199254740993}}}\n`;
    const json = statsJson(
      await collect(await storeOf({ 's-1': logOf([turnStarted]) + big })),
      formatTimestamp,
    );
    expect(json).toMatchObject({
      total: { usage: { input_tokens: '9007199254740993', input_tokens_exact: true, output_tokens: 0 } },
    });
  });
});

describe('cost', () => {
  const prices = parsePrices(
    '{"models":{"m-1":{"input":3,"cached":0.3,"creation":3.75,"output":15},"m-*":{"input":1,"output":2}}}',
    'prices.json',
  );
  const costs = async (events: readonly object[], given = true): Promise<unknown> => {
    const { total } = await collect(await storeOf({ 's-1': logOf(events) }), given ? { prices } : {});
    return [total.cost.picodollars, total.cost.sources, total.cost.unpricedCount];
  };
  const ended = (more: object): object => ({
    type: 'thread.completed',
    thread_id: 't',
    session_id: 's',
    subtype: 'success',
    outcome_code: 'success',
    usage: usage(0, 0),
    num_turns: 1,
    ...more,
  });

  test('what the answer says goes before prices, and each figure names its source', async () => {
    const events = [answer('a', 1_000_000, 0, { cost_usd: 0.1 }), answer('b', 1_000_000, 0)];
    expect(await costs(events)).toEqual([3_100_000_000_000n, ['prices', 'recorded'], 0]);
    expect(await costs(events, false)).toEqual([100_000_000_000n, ['recorded'], 1]);
  });

  test('what the thread says of all of itself goes before prices', async () => {
    expect(await costs([turnStarted, turnCompleted(10, 1), ended({ total_cost_usd: 0.25 })])).toEqual([
      250_000_000_000n,
      ['recorded'],
      0,
    ]);
    const events = [answer('a', 1, 1, { cost_usd: 0.1 }), ended({ total_cost_usd: 0.25 })];
    expect(await costs(events)).toEqual([100_000_000_000n, ['recorded'], 0]);
  });

  test('cached and created tokens have prices of their own; a model is found by its longest beginning', async () => {
    const withCache = { usage: usage(1_000_000, 1_000_000, 200_000, 100_000) };
    // 700,000 at 3, 200,000 at 0.3, 100,000 at 3.75 and a million at 15.
    expect(await costs([answer('a', 0, 0, withCache)])).toEqual([17_535_000_000_000n, ['prices'], 0]);
    expect(await costs([answer('a', 0, 0, { ...withCache, model: 'm-9' })])).toEqual([
      3_000_000_000_000n,
      ['prices'],
      0,
    ]);
    expect(await costs([answer('a', 0, 0, { ...withCache, model: 'other' })])).toEqual([null, [], 1]);
  });

  test('a part of a picodollar is rounded, half of one up', async () => {
    const small = parsePrices('{"models":{"m-1":{"input":0.0000005,"output":0.0000004}}}', 'prices.json');
    const cost = async (input: number, output: number): Promise<unknown> => {
      const place = await storeOf({ 's-1': logOf([answer('a', input, output)]) });
      return (await collect(place, { prices: small })).total.cost.picodollars;
    };
    expect([await cost(1, 0), await cost(0, 1), await cost(2, 1)]).toEqual([1n, 0n, 1n]);
  });

  test('without a price there is none, and the sum of cents is exact', async () => {
    expect(await costs([turnStarted, turnCompleted(1, 1)], false)).toEqual([null, [], 1]);
    const cents = Array.from({ length: 10 }, (_, index) => answer(`a${index}`, 1, 1, { cost_usd: 0.1 }));
    const report = await collect(await storeOf({ 's-1': logOf(cents) }));
    expect(statsJson(report, formatTimestamp)).toMatchObject({
      total: { cost: { usd: 1, sources: ['recorded'], unpriced: 0 } },
    });
    const tiny = await collect(await storeOf({ 's-1': logOf([answer('a', 1, 1, { cost_usd: 1e-7 })]) }));
    expect(tiny.total.cost.picodollars).toBe(100_000n);
  });

  test.each([
    ['no JSON', '{', ''],
    ['no models', '{}', '/models'],
    ['a price below 0', '{"models":{"a/b":{"input":-1,"output":1}}}', '/models/a~1b/input'],
    ['a price that is a text', '{"models":{"a":{"input":"1","output":1}}}', '/models/a/input'],
    ['a model without output', '{"models":{"a":{"input":1}}}', '/models/a'],
    ['a model that is null', '{"models":{"__proto__":null}}', '/models/__proto__'],
  ])('a file of prices is refused for %s', (_reason, text, pointer) => {
    const details = { file: 'prices.json', place: pointer };
    expect(() => parsePrices(text, 'prices.json')).toThrow(
      expect.objectContaining({ code: 'TURNLOG_BAD_CONFIG', details }),
    );
  });
});

test('T-101 order of answers, usage of blocked and failed turns, repeats and goal timers: by seq, once, in one step', async () => {
  const place = await storeOf({
    z: logOf([
      run(),
      turnStarted,
      answer('b', 2, 2),
      answer('a', 1, 1),
      answer('b', 2, 2),
      turnCompleted(3, 3),
    ]),
    a: logOf([
      run(),
      { type: 'turn.started', context: { task_id: 't', goal: 'parse' } },
      { type: 'turn.blocked', message: 'x', usage: usage(9, 9) },
      { type: 'turn.failed', message: 'x', usage: usage(10, 1) },
      { type: 'turn.failed', message: 'x', usage: usage(10, 1) },
    ]),
  });
  // Sorted by seq, and by key: neither the order of the directory nor that of ids decides.
  const report = await collect(place, { by: ['session'] });
  expect(table(report, tokens)).toEqual({ a: [10, 1], z: [3, 3] });
  publishViews(place.store, 'z');
  const { answers } = place.json('z', 'usage') as { answers: readonly { key: string }[] };
  expect(answers.map(({ key }) => key)).toEqual(['["b",null]', '["a",null]']);
  // Time from the start of the turn to its end, once, however often the end is said or the view published.
  for (let round = 0; round < 3; round += 1) {
    publishViews(place.store, 'a');
    expect(place.json('a', 'progress')).toMatchObject({
      goal: 'parse',
      elapsed_ms: 2_000,
      goals: [{ failed: 1, elapsed_ms: 2_000 }],
    });
  }
  // In one step: a crash leaves the ledger from before, the new one, or one that is known to be no ledger.
  const before = place.text('a', 'derived/progress.json');
  await place.write('a', [turnStarted, turnCompleted(1, 1)]);
  place.disk.crashAt(place.disk.mutationCount + 9);
  expect(() => publishViews(place.store, 'a')).toThrow(CrashSignal);
  for (const left of enumerateDisks(place.disk, 1, { disksMax: 30 })) {
    const found = readDerived(left, place.path('a', 'derived/progress.json'));
    if (found.kind === 'document' && !before.startsWith(found.text.slice(0, -1))) {
      expect(JSON.parse(found.text)).toMatchObject({ goals: [{ failed: 1 }, { completed: 1 }] });
    }
  }
});
