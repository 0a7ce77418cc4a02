import type { EventInput, OwnedLog, SummaryRequest } from '@turnlog/log';
import { note, TestLog, threadStarted, turnCompleted, turnFailed, turnStarted } from './support.js';

interface SummaryShape {
  readonly id: string;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly events: number;
  readonly turns: number;
  readonly event_types: Readonly<Record<string, number>>;
  readonly facts: readonly string[];
  readonly text?: string;
  readonly by: string;
}

function appendTurns(log: OwnedLog, count: number, events: readonly EventInput[] = [note(1)]): void {
  for (let turn = 0; turn < count; turn += 1) {
    for (const event of [turnStarted, ...events, turnCompleted]) log.append(event);
  }
}

function summaries(test: TestLog): readonly SummaryShape[] {
  const reader = test.read();
  try {
    return [...reader.records()]
      .filter(({ type }) => type === 'log.summary')
      .map((record) => record.readEvent() as unknown as SummaryShape);
  } finally {
    reader.close();
  }
}

function item(type: string, members: Readonly<Record<string, unknown>>): EventInput {
  return { type: 'item.completed', item: { id: 'i', type, ...members } } as EventInput;
}

/** A whole turn of the event loop, in which everything that is due can happen. */
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function until(isDone: () => boolean): Promise<void> {
  for (let count = 0; count < 10_000 && !isDone(); count += 1) await turnOfTheLoop();
}

// That the summary is found by search joins when search reads archives and summaries.
test('T-64 the default hook: counts by type, at most 32 facts of at most 512 bytes, once for each range', async () => {
  const test = new TestLog();
  const log = await test.open({ cap: { maxEvents: 30, target: 0.2 } });
  const facts: readonly EventInput[] = [
    item('agent_message', { text: '  first \n\t thing  ' }),
    item('plan', { text: 'the plan' }),
    item('agent_message', { text: 'first thing' }),
    item('file_change', {
      changes: [
        { path: 'a.ts', kind: 'add' },
        { path: 'b.ts', kind: 'delete' },
        { path: 'c.ts', kind: 'update' },
      ],
      status: 'completed',
    }),
    item('harness', { event: 'verification_failed', message: 'from the harness' }),
    item('agent_message', { text: `${'x'.repeat(508)}ééé` }),
    item('agent_message', { text: 'y'.repeat(512) }),
    item('command_execution', { command: 'ls', aggregated_output: 'no fact', status: 'completed' }),
    { type: 'turn.blocked', message: 'blocked' } as EventInput,
    { type: 'error', message: 'an error' } as EventInput,
  ];
  for (const event of [threadStarted, turnStarted, ...facts, turnFailed]) log.append(event);
  appendTurns(log, 1);
  for (let count = 0; count < 15; count += 1) log.append(item('agent_message', { text: `outside ${count}` }));
  appendTurns(
    log,
    1,
    Array.from({ length: 40 }, (_, index) => item('agent_message', { text: `many ${index}` })),
  );
  appendTurns(log, 1);
  await log.maintain();
  const [first, ...others] = summaries(test);
  expect(others).toEqual([]);
  expect(first?.facts.slice(0, 11)).toEqual([
    'first thing',
    'the plan',
    'file add: a.ts',
    'file delete: b.ts',
    'file update: c.ts',
    'from the harness',
    `${'x'.repeat(508)}…`,
    'y'.repeat(512),
    'blocked',
    'an error',
    'no',
  ]);
  expect(first?.facts).toHaveLength(32);
  for (const fact of first?.facts ?? []) expect(Buffer.byteLength(fact)).toBeLessThanOrEqual(512);
  expect(new Set(first?.facts).size).toBe(32);
  expect(first).toMatchObject({
    id: 'sum-1-73',
    from_seq: 1,
    to_seq: 73,
    events: 73,
    turns: 3,
    by: 'default',
    event_types: {
      error: 2,
      'item.completed': 63,
      'thread.started': 1,
      'turn.blocked': 1,
      'turn.completed': 2,
      'turn.failed': 1,
      'turn.started': 3,
    },
  });
  const counts = Object.values(first?.event_types ?? {});
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(73);

  // The next summary has the facts of this one when this one leaves, and there is one for each range.
  appendTurns(log, 12);
  await log.maintain();
  await log.close();
  const second = summaries(test).at(-1);
  expect(second).toMatchObject({ from_seq: 74 });
  expect(second?.facts).toEqual(expect.arrayContaining(['first thing', 'file update: c.ts']));
  expect(second?.event_types).toMatchObject({ 'log.summary': 1 });
});

