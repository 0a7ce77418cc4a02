import {
  type Clock,
  type FileSystem,
  type HeldLock,
  type Host,
  type Ids,
  isTurnlogError,
  type LockHolder,
  type LockRequest,
  limits,
  type TakeOver,
  TurnlogError,
  type WriterLocks,
} from '@turnlog/kernel';
import { lock as lockWithLibrary } from 'proper-lockfile';
import { codeOf } from './file-errors.js';
import { type FilesystemKind, filesystemKind } from './filesystem-kind.js';
import { type BreakConsent, breakLock, sweepLeftOvers } from './lock-breaker.js';
import { type LockContext, lockPathOf } from './lock-files.js';
import { LockFsAdapter } from './lock-fs-adapter.js';
import { judgeLock, type LockJudgement } from './lock-judgement.js';
import { LockCourtesy, LockWait } from './lock-wait.js';
import { SilenceWatch } from './silence-watch.js';

export interface WriterLocksOptions {
  readonly fs: FileSystem;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly host: Host;
  /** Name and version of the program, as in `turnlog/0.1.0`. */
  readonly program: string;
  /** An owner that cannot be judged is displaced after so many milliseconds without a sign of life. */
  readonly staleMs?: number;
  /** How often a held lock shows one. */
  readonly updateMs?: number;
  /** What a directory lies on; by default the system is asked. */
  readonly filesystemKind?: (path: string) => FilesystemKind;
}

/**
 * Writer locks on proper-lockfile: a directory that only one process can make, with an owner record beside it.
 * Who holds a lock is judged by that record, never by the age of the directory alone.
 */
export function createWriterLocks(options: WriterLocksOptions): WriterLocks {
  const { staleMs = limits.lockStaleMs, updateMs = limits.lockUpdateMs } = options;
  const kindOf = options.filesystemKind ?? filesystemKind;
  const context: LockContext = { ...options, filesystemKind: kindOf, staleMs, updateMs };
  const table: LockTable = {
    context,
    watch: new SilenceWatch(options.clock),
    courtesy: new LockCourtesy(options.clock, options.ids),
  };
  return {
    acquire: (directory, request) => acquire(table, directory, request),
    inspect(directory: string): LockHolder | null {
      const judgement = judgeLock(context, directory);
      if (judgement === null) return null;
      const { mode = null, program = null } = judgement.holder ?? {};
      return { ...describe(judgement), mode, program };
    },
  };
}

/** What one program knows of its locks. */
interface LockTable {
  readonly context: LockContext;
  readonly watch: SilenceWatch;
  readonly courtesy: LockCourtesy;
}

async function acquire(
  { context, watch, courtesy }: LockTable,
  directory: string,
  request: LockRequest,
): Promise<HeldLock> {
  const wait = new LockWait(context, directory, request.waitMs);
  if (request.mode === 'shared' && request.waitMs > 0) await courtesy.stepBack(directory);
  let takenOver: TakeOver | null = null;
  let judgement = judgeLock(context, directory);
  for (;;) {
    if (judgement !== null && tryBreak(context, watch, directory, judgement, request)) {
      takenOver = describe(judgement);
      judgement = null;
    }
    const held = judgement === null ? await tryLock(context, directory, request, takenOver) : null;
    if (held !== null) {
      watch.forget(lockPathOf(directory));
      courtesy.noteTaken(directory, wait.isBegun);
      return held;
    }
    judgement = await judgeNext(context, wait, directory, judgement);
  }
}

/** Null when the lock may be free by now. @throws TURNLOG_LOCKED when the time for waiting is over. */
async function judgeNext(
  context: LockContext,
  wait: LockWait,
  directory: string,
  judgement: LockJudgement | null,
): Promise<LockJudgement | null> {
  const found = await wait.untilWorthTrying(judgement?.lock ?? null);
  if (found === 'over') throw locked(directory, judgeLock(context, directory) ?? judgement);
  return found === 'free' ? null : judgeLock(context, directory);
}

/** Whether the lock was free to be taken over and has been broken. */
function tryBreak(
  context: LockContext,
  watch: SilenceWatch,
  directory: string,
  judgement: LockJudgement,
  request: LockRequest,
): boolean {
  const consent = request.force === true ? 'forced' : consentOf(context, watch, directory, judgement);
  return consent !== null && breakLock(context, watch, directory, judgement, consent);
}

