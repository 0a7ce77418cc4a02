import { createWriterLocks } from '@turnlog/fs';
import {
  type Clock,
  type FileSystem,
  type HeldLock,
  type Host,
  type LockRequest,
  limits,
  type WriterLocks,
} from '@turnlog/kernel';
import { createSeededIds, FakeClock, FakeHost, FaultFileSystem, ModelFileSystem } from '@turnlog/testkit';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Also the locks of "dead" processes: their timers are of this one. */
const acquired: HeldLock[] = [];

afterEach(async () => {
  for (const lock of acquired.splice(0)) await lock.release();
});

interface Machine {
  readonly clock: FakeClock;
  readonly fs: ModelFileSystem;
  readonly processes: Map<number, string | null>;
  locksOf(host: Host, fs?: FileSystem): WriterLocks;
}

function makeMachine(): Machine {
  const clock = new FakeClock('skips');
  const fs = new ModelFileSystem({ clock });
  fs.makeDirectory('/log');
  let seed = 0;
  const locksOf = (host: Host, on: FileSystem = fs): WriterLocks => {
    seed += 1;
    const locks = createWriterLocks({
      fs: on,
      ids: createSeededIds(seed),
      clock,
      host,
      program: 'turnlog/test',
    });
    const acquire: WriterLocks['acquire'] = async (directory, wanted) => {
      const lock = await locks.acquire(directory, wanted);
      acquired.push(lock);
      return lock;
    };
    return { ...locks, acquire };
  };
  return { clock, fs, processes: new Map(), locksOf };
}

function request(change: Partial<LockRequest> = {}): LockRequest {
  return { mode: 'owned', waitMs: 0, onLost: () => undefined, ...change };
}

const lockedError = expect.objectContaining({ code: 'TURNLOG_LOCKED' });

/** What another program's heartbeat does, or its clock when it runs ahead. */
function touchLock(machine: Machine, modifiedMs: number): void {
  machine.fs.setTimes('/log/session.lock', modifiedMs, modifiedMs);
}

/** A machine whose lock was left by process 9, which has ended. */
async function deadOwner(): Promise<{ machine: Machine; host: FakeHost }> {
  const machine = makeMachine();
  const host = new FakeHost({ pid: 100 }, machine.processes);
  await machine.locksOf(new FakeHost({ pid: 9 }, machine.processes)).acquire('/log', request());
  machine.processes.delete(9);
  return { machine, host };
}

const mtimes: readonly (readonly [string, (nowMs: number) => number])[] = [
  ['of this moment', (nowMs) => nowMs],
  ['of yesterday', (nowMs) => nowMs - 24 * hourMs],
  ['of tomorrow', (nowMs) => nowMs + 24 * hourMs],
  ['of 1970', () => 0],
];

