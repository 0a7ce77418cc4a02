import { transaction } from '@turnlog/log';
import { line, note, notes, seqsAndTypes, TestLog, turnCompleted, turnStarted } from './support.js';

describe('T-40 a refused event changes nothing', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 200; level += 1) deep = [deep];
  const cyclic: Record<string, unknown> = { type: 'x.a.b' };
  cyclic['self'] = cyclic;
  const refused: readonly (readonly [name: string, event: unknown, code: string])[] = [
    ['T-40 no type', { message: 'm' }, 'TURNLOG_INVALID_EVENT'],
    ['T-40 NaN', { type: 'x.a.b', n: Number.NaN }, 'TURNLOG_INVALID_EVENT'],
    ['T-40 a cycle', cyclic, 'TURNLOG_INVALID_EVENT'],
    ['T-40 a known type without a required member', { type: 'turn.failed' }, 'TURNLOG_INVALID_EVENT'],
    ['T-40 text that does not parse', { raw: '{"type":"x.a.b"' }, 'TURNLOG_INVALID_EVENT'],
    ['T-40 too deep', { type: 'x.a.b', deep }, 'TURNLOG_TOO_DEEP'],
    ['T-40 too large', { type: 'x.a.b', text: 'x'.repeat(17 * 1024 * 1024) }, 'TURNLOG_RECORD_TOO_LARGE'],
    ['T-40 a family that the engine writes', { type: 'log.summary' }, 'TURNLOG_RESERVED_RECORD'],
  ];

  test.each(refused)('%s', async (_name, event, code) => {
    const log = new TestLog();
    const writer = await log.open();
    writer.append(turnStarted);
    const before = writer.state;
    expect(() => writer.append(event as never)).toThrow(expect.objectContaining({ code }));
    expect(() => writer.appendBatch([note(1), event as never])).toThrow(expect.objectContaining({ code }));
    expect(writer.state).toBe(before);
    expect(writer.append(note(2))).toMatchObject({ seq: 2, turn: 1 });
    await writer.close();
    expect(log.text()).toBe(line(1, turnStarted) + line(2, note(2)));
  });

  test('T-40 append after close', async () => {
    const log = new TestLog();
    const writer = await log.open();
    writer.append(note(1));
    await writer.close();
    for (const call of [() => writer.append(note(2)), () => writer.flush(), () => writer.sync()]) {
      expect(call).toThrow(expect.objectContaining({ code: 'TURNLOG_CLOSED' }));
    }
    expect(() => writer.commit()).toThrow(expect.objectContaining({ code: 'TURNLOG_CLOSED' }));
    await expect(writer.close()).resolves.toEqual({});
    expect(log.text()).toBe(notes(1));
  });
});

