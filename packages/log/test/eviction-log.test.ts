import type { CapOptions, EventInput, OwnedLog } from '@turnlog/log';
import { LogFollower, openOwnedLog, transaction } from '@turnlog/log';
import {
  createTestMachine,
  FakeHost,
  FakeLockTable,
  type NaiveHistory,
  naiveTree,
  readHistory,
} from '@turnlog/testkit';
import { line, note, TestLog, threadStarted, turnCompleted, turnStarted } from './support.js';

function appendTurns(log: OwnedLog, count: number, ...events: readonly EventInput[]): void {
  for (let turn = 0; turn < count; turn += 1) {
    for (const event of [turnStarted, ...events, turnCompleted]) log.append(event);
  }
}

function historyOf(test: TestLog): NaiveHistory {
  return readHistory(test.bytes(), (name) =>
    test.disk.status(test.path(name)) === null ? null : test.bytes(name),
  );
}

function headerOf(test: TestLog): Readonly<Record<string, unknown>> {
  return historyOf(test).log.header?.event ?? {};
}

/** Opens with a cap, brings the log down to it and closes it; what was told on the way. */
async function evict(test: TestLog, cap: CapOptions): Promise<readonly unknown[]> {
  const log = await test.open({ cap });
  const { maintenance = [] } = await log.maintain();
  await log.close();
  return maintenance;
}

function codeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    const { code, details } = error as { code: string; details: unknown };
    return { code, details };
  }
}

test('T-62 two turns of two at most two: header, turn 2 and the summary; turn 2 is readable, also after reopening', async () => {
  const test = new TestLog();
  const log = await test.open({ cap: { maxEvents: 2, target: 1 } });
  appendTurns(log, 2);
  const before = test.bytes();
  await log.maintain();
  const lines = test
    .text()
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(lines.map(({ seq, event }) => `${seq} ${event.type}`)).toEqual([
    '2 log.evicted',
    '3 turn.started',
    '4 turn.completed',
    '5 log.summary',
  ]);
  // The kept lines are those bytes.
  expect(test.text()).toContain(before.toString().split('\n').slice(2).join('\n'));
  const readTurn2 = (): readonly number[] => {
    const reader = test.read();
    try {
      return [...reader.readTurn(2)].map(({ seq }) => seq);
    } finally {
      reader.close();
    }
  };
  expect(readTurn2()).toEqual([3, 4]);
  expect(log.append(turnStarted)).toMatchObject({ seq: 6, turn: 3 });
  await log.close();
  const again = await test.open();
  expect(again.report.scan).toBe('none');
  expect(readTurn2()).toEqual([3, 4]);
  expect(again.append(turnCompleted)).toMatchObject({ seq: 7, turn: 3 });
  await again.close();
  expect(test.manifest()).toMatchObject({ turn_count: 3, event_count: 5, retained_turn_base: 2 });
});

test('T-63 a thread.started before turn 1 goes with it, and counts include it', async () => {
  const test = new TestLog();
  const log = await test.open({ cap: { maxEvents: 3, target: 1 } });
  log.append(threadStarted);
  appendTurns(log, 2, note(1));
  await log.maintain();
  await log.close();
  expect(headerOf(test)).toMatchObject({
    from_seq: 1,
    to_seq: 4,
    events: 4,
    turns: 1,
    total_events: 4,
    total_turns: 1,
  });
  expect(historyOf(test).log.records.map(({ event }) => event['type'])).not.toContain('thread.started');
  expect(test.manifest()).toMatchObject({
    event_count: 4,
    turn_count: 2,
    turnlog: { evicted: { to_seq: 4, events: 4, turns: 1, last_turn: 1 } },
  });
});