describe('T-46 a dead owner is displaced at once and reported, whatever the time of the lock', () => {
  test.each(mtimes)('T-46 no such process, lock %s', async (_name, mtime) => {
    const { machine, host } = await deadOwner();
    touchLock(machine, mtime(machine.clock.now()));
    const lock = await machine.locksOf(host).acquire('/log', request());
    expect(lock.takenOver).toMatchObject({ state: 'dead', pid: 9, host: 'box' });
    expect(machine.clock.monotonicMs()).toBe(0);
    lock.check();
    await lock.release();
  });

  test.each(mtimes)(
    'T-46 the machine started anew and the process number in use, lock %s',
    async (_name, mtime) => {
      const { machine } = await deadOwner();
      touchLock(machine, mtime(machine.clock.now()));
      const host = new FakeHost({ pid: 100, bootId: 'boot-2' }, new Map([[9, '90']]));
      const lock = await machine.locksOf(host).acquire('/log', request());
      expect(lock.takenOver).toMatchObject({ state: 'dead', pid: 9 });
      expect(machine.clock.monotonicMs()).toBe(0);
      await lock.release();
    },
  );

  test.each(mtimes)('T-46 the process number used again, lock %s', async (_name, mtime) => {
    const { machine, host } = await deadOwner();
    machine.processes.set(9, '777');
    touchLock(machine, mtime(machine.clock.now()));
    const lock = await machine.locksOf(host).acquire('/log', request());
    expect(lock.takenOver).toMatchObject({ state: 'dead', pid: 9 });
    expect(machine.clock.monotonicMs()).toBe(0);
    await lock.release();
  });

  test('T-46 the record of an earlier lock judges nothing: neither a living owner dead nor a dead one alive', async () => {
    const { machine, host } = await deadOwner();
    const leftOver = machine.fs.contentOf('/log/session.owner.json');
    machine.fs.removeDirectory('/log/session.lock');
    // A lock whose living owner has only announced itself, beside the record of the dead one.
    const owner = new FakeHost({ pid: 50 }, machine.processes);
    const intent = JSON.stringify({
      v: 1,
      lock_id: 'a'.repeat(32),
      pid: owner.pid,
      pid_ns: owner.pidNamespace,
      start: owner.startOf(owner.pid),
      host: owner.hostname,
      boot_id: owner.bootId,
    });
    machine.fs.plantFile('/log/session.owner.0123456789abcdef', Buffer.from(intent.slice(0, -1)));
    machine.fs.makeDirectory('/log/session.lock');
    const locks = machine.locksOf(host);
    expect(locks.inspect('/log')).toMatchObject({ state: 'alive', pid: 50 });
    await expect(locks.acquire('/log', request())).rejects.toEqual(lockedError);
    // The other way about: the left-over record's process lives again, that of the intent is gone.
    machine.processes.set(9, '90');
    machine.processes.delete(50);
    expect(Buffer.from(machine.fs.contentOf('/log/session.owner.json'))).toEqual(Buffer.from(leftOver));
    expect(locks.inspect('/log')).toMatchObject({ state: 'dead' });
    const lock = await locks.acquire('/log', request());
    expect(lock.takenOver).toMatchObject({ state: 'dead', pid: 50 });
    expect(machine.clock.monotonicMs()).toBe(0);
    await lock.release();
  });
});

test('a lock without any record and intent is a dead owner’s', async () => {
  const machine = makeMachine();
  machine.fs.makeDirectory('/log/session.lock');
  const lock = await machine.locksOf(new FakeHost()).acquire('/log', request());
  expect(lock.takenOver).toEqual({ state: 'dead', pid: null, host: null, since: null });
  await lock.release();
});

describe('an intent without a record beside a lock', () => {
  /** What a power cut leaves of an acquisition when the bytes of the intent had not reached the disk. */
  function plantRemains(machine: Machine): void {
    machine.fs.plantFile('/log/session.owner.0123456789abcdef', new Uint8Array(0));
    machine.fs.makeDirectory('/log/session.lock');
  }

  test.each([
    ['older than the start of the machine: of a dead owner', 10_000, 5_000, 'dead'],
    ['as old as the start, give or take a coarse clock: not known', 10_000, 9_000, 'unknown'],
    ['younger than the start: not known', 10_000, 60_000, 'unknown'],
    ['on a system that does not tell its start: not known', 10_000, null, 'unknown'],
  ] as const)('%s', async (_name, ageMs, uptimeMs, state) => {
    const machine = makeMachine();
    plantRemains(machine);
    machine.clock.advance(ageMs);
    const locks = machine.locksOf(new FakeHost({ uptimeMs }));
    expect(locks.inspect('/log')).toMatchObject({ state, pid: null });
    const taking = locks.acquire('/log', request());
    if (state === 'unknown') {
      await expect(taking).rejects.toEqual(lockedError);
      return;
    }
    const lock = await taking;
    expect(lock.takenOver).toMatchObject({ state, pid: null });
    expect(machine.clock.monotonicMs()).toBe(ageMs);
    await lock.release();
    expect(machine.fs.list('/log').map(({ name }) => name)).toEqual([
      expect.stringMatching(/^session\.lock\.[0-9a-f]{16}\.1$/),
    ]);
  });

  test('does not outweigh one that can be read', async () => {
    const machine = makeMachine();
    plantRemains(machine);
    machine.clock.advance(10_000);
    const owner = new FakeHost({ pid: 50, uptimeMs: 5_000 }, machine.processes);
    const record = {
      v: 1,
      lock_id: 'a'.repeat(32),
      pid: 50,
      pid_ns: 'pid:[1]',
      host: 'box',
      boot_id: 'boot-1',
    };
    machine.fs.plantFile('/log/session.owner.1123456789abcdef', Buffer.from(JSON.stringify(record)));
    expect(machine.locksOf(owner).inspect('/log')).toMatchObject({ state: 'alive', pid: 50 });
  });

  test('is judged by the time of the file system before the lock is broken, not by a clock that runs ahead', async () => {
    const machine = makeMachine();
    plantRemains(machine);
    const host = new FakeHost({ uptimeMs: 2 * minuteMs });
    // The files are a moment old, the wall clock of this machine is half an hour ahead of theirs.
    const clock: Clock = {
      now: () => machine.clock.now() + hourMs / 2,
      monotonicMs: () => machine.clock.monotonicMs(),
      sleep: (ms) => machine.clock.sleep(ms),
      after: (ms, callback) => machine.clock.after(ms, callback),
    };
    const locks = createWriterLocks({
      fs: machine.fs,
      ids: createSeededIds(7),
      clock,
      host,
      program: 'turnlog/test',
    });
    await expect(locks.acquire('/log', request({ waitMs: limits.lockStaleMs - 100 }))).rejects.toEqual(
      lockedError,
    );
    expect(machine.fs.status('/log/session.lock')).not.toBeNull();
    const lock = await locks.acquire('/log', request({ waitMs: minuteMs }));
    expect(machine.clock.monotonicMs()).toBeGreaterThanOrEqual(limits.lockStaleMs);
    await lock.release();
  });
});