/** Dead owners at once, living ones never; those that cannot be judged after a time without a sign of life. */
function consentOf(
  context: LockContext,
  watch: SilenceWatch,
  directory: string,
  judgement: LockJudgement,
): BreakConsent | null {
  const { state, lock, modifiedMs, record } = judgement;
  if (state === 'alive') return null;
  // Whoever holds a lease may count on it; taking one over is more than breaking a lock.
  if (state === 'unknown' && record !== null && record.leaseUntil !== null) return null;
  const sign = `${lock.inode} ${lock.birthNs} ${modifiedMs} ${record?.lockId}`;
  const silentMs = watch.silentMs(lockPathOf(directory), sign);
  const isAbandoned = context.clock.now() - modifiedMs > limits.lockAbandonedMs;
  if (silentMs >= context.staleMs || isAbandoned) return 'silent';
  return state === 'dead' ? 'dead' : null;
}

/** Null when somebody else was faster. */
async function tryLock(
  context: LockContext,
  directory: string,
  request: LockRequest,
  takenOver: TakeOver | null,
): Promise<HeldLock | null> {
  // Short transactions leave the looking around to others, but after a take-over there is something to find.
  if (takenOver !== null || request.mode === 'owned') sweepLeftOvers(context, directory);
  const held = new ProperLock(context, directory, request, takenOver);
  try {
    await held.take();
    return held;
  } catch (error) {
    held.dispose();
    if (codeOf(error) === 'ELOCKED') return null;
    // The port's own error is what the adapter wrapped for the library.
    throw error instanceof Error && isTurnlogError(error.cause) ? error.cause : error;
  }
}

/** As global as the library's table of locks. */
let acquisitionCount = 0;

class ProperLock implements HeldLock {
  readonly takenOver: TakeOver | null;
  readonly #context: LockContext;
  readonly #adapter: LockFsAdapter;
  readonly #onLost: (cause: unknown) => void;
  #directory: string;
  #giveBack: (() => Promise<void>) | null = null;
  #loss: { readonly cause: unknown } | null = null;

  constructor(context: LockContext, directory: string, request: LockRequest, takenOver: TakeOver | null) {
    this.#context = context;
    this.#directory = directory;
    this.#adapter = new LockFsAdapter(context, directory, request.mode, (cause) => this.#lose(cause));
    this.#onLost = request.onLost;
    this.takenOver = takenOver;
  }

  async take(): Promise<void> {
    const { staleMs, updateMs } = this.#context;
    const lockfilePath = lockPathOf(this.#directory);
    // The library keeps one lock per name of the locked file, and takes the newest for all older ones of that
    // name. So each acquisition has a name of its own; no file of that name is touched.
    acquisitionCount += 1;
    const name = `${lockfilePath}#${acquisitionCount}`;
    this.#giveBack = await lockWithLibrary(name, {
      lockfilePath,
      realpath: false,
      retries: 0,
      stale: staleMs,
      update: updateMs,
      fs: this.#adapter,
      onCompromised: (cause) => this.#lose(cause),
    });
  }

  /** Lets go of what the process holds, not of the lock. */
  dispose(): void {
    this.#adapter.dispose();
  }

  check(): void {
    if (this.#loss === null && this.#adapter.isRecordOurs()) return;
    this.#loss ??= { cause: undefined };
    const details = { path: lockPathOf(this.#directory) };
    throw new TurnlogError('TURNLOG_LOCK_LOST', { details, cause: this.#loss.cause });
  }

  movedTo(directory: string): void {
    this.#directory = directory;
    this.#adapter.movedTo(directory);
  }

  async release(): Promise<void> {
    const giveBack = this.#giveBack;
    this.#giveBack = null;
    if (giveBack === null) return;
    try {
      await giveBack();
    } catch (error) {
      const code = codeOf(error);
      // The library's words for a lock that was lost before it could be given back.
      if (code !== 'ERELEASED' && code !== 'ENOTACQUIRED') {
        throw error instanceof Error && isTurnlogError(error.cause) ? error.cause : error;
      }
    } finally {
      this.#adapter.dispose();
    }
  }

  /** Called by a timer of the library, where a throw would end the process. */
  #lose(cause: unknown): void {
    if (this.#loss !== null) return;
    this.#loss = { cause };
    try {
      this.#onLost(cause);
    } catch (error) {
      this.#loss = { cause: new AggregateError([cause, error], 'the lock was lost, and so was the news') };
    }
  }
}

function describe(judgement: LockJudgement): TakeOver {
  const { state, holder } = judgement;
  return {
    state,
    pid: holder?.pid ?? null,
    host: holder?.host ?? null,
    since: holder?.acquiredAt ?? null,
  };
}

function locked(directory: string, judgement: LockJudgement | null): TurnlogError {
  const { pid, host, since } = judgement === null ? nobody : describe(judgement);
  const path = lockPathOf(directory);
  return new TurnlogError('TURNLOG_LOCKED', { details: { path, pid, host, since } });
}

const nobody: Pick<TakeOver, 'pid' | 'host' | 'since'> = { pid: null, host: null, since: null };
