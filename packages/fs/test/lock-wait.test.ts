import { createWriterLocks } from '@turnlog/fs';
import type { FileSystem, HeldLock, LockRequest, WriterLocks } from '@turnlog/kernel';
import { createSeededIds, FakeClock, FakeHost, FaultFileSystem, ModelFileSystem } from '@turnlog/testkit';
import { pauseBoundMs } from '../src/lock-wait.js';

test.each([
  ['just come: at once again', 0, 0, 2],
  ['a little later: less often', 20, 0, 10],
  ['among many: gives way', 100, 0, 32],
  ['after a second: more often', 5_000, 0, 12],
  ['a lock that stays: as long as it has stayed', 500, 40, 40],
  ['a lock that stays for long: the longest pause', 500, 9_000, 50],
])('%s', (_name, waitedMs, unchangedMs, boundMs) => {
  expect(pauseBoundMs(waitedMs, unchangedMs)).toBe(boundMs);
});

let clock: FakeClock;
let disk: ModelFileSystem;
let processes: Map<number, string | null>;
const acquired: HeldLock[] = [];

beforeEach(() => {
  clock = new FakeClock('waits');
  disk = new ModelFileSystem({ clock });
  disk.makeDirectory('/log');
  processes = new Map();
});

afterEach(async () => {
  for (const lock of acquired.splice(0)) await lock.release();
});

function locksOf(pid: number, fs: FileSystem = disk): WriterLocks {
  const host = new FakeHost({ pid }, processes);
  return createWriterLocks({ fs, ids: createSeededIds(pid), clock, host, program: 'turnlog/test' });
}

function request(waitMs: number): LockRequest {
  return { mode: 'shared', waitMs, onLost: () => undefined };
}

async function take(locks: WriterLocks): Promise<HeldLock> {
  const lock = await locks.acquire('/log', request(0));
  acquired.push(lock);
  return lock;
}

/** Lets everything run that waits for nothing but its turn. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1) {
    clock.advance(1);
    await settle();
  }
}

describe('a waiter between two judgements', () => {
  test('looks at the directory and at nothing else while the lock goes from hand to hand', async () => {
    const holders = [locksOf(1), locksOf(2)];
    const watched = new FaultFileSystem(disk);
    let held = await take(locksOf(3));
    const waiting = locksOf(9, watched).acquire('/log', request(60_000));
    await settle();
    const judging = watched.journal.length;
    expect(judging).toBeGreaterThan(1);
    for (let round = 0; round < 20; round += 1) {
      await held.release();
      held = await take(holders[round % 2] ?? locksOf(4));
      await advance(10);
    }
    const looks = watched.journal.slice(judging);
    expect(looks.length).toBeGreaterThan(10);
    expect(new Set(looks.map(({ verb, path }) => `${verb} ${path}`))).toEqual(
      new Set(['status /log/session.lock']),
    );
    await held.release();
    await advance(20);
    acquired.push(await waiting);
  });

  test('finds within 70 ms that the owner has died', async () => {
    await take(locksOf(3));
    const waiting = locksOf(9).acquire('/log', request(60_000));
    await advance(200);
    processes.delete(3);
    await advance(70);
    const lock = await waiting;
    acquired.push(lock);
    expect(lock.takenOver).toMatchObject({ state: 'dead', pid: 3 });
  });

  test('gives up when its time is over, and says who holds the lock then', async () => {
    const held = await take(locksOf(3));
    const waiting = locksOf(9).acquire('/log', request(100));
    const outcome = expect(waiting).rejects.toMatchObject({ code: 'TURNLOG_LOCKED', details: { pid: 4 } });
    await advance(95);
    await held.release();
    await take(locksOf(4));
    await advance(5);
    await outcome;
    expect(clock.monotonicMs()).toBe(100);
  });
});

describe('a process that takes one lock again and again', () => {
  /** Takes the lock and gives it back every millisecond; returns at which moments it stepped back. */
  async function run(locks: WriterLocks, forMs: number): Promise<number> {
    let stepCount = 0;
    const endMs = clock.monotonicMs() + forMs;
    while (clock.monotonicMs() < endMs) {
      let isTaken = false;
      const taking = locks.acquire('/log', request(1_000)).then((lock) => {
        isTaken = true;
        return lock;
      });
      await settle();
      if (!isTaken) stepCount += 1;
      while (!isTaken) await advance(1);
      await (await taking).release();
      await advance(1);
    }
    return stepCount;
  }

  test('steps back now and then after it has met others, and no more when they are gone', async () => {
    const locks = locksOf(9);
    const held = await take(locksOf(3));
    const waiting = locks.acquire('/log', request(1_000));
    await advance(3);
    await held.release();
    await advance(5);
    await (await waiting).release();
    const steps = await run(locks, 200);
    expect(steps).toBeGreaterThanOrEqual(6);
    expect(steps).toBeLessThanOrEqual(10);
    clock.advance(1_000);
    expect(await run(locks, 100)).toBe(0);
  });

  test('never steps back where nobody else is met', async () => {
    expect(await run(locksOf(9), 100)).toBe(0);
  });
});
