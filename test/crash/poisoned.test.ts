import { type OwnedLog, openOwnedLog } from '@turnlog/log';
import {
  createTestMachine,
  FakeClock,
  FakeLockTable,
  FaultFileSystem,
  ModelFileSystem,
  naiveIndex,
  readNaively,
  type TestMachine,
} from '@turnlog/testkit';

const directory = '/s-1';

interface Bench {
  readonly disk: ModelFileSystem;
  readonly faults: FaultFileSystem;
  readonly lockTable: FakeLockTable;
  readonly machine: TestMachine;
  readonly log: OwnedLog;
}

async function openBench(durability: 'buffered' | 'turn' | 'event' = 'turn'): Promise<Bench> {
  const clock = new FakeClock('skips');
  const disk = new ModelFileSystem({ clock });
  const faults = new FaultFileSystem(disk);
  const lockTable = new FakeLockTable();
  const machine = createTestMachine({ fs: faults, clock, lockTable });
  const log = await openOwnedLog(machine, directory, 's-1', { durability });
  return { disk, faults, lockTable, machine, log };
}

function eventsIn({ disk }: Bench): ReturnType<typeof readNaively> {
  return readNaively(disk.contentOf(`${directory}/events.jsonl`));
}

function note(mark: number): { raw: string } {
  return { raw: `{"type":"x.test.note","mark":${mark}}` };
}

const writes = ({ verb }: { readonly verb: string }): boolean => verb === 'write';

test('T-36 a failed fdatasync: outcome unknown, poisoned; reopening tells; a retry with its key gives one record', async () => {
  const bench = await openBench('event');
  const { faults, log } = bench;
  log.append(note(1));
  faults.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb }) => verb === 'syncData',
  });
  const failure = {
    code: 'TURNLOG_IO',
    details: { step: 'sync', errno: 'EIO', outcome: 'unknown', fromSeq: 2, toSeq: 2 },
  };
  expect(() => log.append(note(2), { key: 'k' })).toThrow(
    expect.objectContaining({ code: failure.code, details: expect.objectContaining(failure.details) }),
  );
  for (const call of [() => log.append(note(3)), () => log.flush(), () => log.sync()]) {
    expect(call).toThrow(expect.objectContaining({ code: 'TURNLOG_POISONED' }));
  }
  await expect(log.commit()).rejects.toMatchObject({ code: 'TURNLOG_POISONED' });
  expect(await log.reopen()).toEqual({ stored: { from: 2, to: 2 }, lost: null, kept: null });
  expect(log.append(note(2), { key: 'k' })).toMatchObject({ seq: 2, duplicate: true });
  await log.close();
  expect(eventsIn(bench).records.map(({ key }) => key)).toEqual([null, 'k']);
});

test('a poisoned handle closes, and names what is not stored', async () => {
  const { faults, log } = await openBench('turn');
  log.append(note(1));
  faults.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EIO' },
    applies: ({ verb }) => verb === 'write' || verb === 'truncate',
  });
  expect(() => log.flush()).toThrow(expect.objectContaining({ code: 'TURNLOG_IO' }));
  await expect(log.close()).rejects.toMatchObject({
    code: 'TURNLOG_POISONED',
    details: { fromSeq: 1, toSeq: 1 },
  });
});

test('a reopening that fails leaves the handle poisoned, and a second reopening works', async () => {
  const bench = await openBench('turn');
  const { faults, log } = bench;
  log.append(note(1));
  log.sync();
  log.append(note(2));
  faults.setFault({ call: 1, lasting: 'from-then-on', effect: { errno: 'EIO' } });
  expect(() => log.sync()).toThrow(expect.objectContaining({ code: 'TURNLOG_IO' }));
  await expect(log.reopen()).rejects.toMatchObject({ code: 'TURNLOG_IO' });
  expect(() => log.append(note(3))).toThrow(expect.objectContaining({ code: 'TURNLOG_POISONED' }));
  await expect(log.reopen()).rejects.toMatchObject({ code: 'TURNLOG_IO' });
  faults.setFault(null);
  expect(await log.reopen()).toEqual({ stored: null, lost: { from: 2, to: 2 }, kept: null });
  expect(log.append(note(4), { durability: 'event' }).seq).toBe(3);
  await log.close();
  // One gap record, although reopening was tried three times.
  const { records } = eventsIn(bench);
  expect(records.map(({ event }) => event['type'])).toEqual(['x.test.note', 'log.recovered', 'x.test.note']);
  expect(records[1]?.event['lost']).toMatchObject({ events: 1 });
});

