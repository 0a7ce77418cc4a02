import {
  line,
  note,
  notes,
  seqsAndTypes,
  TestLog,
  threadCompleted,
  threadStarted,
  turnCompleted,
  turnStarted,
} from './support.js';

test('T-1 three turns, each a thread of its own', async () => {
  const log = new TestLog();
  const round = [threadStarted, turnStarted, turnCompleted, threadCompleted];
  await log.write([...round, ...round, ...round]);
  expect(log.manifest().turn_count).toBe(3);
  const reader = log.read();
  expect([...reader.readTurn(2)].map((record) => record.type)).toEqual(['turn.started', 'turn.completed']);
  reader.close();
});

test('T-2 in class turn nothing is written before the turn ends', async () => {
  const log = new TestLog();
  const writer = await log.open({ durability: 'turn' });
  writer.append(threadStarted);
  writer.append(turnStarted);
  expect(log.bytes().length).toBe(0);
  writer.append(turnCompleted);
  expect(log.bytes().length).toBeGreaterThan(0);
  await writer.close();
});

test('T-3 a full buffer publishes without a flush', async () => {
  const log = new TestLog();
  const writer = await log.open();
  for (let index = 0; index < 1_000; index += 1) writer.append(note(index));
  const { event_count: published } = log.manifest();
  expect(published).toBeGreaterThan(0);
  expect(published).toBeLessThan(1_000);
  await writer.close();
  expect(log.manifest().event_count).toBe(1_000);
});

test('T-4 a turn that was flushed but not ended is open after reopen', async () => {
  const log = new TestLog();
  const writer = await log.open();
  writer.append(threadStarted);
  writer.append(turnStarted);
  writer.flush();
  log.lockTable.crash();
  const again = await log.open();
  expect(again.state.lifecycle).toMatchObject({ turnCount: 0, eventCount: 2, open: { turn: 1, events: 1 } });
  const reader = log.read();
  expect([...reader.readTurn(1)].map((record) => record.seq)).toEqual([2]);
  reader.close();
  await again.close();
});

test('T-5 records that a killed writer had handed over are found by a tail scan', async () => {
  const log = new TestLog();
  await log.write([threadStarted, turnStarted, turnCompleted]);
  const writer = await log.open();
  writer.append(turnStarted);
  writer.append(note(1));
  writer.flush();
  log.lockTable.crash();
  const again = await log.open();
  expect(again.report.scan).toBe('tail');
  expect(again.state.lifecycle.eventCount).toBe(5);
  await again.close();
});

test('T-6 a turn goes on over a reopen and is completed once', async () => {
  const log = new TestLog();
  await log.write([threadStarted, turnStarted]);
  await log.write([turnCompleted]);
  expect(log.manifest()).toMatchObject({ turn_count: 1, in_turn: false });
  const reader = log.read();
  expect([...reader.readTurn(1)].map((record) => record.seq)).toEqual([2, 3]);
  reader.close();
});

test('T-7 a clean reopen scans nothing, and publishing turn 10,000 costs what turn 10 did', async () => {
  const log = new TestLog();
  const writer = await log.open();
  const published = new Map<number, number>();
  for (let turn = 1; turn <= 10_000; turn += 1) {
    writer.append(turnStarted);
    for (let index = 0; index < 20; index += 1) writer.append(note(index));
    log.fs.journal.length = 0;
    writer.append(turnCompleted);
    const derived = log.fs.journal.filter(
      (call) => call.verb === 'write' && !call.path.endsWith('events.jsonl'),
    );
    published.set(
      turn,
      derived.reduce((sum, call) => sum + call.byteCount, 0),
    );
  }
  const [early, late] = [published.get(10) ?? 0, published.get(10_000) ?? 0];
  expect(early).toBeGreaterThan(0);
  expect(late / early).toBeLessThan(1.1);
  expect(late / early).toBeGreaterThan(0.9);
  await writer.close();

  log.fs.journal.length = 0;
  const again = await log.open();
  const eventReads = log.fs.journal.filter(
    (call) => call.verb === 'read' && call.path.endsWith('events.jsonl'),
  );
  expect(again.report.scan).toBe('none');
  // The first and the last published line, nothing else.
  expect(eventReads.length).toBe(2);
  expect(again.state.lifecycle).toMatchObject({ turnCount: 10_000, status: 'active', open: null });
  await again.close();
});

