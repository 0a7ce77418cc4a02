import { gunzipSync, gzipSync } from 'node:zlib';
import {
  type ArchiveMode,
  type EventInput,
  LogFollower,
  type LogReader,
  type LogRecord,
  openLogReader,
} from '@turnlog/log';
import { type NaiveHistory, type NaiveLog, naiveTree, readHistory } from '@turnlog/testkit';
import fc from 'fast-check';
import {
  line,
  note,
  TestLog,
  threadCompleted,
  threadStarted,
  turnCompleted,
  turnFailed,
  turnStarted,
} from './support.js';

// A log and its archives, read in every way, against the plainest reading of what the log would be without evictions.

const anyEvent: fc.Arbitrary<EventInput> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(turnStarted) },
  { weight: 4, arbitrary: fc.constantFrom(turnCompleted, turnFailed) },
  fc.constantFrom(threadStarted, threadCompleted),
  { weight: 4, arbitrary: fc.nat(3_000).map((size) => note('n'.repeat(size))) },
);

interface Round {
  readonly events: readonly EventInput[];
  readonly archive: ArchiveMode;
  readonly maxEvents: number;
  /** Damage put behind the last line before the log is opened again. */
  readonly damage: string;
  /** How often the last line stands there once more. */
  readonly repeats: number;
}