describe('T-68 a log that was cut from outside', () => {
  async function cutLog(): Promise<{ test: TestLog; marker: string; old: Buffer }> {
    const test = new TestLog();
    const log = await test.open({ cap: { maxEvents: 6, target: 1, keepTurns: 2 } });
    appendTurns(log, 2, note(1));
    // The marker and the old log as they stand during the rewrite.
    let marker = '';
    let old: Buffer = Buffer.alloc(0);
    const rename = test.disk.rename.bind(test.disk);
    test.disk.rename = (from, to): void => {
      if (to === test.path('events.jsonl')) {
        marker = test.text('index/pending-rewrite.json');
        old = test.bytes();
      }
      rename(from, to);
    };
    appendTurns(log, 2, note(2));
    await log.maintain();
    await log.close();
    test.disk.rename = rename;
    expect(marker).toContain('"pending-rewrite"');
    expect(headerOf(test)).toMatchObject({ to_seq: 6, last_turn: 2 });
    return { test, marker, old };
  }

  test.each([
    ['no marker', null, false],
    ['the marker of this rewrite, which knew a longer log', 'same', true],
    ['the marker of another rewrite', 'other', true],
    ['half a marker', 'half', true],
  ] as const)('T-68 to a suffix, with %s: the numbers come from its header', async (_name, which, isOdd) => {
    const { test, marker } = await cutLog();
    // Everything but the header and the last turn is gone.
    const lines = test.text().split('\n');
    test.plant([lines[0], ...lines.slice(-3)].join('\n'));
    const texts = {
      same: marker,
      other: marker.replaceAll(/[0-9a-f]{64}/g, 'a'.repeat(64)),
      half: marker.slice(0, 90),
    };
    if (which !== null) test.replace('index/pending-rewrite.json', texts[which]);
    const log = await test.open();
    const { maintenance = [] } = log.flush();
    expect(maintenance.some(({ step }) => step === 'rewrite')).toBe(isOdd);
    expect(log.report.scan).toBe('full');
    // No record of the log's own start is taken for turn 1, and no seq is given again.
    expect(log.state.evicted).toMatchObject({ toSeq: 6, lastTurn: 2 });
    expect(log.append(turnStarted)).toMatchObject({ turn: 3 });
    expect(log.lastSeq).toBeGreaterThan(13);
    await log.close();
    expect(test.disk.status(test.path('index/pending-rewrite.json'))).toBeNull();
  });

  test.each([
    ['no marker', null],
    ['the marker of this rewrite', 'same'],
  ] as const)(
    'T-68 to nothing, with %s: turn numbers and seqs go on from what the manifest knew',
    async (_name, which) => {
      const { test, marker } = await cutLog();
      test.plant('');
      if (which !== null) test.replace('index/pending-rewrite.json', marker);
      const log = await test.open();
      expect(log.append(turnStarted)).toMatchObject({ turn: 5 });
      expect(log.lastSeq).toBeGreaterThan(13);
      await log.close();
      expect(test.disk.status(test.path('index/pending-rewrite.json'))).toBeNull();
    },
  );

  test('T-68 so that its header is gone: L-32 numbers it, never its length', async () => {
    const { test, marker } = await cutLog();
    const lines = test.text().split('\n');
    test.plant(lines.slice(1).join('\n'));
    test.replace('index/pending-rewrite.json', marker);
    const log = await test.open();
    expect(log.report.recovered).toMatchObject([{ reason: 'prefix_missing', turn_base: 3 }]);
    // The old index says which number the first turn has; without it, what was written down then.
    expect(log.state.lifecycle.turnCount).toBe(4);
    await log.close();
    test.remove('index/turns.jsonl');
    test.remove('manifest.json');
    const again = await test.open();
    expect(again.state.lifecycle.turnCount).toBe(4);
    await again.close();
  });

  test('T-68 the old log with a marker that says the new one was in place: it is the old log', async () => {
    const { test, marker, old } = await cutLog();
    test.plant(old);
    test.replace('index/pending-rewrite.json', marker);
    const log = await test.open();
    expect(log.state).toMatchObject({ evicted: null, lifecycle: { turnCount: 4 } });
    await log.close();
  });
});