describe('T-48 silence alone displaces no owner that can be seen to live', () => {
  test('T-48 alive on this machine, heartbeat a day old: not taken, neither at once nor after the watch', async () => {
    const machine = makeMachine();
    const owner = new FakeHost({ pid: 9 }, machine.processes);
    const held = await machine.locksOf(owner).acquire('/log', request());
    touchLock(machine, machine.clock.now() - 24 * hourMs);
    const locks = machine.locksOf(new FakeHost({ pid: 100 }, machine.processes));
    await expect(locks.acquire('/log', request())).rejects.toEqual(lockedError);
    await expect(locks.acquire('/log', request({ waitMs: 3 * minuteMs }))).rejects.toMatchObject({
      details: { pid: 9, host: 'box' },
    });
    expect(machine.clock.monotonicMs()).toBeGreaterThanOrEqual(3 * minuteMs);
    held.check();
    await held.release();
  });

  test('T-48 silent on another machine: not taken before the watch is over, taken then', async () => {
    const machine = makeMachine();
    const owner = new FakeHost({ pid: 9, hostname: 'far' }, new Map());
    const held = await machine.locksOf(owner).acquire('/log', request());
    const locks = machine.locksOf(new FakeHost());
    await expect(locks.acquire('/log', request({ waitMs: limits.lockStaleMs - 100 }))).rejects.toEqual(
      lockedError,
    );
    held.check();
    const startMs = machine.clock.monotonicMs();
    const lock = await locks.acquire('/log', request({ waitMs: minuteMs }));
    expect(lock.takenOver).toMatchObject({ state: 'unknown', pid: 9, host: 'far' });
    expect(machine.clock.monotonicMs()).toBeGreaterThanOrEqual(limits.lockStaleMs);
    expect(machine.clock.monotonicMs() - startMs).toBeLessThan(1_000);
    expect(() => held.check()).toThrow(expect.objectContaining({ code: 'TURNLOG_LOCK_LOST' }));
    await lock.release();
    await held.release();
  });

  test('T-48 a sign of life on another machine begins the watch anew', async () => {
    const machine = makeMachine();
    const held = await machine
      .locksOf(new FakeHost({ pid: 9, hostname: 'far' }, new Map()))
      .acquire('/log', request());
    const locks = machine.locksOf(new FakeHost());
    for (let beat = 0; beat < 6; beat += 1) {
      const waiting = locks.acquire('/log', request({ waitMs: limits.lockStaleMs / 2 }));
      await expect(waiting).rejects.toEqual(lockedError);
      touchLock(machine, machine.clock.now());
    }
    held.check();
    await held.release();
  });
});

test('on another machine and untouched for over an hour: taken without a watch', async () => {
  const machine = makeMachine();
  const owner = new FakeHost({ pid: 9, hostname: 'far' }, new Map());
  const held = await machine.locksOf(owner).acquire('/log', request());
  touchLock(machine, machine.clock.now() - limits.lockAbandonedMs - 1);
  const lock = await machine.locksOf(new FakeHost()).acquire('/log', request());
  expect(lock.takenOver).toMatchObject({ state: 'unknown', host: 'far' });
  await lock.release();
  await held.release();
});

