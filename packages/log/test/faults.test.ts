import type { MaintenanceReport } from '@turnlog/log';
import { line, note, notes, TestLog, threadCompleted, turnCompleted, turnStarted } from './support.js';

describe('T-16, B17 one flipped bit', () => {
  function flipped(text: string, at: number): Buffer {
    const bytes = Buffer.from(text);
    bytes[at] = (bytes[at] ?? 0) ^ 0x01;
    return bytes;
  }

  test('T-16 in the last line: the evidence does not hold, everything is read', async () => {
    const log = new TestLog();
    await log.write([1, 2, 3, 4, 5, 6].map(note));
    const text = log.text();
    log.plant(flipped(text, text.lastIndexOf('"message"') + 3));
    const reader = log.read();
    expect(reader.generation).toBeNull();
    expect(reader.state.lifecycle.eventCount).toBe(6);
    reader.close();
    log.plant(flipped(text, text.lastIndexOf('"type"')));
    const broken = log.read();
    expect([...broken.records()].map((record) => record.seq)).toEqual([1, 2, 3, 4, 5]);
    expect(broken.damage()).toMatchObject([{ kind: 'unreadable', line: 6 }]);
    broken.close();
  });

  test('T-16 in line 3 of 6, same length: a scan loses that line only and names it', async () => {
    const log = new TestLog();
    await log.write([1, 2, 3, 4, 5, 6].map(note));
    const text = log.text();
    log.plant(flipped(text, notes(2).length));
    const reader = log.read();
    expect([...reader.records()].map((record) => record.seq)).toEqual([1, 2, 4, 5, 6]);
    expect(reader.damage()).toMatchObject([{ kind: 'unreadable', line: 3, offset: notes(2).length }]);
    reader.close();
  });
});

describe('T-37, B21, B105, B106, B149 derived files that cannot be published', () => {
  test('T-37 the old manifest stays, the temp file goes, the append succeeds and the failure is told', async () => {
    const log = new TestLog();
    await log.write([note(1)]);
    const [manifest, before] = [log.text('manifest.json'), log.disk.list(log.directory)];
    const writer = await log.open();
    const told: MaintenanceReport[] = [];
    writer.onMaintenance((report) => told.push(report));
    log.fs.setFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno: 'ENOSPC' },
      applies: ({ verb, path }) => verb === 'write' && path.includes('.t-'),
    });
    writer.append(note(2));
    const result = writer.sync();
    expect(result.maintenance).toMatchObject([{ step: 'publish', cause: { details: { errno: 'ENOSPC' } } }]);
    expect(told).toEqual(result.maintenance);
    expect(log.text('manifest.json')).toBe(manifest);
    expect(log.disk.list(log.directory)).toEqual(before);
    expect(writer.durableSeq).toBe(2);
    log.fs.setFault(null);
    // Space is back: the next publish makes up for it.
    writer.append(note(3));
    expect(writer.sync()).toEqual({});
    expect(log.manifest().event_count).toBe(3);
    await writer.close();
  });

  test.each(['EPERM', 'EACCES', 'EBUSY'])(
    'T-37 three renames fail with %s, the fourth succeeds, the mode stays 0600',
    async (errno) => {
      const log = new TestLog();
      await log.write([note(1)]);
      const writer = await log.open();
      let failures = 0;
      log.fs.setFault({
        call: 1,
        lasting: 'from-then-on',
        effect: { errno },
        applies: ({ verb }) => {
          if (verb !== 'rename' || failures === 3) return false;
          failures += 1;
          return true;
        },
      });
      writer.append(note(2));
      expect(writer.sync()).toEqual({});
      expect(failures).toBe(3);
      expect(log.manifest().event_count).toBe(2);
      expect((log.disk.status(log.path('manifest.json'))?.mode ?? 0) & 0o777).toBe(0o600);
      await writer.close();
    },
  );

  test('an index that could not be written is brought up by the next publish', async () => {
    const log = new TestLog();
    const writer = await log.open();
    writer.append(turnStarted);
    writer.append(turnCompleted);
    log.fs.setFault({
      call: 1,
      lasting: 'once',
      effect: { errno: 'EIO' },
      applies: ({ verb, path }) => verb === 'write' && path.endsWith('turns.jsonl'),
    });
    writer.append(turnStarted);
    expect(writer.append(turnCompleted).maintenance).toMatchObject([{ step: 'publish' }]);
    log.fs.setFault(null);
    writer.append(turnStarted);
    expect(writer.append(turnCompleted).maintenance).toBeUndefined();
    await writer.close();
    expect(log.indexedTurns().map(({ turn }) => turn)).toEqual([1, 2, 3]);
    const again = await log.open();
    expect(again.report.scan).toBe('none');
    await again.close();
  });
});