test('T-69 below the first kept seq there is GONE with the first seq, the header says what went, seq goes on', async () => {
  const test = new TestLog();
  const log = await test.open({ cap: { maxEvents: 6, target: 1, keepTurns: 2, archive: 'drop' } });
  appendTurns(log, 2, note(1));
  const follower = new LogFollower(test.fs, test.directory, 'case');
  expect(follower.poll().map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  const behind = follower.cursor;
  const early = new LogFollower(test.fs, test.directory, 'case', { ...behind, seq: 2, offset: 1 });
  appendTurns(log, 2, note(2));
  await log.maintain();

  // One that had read on goes on behind the header, which is no news to it.
  expect(follower.poll().map(({ seq }) => seq)).toEqual([7, 8, 9, 10, 11, 12, 13]);
  follower.close();
  // A stored cursor below is told what is the first that is there.
  expect(codeOf(() => early.poll())).toEqual({
    code: 'TURNLOG_GONE',
    details: expect.objectContaining({ from: 3, firstSeq: 7 }),
  });
  early.close();
  const later = new LogFollower(test.fs, test.directory, 'case', behind);
  expect(later.poll().map(({ seq }) => seq)[0]).toBe(7);
  later.close();

  const reader = test.read();
  expect(codeOf(() => [...reader.readRange(6, 8)])).toEqual({
    code: 'TURNLOG_GONE',
    details: expect.objectContaining({ firstSeq: 7 }),
  });
  expect(codeOf(() => [...reader.readRange(6, 8, { archived: true })])).toMatchObject({
    code: 'TURNLOG_GONE',
  });
  expect([...reader.readRange(7, 8)].map(({ seq }) => seq)).toEqual([7, 8]);
  expect(codeOf(() => [...reader.readTurn(2)])).toEqual({
    code: 'TURNLOG_GONE',
    details: expect.objectContaining({ turn: 2, firstTurn: 3, firstSeq: 7, archive: null }),
  });
  expect(codeOf(() => [...reader.readTurn(9)])).toMatchObject({ code: 'TURNLOG_TURN_NOT_FOUND' });
  reader.close();
  expect(headerOf(test)).toMatchObject({ from_seq: 1, to_seq: 6, events: 6, turns: 2, archive: null });
  expect(log.append(note('on')).seq).toBe(14);
  await log.close();
});

test.each(['gzip', 'zstd'] as const)(
  'T-70, C-15 a chain of %s archives: their bytes one after the other are the whole history, the root goes on',
  async (archive) => {
    const hasZstd = 'zstdCompress' in (await import('node:zlib'));
    if (archive === 'zstd' && !hasZstd) return;
    const test = new TestLog();
    const cap: CapOptions = { maxEvents: 6, target: 0.5, archive };
    const log = await test.open({ cap: { ...cap, maxEvents: 0 } });
    log.append(threadStarted);
    appendTurns(log, 3, note(1));
    await log.close();
    const first = test.bytes();
    await evict(test, cap);
    const more = await test.open();
    appendTurns(more, 3, note(2));
    await more.close();
    const second = test.bytes();
    test.clock.advance(5_000);
    await evict(test, cap);
    const third = test.bytes();

    const reader = test.read();
    expect(reader.archives().map(({ name }) => name)).toEqual([
      expect.stringMatching(/^e-\d+\.jsonl\.(gz|zst)$/),
      expect.stringMatching(/^e-\d+\.jsonl\.(gz|zst)$/),
    ]);
    const raw = reader.archives().map(({ name }) => unpack(test.bytes(`archive/${name}`), archive));
    // Each archive is the old file's first bytes; the header of the one before is the first line of the next.
    expect(first.subarray(0, raw[0]?.length).equals(raw[0] ?? Buffer.alloc(0))).toBe(true);
    expect(second.subarray(0, raw[1]?.length).equals(raw[1] ?? Buffer.alloc(0))).toBe(true);
    const withoutFirstLine = (bytes: Buffer): Buffer => bytes.subarray(bytes.indexOf(0x0a) + 1);
    const all = Buffer.concat([
      raw[0] ?? Buffer.alloc(0),
      withoutFirstLine(raw[1] ?? Buffer.alloc(0)),
      withoutFirstLine(third),
    ]);
    expect(all.subarray(0, first.length).equals(first)).toBe(true);
    const lines = all.toString().trimEnd().split('\n');
    expect(lines.map((text) => JSON.parse(text).seq)).toEqual(lines.map((_, index) => index + 1));

    const leaves = lines.map((text) => Buffer.from(text));
    const { naiveLeaf } = await import('@turnlog/testkit');
    const hashes = leaves.map((bytes) => naiveLeaf(bytes));
    const header = JSON.parse(third.toString().split('\n')[0] ?? '');
    const { event } = header;
    const before = JSON.parse(second.toString().split('\n')[0] ?? '').event;
    expect(Object.keys(header)).toEqual(['schema_version', 'seq', 'ts', 'event']);
    expect(header.seq).toBe(event.to_seq);
    expect(event.from_seq).toBe(before.to_seq + 1);
    expect(event.events).toBe(event.to_seq - before.to_seq);
    expect(event.total_events).toBe(event.to_seq);
    expect(event.total_turns).toBe(before.turns + event.turns);
    expect(event.last_turn).toBe(event.total_turns);
    expect(event.tree).toEqual(naiveTree(hashes.slice(0, event.to_seq)));
    expect([event.first_ts, event.last_ts]).toEqual([
      JSON.parse(lines[0] ?? '').ts,
      JSON.parse(lines[event.to_seq - 1] ?? '').ts,
    ]);
    // The time of the last record that left, not that of the eviction.
    expect(header.ts).toBe(event.last_ts);
    expect(event.evicted_at).toBe('2026-10-05T08:00:05.000Z');
    expect(event.archive).toMatchObject({
      file: reader.archives()[1]?.name,
      codec: archive,
      bytes: test.bytes(`archive/${reader.archives()[1]?.name}`).length,
      raw_bytes: raw[1]?.length,
    });
    expect(event.summary).toEqual({ id: `sum-${event.from_seq}-${event.to_seq}`, seq: expect.any(Number) });
    expect(event.generation).toBe(test.manifest().turnlog.generation);
    expect(event.generation).not.toBe(before.generation);
    expect(event.damage).toBeUndefined();
    // The header is no leaf and no event of the count, and replaces the one before.
    expect(third.toString().match(/log\.evicted/g)).toHaveLength(1);
    expect(test.manifest().event_count).toBe(lines.length - event.to_seq);
    expect(test.manifest().turnlog['tree']).toEqual(naiveTree(hashes));
    for (let size = 0; size <= hashes.length; size += 1) {
      expect(reader.root(size)).toEqual({ size, root: naiveTree(hashes.slice(0, size))['root'] });
    }
    reader.close();
  },
);

function unpack(bytes: Buffer, codec: 'gzip' | 'zstd'): Buffer {
  const zlib = jest.requireActual<Record<string, (bytes: Buffer) => Buffer>>('node:zlib');
  if (codec === 'gzip') return zlib['gunzipSync']?.(bytes) ?? Buffer.alloc(0);
  // Node reads one frame at a time; how long each is says the skippable frame before it.
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 12 + bytes.readUInt32LE(at + 8);
    parts.push(zlib['zstdDecompressSync']?.(bytes.subarray(at + 12, end)) ?? Buffer.alloc(0));
    at = end;
  }
  return Buffer.concat(parts);
}