const rounds: fc.Arbitrary<readonly Round[]> = fc.array(
  fc.record({
    events: fc.array(anyEvent, { maxLength: 25 }),
    archive: fc.constantFrom('gzip' as const, 'gzip' as const, 'drop' as const),
    maxEvents: fc.integer({ min: 1, max: 12 }),
    damage: fc.constantFrom('', '', '', 'no record\n', '\0\0\0\n'),
    repeats: fc.constantFrom(0, 0, 0, 1, 2),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Lives the rounds, each in an open of its own, with damage and repeats before the turns leave. */
async function live(test: TestLog, all: readonly Round[]): Promise<void> {
  for (const { events, archive, maxEvents, damage, repeats } of all) {
    const cap = { maxEvents, target: 0.7, archive };
    const log = await test.open({ cap });
    for (const event of events) log.append(event);
    await log.close();
    if (test.disk.status(test.path('events.jsonl')) === null) continue;
    const bytes = test.bytes();
    const lines = bytes.toString('latin1').trimEnd().split('\n');
    const last = lines.length > 1 ? `${lines.at(-1)}\n` : '';
    test.plant(Buffer.concat([bytes, Buffer.from(last.repeat(repeats) + damage, 'latin1')]));
    const again = await test.open({ cap });
    const { maintenance = [] } = await again.maintain();
    expect(maintenance.filter(({ step }) => step !== 'cap')).toEqual([]);
    await again.close();
  }
}

function historyOf(test: TestLog): NaiveHistory {
  return readHistory(test.bytes(), (name) =>
    test.disk.status(test.path(name)) === null ? null : test.bytes(name),
  );
}

const shown = (records: Iterable<LogRecord>): readonly string[] =>
  [...records].map(({ seq, turn, bytes }) => `${seq} ${turn} ${Buffer.from(bytes).toString('latin1')}`);

function naiveShown(log: NaiveLog, isWanted: (seq: number) => boolean): readonly string[] {
  const turnOf = new Map(
    log.turns.flatMap(({ turn, records }) => records.map((record) => [record, turn] as const)),
  );
  return log.records
    .filter(({ seq }) => isWanted(seq))
    .map((record) => `${record.seq} ${turnOf.get(record) ?? null} ${record.bytes.toString('latin1')}`);
}

function codeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

function checkTurns(reader: LogReader, { whole, log, droppedTurns }: NaiveHistory): void {
  const kept = new Set(log.turns.map(({ turn }) => turn));
  const lastTurn = Math.max(log.turnCount, ...kept);
  for (let turn = 1; turn <= lastTurn + 1; turn += 1) {
    const records = whole.turns.find((candidate) => candidate.turn === turn)?.records ?? [];
    const seqs = new Set(records.map(({ seq }) => seq));
    const read = (archived: boolean): unknown => codeOf(() => shown(reader.readTurn(turn, { archived })));
    if (turn > lastTurn) expect(read(true)).toBe('TURNLOG_TURN_NOT_FOUND');
    else if (turn <= droppedTurns)
      expect([read(false), droppedRead(read(true))]).toEqual(['TURNLOG_GONE', true]);
    else {
      const expected = naiveShown(
        { ...whole, records: whole.records.filter((record) => records.includes(record)) },
        (seq) => seqs.has(seq),
      );
      expect(read(true)).toEqual(expected);
      expect(read(false)).toEqual(kept.has(turn) ? expected : 'TURNLOG_GONE');
    }
  }
}

/** Archives from before a drop may still hold the turn. */
function droppedRead(found: unknown): boolean {
  return found === 'TURNLOG_GONE' || Array.isArray(found);
}

function checkRanges(reader: LogReader, history: NaiveHistory): void {
  const { whole, droppedTo, log } = history;
  const firstKept = log.records[0]?.seq ?? 1;
  const last = Math.max(0, ...whole.records.map(({ seq }) => seq));
  for (const from of new Set([1, droppedTo + 1, firstKept - 1, firstKept, last - 1, last])) {
    for (const to of new Set([from, from + 3, firstKept, last, last + 5])) {
      if (from < 1 || to < from) continue;
      const read = (archived: boolean): unknown =>
        codeOf(() => shown(reader.readRange(from, to, { archived })));
      const expected = naiveShown(whole, (seq) => seq >= from && seq <= to);
      if (from > droppedTo) expect([from, to, read(true)]).toEqual([from, to, expected]);
      if (from < firstKept) expect(read(false)).toBe('TURNLOG_GONE');
      else expect(read(false)).toEqual(naiveShown(log, (seq) => seq >= from && seq <= to));
    }
  }
}

test('T-84 turn, range, tail and follow give what a naive reader gives, over repeats, damage and archives', async () => {
  let archivedCount = 0;
  let droppedCount = 0;
  await fc.assert(
    fc.asyncProperty(rounds, async (all) => {
      const test = new TestLog();
      await live(test, all);
      if (test.disk.status(test.path('events.jsonl')) === null || test.bytes().length === 0) return;
      const history = historyOf(test);
      const { whole, log, droppedTo } = history;
      if (log.records.length === 0) return;
      expect(history.problems).toEqual([]);
      archivedCount += whole.records.length - log.records.length;
      droppedCount += droppedTo;
      const reader = test.read();
      checkTurns(reader, history);
      checkRanges(reader, history);
      for (const count of [1, 3, log.records.length, log.records.length + 4]) {
        expect(shown(reader.tail(count))).toEqual(naiveShown(log, () => true).slice(-count));
      }
      reader.close();
      const follower = new LogFollower(test.fs, test.directory, 'case');
      const followed = follower.poll().filter(({ type }) => type !== 'log.evicted');
      expect(shown(followed)).toEqual(naiveShown(log, () => true));
      follower.close();
      expect(test.disk.openHandleCount).toBe(0);
    }),
  );
  expect(archivedCount).toBeGreaterThan(100);
  expect(droppedCount).toBeGreaterThan(100);
}, 60_000);

test('T-84 a follower that polls between appends and evictions sees each record once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyEvent, { maxLength: 9 }), { minLength: 1, maxLength: 8 }),
      async (batches) => {
        const test = new TestLog();
        const log = await test.open({ cap: { maxEvents: 6, target: 0.5 } });
        const follower = new LogFollower(test.fs, test.directory, 'case');
        const seen: number[] = [];
        for (const events of batches) {
          for (const event of events) log.append(event);
          log.flush();
          const poll = (): void => {
            for (const { seq, type } of follower.poll()) if (type !== 'log.evicted') seen.push(seq);
          };
          poll();
          await log.maintain();
          poll();
        }
        expect(seen).toEqual(Array.from({ length: log.lastSeq }, (_, index) => index + 1));
        follower.close();
        await log.close();
      },
    ),
  );
}, 60_000);

