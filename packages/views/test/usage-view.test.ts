import { addUsage, noTokens, type UsageCounts } from '@turnlog/events';
import {
  countedTurns,
  type UsageState,
  usageDifference,
  usageEntries,
  usageView,
  viewRecord,
} from '@turnlog/views';
import fc from 'fast-check';
import { arbitraryLines } from './arbitrary-log.js';
import { answer, logOf, TestStore, turnCompleted, turnStarted, usage } from './support.js';

async function stateOf(bytes: string, from = 0): Promise<UsageState> {
  const place = await TestStore.make();
  place.plant('case', bytes);
  return place.reading('case', (reader) => {
    const records = [...reader.records()].map(viewRecord);
    const before = records.slice(0, from).reduce(usageView.evolve, usageView.initial('case'));
    const published = usageView.fromJson(JSON.parse(JSON.stringify(usageView.toJson(before))));
    return records.slice(from).reduce(usageView.evolve, published);
  });
}

function total(state: UsageState): UsageCounts {
  return usageEntries(state).reduce((sum, entry) => addUsage(sum, entry.usage ?? noTokens), noTokens);
}

const threadCompleted = (input: number, output: number, more: object = {}): object => ({
  type: 'thread.completed',
  thread_id: 't',
  session_id: 's',
  subtype: 'success',
  outcome_code: 'success',
  usage: usage(input, output),
  num_turns: 1,
  ...more,
});

const failed = (more: object = {}): object => ({ type: 'turn.failed', message: 'no', ...more });
const blocked = (more: object = {}): object => ({ type: 'turn.blocked', message: 'no', ...more });

interface Row {
  readonly title: string;
  readonly events: readonly object[];
  /** Input and output of everything that counts. */
  readonly counted: readonly [number, number];
  readonly entries: number;
  readonly withoutUsage?: number;
}

const rows: readonly Row[] = [
  {
    title: 'C-9: a completed turn',
    events: [turnStarted, turnCompleted(10, 1)],
    counted: [10, 1],
    entries: 1,
  },
  {
    title: 'C-9: a blocked turn that failed counts the failure alone',
    events: [turnStarted, blocked({ usage: usage(10, 1) }), failed({ usage: usage(12, 2) })],
    counted: [12, 2],
    entries: 1,
  },
  {
    title: 'C-9: a blocked turn whose failure states no usage counts what blocked it states',
    events: [turnStarted, blocked({ usage: usage(10, 1) }), failed()],
    counted: [10, 1],
    entries: 1,
  },
  {
    title: 'a turn that states no usage is one without, not one of 0',
    events: [turnStarted, failed(), turnStarted, turnStarted, turnCompleted(1, 1)],
    counted: [1, 1],
    entries: 1,
    withoutUsage: 2,
  },
  { title: 'an open turn is not one without usage', events: [turnStarted], counted: [0, 0], entries: 0 },
  {
    title: 'a broken usage is unknown',
    events: [turnStarted, { type: 'turn.completed', usage: { input_tokens: 'x' } }],
    counted: [0, 0],
    entries: 0,
    withoutUsage: 1,
  },
  {
    title: 'the figure of the thread counts when no turn states any',
    events: [turnStarted, failed(), threadCompleted(50, 5)],
    counted: [50, 5],
    entries: 1,
    withoutUsage: 1,
  },
  {
    title: 'the figure of the thread does not count beside those of its turns',
    events: [turnStarted, turnCompleted(10, 1), threadCompleted(50, 5)],
    counted: [10, 1],
    entries: 1,
  },
  {
    title: 'B89: rows of one answer are snapshots, and the last one counts',
    events: [
      turnStarted,
      answer('a', 100, 1),
      answer('a', 100, 20),
      answer('a', 100, 50),
      turnCompleted(100, 50),
    ],
    counted: [100, 50],
    entries: 1,
  },
  {
    title: 'an answer that comes again in a later turn counts once, in its first',
    events: [
      turnStarted,
      answer('a', 100, 50),
      turnCompleted(100, 50),
      turnStarted,
      answer('a', 100, 50),
      turnCompleted(100, 50),
    ],
    counted: [100, 50],
    entries: 1,
  },
  {
    title: 'answers of one id with two request ids are two',
    events: [answer('a', 1, 1, { request_id: 'r1' }), answer('a', 2, 2, { request_id: 'r2' })],
    counted: [3, 3],
    entries: 2,
  },
  {
    title: 'B91: an answer that was counted in another session does not count, nor does the sum of its turn',
    events: [turnStarted, answer('a', 100, 50, { repeat_of: 's-0' }), turnCompleted(100, 50)],
    counted: [0, 0],
    entries: 0,
  },
  {
    title: 'a copy of an answer that is counted here takes nothing away',
    events: [answer('a', 100, 50), answer('a', 100, 50, { repeat_of: 's-0' })],
    counted: [100, 50],
    entries: 1,
  },
  {
    title: 'turns with answers and turns without are added',
    events: [turnStarted, answer('a', 100, 50), turnCompleted(999, 999), turnStarted, turnCompleted(10, 1)],
    counted: [110, 51],
    entries: 2,
  },
  {
    title: 'an answer without an id, and one without figures, add nothing',
    events: [{ type: 'run.answer', usage: usage(1, 1) }, answer('b', 0, 0, { usage: null })],
    counted: [0, 0],
    entries: 1,
  },
  {
    title: 'a redacted end of a turn counts with the usage that was kept of it',
    events: [
      turnStarted,
      {
        type: 'log.redacted',
        leaf: '0'.repeat(64),
        original_type: 'turn.completed',
        length: 9,
        redacted_at: 'x',
        kept: { usage: usage(7, 3) },
      },
    ],
    counted: [7, 3],
    entries: 1,
  },
];