test('a write that fails half-way and cannot be cut back: reopening finds whole lines and names the lost ones', async () => {
  const bench = await openBench('buffered');
  const { disk, faults, log } = bench;
  for (const mark of [1, 2, 3]) log.append(note(mark));
  // Room for one record and a half, and none to cut the half off again.
  disk.setSpace(disk.usedBytes + 150);
  faults.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EIO' },
    applies: ({ verb }) => verb === 'truncate',
  });
  expect(() => log.flush()).toThrow(
    expect.objectContaining({ code: 'TURNLOG_IO', details: expect.objectContaining({ outcome: 'unknown' }) }),
  );
  disk.setSpace(null);
  faults.setFault(null);
  expect(await log.reopen()).toEqual({ stored: { from: 1, to: 1 }, lost: { from: 2, to: 3 }, kept: null });
  await log.close();
  const marks = eventsIn(bench).records.map(({ event }) => event['mark'] ?? event['reason']);
  expect(marks).toEqual([1, 'torn_tail']);
});

test('reopening a healthy handle keeps what it has accepted', async () => {
  const bench = await openBench('turn');
  const { log } = bench;
  log.append(note(1));
  expect(await log.reopen()).toEqual({ stored: null, lost: null, kept: { from: 1, to: 1 } });
  await log.close();
  expect(eventsIn(bench).records).toHaveLength(1);
});

test('T-43 a lost lock: unchanged log goes on after reopening, changed log names the seqs', async () => {
  const bench = await openBench('buffered');
  const { lockTable, log, machine } = bench;
  log.append(note(1));
  log.sync();
  log.append(note(2));
  lockTable.lose(directory, new Error('the lock went stale'));
  expect(() => log.append(note(3))).toThrow(
    expect.objectContaining({
      code: 'TURNLOG_POISONED',
      cause: expect.objectContaining({ code: 'TURNLOG_LOCK_LOST' }),
    }),
  );
  expect(await log.reopen()).toEqual({ stored: null, lost: null, kept: { from: 2, to: 2 } });
  log.append(note(4));
  lockTable.lose(directory, new Error('the lock went stale again'));
  const other = await openOwnedLog(machine, directory, 's-1', { durability: 'event' });
  other.append(note(5));
  await other.close();
  expect(await log.reopen()).toEqual({ stored: null, lost: { from: 2, to: 3 }, kept: null });
  log.append(note(6));
  await log.close();
  const marks = eventsIn(bench).records.map(({ event }) => event['mark'] ?? event['reason']);
  expect(marks).toEqual([1, 5, 'gap', 6]);
});

test('an index that another writer published in between is written anew', async () => {
  const bench = await openBench('buffered');
  const { disk, lockTable, log, machine } = bench;
  for (const store of [() => log.sync(), () => log.flush()]) {
    log.append({ raw: '{"type":"turn.started"}' });
    log.append({ raw: '{"type":"turn.completed","usage":{}}' });
    store();
  }
  lockTable.lose(directory, new Error('the lock went stale'));
  await (await openOwnedLog(machine, directory, 's-1')).close();
  await log.reopen();
  for (let turn = 3; turn < 5; turn += 1) {
    log.append({ raw: '{"type":"turn.started"}' });
    log.append({ raw: '{"type":"turn.completed","usage":{}}' });
    log.sync();
  }
  await log.close();
  const turns = Buffer.from(disk.contentOf(`${directory}/index/turns.jsonl`)).toString();
  const { generation } = JSON.parse(turns.split('\n')[0] ?? '') as { generation: string };
  expect(turns).toBe(naiveIndex(eventsIn(bench), 's-1', generation));
});

