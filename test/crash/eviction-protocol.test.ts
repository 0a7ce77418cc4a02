import { gunzipSync, gzipSync } from 'node:zlib';
import { type FileHandle, type OpenMode, TurnlogError } from '@turnlog/kernel';
import { type OwnedLog, openOwnedLog, type WriterOptions } from '@turnlog/log';
import {
  createTestMachine,
  enumerateDisks,
  FakeClock,
  FaultFileSystem,
  ModelFileSystem,
  type NaiveHistory,
  readHistory,
  type TestMachine,
} from '@turnlog/testkit';

// What an eviction owes to the disk and to other systems, one promise each.

const directory = '/store/s-1';
const log = `${directory}/events.jsonl`;
const marker = `${directory}/index/pending-rewrite.json`;

beforeEach(() => {
  jest.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
});

afterEach(() => {
  jest.restoreAllMocks();
});

function newDisk(): ModelFileSystem {
  const disk = new ModelFileSystem({ clock: new FakeClock() });
  disk.plantDirectory('/store');
  return disk;
}

function machineOn(fs: TestMachine['fs']): TestMachine {
  return createTestMachine({ fs, clock: new FakeClock('skips') });
}

function historyOf(disk: ModelFileSystem): NaiveHistory {
  return readHistory(disk.contentOf(log), (name) => {
    const path = `${directory}/${name}`;
    return disk.status(path) === null ? null : Buffer.from(disk.contentOf(path));
  });
}

function openOn(fs: TestMachine['fs'], cap: WriterOptions['cap']): Promise<OwnedLog> {
  return openOwnedLog(machineOn(fs), directory, 's-1', cap === undefined ? {} : { cap });
}

function appendTurns(opened: OwnedLog, count: number): void {
  for (let turn = 0; turn < count; turn += 1) {
    opened.append({ type: 'turn.started' });
    opened.append({ raw: `{"type":"x.test.note","x_mark":${opened.lastSeq}}` });
    opened.append({ raw: '{"type":"turn.completed","usage":{}}' });
  }
}

/** Three turns that are to leave, and two that stay. */
async function prepared(disk: ModelFileSystem): Promise<void> {
  const opened = await openOn(disk, undefined);
  appendTurns(opened, 5);
  await opened.close();
}

const cap = { maxEvents: 8, target: 1 } as const;

function leftOvers(disk: ModelFileSystem): readonly string[] {
  return [directory, `${directory}/index`, `${directory}/archive`]
    .filter((path) => disk.status(path) !== null)
    .flatMap((path) => disk.list(path).map(({ name }) => name))
    .filter((name) => /^\.t-|pending/.test(name));
}

test('I1: an archive that is used again is durable before the log is replaced', async () => {
  const disk = newDisk();
  await prepared(disk);
  const before = historyOf(disk).leaves;
  const faults = new FaultFileSystem(disk);
  const opened = await openOn(faults, { ...cap, keepTurns: 2 });
  faults.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb, path }) => verb === 'syncDirectory' && path.endsWith('/archive'),
  });
  // The run at open fails behind the rename of the archive; this one finds it there.
  const { maintenance } = await opened.maintain();
  expect(maintenance).toMatchObject([{ step: 'archive' }]);
  expect(faults.hitCount).toBe(1);
  expect(historyOf(disk).log.header).not.toBeNull();
  expect(faults.countOf('rename', (path) => path.includes('/archive/'))).toBe(1);
  for (const left of enumerateDisks(disk, 1)) {
    const { problems, leaves } = historyOf(left);
    expect(problems).toEqual([]);
    expect(leaves.slice(0, before.length)).toEqual(before);
  }
  await opened.close();
});