test.each(rows)('$title', async ({ events, counted, entries, withoutUsage = 0 }) => {
  const state = await stateOf(logOf(events));
  const { input, output } = total(state);
  expect([input, output]).toEqual(counted.map(BigInt));
  expect(usageEntries(state)).toHaveLength(entries);
  expect(countedTurns(state).filter((turn) => turn.isWithoutUsage)).toHaveLength(withoutUsage);
});

test.each(rows)('published at any record: $title', async ({ events, counted }) => {
  for (let from = 0; from <= events.length; from += 1) {
    const { input, output } = total(await stateOf(logOf(events), from));
    expect([from, input, output]).toEqual([from, ...counted.map(BigInt)]);
  }
});

test('I9: what counts is the same, wherever the view was published in between', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryLines, fc.nat(), async (lines, at) => {
      const log = lines.join('');
      const [whole, resumed] = [await stateOf(log), await stateOf(log, at % (lines.length + 1))];
      expect(usageEntries(resumed)).toEqual(usageEntries(whole));
      expect(countedTurns(resumed)).toEqual(countedTurns(whole));
      expect(usageDifference(resumed)).toEqual(usageDifference(whole));
    }),
  );
});

test('figures are exact beyond 2^53 and stay at 2^64-1', async () => {
  const text = (input: string): string =>
    logOf([turnStarted]) +
    `{"schema_version":"0.18.0","seq":2,"ts":null,"event":{"type":"turn.completed","usage":{"input_tokens":${input},"output_tokens":1}}}\n`;
  expect(total(await stateOf(text('9007199254740993'))).input).toBe(9_007_199_254_740_993n);
  const state = await stateOf(text('18446744073709551615'), 2);
  expect(total(state).input).toBe(18_446_744_073_709_551_615n);
  expect(JSON.stringify(usageView.toJson(state))).toContain('"input_tokens":"18446744073709551615"');
  expect(addUsage(total(state), total(state)).input).toBe(18_446_744_073_709_551_615n);
});

test('where the thread states another usage than its turns, the difference is told', async () => {
  const same = await stateOf(logOf([turnStarted, turnCompleted(10, 1), threadCompleted(10, 1)]));
  expect(usageDifference(same)).toBeNull();
  const other = await stateOf(logOf([turnStarted, turnCompleted(10, 1), threadCompleted(11, 1)]));
  expect(usageDifference(other)).toMatchObject({ thread: { input: 11n }, turns: { input: 10n } });
  const alone = await stateOf(logOf([threadCompleted(11, 1)]));
  expect(usageDifference(alone)).toBeNull();
});

test('usage stands at the time and under the model of what states it; of an answer, of its first row', async () => {
  const state = await stateOf(
    logOf([
      {
        type: 'run.started',
        program: 'p',
        cwd: '/w',
        model: 'm-0',
        parent: { session: 's-0' },
        forked_from: { session: 's-9' },
      },
      turnStarted,
      { type: 'run.changed', field: 'model', value: 'm-1' },
      turnCompleted(10, 1),
      turnStarted,
      answer('a', 1, 1, { model: 'm-2' }),
      answer('a', 2, 2, { model: 'm-2', cost_usd: 0.5 }),
      turnCompleted(2, 2),
      { type: 'journal.set', fence: null, model: { reference: 'm-3' } },
      turnStarted,
      answer('b', 4, 4, { model: undefined, repeat_of: undefined }),
    ]),
  );
  const at = (second: number): number => Date.UTC(2026, 0, 5, 10, 0, second);
  expect(
    usageEntries(state).map(({ source, turn, tsMs, model, costUsd }) => [source, turn, tsMs, model, costUsd]),
  ).toEqual([
    ['turn', 1, at(4), 'm-1', null],
    ['answer', 2, at(6), 'm-2', 0.5],
    ['answer', 3, at(11), 'm-3', null],
  ]);
  expect(state.parent).toBe('s-0');
  expect(state.linkedTo.entries().map(([session]) => session)).toEqual(['s-9']);
  expect(countedTurns(state).map(({ turn, tsMs }) => [turn, tsMs])).toEqual([
    [1, at(2)],
    [2, at(5)],
    [3, at(10)],
  ]);
});

test('rows of imports are counted, with and without those repeated word for word', async () => {
  const imported = (records: object): object => ({ type: 'run.imported', ledger: { records } });
  const state = await stateOf(
    logOf([
      imported({ 'mapped:assistant': 4, 'repeat:assistant': 2 }),
      imported({ 'mapped:user': 3, odd: -1, other: 'x' }),
    ]),
  );
  expect([state.rawRows, state.uniqueRows]).toEqual([9, 7]);
});