test('C-15 the header takes the time that is known: of what left, else the first behind it, else of the eviction', async () => {
  const untimed = (seq: number, event: unknown): string =>
    `${JSON.stringify({ schema_version: '0.18.0', seq, ts: 'nonsense', event })}\n`;
  const usage = { type: 'turn.completed', usage: {} };
  const turn = (from: number, ts?: string): string =>
    ts === undefined
      ? untimed(from, { type: 'turn.started' }) + untimed(from + 1, usage)
      : line(from, { type: 'turn.started' }, ts) + line(from + 1, usage, ts);
  const cap: CapOptions = { maxEvents: 2, target: 1 };
  const cases: readonly (readonly [string, string, string | null])[] = [
    [turn(1, '2026-01-02T00:00:00.000Z') + turn(3), '2026-01-02T00:00:00.000Z', '2026-01-02T00:00:00.000Z'],
    [turn(1) + turn(3, '2026-03-04T00:00:00.000Z'), '2026-03-04T00:00:00.000Z', null],
    [turn(1) + turn(3), '2026-10-05T08:00:00.000Z', null],
  ];
  for (const [text, ts, known] of cases) {
    const test = new TestLog();
    test.plant(text);
    await evict(test, cap);
    const header = JSON.parse(test.text().split('\n')[0] ?? '');
    expect([header.seq, header.ts, header.event.first_ts, header.event.last_ts]).toEqual([
      2,
      ts,
      known,
      known,
    ]);
  }
});

test('C-15 damage that leaves with its turns is counted in the header', async () => {
  const test = new TestLog();
  await test.write([turnStarted, note(1), turnCompleted, turnStarted, turnCompleted]);
  const lines = test.text().split('\n');
  test.plant([lines[0], 'no record at all', ...lines.slice(1)].join('\n'));
  test.remove('manifest.json');
  await evict(test, { maxEvents: 3, target: 1 });
  expect(headerOf(test)).toMatchObject({ events: 3, damage: { count: 1, bytes: 16 } });
  expect(historyOf(test).bytes.toString()).toContain('no record at all');
});