test('I1: the hashes of dropped records stay while the log that needs them may come back', async () => {
  const disk = newDisk();
  await prepared(disk);
  const drop = { ...cap, archive: 'drop', keepTurns: 2 } as const;
  const first = await openOn(disk, drop);
  await first.maintain();
  appendTurns(first, 3);
  await first.close();
  const before = historyOf(disk).leaves;
  const faults = new FaultFileSystem(disk);
  faults.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb, path }) =>
      verb === 'syncDirectory' && path === directory && disk.status(marker) !== null,
  });
  const second = await openOn(faults, drop);
  await second.maintain();
  expect(faults.hitCount).toBe(1);
  // The name of the new log may not last: the handle says so, and everything is there for either of the two.
  expect(() => second.append({ type: 'turn.started' })).toThrow(
    expect.objectContaining({ code: 'TURNLOG_POISONED' }),
  );
  const heads = new Set<number>();
  for (const left of enumerateDisks(disk, 1)) {
    const { problems, leaves, droppedTo } = historyOf(left);
    heads.add(droppedTo);
    expect(problems).toEqual([]);
    expect(leaves.slice(0, before.length)).toEqual(before);
  }
  expect(heads.size).toBe(2);
  // And once it is opened again it goes on.
  await second.reopen();
  await second.maintain();
  appendTurns(second, 1);
  await second.close();
  expect(historyOf(disk).problems).toEqual([]);
  expect(leftOvers(disk)).toEqual([]);
});

/** Refuses to rename over a file that somebody has open, or to remove it, as Windows does. */
class StrictFileSystem extends FaultFileSystem {
  readonly refused: string[] = [];
  readonly #openCounts = new Map<string, number>();

  override open(path: string, mode: OpenMode): FileHandle {
    const file = super.open(path, mode);
    const close = file.close.bind(file);
    this.#count(path, 1);
    file.close = (): void => {
      this.#count(path, -1);
      close();
    };
    return file;
  }

  override rename(from: string, to: string): void {
    this.#refuseOpen('rename', from);
    this.#refuseOpen('rename', to);
    super.rename(from, to);
  }

  override removeFile(path: string): void {
    this.#refuseOpen('removeFile', path);
    super.removeFile(path);
  }

  #count(path: string, change: number): void {
    this.#openCounts.set(path, (this.#openCounts.get(path) ?? 0) + change);
  }

  #refuseOpen(operation: string, path: string): void {
    if ((this.#openCounts.get(path) ?? 0) === 0) return;
    this.refused.push(`${operation} ${path}`);
    throw new TurnlogError('TURNLOG_IO', { details: { operation, path, errno: 'EPERM' } });
  }
}

test('B34 all descriptors of what is replaced are given back first: nothing is refused', async () => {
  for (const archive of ['gzip', 'drop'] as const) {
    const disk = newDisk();
    await prepared(disk);
    const strict = new StrictFileSystem(disk);
    const opened = await openOn(strict, { ...cap, archive });
    appendTurns(opened, 3);
    expect(await opened.maintain()).toEqual({});
    await opened.close();
    expect(strict.refused).toEqual([]);
    expect(historyOf(disk).log.header).not.toBeNull();
  }
});

const isSwap = ({ verb, path }: { verb: string; path: string }): boolean =>
  verb === 'rename' && /\/s-1\/\.t-[0-9a-f]+$/.test(path);

test('T-67, B34 a rename that is refused three times succeeds the fourth time', async () => {
  const disk = newDisk();
  await prepared(disk);
  let refusals = 0;
  const faults = new FaultFileSystem(disk, {
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EPERM' },
    applies: (call) => {
      if (!isSwap(call) || disk.status(marker) === null || refusals === 3) return false;
      refusals += 1;
      return true;
    },
  });
  const opened = await openOn(faults, cap);
  expect(await opened.maintain()).toEqual({});
  expect(refusals).toBe(3);
  expect(historyOf(disk).log.header).not.toBeNull();
  appendTurns(opened, 1);
  await opened.close();
});

