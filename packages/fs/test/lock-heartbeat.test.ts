import { createWriterLocks } from '@turnlog/fs';
import type { FileStatus, FileSystem, HeldLock } from '@turnlog/kernel';
import { createSeededIds, FakeClock, FakeHost, ModelFileSystem } from '@turnlog/testkit';

/* The library keeps a lock alive with timers of its own, so these tests move the timers of the runtime. */

const hourMs = 3_600_000;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick', 'setImmediate', 'performance'] });
});
afterEach(() => {
  jest.useRealTimers();
});

/** A disk that keeps times in whole steps, as FAT (2 s) and ext3 (1 s) do. */
function coarse(model: ModelFileSystem, stepMs: number): FileSystem {
  return Object.assign(Object.create(model) as FileSystem, {
    status(path: string): FileStatus | null {
      const status = model.status(path);
      if (status === null) return null;
      return { ...status, modifiedMs: Math.floor(status.modifiedMs / stepMs) * stepMs };
    },
    open: model.open.bind(model),
    list: model.list.bind(model),
    makeDirectory: model.makeDirectory.bind(model),
    removeFile: model.removeFile.bind(model),
    removeDirectory: model.removeDirectory.bind(model),
    rename: model.rename.bind(model),
    setTimes: model.setTimes.bind(model),
  });
}

async function hold(fs: FileSystem): Promise<{ lock: HeldLock; losses: unknown[] }> {
  const losses: unknown[] = [];
  const locks = createWriterLocks({
    fs,
    ids: createSeededIds(1),
    clock: new FakeClock('skips'),
    host: new FakeHost(),
    program: 'turnlog/test',
  });
  const lock = await locks.acquire('/log', {
    mode: 'owned',
    waitMs: 0,
    onLost: (cause) => losses.push(cause),
  });
  return { lock, losses };
}

function makeDisk(): ModelFileSystem {
  const fs = new ModelFileSystem();
  fs.makeDirectory('/log');
  return fs;
}

test.each([1_000, 2_000])(
  'T-45 times cut to %i ms: never compromised in 3 hours, and the heart beats',
  async (stepMs) => {
    const model = makeDisk();
    const { lock, losses } = await hold(coarse(model, stepMs));
    const before = model.mutationCount;
    await jest.advanceTimersByTimeAsync(3 * hourMs);
    expect(losses).toEqual([]);
    lock.check();
    expect(model.mutationCount - before).toBeGreaterThan(1_000);
    await lock.release();
    expect(model.list('/log')).toEqual([]);
  },
);

test('the lock directory is touched every 10 seconds', async () => {
  const model = makeDisk();
  const { lock } = await hold(model);
  await jest.advanceTimersByTimeAsync(hourMs);
  const touchedMs = model.status('/log/session.lock')?.modifiedMs ?? 0;
  expect(Date.now() - touchedMs).toBeLessThanOrEqual(10_000);
  await lock.release();
});

test('a deleted lock directory is noticed by the heartbeat, told once, and never thrown', async () => {
  const model = makeDisk();
  const { lock, losses } = await hold(model);
  model.removeDirectory('/log/session.lock');
  await jest.advanceTimersByTimeAsync(hourMs);
  expect(losses).toHaveLength(1);
  expect(() => lock.check()).toThrow(
    expect.objectContaining({ code: 'TURNLOG_LOCK_LOST', cause: losses[0] }),
  );
  await expect(lock.release()).resolves.toBeUndefined();
});

test('releasing a lost lock leaves the heartbeat of its successor in the same process alone', async () => {
  const model = makeDisk();
  const lost = await hold(model);
  model.removeDirectory('/log/session.lock');
  const next = await hold(model);
  await lost.lock.release();
  await jest.advanceTimersByTimeAsync(hourMs);
  const touchedMs = model.status('/log/session.lock')?.modifiedMs ?? 0;
  expect(Date.now() - touchedMs).toBeLessThanOrEqual(10_000);
  expect(next.losses).toEqual([]);
  next.lock.check();
  await next.lock.release();
});

test('a lock directory that somebody else touched is compromised', async () => {
  const model = makeDisk();
  const { lock, losses } = await hold(model);
  model.setTimes('/log/session.lock', 1_000_000, 1_000_000);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(losses).toHaveLength(1);
  await lock.release();
});

test('a heartbeat that comes late, as after a sleep of the machine, goes on', async () => {
  const model = makeDisk();
  const { lock, losses } = await hold(model);
  jest.setSystemTime(Date.now() + 5 * hourMs);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(losses).toEqual([]);
  lock.check();
  await lock.release();
});

test('news of a loss that throws stays inside', async () => {
  const model = makeDisk();
  const locks = createWriterLocks({
    fs: model,
    ids: createSeededIds(1),
    clock: new FakeClock('skips'),
    host: new FakeHost(),
    program: 'turnlog/test',
  });
  const lock = await locks.acquire('/log', {
    mode: 'owned',
    waitMs: 0,
    onLost: () => {
      throw new Error('a listener with a bug');
    },
  });
  model.removeDirectory('/log/session.lock');
  await jest.advanceTimersByTimeAsync(60_000);
  expect(() => lock.check()).toThrow(
    expect.objectContaining({ code: 'TURNLOG_LOCK_LOST', cause: expect.any(AggregateError) }),
  );
  await lock.release();
});
