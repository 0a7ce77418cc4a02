import { join } from 'node:path';
import {
  createHost,
  createNodeFileSystem,
  createRandomIds,
  createSystemClock,
  createWriterLocks,
} from '@turnlog/fs';
import type { HeldLock, Host, WriterLocks } from '@turnlog/kernel';
import {
  createFakeLocks,
  createSeededIds,
  describeWriterLocks,
  FakeClock,
  FakeHost,
  FakeLockTable,
  type LockSubject,
  ModelFileSystem,
  makeTemporaryDirectory,
} from '@turnlog/testkit';

const program = 'turnlog/test';

function properSubject(): LockSubject {
  const { path, remove } = makeTemporaryDirectory();
  const directory = join(path, 'log');
  const fs = createNodeFileSystem();
  fs.makeDirectory(directory);
  const host = createHost();
  const stranded: HeldLock[] = [];
  const locksOf = (as: Host): WriterLocks =>
    createWriterLocks({
      fs,
      ids: createRandomIds(),
      clock: createSystemClock(),
      host: as,
      program,
    });
  return {
    locks: locksOf(host),
    others: locksOf(host),
    pid: host.pid,
    host: host.hostname,
    directory,
    // The record names a process that cannot be: no start time is "0".
    async strand() {
      stranded.push(await locksOf({ ...host, startOf: () => '0' }).acquire(directory, nobodyTells));
    },
    rename() {
      fs.rename(directory, join(path, 'moved'));
      return join(path, 'moved');
    },
    async remove() {
      for (const lock of stranded) await lock.release();
      remove();
    },
  };
}

function modelSubject(): LockSubject {
  const clock = new FakeClock('skips');
  const fs = new ModelFileSystem({ clock });
  fs.makeDirectory('/log');
  const host = new FakeHost();
  const stranded: HeldLock[] = [];
  const locksOf = (as: Host, seed: number): WriterLocks =>
    createWriterLocks({ fs, ids: createSeededIds(seed), clock, host: as, program });
  return {
    locks: locksOf(host, 1),
    others: locksOf(host, 2),
    pid: host.pid,
    host: host.hostname,
    directory: '/log',
    async strand() {
      stranded.push(await locksOf(new FakeHost({ pid: 9 }), 3).acquire('/log', nobodyTells));
    },
    rename() {
      fs.rename('/log', '/moved');
      return '/moved';
    },
    async remove() {
      for (const lock of stranded) await lock.release();
    },
  };
}

function fakeSubject(): LockSubject {
  const clock = new FakeClock('skips');
  const table = new FakeLockTable();
  const host = new FakeHost();
  const locks = (): WriterLocks => createFakeLocks({ table, clock, host, program });
  return {
    locks: locks(),
    others: locks(),
    pid: host.pid,
    host: host.hostname,
    directory: '/log',
    async strand() {
      await locks().acquire('/log', nobodyTells);
      table.crash();
    },
    rename: () => '/moved',
    remove: () => Promise.resolve(),
  };
}

const nobodyTells = { mode: 'owned', waitMs: 0, onLost: () => undefined } as const;

describeWriterLocks('proper-lockfile on a real disk', properSubject);
describeWriterLocks('proper-lockfile on the model', modelSubject);
describeWriterLocks('in memory', fakeSubject);