function matrix(id: string, marker: string): EventInput {
  // Digits and escapes that no double and no printer keep.
  return {
    raw: `{"type":"matrix.updated","spec":{"id":"${id}","tasks":[],"resources":{}},"lifecycle":"running","tasks":[],"generation":null,"revision":1,"x_big":12345678901234567890.10,"x_esc":"\\u0041\\ud800","x_mark":"${marker}"}`,
  };
}

test('T-71, C-16 of two matrices the newest evicted snapshot is carried byte for byte, in id order, also a second time', async () => {
  const test = new TestLog();
  const cap: CapOptions = { maxEvents: 8, target: 0.5 };
  const rawOf = (event: EventInput): string => (event as { raw: string }).raw;
  const log = await test.open();
  for (const event of [
    matrix('m-2', 'old'),
    matrix('m-1', 'old'),
    matrix('m-2', 'newest'),
    matrix('m-3', 'old'),
  ]) {
    appendTurns(log, 1, event);
  }
  appendTurns(log, 1, matrix('m-3', 'kept'));
  await log.close();
  await evict(test, cap);
  const carriedNow = (): readonly { seq: number; ts: string; event: { type: string; x_mark: string } }[] =>
    (headerOf(test)['carried'] ?? []) as never;
  // The newer snapshot of m-3 is in the part that stays.
  expect(carriedNow().map(({ seq, event }) => [seq, event.x_mark])).toEqual([
    [5, 'old'],
    [8, 'newest'],
  ]);
  const headerText = (): string => test.text().split('\n')[0] ?? '';
  expect(headerText()).toContain(`"event":${rawOf(matrix('m-1', 'old'))}},{"seq":8`);
  expect(headerText()).toContain(`"event":${rawOf(matrix('m-2', 'newest'))}}]`);

  // Taken over from the header before; a newer one in the kept part ends that.
  const again = await test.open();
  appendTurns(again, 4, note(1));
  appendTurns(again, 1, matrix('m-1', 'kept'));
  await again.close();
  await evict(test, cap);
  expect(carriedNow().map(({ seq, event }) => [seq, event.x_mark])).toEqual([
    [8, 'newest'],
    [14, 'kept'],
  ]);
  expect(headerText()).toContain(rawOf(matrix('m-2', 'newest')));
  expect(headerText()).toContain(rawOf(matrix('m-3', 'kept')));
});

test('C-16 at most one MiB is carried: what does not fit stays in the archive', async () => {
  const test = new TestLog();
  const log = await test.open();
  for (const id of ['a', 'b', 'c', 'd']) appendTurns(log, 1, matrix(`m-${id}`, 'x'.repeat(400_000)));
  appendTurns(log, 2);
  await log.close();
  await evict(test, { maxEvents: 3, target: 1 });
  const carried = headerOf(test)['carried'] as readonly { event: { spec: { id: string } } }[];
  expect(carried.map(({ event }) => event.spec.id)).toEqual(['m-a', 'm-b']);
  expect(Buffer.byteLength(JSON.stringify(carried))).toBeLessThanOrEqual(1_048_576);
  expect(historyOf(test).problems).toEqual([]);
  expect(historyOf(test).bytes.toString()).toContain('"id":"m-d"');
});

function run(cwd: string, more: Readonly<Record<string, unknown>> = {}): EventInput {
  return { type: 'run.started', program: 'p', cwd, agent: 'primary', ...more } as EventInput;
}

function set(members: Readonly<Record<string, unknown>>): EventInput {
  return { type: 'journal.set', ...members } as EventInput;
}