test('a lease of an owner that cannot be judged outlives every watch', async () => {
  const machine = makeMachine();
  const owner = new FakeHost({ pid: 9, hostname: 'far' }, new Map());
  const held = await machine.locksOf(owner).acquire('/log', request());
  const record = JSON.parse(Buffer.from(machine.fs.contentOf('/log/session.owner.json')).toString());
  const leased = JSON.stringify({ ...record, until: '2026-10-05T08:05:00.000Z' });
  machine.fs.plantFile('/log/session.owner.json', Buffer.from(leased));
  touchLock(machine, machine.clock.now() - 24 * hourMs);
  const locks = machine.locksOf(new FakeHost());
  await expect(locks.acquire('/log', request({ waitMs: 2 * minuteMs }))).rejects.toEqual(lockedError);
  const forced = await locks.acquire('/log', request({ force: true }));
  expect(forced.takenOver).toMatchObject({ state: 'unknown', host: 'far' });
  await forced.release();
  await held.release();
});

describe('claims', () => {
  /** The claim that a contender for the dead owner's lock makes first. */
  const firstClaimOf = (machine: Machine): string => {
    const record = JSON.parse(Buffer.from(machine.fs.contentOf('/log/session.owner.json')).toString());
    return `/log/session.lock.${String(record.lock_id).slice(0, 16)}.1`;
  };

  const claimBy = (pid: number, hostname = 'box'): Uint8Array =>
    Buffer.from(
      `${JSON.stringify({
        v: 1,
        lock_id: 'c'.repeat(32),
        pid,
        pid_ns: 'pid:[1]',
        start: `${pid}0`,
        host: hostname,
        boot_id: 'boot-1',
      })}\n`,
    );

  test('a living claimer, frozen perhaps, is waited for', async () => {
    const { machine, host } = await deadOwner();
    machine.processes.set(77, '770');
    machine.fs.plantFile(firstClaimOf(machine), claimBy(77));
    const locks = machine.locksOf(host);
    const waiting = locks.acquire('/log', request({ waitMs: 5 * minuteMs }));
    await expect(waiting).rejects.toMatchObject({ code: 'TURNLOG_LOCKED', details: { pid: 9 } });
    expect(machine.fs.status('/log/session.owner.json')).not.toBeNull();
  });

  test('a dead claimer makes room for the next claim', async () => {
    const { machine, host } = await deadOwner();
    const first = firstClaimOf(machine);
    machine.fs.plantFile(first, claimBy(77));
    const lock = await machine.locksOf(host).acquire('/log', request());
    expect(lock.takenOver).toMatchObject({ state: 'dead', pid: 9 });
    expect(machine.fs.status(first.replace(/1$/, '2'))?.kind).toBe('file');
    await lock.release();
  });

  test.each([
    ['unreadable', new Uint8Array(0)],
    ['of another machine', claimBy(77, 'far')],
  ])('a claim that is %s is waited for as long as a lock of its kind', async (_name, content) => {
    const { machine, host } = await deadOwner();
    machine.fs.plantFile(firstClaimOf(machine), content);
    const lock = await machine.locksOf(host).acquire('/log', request({ waitMs: 2 * minuteMs }));
    expect(machine.clock.monotonicMs()).toBeGreaterThanOrEqual(limits.lockStaleMs);
    await lock.release();
  });

  test('a claim without a record from before the start of the machine is a dead claimer’s', async () => {
    const { machine } = await deadOwner();
    machine.fs.plantFile(firstClaimOf(machine), new Uint8Array(0));
    machine.clock.advance(10_000);
    const host = new FakeHost({ pid: 100, bootId: 'boot-2', uptimeMs: 5_000 });
    const lock = await machine.locksOf(host).acquire('/log', request());
    expect(lock.takenOver).toMatchObject({ state: 'dead', pid: 9 });
    expect(machine.clock.monotonicMs()).toBe(10_000);
    await lock.release();
  });

  test('a writer removes claims and intents of the dead when they are an hour old, and no others', async () => {
    const machine = makeMachine();
    const { clock, fs } = machine;
    const names = ['session.lock.0123456789abcdef.1', 'session.owner.0123456789abcdef'];
    const young = ['session.lock.1123456789abcdef.1', 'session.owner.1123456789abcdef'];
    const foreign = ['session.lock.notes', 'session.owner.json.bak'];
    for (const name of [...names, ...young, ...foreign]) fs.plantFile(`/log/${name}`, new Uint8Array(0));
    const oldMs = clock.now() - limits.lockClaimKeepMs - 1_000;
    for (const name of [...names, ...foreign]) fs.setTimes(`/log/${name}`, oldMs, oldMs);
    const lock = await machine.locksOf(new FakeHost()).acquire('/log', request());
    await lock.release();
    expect(fs.list('/log').map((entry) => entry.name)).toEqual([...young, ...foreign].sort());
  });
});