describe('T-65, I7: a hook', () => {
  const cap = { maxEvents: 4, target: 1 };

  test.each([
    [
      'that throws',
      () => {
        throw new Error('no');
      },
    ],
    ['that rejects', () => Promise.reject(new Error('no'))],
  ])(
    'T-65 %s: the append succeeded, the log is untouched, the failure is told apart',
    async (_name, hook) => {
      const test = new TestLog();
      const log = await test.open({ cap: { ...cap, hook } });
      const told: unknown[] = [];
      log.onMaintenance((report) => told.push(report));
      appendTurns(log, 1);
      log.append(turnStarted);
      const { seq } = log.append(turnCompleted);
      expect(seq).toBe(5);
      const before = test.bytes();
      await until(() => told.length > 0);
      const { maintenance } = log.flush();
      expect(maintenance).toEqual([
        {
          step: 'summary',
          message: expect.stringContaining('could not leave'),
          cause: expect.objectContaining({
            code: 'TURNLOG_HOOK_FAILED',
            cause: expect.objectContaining({ message: 'no' }),
          }),
        },
      ]);
      expect(told).toEqual(maintenance);
      expect(test.bytes().equals(before)).toBe(true);
      expect(log.append(note('on')).seq).toBe(6);
      await log.close();
      expect(test.disk.openHandleCount).toBe(0);
      expect(test.disk.status(test.path('archive'))).toBeNull();
    },
  );

  test('T-65 that takes too long is given up, and what it says later is not used', async () => {
    const test = new TestLog();
    let answer: (summary: { text: string }) => void = () => undefined;
    const requests: SummaryRequest[] = [];
    const hook = (asked: SummaryRequest): Promise<{ text: string }> => {
      requests.push(asked);
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    const log = await test.open({ cap: { ...cap, hook, hookTimeoutMs: 5_000 } });
    appendTurns(log, 2);
    const before = test.bytes();
    await until(() => requests.length > 0);
    expect(log.append(note('meanwhile')).seq).toBe(7);
    test.clock.advance(4_999);
    await turnOfTheLoop();
    expect(log.flush()).toEqual({});
    test.clock.advance(1);
    await turnOfTheLoop();
    expect(log.flush().maintenance).toMatchObject([
      { step: 'summary', cause: { code: 'TURNLOG_HOOK_FAILED' } },
    ]);
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([true]);
    answer({ text: 'too late' });
    await turnOfTheLoop();
    log.sync();
    expect(test.bytes().subarray(0, before.length).equals(before)).toBe(true);
    expect(summaries(test)).toEqual([]);
    expect(test.clock.waitingCount).toBe(0);
    await log.close();
  });

  test('T-65 that appends to the same session does not block, and what it appends stays', async () => {
    const test = new TestLog();
    let opened: OwnedLog | null = null;
    let seen: readonly number[] = [];
    const hook = async (request: SummaryRequest): Promise<{ text: string }> => {
      seen = [...request.records()].map(({ seq }) => seq);
      opened?.append(note('from the hook'));
      await opened?.commit();
      opened?.append(note('and another'));
      return { text: 'mine' };
    };
    const log = await test.open({ cap: { ...cap, hook } });
    opened = log;
    appendTurns(log, 3);
    await log.maintain();
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(summaries(test)).toMatchObject([{ from_seq: 1, to_seq: 6, text: 'mine', by: 'hook', turns: 2 }]);
    const reader = test.read();
    expect([...reader.records()].map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      '6 log.evicted',
      '7 turn.started',
      '8 error',
      '9 turn.completed',
      '10 error',
      '11 error',
      '12 log.summary',
    ]);
    reader.close();
    await log.close();
  });

  test('T-65 that is still busy when the log is closed does not hold that up', async () => {
    const test = new TestLog();
    let request: SummaryRequest | null = null;
    const hook = (asked: SummaryRequest): Promise<never> => {
      request = asked;
      return new Promise(() => undefined);
    };
    const log = await test.open({ cap: { ...cap, hook } });
    appendTurns(log, 2);
    await until(() => request !== null);
    expect(await log.close()).toEqual({});
    expect([test.disk.openHandleCount, test.clock.waitingCount]).toEqual([0, 0]);
    expect(summaries(test)).toEqual([]);
  });

  test('T-65 that fails again and again is asked after pauses that double, up to an hour', async () => {
    const test = new TestLog();
    let asked = 0;
    const hook = (): never => {
      asked += 1;
      throw new Error('no');
    };
    const log = await test.open({ cap: { ...cap, hook } });
    appendTurns(log, 1);
    /** Ends a turn, so that the log is looked at, and says how often the hook was asked. */
    const atNextTurn = async (): Promise<number> => {
      appendTurns(log, 1);
      for (let count = 0; count < 4; count += 1) await turnOfTheLoop();
      return asked;
    };
    expect(await atNextTurn()).toBe(1);
    for (let failures = 1, pauseMs = 1_000; failures < 16; failures += 1) {
      test.clock.advance(pauseMs - 1);
      expect(await atNextTurn()).toBe(failures);
      test.clock.advance(1);
      expect(await atNextTurn()).toBe(failures + 1);
      pauseMs = Math.min(pauseMs * 2, 3_600_000);
    }
    await log.close();
  });
});