test('T-103 root(n) is the same before an eviction, after it, and after dropping, for every n', async () => {
  for (const archive of ['gzip', 'drop'] as const) {
    const test = new TestLog();
    const log = await test.open();
    log.append(threadStarted);
    for (let turn = 0; turn < 9; turn += 1)
      for (const event of [turnStarted, note(turn), turnCompleted]) log.append(event);
    await log.close();
    const { leaves } = historyOf(test);
    const roots = leaves.map((_, size) => naiveTree(leaves.slice(0, size))['root']);
    const rootsNow = (): readonly unknown[] => {
      const reader = test.read();
      try {
        return leaves.map((_, size) => reader.root(size).root);
      } finally {
        reader.close();
      }
    };
    expect(rootsNow()).toEqual(roots);
    // Twice, and then the other way, so that the chain goes over both kinds.
    for (const [maxEvents, mode] of [
      [20, archive],
      [14, archive],
      [9, archive === 'drop' ? 'gzip' : 'drop'],
      [6, archive],
    ] as const) {
      const again = await test.open({ cap: { maxEvents, target: 0.8, archive: mode } });
      await again.maintain();
      await again.close();
      expect(historyOf(test).log.header).not.toBeNull();
      expect(rootsNow()).toEqual(roots);
    }
    const reader = test.read();
    const { lastSeq } = { lastSeq: reader.state.order.highestSeq };
    expect(codeOf(() => reader.root(lastSeq + 1))).toBe('TURNLOG_NOT_FOUND');
    reader.close();
    // A file of hashes that is gone or cut is said to be gone; the kept part is proved by the header.
    for (const { name } of test.disk.list(test.path('archive'))) test.remove(`archive/${name}`);
    const bare = test.read();
    expect(codeOf(() => bare.root(3))).toBe('TURNLOG_GONE');
    expect(bare.root(lastSeq)).toEqual({ size: lastSeq, root: expect.stringMatching(/^[0-9a-f]{64}$/) });
    bare.close();
  }
});

test('T-103 the builder of a batch sees the leaf hash of each line, those of the stored bytes', async () => {
  const test = new TestLog();
  const log = await test.open();
  const seen: string[] = [];
  log.appendBatch((batch) => {
    for (const event of [turnStarted, note('é'), turnCompleted]) seen.push(leafOf(batch.add(event)));
  });
  await log.close();
  expect(seen).toEqual(historyOf(test).leaves.map((leaf) => leaf.toString('hex')));
});

function leafOf(added: unknown): string {
  return String((added as { leaf: unknown }).leaf);
}