test.each(['file', 'link'])('a %s that has the name of the lock is refused and stays', async (kind) => {
  const machine = makeMachine();
  if (kind === 'file') machine.fs.plantFile('/log/session.lock', Buffer.from('theirs'));
  else machine.fs.plantLink('/log/session.lock', '/log');
  const locks = machine.locksOf(new FakeHost());
  const unsafe = expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' });
  await expect(locks.acquire('/log', request({ force: true }))).rejects.toEqual(unsafe);
  expect(() => locks.inspect('/log')).toThrow(unsafe);
  expect(machine.fs.list('/log')).toHaveLength(1);
});

test('a missing directory is the port’s own error', async () => {
  const machine = makeMachine();
  const waiting = machine.locksOf(new FakeHost()).acquire('/none', request({ mode: 'shared' }));
  await expect(waiting).rejects.toMatchObject({ code: 'TURNLOG_IO', details: { errno: 'ENOENT' } });
});

test('I7, I8: whichever call of an acquisition fails, nothing of it is left and the next one succeeds', async () => {
  let faultCount = 0;
  for (let call = 1; ; call += 1) {
    const machine = makeMachine();
    const host = new FakeHost();
    const faulty = new FaultFileSystem(machine.fs, { call, lasting: 'once', effect: { errno: 'EIO' } });
    const outcome = await machine
      .locksOf(host, faulty)
      .acquire('/log', request())
      .then(
        (lock) => lock,
        (error: unknown) => error,
      );
    faulty.setFault(null);
    if (faulty.hitCount === 0) break;
    faultCount += 1;
    expect(outcome).toMatchObject({ code: 'TURNLOG_IO', details: { errno: 'EIO' } });
    expect(machine.fs.list('/log')).toEqual([]);
    const lock = await machine.locksOf(host).acquire('/log', request());
    lock.check();
    await lock.release();
    expect(machine.fs.list('/log')).toEqual([]);
  }
  expect(faultCount).toBeGreaterThan(12);
});

test('the lock directory deleted by hand: release resolves, and the next holder is not disturbed', async () => {
  const machine = makeMachine();
  const host = new FakeHost();
  const lock = await machine.locksOf(host).acquire('/log', request());
  machine.fs.removeDirectory('/log/session.lock');
  const next = await machine.locksOf(host).acquire('/log', request());
  expect(() => lock.check()).toThrow(expect.objectContaining({ code: 'TURNLOG_LOCK_LOST' }));
  await expect(lock.release()).resolves.toBeUndefined();
  next.check();
  await next.release();
  expect(machine.fs.list('/log')).toEqual([]);
});

test('the owner record deleted by hand: the lock counts as lost, and release leaves nothing', async () => {
  const machine = makeMachine();
  const lock = await machine.locksOf(new FakeHost()).acquire('/log', request());
  machine.fs.removeFile('/log/session.owner.json');
  expect(() => lock.check()).toThrow(expect.objectContaining({ code: 'TURNLOG_LOCK_LOST' }));
  await lock.release();
  expect(machine.fs.list('/log')).toEqual([]);
});

test('whether a lock is free costs one call, which finds nothing', () => {
  const machine = makeMachine();
  const fs = new FaultFileSystem(machine.fs);
  expect(machine.locksOf(new FakeHost(), fs).inspect('/log')).toBeNull();
  expect(fs.journal).toEqual([{ verb: 'status', path: '/log/session.lock', byteCount: 0 }]);
});