test('T-44, B28 the lock is taken away, then release and close: both resolve', async () => {
  const log = new TestLog();
  const writer = await log.open({ durability: 'event' });
  writer.append(note(1));
  log.lockTable.lose(log.directory, new Error('the lock directory is gone'));
  expect(() => writer.append(note(2))).toThrow(expect.objectContaining({ code: 'TURNLOG_POISONED' }));
  await expect(writer.close()).resolves.toEqual({});
  expect(log.text()).toBe(notes(1));
});

test('L-36 the take-over of a dead owner is told with the first result, also when open had something to mend', async () => {
  const log = new TestLog();
  const dead = await log.open({ durability: 'buffered' });
  dead.append(note(1));
  dead.flush();
  log.lockTable.crash();
  const writer = await log.open();
  expect(writer.report.scan).toBe('full');
  expect(writer.append(note(2)).maintenance).toMatchObject([{ step: 'lock-taken-over' }]);
  await writer.close();
});

describe('L-40 a lost lock and reopen', () => {
  test('nothing has changed: what was not written yet stays accepted and goes out', async () => {
    const log = new TestLog();
    const writer = await log.open({ durability: 'buffered' });
    writer.append(note(1));
    writer.sync();
    writer.append(note(2));
    log.lockTable.lose(log.directory, new Error('compromised'));
    expect(() => writer.flush()).toThrow(expect.objectContaining({ code: 'TURNLOG_POISONED' }));
    await expect(writer.reopen()).resolves.toEqual({ stored: null, lost: null, kept: { from: 2, to: 2 } });
    expect(writer.append(note(3)).seq).toBe(3);
    await writer.close();
    expect(log.text()).toBe(notes(3));
  });

  test('somebody else has written: the seqs that are not stored are named and a gap is reported', async () => {
    const log = new TestLog();
    const writer = await log.open({ durability: 'buffered' });
    writer.append(note(1));
    writer.sync();
    writer.append(note(2));
    log.lockTable.lose(log.directory, new Error('compromised'));
    await log.write([note('theirs')]);
    await expect(writer.reopen()).resolves.toEqual({ stored: null, lost: { from: 2, to: 2 }, kept: null });
    expect(writer.append(note('mine')).seq).toBe(4);
    await writer.close();
    const reader = log.read();
    expect([...reader.records()].map((record) => [record.seq, record.type])).toEqual([
      [1, 'error'],
      [2, 'error'],
      [3, 'log.recovered'],
      [4, 'error'],
    ]);
    expect([...reader.readRange(3, 3)][0]?.readEvent()).toMatchObject({ reason: 'gap', lost: { events: 1 } });
    reader.close();
  });
});

test('T-50 the lock is seen as held 200 times while the log is open, also after thread.completed, and free after close', async () => {
  const log = new TestLog();
  const writer = await log.open();
  for (let probe = 0; probe < 200; probe += 1) {
    if (probe === 100) writer.append(threadCompleted);
    expect(log.machine.locks.inspect(log.directory)).toMatchObject({ pid: log.machine.host.pid });
  }
  await writer.close();
  expect(log.machine.locks.inspect(log.directory)).toBeNull();
});

test('L-3 looser modes are tightened by a writer open', async () => {
  const log = new TestLog();
  await log.write([turnStarted, note(1), turnCompleted]);
  const files = ['events.jsonl', 'manifest.json', 'index/turns.jsonl'];
  for (const name of files) log.disk.setMode(log.path(name), 0o666);
  for (const path of [log.directory, log.path('index')]) log.disk.setMode(path, 0o777);
  await (await log.open()).close();
  expect(files.map((name) => (log.disk.status(log.path(name))?.mode ?? 0) & 0o777)).toEqual([
    0o600, 0o600, 0o600,
  ]);
  for (const path of [log.directory, log.path('index')])
    expect((log.disk.status(path)?.mode ?? 0) & 0o777).toBe(0o700);
});

test('B25 a record and its newline are one write', async () => {
  const log = new TestLog();
  const writer = await log.open({ durability: 'event' });
  const before = log.fs.journal.length;
  writer.append(note(1));
  const writes = log.fs.journal
    .slice(before)
    .filter((call) => call.verb === 'write' && call.path.endsWith('events.jsonl'));
  expect(writes.map((call) => call.byteCount)).toEqual([line(1, note(1)).length]);
  await writer.close();
});