test('T-67, B34 a rename that is refused for ever leaves the old log whole; nothing is deleted first', async () => {
  const disk = newDisk();
  await prepared(disk);
  const before = Buffer.from(disk.contentOf(log));
  const faults = new FaultFileSystem(disk, {
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EPERM' },
    applies: (call) => isSwap(call) && disk.status(marker) !== null,
  });
  const opened = await openOn(faults, cap);
  const { maintenance } = await opened.maintain();
  expect(new Set(maintenance?.map(({ step }) => step))).toEqual(new Set(['rewrite']));
  expect(faults.hitCount).toBeGreaterThan(4);
  expect(faults.countOf('removeFile', (path) => path === log)).toBe(0);
  expect(Buffer.from(disk.contentOf(log)).subarray(0, before.length).equals(before)).toBe(true);
  expect(leftOvers(disk)).toEqual([]);
  // Appends go on under the old numbers, and the turn leaves when the name is free again.
  opened.append({ type: 'turn.started' });
  opened.append({ raw: '{"type":"turn.completed","usage":{}}' });
  expect(opened.lastSeq).toBe(18);
  faults.setFault(null);
  expect(await opened.maintain()).toEqual({});
  await opened.close();
  const { problems, whole } = historyOf(disk);
  expect(problems).toEqual([]);
  expect(whole.records.map(({ seq }) => seq)).toEqual(Array.from({ length: 18 }, (_, index) => index + 1));
});

test('I1 an archive that reads back as other bytes than were given gets no name, and the log stays', async () => {
  const disk = newDisk();
  await prepared(disk);
  const before = Buffer.from(disk.contentOf(log));
  /** A disk that accepts the bytes of an archive and keeps others. */
  class LyingFileSystem extends FaultFileSystem {
    override open(path: string, mode: OpenMode): FileHandle {
      const file = super.open(path, mode);
      if (!path.includes('/archive/')) return file;
      const write = file.write.bind(file);
      // Still a whole gzip file: of one byte less.
      file.write = (bytes): number => write(gzipSync(gunzipSync(bytes).subarray(1))) && bytes.length;
      return file;
    }
  }
  const opened = await openOn(new LyingFileSystem(disk), cap);
  const { maintenance } = await opened.maintain();
  expect(maintenance?.[0]).toMatchObject({ step: 'archive', cause: { code: 'TURNLOG_ARCHIVE_FAILED' } });
  expect(new Set(maintenance?.map(({ step }) => step))).toEqual(new Set(['archive']));
  expect(disk.list(`${directory}/archive`)).toEqual([]);
  expect(Buffer.from(disk.contentOf(log)).subarray(0, before.length).equals(before)).toBe(true);
  await opened.close();
});

test('T-49, I1: whatever somebody else wrote while a log was being cut is not lost with the old file', async () => {
  const disk = newDisk();
  await prepared(disk);
  const other = Buffer.from(
    '{"schema_version":"0.18.0","seq":99,"ts":"2026-10-05T08:00:00.000Z","event":{"type":"x.other"}}\n',
  );
  const rename = disk.rename.bind(disk);
  disk.rename = (from, to): void => {
    rename(from, to);
    if (!to.includes('/archive/')) return;
    const file = disk.open(log, 'append');
    file.write(other);
    file.close();
  };
  const opened = await openOn(disk, cap);
  const { maintenance } = await opened.maintain();
  expect(maintenance?.[0]).toMatchObject({ step: 'rewrite', cause: { code: 'TURNLOG_LOCK_LOST' } });
  expect(() => opened.append({ type: 'turn.started' })).toThrow(
    expect.objectContaining({ code: 'TURNLOG_POISONED' }),
  );
  expect(Buffer.from(disk.contentOf(log)).includes(other)).toBe(true);
  expect(leftOvers(disk)).toEqual([]);
  await opened.close().catch(() => undefined);
});

test('I1, I7: close does not pass over accepted records whose sync failed where nobody had asked for it', async () => {
  const disk = newDisk();
  await prepared(disk);
  const faults = new FaultFileSystem(disk);
  const opened = await openOn(faults, { ...cap, hook: () => ({ text: 's' }) });
  opened.append({ type: 'turn.started' });
  faults.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb, path }) => verb === 'syncData' && path === log,
  });
  // The record is accepted and held back; the eviction syncs it, and fails.
  const { maintenance } = await opened.maintain();
  expect(faults.hitCount).toBe(1);
  expect(maintenance?.[0]).toMatchObject({ step: 'summary', cause: { code: 'TURNLOG_IO' } });
  expect(opened.durableSeq).toBe(15);
  await expect(opened.close()).rejects.toMatchObject({ code: 'TURNLOG_POISONED', details: { toSeq: 17 } });
  expect(disk.openHandleCount).toBe(0);
});