test('C-62, T-106 what the manifest is made of is carried: title, tags, archived, agent, workspaces, forked_from', async () => {
  const test = new TestLog();
  const log = await test.open();
  const events: readonly EventInput[] = [
    run('/first', { forked_from: { session: 'parent', seq: 12 }, agent: 'subagent' }),
    run('/second', { workspace: '/work' }),
    set({ title: 'old title', tags: ['a'] }),
    run('/first', { version: '2' }),
    set({ title: 'new title' }),
    set({ archived: true }),
  ];
  for (const event of events) appendTurns(log, 1, event);
  appendTurns(log, 2);
  await log.close();
  const facts = (): unknown => {
    const { agent, forked_from, title, tags, archived, workspaces } = test.manifest().turnlog;
    return { agent, forked_from, title, tags, archived, workspaces };
  };
  const before = facts();
  expect(before).toEqual({
    agent: 'subagent',
    forked_from: { session: 'parent', seq: 12 },
    title: 'new title',
    tags: ['a'],
    archived: true,
    workspaces: ['/work', '/first'],
  });
  await evict(test, { maxEvents: 3, target: 1, archive: 'drop' });
  const header = headerOf(test);
  expect((header['carried'] as readonly { seq: number }[]).map(({ seq }) => seq)).toEqual([
    2, 5, 8, 11, 14, 17,
  ]);
  expect(facts()).toEqual(before);

  // All of it is gone but the header; a list reads the manifest that is made of it.
  const published = test.text('manifest.json').replace(/"generation":"[0-9a-f]{32}"/, '');
  test.remove('manifest.json');
  test.remove('index/turns.jsonl');
  const again = await test.open();
  expect(again.report.scan).toBe('full');
  await again.close();
  expect(test.text('manifest.json').replace(/"generation":"[0-9a-f]{32}"/, '')).toBe(published);

  // Over a second eviction as well; the newest of each counts.
  const more = await test.open();
  appendTurns(more, 1, set({ title: 'newest title' }));
  appendTurns(more, 2);
  await more.close();
  await evict(test, { maxEvents: 3, target: 1, archive: 'drop' });
  expect(facts()).toEqual({ ...(before as object), title: 'newest title' });
  expect((headerOf(test)['carried'] as readonly { seq: number }[]).map(({ seq }) => seq)).not.toContain(14);
});

test('C-62 at most sixteen workspaces are carried, the newest', async () => {
  const test = new TestLog();
  const log = await test.open();
  for (let index = 0; index < 20; index += 1) appendTurns(log, 1, run(`/w-${index}`));
  appendTurns(log, 2);
  await log.close();
  await evict(test, { maxEvents: 3, target: 1 });
  const { workspaces } = test.manifest().turnlog;
  expect(workspaces).toEqual(Array.from({ length: 16 }, (_, index) => `/w-${index + 4}`));
  const carried = headerOf(test)['carried'] as readonly { event: { cwd: string } }[];
  expect(carried.map(({ event }) => event.cwd)).toEqual(['/w-0', ...(workspaces as readonly string[])]);
});

const rows: readonly (readonly [string, (path: string) => boolean])[] = [
  ['R2, the archive', (path) => path.includes('/archive/')],
  ['R3, the new log', (path) => /\/case\/\.t-/.test(path)],
  ['R5, the marker', (path) => /\/index\/\.t-/.test(path)],
];

test.each(rows)(
  'T-72, B21 a full disk at %s: the log is byte-identical and no temp file is left',
  async (_name, applies) => {
    const test = new TestLog();
    const log = await test.open({ cap: { maxEvents: 6, target: 1 } });
    const told: unknown[] = [];
    log.onMaintenance((report) => told.push(report));
    appendTurns(log, 2, note(1));
    log.append(turnStarted);
    test.fs.setFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno: 'ENOSPC' },
      applies: ({ verb, path }) => {
        // Before the archive is there, other files have names like these.
        const isArchived = test.disk.status(test.path('archive/e-3.jsonl.gz')) !== null;
        return verb === 'write' && applies(path) && isArchived !== path.includes('/archive/');
      },
    });
    log.append(turnCompleted);
    // The run that the turn has begun, and one more.
    const { maintenance = [] } = await log.maintain();
    expect(test.fs.hitCount).toBe(2);
    expect(maintenance).toHaveLength(2);
    expect(maintenance).toEqual(told);
    for (const { step, cause } of maintenance) {
      expect(['archive', 'rewrite']).toContain(step);
      expect(String((cause as Error).cause ?? cause)).toContain('ENOSPC');
    }
    test.fs.setFault(null);
    // The records, the summary of R1 once, and nothing else.
    expect(historyOf(test).log.records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(log.lastSeq).toBe(9);
    const left = Object.keys(test.snapshot()).filter((path) => /\.t-|pending/.test(path));
    expect(left).toEqual([]);
    // And then there is room.
    const before = test.bytes();
    expect(await log.maintain()).toEqual({});
    expect(historyOf(test).bytes.equals(before)).toBe(true);
    expect(headerOf(test)).toMatchObject({ to_seq: 3, turns: 1 });
    await log.close();
  },
);