describe('T-42, B24 expected heads and heads that conflict', () => {
  test('T-42 two shared writers with one stale head: one is told, the other catches up', async () => {
    const log = new TestLog();
    await log.write([note(1)]);
    const first = transaction(
      log.machine,
      log.directory,
      'case',
      (shared) => shared.append(note('a'), { expectLast: 1 }).seq,
    );
    await expect(first).resolves.toBe(2);
    const stale = transaction(log.machine, log.directory, 'case', (shared) =>
      shared.append(note('b'), { expectLast: 1 }),
    );
    await expect(stale).rejects.toMatchObject({
      code: 'TURNLOG_STALE_HEAD',
      details: { expected: 1, actual: 2 },
    });
    await expect(
      transaction(log.machine, log.directory, 'case', (shared) => shared.append(note('c')).seq),
    ).resolves.toBe(3);
    const reader = log.read();
    expect(seqsAndTypes(reader)).toEqual(['1 error', '2 error', '3 error']);
    reader.close();
  });

  test('T-42, C-36 repeated and conflicting seqs stay in file order, the next append is above the highest', async () => {
    const log = new TestLog();
    const bytes =
      line(1, note(1)) +
      line(2, note(2)) +
      line(2, note(2)) +
      line(2, note('other')) +
      line(7, note(7)) +
      line(3, note(3));
    log.plant(bytes);
    const writer = await log.open();
    expect(writer.append(note('new')).seq).toBe(8);
    await writer.close();
    const reader = log.read();
    expect([...reader.records()].map((record) => [record.seq, record.flags[0] ?? ''])).toEqual([
      [1, ''],
      [2, ''],
      [2, 'seq-repeat'],
      [2, 'seq-conflict'],
      [7, 'seq-gap'],
      [3, 'seq-conflict'],
      [8, ''],
    ]);
    expect([...reader.readRange(2, 3)].map((record) => record.seq)).toEqual([2, 2, 2, 3]);
    expect(reader.tail(2).map((record) => record.seq)).toEqual([3, 8]);
    reader.close();
    expect(log.text().startsWith(bytes)).toBe(true);
  });

  test('T-42 an owned writer with an expected head', async () => {
    const log = new TestLog();
    const writer = await log.open();
    expect(writer.append(note(1), { expectLast: 0 }).seq).toBe(1);
    expect(() => writer.append(note(2), { expectLast: 0 })).toThrow(
      expect.objectContaining({ code: 'TURNLOG_STALE_HEAD' }),
    );
    expect(() => writer.appendBatch([note(2)], { expectLast: 5 })).toThrow(
      expect.objectContaining({ code: 'TURNLOG_STALE_HEAD' }),
    );
    expect(writer.append(note(2), { expectLast: 1 }).seq).toBe(2);
    await writer.close();
  });
});

describe('T-52 idempotency keys', () => {
  const reopened: readonly (readonly [name: string, spoil: (log: TestLog) => void])[] = [
    ['T-52 same handle', () => undefined],
    ['T-52 after index loss', (log) => log.remove('index/keys.jsonl')],
    [
      'T-52 after loss of manifest and index',
      (log) => {
        log.remove('index/keys.jsonl');
        log.remove('manifest.json');
      },
    ],
    [
      'T-52 after the key index was cut short',
      (log) => log.replace('index/keys.jsonl', log.text('index/keys.jsonl').slice(0, -30)),
    ],
    [
      'T-52 after a power cut left zeros in the key index',
      (log) =>
        log.replace('index/keys.jsonl', log.text('index/keys.jsonl').replace('"k":"a"', '\0'.repeat(7))),
    ],
    [
      'T-52 after a line of the key index became another',
      (log) =>
        log.replace('index/keys.jsonl', log.text('index/keys.jsonl').replace(/^.*"k":"a".*$/m, 'lost')),
    ],
  ];

  test.each(reopened)('%s', async (_name, spoil) => {
    const log = new TestLog();
    const first = await log.open();
    expect(first.append(note(1), { key: 'a' })).toEqual({ seq: 1, turn: null });
    expect(first.append(note(1), { key: 'a' })).toEqual({ seq: 1, turn: null, duplicate: true });
    first.append(note(2), { key: 'b' });
    await first.close();
    spoil(log);
    const again = await log.open();
    expect(again.append(note(1), { key: 'a' })).toMatchObject({ seq: 1, duplicate: true });
    expect(() => again.append(note('other'), { key: 'b' })).toThrow(
      expect.objectContaining({
        code: 'TURNLOG_KEY_CONFLICT',
        details: expect.objectContaining({ key: 'b', seq: 2 }),
      }),
    );
    expect(again.append(note(3), { key: 'c' }).seq).toBe(3);
    await again.close();
    expect(
      log
        .text('index/keys.jsonl')
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((text) => (JSON.parse(text) as { k: string }).k),
    ).toEqual(['a', 'b', 'c']);
    const last = await log.open();
    expect(last.report.scan).toBe('none');
    expect(last.append(note(3), { key: 'c' })).toMatchObject({ seq: 3, duplicate: true });
    await last.close();
  });

  test('T-52 the first, second and tenth key that a handle is asked for are all found, and those that look alike are not', async () => {
    const log = new TestLog();
    const keys = ['a', 'a","s":1,"h', 'ä"\\', 'b', 'ab', 'A', '{"k":"a"', 'ba', ' a'];
    const first = await log.open();
    for (const [at, key] of keys.entries()) expect(first.append(note(at), { key }).seq).toBe(at + 1);
    await first.close();
    for (const [at, key] of keys.entries()) {
      const again = await log.open();
      expect(again.append(note(at), { key })).toEqual({ seq: at + 1, turn: null, duplicate: true });
      for (const [other, otherKey] of keys.entries()) {
        expect(again.append(note(other), { key: otherKey })).toMatchObject({
          seq: other + 1,
          duplicate: true,
        });
      }
      await again.close();
    }
    const last = await log.open();
    for (const key of ['a"', 'k', 's', 'h', '"a"']) {
      expect(last.append(note(99), { key })).not.toHaveProperty('duplicate');
    }
    await last.close();
  });

  test('a key that a killed writer used is known after the tail scan', async () => {
    const log = new TestLog();
    await log.write([note(1)]);
    const writer = await log.open();
    writer.append(note(2), { key: 'a' });
    writer.flush();
    log.lockTable.crash();
    const again = await log.open();
    expect(again.append(note(2), { key: 'a' })).toMatchObject({ seq: 2, duplicate: true });
    await again.close();
  });
});

