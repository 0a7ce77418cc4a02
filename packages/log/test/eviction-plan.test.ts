import { type ClosedTurn, checkCap, planEviction } from '@turnlog/log';
import fc from 'fast-check';
import { note, TestLog, turnCompleted, turnStarted } from './support.js';

/** Closed turns one behind the other, from what each holds; `before` is what comes before the first. */
function turnsOf(
  sizes: readonly { readonly events: number; readonly bytes: number }[],
  before = { events: 0, bytes: 0 },
  firstTurn = 1,
): readonly ClosedTurn[] {
  let { events: upto, bytes: end } = before;
  return sizes.map(({ events, bytes }, position) => {
    const start = end;
    const firstSeq = upto + 1;
    upto += events;
    end += bytes;
    const turn = firstTurn + position;
    const times = { tsMs: null, endTsMs: null };
    return { turn, status: 'completed', start, end, firstSeq, lastSeq: upto, events, upto, ...times };
  });
}

const five = turnsOf(Array.from({ length: 5 }, () => ({ events: 2, bytes: 20 })));
const whole = { entries: five, lastTurn: 5, eventCount: 10, bytes: 100, guard: null };
const byEvents = { maxEvents: 6, maxBytes: 0, target: 1, keepTurns: 1 };

test('T-60 five turns of two records of ten bytes, at most six: the cut is at 40, four records go, 3, 4, 5 stay', () => {
  const before = structuredClone(five);
  expect(planEviction(whole, byEvents)).toEqual({
    kind: 'evict',
    turns: 2,
    cut: 40,
    events: 4,
    toSeq: 4,
    lastTurn: 2,
    bytes: 40,
    reaches: true,
  });
  expect(five).toEqual(before);
  expect(planEviction(whole, { ...byEvents, maxEvents: 10 })).toEqual({ kind: 'keep', reason: 'under-cap' });
  expect(planEviction(whole, { ...byEvents, maxEvents: 0 })).toEqual({ kind: 'keep', reason: 'off' });
  expect(planEviction(whole, { ...byEvents, maxEvents: 0, maxBytes: 100 })).toEqual({
    kind: 'keep',
    reason: 'under-cap',
  });
});

test('T-61, B162: three turns of five at most three: two go, the newest stays, and the target is not reached', async () => {
  const three = turnsOf(Array.from({ length: 3 }, () => ({ events: 5, bytes: 50 })));
  const input = { entries: three, lastTurn: 3, eventCount: 15, bytes: 150, guard: null };
  expect(planEviction(input, { ...byEvents, maxEvents: 3 })).toMatchObject({
    kind: 'evict',
    turns: 2,
    lastTurn: 2,
    events: 10,
    reaches: false,
  });

  // The same in a log, which says so; the newest turn never goes.
  const test = new TestLog();
  const log = await test.open({ cap: { maxEvents: 3, target: 1 } });
  for (let turn = 1; turn <= 3; turn += 1) {
    for (const event of [turnStarted, note(1), note(2), note(3), turnCompleted]) log.append(event);
  }
  const { maintenance } = await log.maintain();
  expect(maintenance?.[0]).toEqual({
    step: 'cap',
    message: expect.stringContaining('over its target'),
    cause: null,
  });
  let reader = test.read();
  expect([...reader.turns()].map(({ turn }) => turn)).toEqual([3]);
  reader.close();

  // A runaway open turn: there is nothing that may go, which is told once, and appends go on.
  log.append(turnStarted);
  for (let count = 0; count < 20; count += 1) log.append(note(count));
  const told = [...(maintenance ?? []), ...((await log.maintain()).maintenance ?? [])];
  expect(told.slice(1)).toEqual([
    { step: 'cap', message: expect.stringContaining('no closed turn may leave'), cause: null },
  ]);
  expect(await log.maintain()).toEqual({});
  log.append(note('last'));
  await log.close();
  reader = test.read();
  expect([...reader.turns()].map(({ turn, status }) => `${turn} ${status}`)).toEqual([
    '3 completed',
    '4 open',
  ]);
  reader.close();

  // With a hard limit the append beyond it is refused, changes nothing, and a shorter one is taken.
  const hard = await test.open({ cap: { hardMaxBytes: test.bytes().length + 200 } });
  const { lastSeq } = hard;
  const before = test.bytes();
  for (const attempt of [
    () => hard.append(note('n'.repeat(300)), { durability: 'event' }),
    () => hard.appendBatch([note('a'.repeat(100)), note('b'.repeat(100))], { durability: 'event' }),
  ]) {
    expect(attempt).toThrow(expect.objectContaining({ code: 'TURNLOG_CAP' }));
    expect(hard.lastSeq).toBe(lastSeq);
    expect(test.bytes().equals(before)).toBe(true);
  }
  expect(hard.append(note('s'), { durability: 'event' }).seq).toBe(lastSeq + 1);
  await hard.close();
});

