import type { Clock, Ids } from '@turnlog/kernel';
import { type LockContext, lockPathOf, lockStatus } from './lock-files.js';
import { isSameLock, type LockIdentity } from './owner-record.js';

/** The longest pause between two looks at a busy lock. */
const pauseMsMax = 50;

/** A lock that stood unchanged for this long is judged again: its owner may have died. */
const judgeAgainMs = 20;

/**
 * The longest pause before the next look at a lock, for somebody who has waited `waitedMs` and has seen it unchanged
 * for `unchangedMs`.
 *
 * A lock that is held for long is looked at ever more seldom. One that goes from hand to hand is free for a moment
 * only, and whoever looks more often gets it sooner: those who came just now look often, because it may be free at
 * once, then give way to those who have waited long. More looks than these would cost the owner more time on a machine
 * with few processors than they save.
 */
export function pauseBoundMs(waitedMs: number, unchangedMs: number): number {
  return Math.min(pauseMsMax, Math.max(eagerBoundMs(waitedMs), Math.floor(unchangedMs)));
}

function eagerBoundMs(waitedMs: number): number {
  if (waitedMs < 64) return Math.max(2, Math.floor(waitedMs / 2));
  return waitedMs < 1_000 ? 32 : 12;
}

/**
 * Waiting for one busy lock. Between two judgements, which read files and ask for processes, it only looks whether
 * the directory is there and still the same: a lock that has changed hands has shown that its owner lives.
 */
export class LockWait {
  readonly #context: LockContext;
  readonly #directory: string;
  readonly #startMs: number;
  readonly #deadlineMs: number;
  #seen: LockIdentity | null = null;
  #unchangedSinceMs: number;
  #isBegun = false;

  constructor(context: LockContext, directory: string, waitMs: number) {
    this.#context = context;
    this.#directory = directory;
    this.#startMs = context.clock.monotonicMs();
    this.#deadlineMs = this.#startMs + waitMs;
    this.#unchangedSinceMs = this.#startMs;
  }

  /** Whether there was anything to wait for. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /**
   * Waits until the lock, which has just been judged, is worth another try: `free`, or to be judged again, or the time
   * for waiting is `over`. Null when it was lost to somebody who has not been looked at.
   */
  async untilWorthTrying(judged: LockIdentity | null): Promise<'free' | 'judge' | 'over'> {
    const { clock, fs, ids } = this.#context;
    if (judged !== null) this.#see(judged);
    this.#isBegun = true;
    const judgedMs = clock.monotonicMs();
    for (;;) {
      const nowMs = clock.monotonicMs();
      if (nowMs >= this.#deadlineMs) return 'over';
      const boundMs = pauseBoundMs(nowMs - this.#startMs, nowMs - this.#unchangedSinceMs);
      await clock.sleep(Math.min(this.#deadlineMs - nowMs, 1 + ids.randomBelow(boundMs)));
      const status = lockStatus(fs, this.#directory);
      if (status === null) return 'free';
      this.#see(status);
      const endMs = clock.monotonicMs();
      const doubtSinceMs = Math.max(judgedMs, this.#unchangedSinceMs);
      if (endMs - doubtSinceMs >= judgeAgainMs || endMs >= this.#deadlineMs) return 'judge';
    }
  }

  #see(lock: LockIdentity): void {
    if (this.#seen !== null && isSameLock(this.#seen, lock)) return;
    this.#seen = { inode: lock.inode, birthNs: lock.birthNs };
    this.#unchangedSinceMs = this.#context.clock.monotonicMs();
  }
}

/** For how long a process may take a lock again and again while others want it, and for how long it then stays away. */
const runMs = 20;
const stepBackMsMax = 4;

/** Others who have not been met for this long are believed to be gone. */
const othersGoneMs = 1_000;

interface Run {
  /** When somebody else was last seen to hold the lock. */
  readonly othersSeenMs: number;
  /** Since when this process has had the lock, but for the moments in between. */
  readonly sinceMs: number;
}

/**
 * Makes room for others. Whoever gives a lock back is the first who can take it again, while the others sleep; so a
 * process that has met others at a lock steps back now and then before it takes it once more.
 */
export class LockCourtesy {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #runs = new Map<string, Run>();

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Notes that the lock of `directory` was taken, and whether others had to be waited for. */
  noteTaken(directory: string, hadToWait: boolean): void {
    if (!hadToWait) return;
    const nowMs = this.#clock.monotonicMs();
    for (const [path, { othersSeenMs }] of this.#runs) {
      if (nowMs - othersSeenMs > othersGoneMs) this.#runs.delete(path);
    }
    this.#runs.set(lockPathOf(directory), { othersSeenMs: nowMs, sinceMs: nowMs });
  }

  /** Waits for a moment when it is the turn of others. */
  async stepBack(directory: string): Promise<void> {
    const path = lockPathOf(directory);
    const run = this.#runs.get(path);
    if (run === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - run.othersSeenMs > othersGoneMs) {
      this.#runs.delete(path);
      return;
    }
    if (nowMs - run.sinceMs < runMs) return;
    await this.#clock.sleep(1 + this.#ids.randomBelow(stepBackMsMax));
    this.#runs.set(path, { ...run, sinceMs: this.#clock.monotonicMs() });
  }
}