test('T-59, B94 a log that ends inside a turn opens without an append, and the next start closes the turn', async () => {
  const log = new TestLog();
  const call = {
    type: 'item.started',
    item: { id: 'i1', type: 'tool_invocation', tool_name: 'sh', status: 'in_progress' },
  };
  const bytes = line(1, turnStarted) + line(2, call);
  log.plant(bytes);
  for (let round = 0; round < 2; round += 1) {
    const writer = await log.open();
    expect(writer.state.lifecycle.open).toMatchObject({ turn: 1, events: 2 });
    await writer.close();
    expect(log.text()).toBe(bytes);
  }
  const writer = await log.open();
  expect(writer.append(turnStarted)).toMatchObject({ seq: 3, turn: 2 });
  await writer.close();
  const reader = log.read();
  expect([...reader.turns()].map(({ turn, status }) => [turn, status])).toEqual([
    [1, 'interrupted'],
    [2, 'open'],
  ]);
  reader.close();
});

describe('durability classes', () => {
  function syncs(log: TestLog): number {
    return log.fs.countOf('syncData', (path) => path.endsWith('events.jsonl'));
  }

  test('buffered writes at 64 KiB and at flush, and syncs only when told', async () => {
    const log = new TestLog();
    const writer = await log.open({ durability: 'buffered' });
    writer.append(turnStarted);
    writer.append(turnCompleted);
    expect(log.bytes().length).toBe(0);
    writer.flush();
    expect([log.bytes().length > 0, syncs(log), writer.durableSeq]).toEqual([true, 0, 0]);
    for (let index = 0; index < 700; index += 1) writer.append(note(index));
    expect(log.bytes().length).toBeGreaterThan(64 * 1024);
    expect(syncs(log)).toBe(0);
    writer.sync();
    expect([syncs(log), writer.durableSeq]).toEqual([1, 702]);
    await writer.close();
  });

  test('turn syncs once at the end of a turn', async () => {
    const log = new TestLog();
    const writer = await log.open();
    for (let index = 0; index < 20; index += 1) writer.append(note(index));
    writer.append(turnStarted);
    expect(syncs(log)).toBe(0);
    writer.append(turnCompleted);
    expect([syncs(log), writer.durableSeq]).toEqual([1, 22]);
    await writer.close();
  });

  test('event syncs each append; a single append may be raised to it, never lowered', async () => {
    const log = new TestLog();
    const writer = await log.open({ durability: 'event' });
    writer.append(note(1), { durability: 'buffered' });
    writer.append(note(2));
    expect([syncs(log), writer.durableSeq]).toEqual([2, 2]);
    await writer.close();
    const raised = await log.open({ durability: 'buffered' });
    raised.append(note(3));
    raised.append(note(4), { durability: 'event' });
    expect(raised.durableSeq).toBe(4);
    await raised.close();
  });

  test('commits at the same time share one sync', async () => {
    const log = new TestLog();
    const writer = await log.open({ durability: 'buffered' });
    writer.append(note(1));
    const before = syncs(log);
    await Promise.all([writer.commit(), writer.commit(), writer.commit()]);
    expect([syncs(log) - before, writer.durableSeq]).toEqual([1, 1]);
    const first = writer.commit();
    writer.append(note(2));
    await Promise.all([first, writer.commit()]);
    expect(writer.durableSeq).toBe(2);
    await writer.close();
  });

  test('flushAfterMs hands over an idle buffer', async () => {
    const log = new TestLog();
    const writer = await log.open({ durability: 'buffered', flushAfterMs: 50 });
    writer.append(note(1));
    log.clock.advance(49);
    expect(log.bytes().length).toBe(0);
    log.clock.advance(1);
    expect(log.text()).toBe(notes(1));
    await writer.close();
  });
});