test('T-72, B21 a full disk at R6: the rename fails, the old log is whole, marker and temp are gone', async () => {
  const test = new TestLog();
  const log = await test.open({ cap: { maxEvents: 6, target: 1 } });
  const isSwap = (path: string): boolean => /\/case\/\.t-[0-9a-f]+$/.test(path);
  let atSwap: Buffer = Buffer.alloc(0);
  test.fs.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'ENOSPC' },
    applies: ({ verb, path }) => {
      if (verb !== 'rename' || !isSwap(path) || !test.disk.status(test.path('index/pending-rewrite.json')))
        return false;
      if (atSwap.length === 0) atSwap = test.bytes();
      return true;
    },
  });
  const failed: Buffer[] = [];
  log.onMaintenance(({ step }) => {
    expect(step).toBe('rewrite');
    failed.push(test.bytes());
    expect(Object.keys(test.snapshot()).filter((path) => /\.t-|pending/.test(path))).toEqual([]);
  });
  appendTurns(log, 3, note(1));
  await log.maintain();
  expect(failed).toHaveLength(1);
  expect(failed[0]?.equals(atSwap)).toBe(true);
  // The next try needs no second summary.
  expect(test.text().match(/"log\.summary"/g)).toHaveLength(1);
  expect(headerOf(test)).toMatchObject({ to_seq: 3 });
  await log.close();
});

describe('T-49, B33 somebody else evicts while a writer holds its descriptor', () => {
  /** Two processes that both think the lock is theirs, as after a pause longer than the lock lasts. */
  async function twoWriters(): Promise<{ test: TestLog; first: OwnedLog; second: OwnedLog }> {
    const test = new TestLog();
    const first = await test.open();
    appendTurns(first, 4, note(1));
    const other = createTestMachine({
      fs: test.disk,
      clock: test.clock,
      lockTable: new FakeLockTable(),
      host: new FakeHost({ pid: 200 }),
      seed: 77,
    });
    const second = await openOwnedLog(other, test.directory, 'case', {
      cap: { maxEvents: 6, target: 1, keepTurns: 2 },
    });
    return { test, first, second };
  }

  test('T-49 an owned writer is told LOCK_LOST, and nothing of its record is on the old inode or in the new log', async () => {
    const { test, first, second } = await twoWriters();
    const { inode } = test.disk.status(test.path('events.jsonl')) ?? {};
    await second.maintain();
    expect(test.disk.status(test.path('events.jsonl'))?.inode).not.toBe(inode);
    const after = test.bytes();
    expect(codeOf(() => first.append(note('late'), { durability: 'event' }))).toMatchObject({
      code: 'TURNLOG_LOCK_LOST',
    });
    expect(test.bytes().equals(after)).toBe(true);
    expect(codeOf(() => first.append(note('later')))).toMatchObject({ code: 'TURNLOG_POISONED' });
    expect(second.append(note('mine'), { durability: 'event' }).seq).toBe(14);
    await second.close();
    await first.close().catch(() => undefined);
    expect(historyOf(test).bytes.toString()).not.toContain('late');
  });

  test('T-49 a shared writer opens the new log and appends to that', async () => {
    const { test, first, second } = await twoWriters();
    await first.close();
    await second.maintain();
    await second.close();
    const { seq } = await transaction(test.machine, test.directory, 'case', (log) =>
      log.append(note('shared')),
    );
    expect(seq).toBe(14);
    expect(historyOf(test).log.records.map((record) => record.seq)).toEqual([7, 8, 9, 10, 11, 12, 13, 14]);
  });
});

test('T-103 a lock that is lost between a write and its sync: LOCK_LOST, and nothing is acknowledged', async () => {
  const test = new TestLog();
  const log = await test.open();
  appendTurns(log, 1);
  const { durableSeq } = log;
  // The log is replaced while the sync is under way.
  const content = test.bytes();
  const open = test.fs.run.bind(test.fs);
  let isArmed = true;
  test.fs.run = (verb, path, make) => {
    const result = open(verb, path, make);
    if (isArmed && verb === 'syncData') {
      isArmed = false;
      test.disk.plantFile(test.path('events.jsonl'), content);
    }
    return result;
  };
  expect(codeOf(() => log.append(note('doubtful'), { durability: 'event' }))).toMatchObject({
    code: 'TURNLOG_LOCK_LOST',
  });
  expect(isArmed).toBe(false);
  expect(log.durableSeq).toBe(durableSeq);
  expect(codeOf(() => log.sync())).toMatchObject({ code: 'TURNLOG_POISONED' });
  await log.close().catch(() => undefined);
  expect(test.bytes().equals(content)).toBe(true);
});