test('one run at a time: whoever waits for maintenance at the same moment gets the same one', async () => {
  const test = new TestLog();
  let asked = 0;
  const hook = async (): Promise<{ text: string }> => {
    asked += 1;
    await turnOfTheLoop();
    if (asked === 1) throw new Error('not yet');
    return { text: 's' };
  };
  const log = await test.open({ cap: { maxEvents: 4, target: 1, hook } });
  appendTurns(log, 3);
  // The run that the turns have begun fails, so that everybody finds a log that is over its cap.
  await until(() => asked === 1);
  await turnOfTheLoop();
  await turnOfTheLoop();
  expect(log.flush().maintenance).toMatchObject([{ step: 'summary' }]);
  expect(await Promise.all([log.maintain(), log.maintain(), log.maintain()])).toEqual([{}, {}, {}]);
  expect(asked).toBe(2);
  expect(summaries(test)).toHaveLength(1);
  await log.close();
});

test('a cap that is opened over a long log is seen to at once, and after each turn', async () => {
  const test = new TestLog();
  await test.write([turnStarted, note(1), turnCompleted, turnStarted, note(2), turnCompleted]);
  const log = await test.open({ cap: { maxEvents: 4, target: 1 } });
  await log.close();
  // Closing gives a run up; the next open begins it anew.
  const again = await test.open({ cap: { maxEvents: 4, target: 1 } });
  await until(() => again.state.evicted !== null);
  expect(again.state.evicted).toMatchObject({ toSeq: 3, turns: 1 });
  appendTurns(again, 1);
  await until(() => again.state.evicted?.turns !== 1);
  expect(again.state.evicted).toMatchObject({ turns: 2, lastTurn: 2 });
  await again.close();
});

describe('T-103 the guard of a cap', () => {
  test('T-103 no turn above it goes, whatever the limits say', async () => {
    const test = new TestLog();
    let guard = 2;
    const log = await test.open({ cap: { maxEvents: 3, target: 1, guard: () => guard } });
    appendTurns(log, 6);
    const { maintenance = [] } = await log.maintain();
    expect(new Set(maintenance.map(({ step }) => step))).toEqual(new Set(['cap']));
    expect(log.state.evicted).toMatchObject({ lastTurn: 2, turns: 2 });
    await log.maintain();
    expect(log.state.evicted).toMatchObject({ lastTurn: 2 });
    guard = 4;
    await log.maintain();
    expect(log.state.evicted).toMatchObject({ lastTurn: 4, turns: 4 });
    await log.close();
  });

  test('T-103 a summary that was written before the guard came down takes nothing out that is above it', async () => {
    const test = new TestLog();
    const before = await test.open({ cap: { maxEvents: 3, target: 1 } });
    appendTurns(before, 6);
    test.fs.setFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno: 'ENOSPC' },
      applies: ({ verb, path }) => verb === 'write' && path.includes('/archive/'),
    });
    const { maintenance = [] } = await before.maintain();
    expect(new Set(maintenance.map(({ step }) => step))).toEqual(new Set(['archive']));
    test.fs.setFault(null);
    await before.close();
    expect(summaries(test)).toMatchObject([{ from_seq: 1, to_seq: 15, turns: 5 }]);
    const log = await test.open({ cap: { maxEvents: 3, target: 1, guard: () => 2 } });
    await log.maintain();
    expect(log.state.evicted).toMatchObject({ lastTurn: 2, turns: 2 });
    await log.close();
  });
});

test('a record of somebody else under the key of a summary is not taken for one', async () => {
  const test = new TestLog();
  const log = await test.open({ cap: { maxEvents: 10, target: 1 } });
  log.append(note('mine'), { key: 'summary:1-7' });
  appendTurns(log, 3);
  log.append(note('x'));
  expect(await log.maintain()).toEqual({});
  await log.close();
  expect(summaries(test)).toMatchObject([{ from_seq: 1, to_seq: 4, turns: 1, by: 'default' }]);
  expect(test.read().state.evicted).toMatchObject({ toSeq: 4 });
});

test('a summary that is there is used again: the hook is not asked twice for a range, also after more turns', async () => {
  const test = new TestLog();
  let asked = 0;
  const hook = (): { text: string } => {
    asked += 1;
    return { text: `answer ${asked}` };
  };
  const cap = { maxEvents: 4, target: 1, hook };
  const before = await test.open({ cap });
  test.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'ENOSPC' },
    applies: ({ verb, path }) => verb === 'write' && path.includes('/archive/'),
  });
  appendTurns(before, 3);
  await before.maintain();
  expect(asked).toBe(1);
  await before.close();
  test.fs.setFault(null);
  const log = await test.open();
  appendTurns(log, 2);
  await log.close();
  // The plan of now would go further; the range that was summed up comes first.
  const again = await test.open({ cap: { ...cap, maxEvents: 18 } });
  appendTurns(again, 2);
  await again.maintain();
  expect(asked).toBe(1);
  expect(summaries(test)).toMatchObject([{ from_seq: 1, to_seq: 6, text: 'answer 1' }]);
  expect(again.state.evicted).toMatchObject({ toSeq: 6, turns: 2 });
  await again.close();
});