describe('T-8 metadata that is missing or wrong is not believed', () => {
  const spoil: readonly (readonly [name: string, spoilIt: (log: TestLog) => void])[] = [
    ['manifest missing', (log) => log.remove('manifest.json')],
    ['manifest cut to {', (log) => log.replace('manifest.json', '{')],
    [
      'manifest with wrong types',
      (log) =>
        log.replace('manifest.json', log.text('manifest.json').replace('"turn_count":2', '"turn_count":"2"')),
    ],
    [
      'manifest of another session',
      (log) =>
        log.replace(
          'manifest.json',
          log.text('manifest.json').replace('"session_id":"case"', '"session_id":"other"'),
        ),
    ],
    [
      'index end 2^64-1',
      (log) =>
        log.replace(
          'index/turns.jsonl',
          log.text('index/turns.jsonl').replace(/"end":\d+(?=[^}]*}\n$)/, '"end":18446744073709551615'),
        ),
    ],
    ['index with turn 1 only', (log) => log.replace('index/turns.jsonl', keepLines(log, [0, 1]))],
    ['index with turn 2 only', (log) => log.replace('index/turns.jsonl', keepLines(log, [0, 2]))],
    ['index missing', (log) => log.remove('index/turns.jsonl')],
  ];

  test.each(spoil)('T-8 %s', async (_name, spoilIt) => {
    const log = new TestLog();
    await log.write([threadStarted, turnStarted, turnCompleted, turnStarted, note(1), turnCompleted]);
    const [turns, text] = [log.indexedTurns(), log.text()];
    spoilIt(log);
    const again = await log.open();
    expect(again.report.scan).toBe('full');
    expect(again.state.lifecycle).toMatchObject({ turnCount: 2, eventCount: 6 });
    await again.close();
    expect(log.indexedTurns()).toEqual(turns);
    expect(log.manifest()).toMatchObject({ turn_count: 2, event_count: 6, persisted_file_len: text.length });
    const last = await log.open();
    expect(last.report.scan).toBe('none');
    await last.close();
  });
});

function keepLines(log: TestLog, kept: readonly number[]): string {
  const lines = log.text('index/turns.jsonl').split('\n');
  return kept.map((index) => `${lines[index]}\n`).join('');
}

describe('T-9, B01, B08, B11 a fragment behind whole records', () => {
  test.each([
    ['T-9 3 good records', 3],
    ['T-9 300 good records', 300],
    ['T-9 100,000 rows', 100_000],
  ])('%s', async (_name, count) => {
    const log = new TestLog();
    const good = notes(count);
    const fragment = line(count + 1, note('torn')).slice(0, 60);
    log.plant(good);
    // The good part is known already, so that only the tail has to be read below.
    await (await log.open()).close();
    log.plant(good + fragment);
    log.fs.journal.length = 0;

    const writer = await log.open();
    const readBytes = log.fs.journal
      .filter((call) => call.verb === 'read')
      .reduce((sum, call) => sum + call.byteCount, 0);
    expect(readBytes).toBeLessThan(16 * 1024);
    expect(writer.report.damage).toMatchObject([{ kind: 'torn-tail', offset: good.length, length: 60 }]);
    const torn = log.disk.list(log.path('index')).filter((entry) => entry.name.startsWith('torn-'));
    expect(torn.length).toBe(1);
    expect(log.text(`index/${torn[0]?.name}`)).toBe(fragment);
    for (let index = 0; index < 10; index += 1) writer.append(note(`new ${index}`));
    await writer.close();

    const reader = log.read();
    const last = reader.tail(11);
    expect(last.map((record) => record.type)).toEqual([
      'log.recovered',
      ...Array.from({ length: 10 }, () => 'error'),
    ]);
    expect(last[0]?.readEvent()).toMatchObject({
      reason: 'torn_tail',
      damage: [{ kind: 'torn-tail', offset: good.length, length: 60, saved_as: `index/${torn[0]?.name}` }],
    });
    expect(reader.state.lifecycle.eventCount).toBe(count + 11);
    expect(log.text().startsWith(good)).toBe(true);
    reader.close();
  });
});