test('a batch is accepted whole or not at all, and a builder sees the hashes of its lines', async () => {
  const log = new TestLog();
  const writer = await log.open();
  const leaves: string[] = [];
  const result = writer.appendBatch((batch) => {
    for (let index = 1; index <= 3; index += 1)
      leaves.push(Buffer.from(batch.add(note(index)).leaf).toString('hex'));
  });
  expect(result.seqs).toEqual([1, 2, 3]);
  expect(new Set(leaves).size).toBe(3);
  const writes = log.fs.countOf('write', (path) => path.endsWith('events.jsonl'));
  writer.flush();
  expect(log.fs.countOf('write', (path) => path.endsWith('events.jsonl')) - writes).toBe(1);
  expect(() =>
    writer.appendBatch((batch) => {
      batch.add(note(4));
      throw new Error('no');
    }),
  ).toThrow('no');
  await writer.close();
  expect(log.text()).toBe(notes(3));
});

test('L-13 a handle that made the session and appended nothing leaves nothing behind', async () => {
  const log = new TestLog();
  const writer = await log.open();
  await writer.close();
  expect(log.disk.status(log.directory)).toBeNull();
});

test('L-13 a transaction that stores nothing leaves no session behind', async () => {
  const log = new TestLog();
  const refused = transaction(log.machine, log.directory, 'case', (shared) =>
    shared.append(note(1), { expectLast: 5 }),
  );
  await expect(refused).rejects.toMatchObject({ code: 'TURNLOG_STALE_HEAD' });
  expect(log.disk.status(log.directory)).toBeNull();
  log.plant(notes(1));
  await expect(
    transaction(log.machine, log.directory, 'case', () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(log.text()).toBe(notes(1));
});

test('L-14 at the exit of the process the buffer is handed over once, and nothing is thrown', async () => {
  const log = new TestLog();
  const writer = await log.open({ durability: 'buffered' });
  writer.append(note(1));
  (log.machine.host as unknown as { exit(): void }).exit();
  expect(log.text()).toBe(notes(1));
  const full = new TestLog();
  const failing = await full.open({ durability: 'buffered' });
  failing.append(note(1));
  full.fs.setFault({ call: 1, lasting: 'from-then-on', effect: { errno: 'ENOSPC' } });
  expect(() => (full.machine.host as unknown as { exit(): void }).exit()).not.toThrow();
});

test('T-49, B33 a log that was replaced under its writer is not written to any more', async () => {
  const log = new TestLog();
  const writer = await log.open({ durability: 'event' });
  writer.append(note(1));
  // Somebody renames another file over the log, as a rewrite does.
  log.disk.plantFile(log.path('new.jsonl'), Buffer.from(notes(1)));
  log.disk.rename(log.path('new.jsonl'), log.path('events.jsonl'));
  expect(() => writer.append(note(2))).toThrow(expect.objectContaining({ code: 'TURNLOG_LOCK_LOST' }));
  expect(() => writer.append(note(3))).toThrow(expect.objectContaining({ code: 'TURNLOG_POISONED' }));
  expect(log.text()).toBe(notes(1));
  await writer.close().catch(() => undefined);
  // A shared writer opens what has the name now.
  await expect(
    transaction(log.machine, log.directory, 'case', (shared) => shared.append(note(2)).seq),
  ).resolves.toBe(2);
});