/** The rule, word by word: the fewest of the oldest whose removal brings both numbers down, else all. */
function planNaively(
  entries: readonly ClosedTurn[],
  eventCount: number,
  bytes: number,
  { maxEvents, maxBytes, target, keepTurns }: typeof byEvents,
  guard: number | null,
): unknown {
  const isOver = (maxEvents > 0 && eventCount > maxEvents) || (maxBytes > 0 && bytes > maxBytes);
  if (!isOver) return null;
  const candidates = entries
    .slice(0, Math.max(0, entries.length - keepTurns))
    .filter(({ turn }) => guard === null || turn <= guard);
  const reaches = (count: number): boolean => {
    const last = candidates[count - 1];
    const left = { events: eventCount - (last?.upto ?? 0), bytes: bytes - (last?.end ?? 0) };
    const isWithinEvents = maxEvents === 0 || left.events <= Math.floor(maxEvents * target);
    const isWithinBytes = maxBytes === 0 || left.bytes <= Math.floor(maxBytes * target);
    return isWithinEvents && isWithinBytes;
  };
  for (let count = 1; count <= candidates.length; count += 1) {
    if (reaches(count)) return [count, candidates[count - 1]?.turn, true];
  }
  return candidates.length === 0 ? null : [candidates.length, candidates.at(-1)?.turn, false];
}

test('T-60, T-61: any turns under any limits are planned as the rule says, word by word', () => {
  const size = fc.record({ events: fc.integer({ min: 1, max: 9 }), bytes: fc.integer({ min: 1, max: 900 }) });
  const cap = fc.record({
    maxEvents: fc.nat(40),
    maxBytes: fc.nat(4_000),
    target: fc.double({ min: 0.01, max: 1, noNaN: true }),
    keepTurns: fc.integer({ min: 1, max: 4 }),
  });
  const rest = { events: fc.nat(12), bytes: fc.nat(1_200) };
  fc.assert(
    fc.property(
      fc.array(size, { maxLength: 12 }),
      fc.record(rest),
      fc.record(rest),
      fc.integer({ min: 1, max: 50 }),
      cap,
      fc.option(fc.nat(60)),
      (sizes, before, behind, firstTurn, limits, guard) => {
        const entries = turnsOf(sizes, before, firstTurn);
        const eventCount = (entries.at(-1)?.upto ?? before.events) + behind.events;
        const bytes = (entries.at(-1)?.end ?? before.bytes) + behind.bytes;
        const lastTurn = entries.at(-1)?.turn ?? firstTurn - 1;
        const plan = planEviction({ entries, lastTurn, eventCount, bytes, guard }, limits);
        const found = plan.kind === 'keep' ? null : [plan.turns, plan.lastTurn, plan.reaches];
        expect(found).toEqual(planNaively(entries, eventCount, bytes, limits, guard));
        if (plan.kind === 'keep') return;
        const last = entries.find(({ turn }) => turn === plan.lastTurn);
        expect([plan.cut, plan.events, plan.bytes, plan.toSeq]).toEqual([
          last?.end,
          last?.upto,
          last?.end,
          last?.lastSeq,
        ]);
      },
    ),
    { numRuns: 1_000 },
  );
});

test.each([
  [{ maxEvents: -1 }],
  [{ maxBytes: Number.NaN }],
  [{ maxEvents: 1.5 }],
  [{ target: 0 }],
  [{ target: 1.01 }],
  [{ keepTurns: 0 }],
  [{ hardMaxBytes: Number.POSITIVE_INFINITY }],
  [{ hookTimeoutMs: 0 }],
])('a cap that cannot be meant is refused: %j', (options) => {
  expect(() => checkCap(options)).toThrow(expect.objectContaining({ code: 'TURNLOG_BAD_CONFIG' }));
});

test('a cap has the defaults of the specification', () => {
  expect(checkCap({})).toEqual({
    maxEvents: 0,
    maxBytes: 0,
    target: 0.8,
    keepTurns: 1,
    archive: 'gzip',
    hookTimeoutMs: 60_000,
    hardMaxBytes: 0,
  });
});
