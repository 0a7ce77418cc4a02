import type { HeldLock, LockMode, LockRequest, WriterLocks } from '@turnlog/kernel';

export interface LockSubject {
  /** The locks as two programs see them; both run as the same process. */
  readonly locks: WriterLocks;
  readonly others: WriterLocks;
  readonly pid: number;
  readonly host: string;
  /** A directory that exists and nobody has locked. */
  readonly directory: string;
  /** Leaves the lock of `directory` taken by a process that is dead by now. */
  strand(): Promise<void>;
  /** Renames `directory`, with all that lies in it; returns its new path. */
  rename(): string;
  /** Gives back the stranded lock, if it still is one, and removes the directory. */
  remove(): Promise<void>;
}

interface Loss {
  readonly causes: unknown[];
  readonly request: LockRequest;
}

function requestOf(mode: LockMode, waitMs: number, more: { force?: boolean } = {}): Loss {
  const causes: unknown[] = [];
  return { causes, request: { mode, waitMs, ...more, onLost: (cause) => causes.push(cause) } };
}

/** What every implementation of writer locks must do. */
export function describeWriterLocks(name: string, make: () => LockSubject): void {
  describe(`writer lock contract: ${name}`, () => {
    let subject: LockSubject;
    const held: HeldLock[] = [];

    const take = async (
      locks: WriterLocks,
      mode: LockMode = 'owned',
      waitMs = 0,
      more: { force?: boolean } = {},
    ): Promise<HeldLock> => {
      const lock = await locks.acquire(subject.directory, requestOf(mode, waitMs, more).request);
      held.push(lock);
      return lock;
    };

    beforeEach(() => {
      subject = make();
    });
    afterEach(async () => {
      for (const lock of held.splice(0)) await lock.release();
      await subject.remove();
    });

    test('a free lock has no holder; a held one names it', async () => {
      expect(subject.locks.inspect(subject.directory)).toBeNull();
      const lock = await take(subject.locks, 'shared');
      expect(lock.takenOver).toBeNull();
      const holder = { state: 'alive', pid: subject.pid, host: subject.host, mode: 'shared' };
      expect(subject.others.inspect(subject.directory)).toMatchObject({
        ...holder,
        since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        program: expect.stringMatching(/./),
      });
    });

    test('a second writer is refused with path, pid, host and since, by the same and by other locks', async () => {
      await take(subject.locks);
      for (const locks of [subject.locks, subject.others]) {
        await expect(take(locks)).rejects.toMatchObject({
          code: 'TURNLOG_LOCKED',
          details: {
            path: expect.stringContaining(subject.directory),
            pid: subject.pid,
            host: subject.host,
            since: expect.any(String),
          },
        });
      }
    });

    test('a refused writer has not disturbed the holder', async () => {
      const lock = await take(subject.locks);
      await expect(take(subject.others)).rejects.toMatchObject({ code: 'TURNLOG_LOCKED' });
      lock.check();
      expect(subject.locks.inspect(subject.directory)?.state).toBe('alive');
    });

    test('a waiting writer gets the lock when it is given back', async () => {
      const lock = await take(subject.locks);
      const waiting = take(subject.others, 'owned', 5_000);
      await lock.release();
      (await waiting).check();
    });

    test('a writer waits no longer than it said', async () => {
      const lock = await take(subject.locks);
      await expect(take(subject.others, 'shared', 30)).rejects.toMatchObject({ code: 'TURNLOG_LOCKED' });
      lock.check();
    });

    test('of many writers one at a time holds the lock, and each gets it', async () => {
      let holderCount = 0;
      let turnCount = 0;
      const work = async (locks: WriterLocks): Promise<void> => {
        const lock = await locks.acquire(subject.directory, requestOf('shared', 20_000).request);
        holderCount += 1;
        expect(holderCount).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        lock.check();
        holderCount -= 1;
        turnCount += 1;
        await lock.release();
      };
      const writers = Array.from({ length: 8 }, (_, position) =>
        work(position % 2 === 0 ? subject.locks : subject.others),
      );
      await Promise.all(writers);
      expect(turnCount).toBe(8);
      expect(subject.locks.inspect(subject.directory)).toBeNull();
    });

    test('release frees the lock, and may be called twice', async () => {
      const lock = await take(subject.locks);
      await lock.release();
      expect(subject.locks.inspect(subject.directory)).toBeNull();
      await expect(lock.release()).resolves.toBeUndefined();
      (await take(subject.others)).check();
    });

    test('a released lock is not ours any more', async () => {
      const lock = await take(subject.locks);
      await lock.release();
      expect(() => lock.check()).toThrow(expect.objectContaining({ code: 'TURNLOG_LOCK_LOST' }));
    });

    test('the second release does not give back the lock of the next holder', async () => {
      const lock = await take(subject.locks);
      await lock.release();
      const next = await take(subject.others);
      await lock.release();
      next.check();
      expect(subject.locks.inspect(subject.directory)?.state).toBe('alive');
    });

    test('a lock goes with its directory: it stays held there, leaves nothing at the old name, and is given back', async () => {
      const lost = requestOf('owned', 0);
      const lock = await subject.locks.acquire(subject.directory, lost.request);
      held.push(lock);
      const moved = subject.rename();
      lock.movedTo(moved);
      lock.check();
      expect(subject.others.inspect(moved)).toMatchObject({ state: 'alive', pid: subject.pid });
      expect(subject.others.inspect(subject.directory)).toBeNull();
      await expect(subject.others.acquire(moved, requestOf('owned', 0).request)).rejects.toMatchObject({
        code: 'TURNLOG_LOCKED',
      });
      await lock.release();
      expect(subject.others.inspect(moved)).toBeNull();
      held.push(await subject.others.acquire(moved, requestOf('owned', 0).request));
      expect(lost.causes).toEqual([]);
    });

    test('a dead owner is displaced at once and reported', async () => {
      await subject.strand();
      expect(subject.locks.inspect(subject.directory)?.state).toBe('dead');
      const lock = await take(subject.locks);
      expect(lock.takenOver).toMatchObject({ state: 'dead', pid: expect.any(Number) });
      lock.check();
      await lock.release();
      expect((await take(subject.others)).takenOver).toBeNull();
    });

    test('force displaces a living owner, who then knows and releases without harm', async () => {
      const lost = requestOf('owned', 0);
      const lock = await subject.locks.acquire(subject.directory, lost.request);
      held.push(lock);
      const forced = await take(subject.others, 'owned', 0, { force: true });
      expect(forced.takenOver).toMatchObject({ state: 'alive', pid: subject.pid, host: subject.host });
      expect(() => lock.check()).toThrow(expect.objectContaining({ code: 'TURNLOG_LOCK_LOST' }));
      expect(() => lock.check()).toThrow(expect.objectContaining({ code: 'TURNLOG_LOCK_LOST' }));
      expect(lost.causes.length).toBeLessThanOrEqual(1);
      await expect(lock.release()).resolves.toBeUndefined();
      forced.check();
      expect(subject.others.inspect(subject.directory)?.state).toBe('alive');
    });
  });
}
