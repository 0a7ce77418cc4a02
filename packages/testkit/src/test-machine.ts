import type { Clock, FileSystem, Host, Ids, WriterLocks } from '@turnlog/kernel';
import { FakeClock } from './fake-clock.js';
import { FakeHost } from './fake-host.js';
import { createFakeLocks, FakeLockTable } from './fake-locks.js';
import { ModelFileSystem } from './model-fs.js';
import { createSeededIds } from './seeded-ids.js';

/** A whole machine in memory, with everything that the engine asks of one. */
export interface TestMachine {
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly host: Host;
  readonly locks: WriterLocks;
  readonly ownership: {
    readonly uid: number | null;
    readonly onModeWarning: () => void;
  };
}

export interface TestMachineParts {
  readonly fs?: FileSystem;
  readonly clock?: FakeClock;
  readonly lockTable?: FakeLockTable;
  readonly seed?: number;
  readonly host?: Host;
}

/** A machine on `fs`, or on a new empty disk; parts that are not given are fakes. */
export function createTestMachine(parts: TestMachineParts = {}): TestMachine {
  const clock = parts.clock ?? new FakeClock();
  const host = parts.host ?? new FakeHost();
  return {
    fs: parts.fs ?? new ModelFileSystem({ clock }),
    clock,
    ids: createSeededIds(parts.seed ?? 1),
    host,
    locks: createFakeLocks({ table: parts.lockTable ?? new FakeLockTable(), clock, host }),
    ownership: { uid: host.uid, onModeWarning: () => undefined },
  };
}