test('T-10, B02, B03 a complete last record without newline gets its newline', async () => {
  const log = new TestLog();
  log.plant(notes(2) + line(3, note(3)).trimEnd());
  const reader = log.read();
  expect(seqsAndTypes(reader)).toEqual(['1 error', '2 error', '3 error']);
  expect(reader.state.damage.count).toBe(0);
  reader.close();
  const writer = await log.open();
  expect(writer.report).toMatchObject({ isLineEnded: true, damage: [], recovered: [] });
  expect(writer.append(note(4)).seq).toBe(4);
  await writer.close();
  const again = await log.open();
  expect(again.state.lifecycle.eventCount).toBe(4);
  expect(again.state.damage.count).toBe(0);
  await again.close();
  expect(log.text().startsWith(notes(3))).toBe(true);
});

test('a fragment on one line with a whole record is cut, and the record gets its newline', async () => {
  const log = new TestLog();
  log.plant(`${notes(1)}${line(2, note(2)).trimEnd()}{"schema_version":"0.18.0","seq":3`);
  const writer = await log.open();
  expect(writer.report).toMatchObject({ isLineEnded: true, recovered: [{ reason: 'torn_tail' }] });
  expect(writer.append(note('new')).seq).toBe(4);
  await writer.close();
  const reader = log.read();
  expect(seqsAndTypes(reader)).toEqual(['1 error', '2 error', '3 log.recovered', '4 error']);
  expect(reader.damage()).toEqual([]);
  reader.close();
});

test('T-11, B03 a whole line that is no record is damage, and its bytes stay', async () => {
  const log = new TestLog();
  const bad = `${JSON.stringify({ schema_version: '0.18.0', seq: 3 })}\n`;
  log.plant(notes(2) + bad);
  const writer = await log.open();
  expect(writer.report.damage).toMatchObject([
    { kind: 'not-a-record', line: 3, lines: 1, offset: notes(2).length },
  ]);
  await writer.close();
  expect(log.text()).toBe(notes(2) + bad);
});

test('T-13 a writer killed between sync, index and manifest leaves nothing stale behind', async () => {
  for (const isIndexBehind of [true, false]) {
    const log = new TestLog();
    await log.write([threadStarted, turnStarted, turnCompleted]);
    const [index, manifest] = [log.text('index/turns.jsonl'), log.text('manifest.json')];
    await log.write([turnStarted, note(1), turnCompleted]);
    if (isIndexBehind) log.replace('index/turns.jsonl', index);
    log.replace('manifest.json', manifest);
    const again = await log.open();
    expect(again.report.scan).toBe('tail');
    expect(again.state.lifecycle).toMatchObject({ turnCount: 2, eventCount: 6 });
    await again.close();
    expect(log.indexedTurns().map((entry) => entry.turn)).toEqual([1, 2]);
  }
});