test('T-30 odd lines in an eviction: the archive has their bytes, the records are counted, nothing reaches a prototype', async () => {
  const deep = `${'['.repeat(6_000)}${']'.repeat(6_000)}`;
  const odd: readonly string[] = [
    `{"schema_version":"0.18.0","seq":2,"ts":"2026-10-05T08:00:00.000Z","event":{"type":"error","message":"\\ud800 \\udfff"}}\n`,
    `{"schema_version":"0.18.0","seq":4,"ts":"2026-10-05T08:00:00.000Z","event":{"type":"x.n","n":12345678901234567890,"z":-0,"e":1e400,"d":1.10}}\n`,
    `{"schema_version":"0.18.0","seq":5,"ts":"2026-10-05T08:00:00.000Z","event":{"type":"x.p","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}\n`,
    `{"schema_version":"0.18.0","seq":6,"ts":"2026-10-05T08:00:00.000Z","event":{"type":"x.deep","v":${deep}}}\n`,
  ];
  const invalid = Buffer.concat([
    Buffer.from(
      '{"schema_version":"0.18.0","seq":3,"ts":"2026-10-05T08:00:00.000Z","event":{"type":"error","message":"',
    ),
    Buffer.from([0xed, 0xa6, 0x9c]),
    Buffer.from('"}}\n'),
  ]);
  const bytes = Buffer.concat([
    Buffer.from(line(1, turnStarted) + (odd[0] ?? '')),
    invalid,
    Buffer.from(odd.slice(1).join('')),
    Buffer.from(line(7, turnCompleted) + line(8, turnStarted) + line(9, turnCompleted)),
  ]);
  const test = new TestLog();
  test.plant(bytes);
  const log = await test.open({ cap: { maxEvents: 4, target: 1 } });
  expect(await log.maintain()).toEqual({});
  expect(log.state).toMatchObject({ evicted: { toSeq: 7, events: 7 }, lifecycle: { eventCount: 3 } });
  // A kept line of such depth stays; a new one is refused.
  expect(codeOf(() => log.append({ raw: `{"type":"x.deep","v":${deep}}` }))).toBe('TURNLOG_TOO_DEEP');
  await log.close();
  const raw = gunzipSync(test.bytes('archive/e-7.jsonl.gz'));
  expect(raw.equals(bytes.subarray(0, raw.length))).toBe(true);
  expect(historyOf(test).bytes.subarray(0, bytes.length).equals(bytes)).toBe(true);
  const reader = openLogReader(test.fs, test.directory, 'case');
  const records = [...reader.readRange(1, 7, { archived: true })];
  expect(records.map(({ seq, turn }) => [seq, turn])).toEqual([1, 2, 3, 4, 5, 6, 7].map((seq) => [seq, 1]));
  expect(
    Buffer.concat(records.map((record) => Buffer.concat([record.bytes, Buffer.from('\n')]))).equals(raw),
  ).toBe(true);
  expect(records.map((record) => [...record.inspect().flags])).toEqual([
    [],
    expect.arrayContaining(['lone-surrogate']),
    expect.arrayContaining(['invalid-utf8']),
    expect.arrayContaining(['inexact-number']),
    expect.anything(),
    expect.arrayContaining(['too-deep']),
    [],
  ]);
  for (const record of records) record.readEvent();
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  reader.close();
});

test.each(['gzip', 'drop'] as const)(
  'I1 repeats of a seq across the border of an eviction: what was kept of the one before is not replaced (%s)',
  async (archive) => {
    const test = new TestLog();
    // Turn 1 ends at seq 2; turns 2 and 3 are that seq again and again.
    test.plant(line(1, threadStarted) + line(2, turnStarted).repeat(3) + line(3, turnStarted));
    for (let round = 0; round < 4; round += 1) {
      const log = await test.open({ cap: { maxEvents: 1, target: 1, keepTurns: 4 - round, archive } });
      await log.maintain();
      await log.close();
      const { problems, leaves } = historyOf(test);
      expect(problems).toEqual([]);
      expect(leaves.length).toBeGreaterThanOrEqual(5);
    }
    expect(historyOf(test).log.header?.seq).toBeGreaterThanOrEqual(2);
  },
);

test('an archive that leads back to itself is damage and no endless chain', async () => {
  const test = new TestLog();
  const log = await test.open({ cap: { maxEvents: 3, target: 1 } });
  for (let turn = 0; turn < 3; turn += 1) for (const event of [turnStarted, turnCompleted]) log.append(event);
  await log.maintain();
  await log.close();
  const reader = test.read();
  const [part] = reader.archives();
  reader.close();
  test.replace(`archive/${part?.name}`, '');
  test.disk.plantFile(test.path(`archive/${part?.name}`), gzipSync(test.bytes()));
  const again = test.read();
  const damaged = { code: 'TURNLOG_IO', details: expect.objectContaining({ reason: 'damaged' }) };
  expect(() => again.archives()).toThrow(expect.objectContaining(damaged));
  expect(() => again.root(2)).toThrow(expect.objectContaining(damaged));
  again.close();
  expect(test.disk.openHandleCount).toBe(0);
});