test('T-33 a write stores 17 of its bytes and the disk is full: nothing of it stays; then a gap record, or its key', async () => {
  for (const key of [undefined, 'k'] as const) {
    const bench = await openBench('event');
    const { disk, log } = bench;
    log.append(note(1));
    const before = disk.contentOf(`${directory}/events.jsonl`);
    disk.setSpace(disk.usedBytes + 17);
    const options = key === undefined ? {} : { key };
    expect(() => log.append(note(2), options)).toThrow(
      expect.objectContaining({
        code: 'TURNLOG_IO',
        details: expect.objectContaining({ step: 'write', errno: 'ENOSPC', outcome: 'none' }),
      }),
    );
    expect(disk.contentOf(`${directory}/events.jsonl`)).toEqual(before);
    disk.setSpace(null);
    const { seq } = log.append(note(2), options);
    await log.close();
    const { records, isDamaged } = eventsIn(bench);
    expect(isDamaged).toBe(false);
    expect(records.map(({ event }) => event['mark'] ?? event['reason'])).toEqual(
      key === undefined ? [1, 'gap', 2] : [1, 2],
    );
    expect(seq).toBe(records.length);
    if (key === undefined) expect(records[1]?.event['lost']).toMatchObject({ events: 1 });
  }
});

test('T-34 EIO on one of several appends: it throws, seqs have no hole, a gap record comes before the next', async () => {
  const bench = await openBench('event');
  const { faults, log } = bench;
  const seqs: number[] = [];
  for (let mark = 1; mark <= 5; mark += 1) {
    faults.setFault(
      mark === 3 ? { call: 1, lasting: 'once', effect: { errno: 'EIO' }, applies: writes } : null,
    );
    if (mark === 3)
      expect(() => log.append(note(mark))).toThrow(expect.objectContaining({ code: 'TURNLOG_IO' }));
    else seqs.push(log.append(note(mark)).seq);
  }
  await log.close();
  expect(seqs).toEqual([1, 2, 4, 5]);
  const { records } = eventsIn(bench);
  expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect(records.map(({ event }) => event['mark'] ?? event['reason'])).toEqual([1, 2, 'gap', 4, 5]);
});

test('T-35 use that nobody awaits on a full disk: typed errors, no unhandled rejection, reads work', async () => {
  const unhandled = jest.fn();
  process.on('unhandledRejection', unhandled);
  try {
    const bench = await openBench('buffered');
    const { disk, log } = bench;
    log.append(note(1));
    log.sync();
    log.append(note(2));
    disk.setSpace(disk.usedBytes);
    const commits = [log.commit(), log.commit()];
    for (const commit of commits) await expect(commit).rejects.toMatchObject({ code: 'TURNLOG_IO' });
    expect(() => log.flush()).toThrow(expect.objectContaining({ code: 'TURNLOG_IO' }));
    expect(eventsIn(bench).records).toHaveLength(1);
    await expect(log.close()).rejects.toMatchObject({
      code: 'TURNLOG_IO',
      details: { outcome: 'none', fromSeq: 2, toSeq: 2 },
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off('unhandledRejection', unhandled);
  }
});

test('a commit under way while the handle is closed resolves: close has made its records durable', async () => {
  const bench = await openBench('buffered');
  const { log } = bench;
  log.append(note(1));
  const commit = log.commit();
  const closed = log.close();
  await expect(commit).resolves.toEqual({});
  await expect(closed).resolves.toEqual({});
  expect(eventsIn(bench).records).toHaveLength(1);
});

test('a lock that is gone without a word is noticed before a write: nothing is written, the handle is poisoned', async () => {
  const bench = await openBench('event');
  const { disk, lockTable, log } = bench;
  log.append(note(1));
  const before = disk.contentOf(`${directory}/events.jsonl`);
  lockTable.holders.delete(directory);
  expect(() => log.append(note(2))).toThrow(expect.objectContaining({ code: 'TURNLOG_LOCK_LOST' }));
  expect(() => log.append(note(3))).toThrow(expect.objectContaining({ code: 'TURNLOG_POISONED' }));
  expect(disk.contentOf(`${directory}/events.jsonl`)).toEqual(before);
  await expect(log.close()).resolves.toEqual({});
});