describe('T-15 a log cut short from outside', () => {
  test('T-15 tail lost: the lost seqs are named and never used again', async () => {
    const log = new TestLog();
    await log.write([threadStarted, turnStarted, turnCompleted, turnStarted, turnCompleted, note(6)]);
    const [first, second, third] = log.text().split('\n');
    log.plant(`${first}\n${second}\n${third}\n`);
    const writer = await log.open();
    expect(writer.report.scan).toBe('full');
    expect(writer.report.recovered).toMatchObject([
      { reason: 'tail_lost', lost: { from_seq: 4, to_seq: 6 }, turn_base: 3 },
    ]);
    expect(writer.append(turnStarted)).toMatchObject({ seq: 8, turn: 3 });
    await writer.close();
    const reader = log.read();
    expect(seqsAndTypes(reader)).toEqual([
      '1 thread.started',
      '2 turn.started',
      '3 turn.completed',
      '7 log.recovered',
      '8 turn.started',
    ]);
    expect([...reader.readTurn(1)].map((record) => record.seq)).toEqual([2, 3]);
    reader.close();
    // A scan that has nothing but the log counts on in the same way.
    log.remove('manifest.json');
    const again = await log.open();
    expect(again.append(turnCompleted)).toMatchObject({ seq: 9, turn: 3 });
    await again.close();
  });

  test('T-15 all lost: nothing is taken for a removed beginning', async () => {
    const log = new TestLog();
    await log.write([threadStarted, turnStarted, turnCompleted]);
    log.plant('');
    const writer = await log.open();
    expect(writer.report.recovered).toMatchObject([
      { reason: 'tail_lost', lost: { from_seq: 1, to_seq: 3, events: 3 } },
    ]);
    expect(writer.append(turnStarted)).toMatchObject({ seq: 5, turn: 2 });
    await writer.close();
    expect(log.manifest()).toMatchObject({ event_count: 2, turn_count: 1, in_turn: true });
  });
});

test('T-17, B71 where manifest and log disagree the log wins', async () => {
  const log = new TestLog();
  log.plant(notes(200));
  await (await log.open()).close();
  log.replace(
    'manifest.json',
    log
      .text('manifest.json')
      .replace('"event_count":200', '"event_count":0')
      .replace(/"persisted_file_len":\d+/, '"persisted_file_len":0'),
  );
  const reader = log.read();
  expect(reader.state.lifecycle.eventCount).toBe(200);
  reader.close();
});

describe('T-18 a read-only open changes nothing', () => {
  test.each([
    ['T-18 healthy', notes(3)],
    ['T-18 torn', `${notes(3)}{"schema_version":"0.18.0","se`],
    ['T-18 without its newline', notes(3).trimEnd()],
  ])('%s', (_name, bytes) => {
    const log = new TestLog();
    log.plant(bytes);
    const before = log.snapshot();
    const mutations = log.disk.mutationCount;
    const reader = log.read();
    expect([...reader.records()].length).toBe(3);
    reader.tail(2);
    reader.close();
    expect(log.snapshot()).toEqual(before);
    expect(log.disk.mutationCount).toBe(mutations);
  });

  test('T-18 locked by a writer, and on a file system that allows no writing', async () => {
    const log = new TestLog();
    const writer = await log.open();
    writer.append(turnStarted);
    writer.sync();
    const before = log.snapshot();
    const writing = [
      'open',
      'write',
      'truncate',
      'rename',
      'makeDirectory',
      'removeFile',
      'setMode',
      'sync',
      'syncData',
      'syncDirectory',
    ];
    log.fs.setFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno: 'EROFS' },
      applies: ({ verb }) => writing.includes(verb) && verb !== 'open',
    });
    const reader = log.read();
    expect([...reader.readTurn(1)].length).toBe(1);
    reader.close();
    expect(log.fs.hitCount).toBe(0);
    log.fs.setFault(null);
    expect(log.snapshot()).toEqual(before);
    await writer.close();
  });
});

test('T-19 a second writer in the same process is refused with the own pid, readers go on', async () => {
  const log = new TestLog();
  const writer = await log.open();
  writer.append(turnStarted);
  writer.flush();
  await expect(log.open()).rejects.toMatchObject({
    code: 'TURNLOG_LOCKED',
    details: { pid: log.machine.host.pid },
  });
  const reader = log.read();
  expect(reader.state.lifecycle.eventCount).toBe(1);
  reader.close();
  await writer.close();
});
