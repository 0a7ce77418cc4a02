import { ensurePrivateDirectory } from '@turnlog/fs';
import { type HeldLock, TurnlogError } from '@turnlog/kernel';
import type { EventInput } from './append.js';
import type { AppendResult, BatchResult, FlushResult, FrameResult } from './append-result.js';
import type { BatchBuilder } from './batch.js';
import { type Cap, checkCap } from './cap.js';
import { CapKeeper } from './cap-keeper.js';
import type { DamageReport } from './damage-report.js';
import type { EvictedLog } from './eviction.js';
import type { FrameHeader, FrameMembers, FrameOptions } from './frame-writer.js';
import { type LogPaths, logPaths } from './log-layout.js';
import { LogWriter } from './log-writer.js';
import { type MaintenanceListener, MaintenanceReports } from './maintenance-report.js';
import { type OpenedLog, type OpenScan, openLogFiles } from './opened-log.js';
import type { AppendOptions, LogEnvironment, WriterOptions } from './options.js';
import type { RecoveredEvent } from './recover.js';
import { removeUnusedDirectory, removeUnusedFile } from './unused-log.js';

/** What opening a log for writing found and did. */
export interface OpenReport {
  readonly isNew: boolean;
  /** How much of the log had to be read. */
  readonly scan: OpenScan;
  readonly damage: readonly DamageReport[];
  /** What was written into the log about it. */
  readonly recovered: readonly RecoveredEvent[];
  /** Whether the last record had lost its newline and got it back. */
  readonly isLineEnded: boolean;
}

export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

/** What `reopen` found of the records whose fate was unknown. */
export interface ReopenReport {
  /** Accepted before, now known to be in the log. */
  readonly stored: SeqRange | null;
  /** Accepted before, not in the log; append them again. */
  readonly lost: SeqRange | null;
  /** Accepted before, not written yet: they stay accepted and go out with the next write. */
  readonly kept: SeqRange | null;
}

/** Opens or creates the log in `directory` and holds its lock until `close`. */
export async function openOwnedLog(
  env: LogEnvironment,
  directory: string,
  sessionId: string,
  options: WriterOptions = {},
): Promise<OwnedLog> {
  const paths = logPaths(directory);
  const isDirectoryNew = ensurePrivateDirectory(env.fs, directory, env.ownership) === 'created';
  const log = new OwnedLog(env, paths, sessionId, options, isDirectoryNew);
  await log.start();
  return log;
}

/**
 * One log, held by one writer from open to close. Appending is synchronous; see `Durability` for when what was
 * appended is on the disk.
 */
export class OwnedLog {
  readonly sessionId: string;
  readonly directory: string;

  readonly #env: LogEnvironment;
  readonly #paths: LogPaths;
  readonly #options: WriterOptions;
  readonly #isDirectoryNew: boolean;
  readonly #reports = new MaintenanceReports();
  #lock: HeldLock | null = null;
  #isLockLost = false;
  #writer: LogWriter | null = null;
  #report: OpenReport | null = null;
  #stopExitHook: () => void = () => undefined;
  #cancelFlush: (() => void) | null = null;
  #closing: Promise<FlushResult> | null = null;
  readonly #cap: Cap | null;
  readonly #keeper: CapKeeper | null;
  /** Seq up to which a reopening that failed has found the old writer's records in the log. */
  #writtenThere: number | null = null;

  constructor(
    env: LogEnvironment,
    paths: LogPaths,
    sessionId: string,
    options: WriterOptions,
    isDirectoryNew: boolean,
  ) {
    this.#env = env;
    this.#paths = paths;
    this.sessionId = sessionId;
    this.directory = paths.directory;
    this.#options = options;
    this.#isDirectoryNew = isDirectoryNew;
    this.#cap = options.cap === undefined ? null : checkCap(options.cap);
    this.#keeper = this.#cap === null ? null : new CapKeeper(this.#evicted(), this.#cap, this.#reports);
  }

  /** Takes the lock and opens the files; called once, by `openOwnedLog`. */
  async start(): Promise<void> {
    try {
      this.#lock = await this.#acquire();
    } catch (error) {
      if (this.#isDirectoryNew) removeUnusedDirectory(this.#env.fs, this.#paths);
      throw error;
    }
    try {
      this.#writer = this.#openWriter(this.#lock);
    } catch (error) {
      await this.#lock.release();
      throw error;
    }
    this.#stopExitHook = this.#env.host.onExit(() => this.#writer?.flushAtExit());
    this.#keeper?.check();
  }

  /** What opening found and did. */
  get report(): OpenReport {
    return this.#report ?? closedBeforeOpen(this.directory);
  }

  /** Seq of the last accepted record; 0 in an empty log. */
  get lastSeq(): number {
    return this.#active.lastSeq;
  }

  /** Seq of the last record that is known to be durable. */
  get durableSeq(): number {
    return this.#active.durableSeq;
  }

  /** What is known of the log, accepted records included. */
  get state(): LogWriter['state'] {
    return this.#active.state;
  }

  /**
   * Appends one event: `{type, …}`, or `{raw}` with the event's own text.
   *
   * @throws TURNLOG_INVALID_EVENT, TOO_DEEP, RECORD_TOO_LARGE, RESERVED_RECORD, KEY_CONFLICT, STALE_HEAD: nothing
   *   changed. TURNLOG_IO with outcome `none`: nothing of this event is in the log; `unknown`: the handle is
   *   poisoned. TURNLOG_LOCK_LOST, POISONED, CLOSED.
   */
  append(event: EventInput, options?: AppendOptions): AppendResult {
    const result = this.#active.append(event, options);
    this.#scheduleFlush();
    return result;
  }

  /** Appends several events in one write: all are accepted or none; a crash may keep the first of them. */
  appendBatch(
    events: readonly EventInput[] | ((batch: BatchBuilder) => void),
    options?: Pick<AppendOptions, 'expectLast' | 'durability'>,
  ): BatchResult {
    const result = this.#active.appendBatch(events, options);
    this.#scheduleFlush();
    return result;
  }

  /**
   * Appends several records as one fact: begin and commit are made around them, all in one write that is durable
   * when the call returns. A crash leaves all of it or nothing that has an effect. Lifecycle records and
   * `user.message` never stand in a frame; nor does another frame.
   *
   * @throws TURNLOG_INVALID_EVENT for no members, too many, or one that does not belong there; else as `append`.
   */
  appendFrame(header: FrameHeader, members: FrameMembers, options?: FrameOptions): FrameResult {
    return this.#active.appendFrame(header, members, options);
  }

  /** Hands all accepted records to the operating system: a killed process loses none of them. */
  flush(): FlushResult {
    return this.#active.flush();
  }

  /** Makes all accepted records durable: a power cut loses none of them. Blocks. */
  sync(): FlushResult {
    return this.#active.sync();
  }

  /** As `sync`, without blocking the event loop. */
  commit(): Promise<FlushResult> {
    return this.#active.commit();
  }

  /**
   * Brings the log down to its cap, if it is over it, and waits for that; without a cap there is nothing to do. What
   * fails is told as maintenance, in the result and to the listeners.
   */
  async maintain(): Promise<FlushResult> {
    if (this.#keeper !== null) await this.#keeper.maintain();
    else if (this.#closing !== null) closedBeforeOpen(this.directory);
    return this.#maintenance();
  }

  /** Calls `listener` for each failure of upkeep; returns how to stop that. */
  onMaintenance(listener: MaintenanceListener): () => void {
    return this.#reports.listen(listener);
  }

  /**
   * Makes everything durable, publishes, and gives lock and files back, also when that fails. A log that this
   * handle created and appended nothing to is removed again.
   *
   * @throws TURNLOG_IO, POISONED, LOCK_LOST with `fromSeq` and `toSeq` of the records that are not stored.
   */
  close(): Promise<FlushResult> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /**
   * Makes a poisoned handle usable again: takes the lock again if it was lost, reads the log as open does, and
   * says what became of the records whose fate was unknown.
   */
  async reopen(): Promise<ReopenReport> {
    const before = this.#active;
    if (before.isOpen) {
      return { stored: null, lost: null, kept: rangeOf(before.writtenSeq, before.lastSeq) };
    }
    if (this.#isLockLost || this.#lock === null) await this.#takeLockAgain();
    const lock = this.#lock;
    if (lock === null) return closedBeforeOpen(this.directory);
    if (before.isPoisonedByLock && before.isFileUnchanged()) {
      before.resume(lock);
      return {
        stored: null,
        lost: null,
        kept: rangeOf(before.writtenSeq, before.lastSeq),
      };
    }
    return this.#reopenFiles(before, lock);
  }

  get #active(): LogWriter {
    if (this.#writer === null || this.#closing !== null) return closedBeforeOpen(this.directory);
    return this.#writer;
  }

  async #takeLockAgain(): Promise<void> {
    await this.#lock?.release();
    this.#lock = null;
    this.#lock = await this.#acquire();
    this.#isLockLost = false;
  }

  #reopenFiles(before: LogWriter, lock: HeldLock): ReopenReport {
    const { gap, durableSeq, lastSeq } = before;
    // Asked once, while the old files are open: this may be the second try.
    if (before.isPoisonedByLock) {
      this.#writtenThere ??= before.isLastLineThere() ? before.writtenSeq : durableSeq;
    }
    before.releaseFiles();
    const writer = this.#openWriter(lock, gap);
    // While the lock was ours, whatever the file holds is ours too, also of a write that failed half-way.
    const storedTo = before.isPoisonedByLock
      ? (this.#writtenThere ?? durableSeq)
      : Math.max(durableSeq, Math.min(lastSeq, writer.foundSeq));
    const lost = rangeOf(storedTo, lastSeq);
    if (lost !== null) gap.note(lost.to - lost.from + 1, null, this.#env.clock.now());
    this.#writtenThere = null;
    before.closeFiles();
    this.#writer = writer;
    return { stored: rangeOf(durableSeq, storedTo), lost, kept: null };
  }

  #acquire(): Promise<HeldLock> {
    return this.#env.locks.acquire(this.directory, {
      mode: 'owned',
      waitMs: this.#options.waitMs ?? 0,
      ...(this.#options.force === undefined ? {} : { force: true }),
      onLost: (cause) => {
        this.#isLockLost = true;
        this.#writer?.poisonByLock(cause);
      },
    });
  }

  /** The log as an eviction needs it. */
  #evicted(): EvictedLog {
    const present = (): LogWriter => this.#active;
    return {
      env: this.#env,
      get writer() {
        return present();
      },
      replaceWriter: (opened, doubt) => this.#replaceWriter(opened, doubt),
      report: (report) => this.#reports.add(report),
      asUpkeep: (work) => this.#reports.holdBack(work),
    };
  }

  /** Goes on with the rewritten log; what the old writer had accepted is in it. */
  #replaceWriter(opened: OpenedLog, doubt: unknown): void {
    const before = this.#writer;
    const lock = this.#lock;
    if (before === null || lock === null) closedBeforeOpen(this.directory);
    const writer = this.#writerOf(opened, lock, before.gap);
    this.#writer = writer;
    before.closeFiles();
    if (doubt === null) writer.begin();
    else writer.poison(doubt);
  }

  #openWriter(lock: HeldLock, gap?: LogWriter['gap']): LogWriter {
    if (lock.takenOver !== null) {
      const { pid, host, state } = lock.takenOver;
      const message = `the lock of a ${state} owner was taken over (pid ${pid ?? 'unknown'} on ${host ?? 'unknown'})`;
      this.#reports.add({ step: 'lock-taken-over', message, cause: null });
    }
    const opened: OpenedLog = openLogFiles(this.#env, this.#paths, this.sessionId);
    if (opened.markerFault !== null) {
      this.#reports.add({ step: 'rewrite', message: opened.markerFault, cause: null });
    }
    const writer = this.#writerOf(opened, lock, gap);
    try {
      writer.begin();
    } catch (error) {
      writer.closeFiles();
      throw error;
    }
    this.#report = {
      isNew: opened.isNew,
      scan: opened.scan,
      damage: opened.damage,
      recovered: opened.recovered,
      isLineEnded: opened.isLineEnded,
    };
    return writer;
  }

  #writerOf(opened: OpenedLog, lock: HeldLock, gap?: LogWriter['gap']): LogWriter {
    return new LogWriter(this.#env, opened, lock, {
      durability: this.#options.durability ?? 'turn',
      writes: 'by-class',
      reports: this.#reports,
      hardMaxBytes: this.#cap?.hardMaxBytes ?? 0,
      onBoundary: () => this.#keeper?.check(),
      ...(this.#options.salt === undefined ? {} : { salt: this.#options.salt }),
      ...(gap === undefined ? {} : { gap }),
    });
  }

  #scheduleFlush(): void {
    const { flushAfterMs } = this.#options;
    if (flushAfterMs === undefined || this.#cancelFlush !== null || this.#active.bufferedBytes === 0) return;
    this.#cancelFlush = this.#env.clock.after(flushAfterMs, () => {
      this.#cancelFlush = null;
      try {
        this.#writer?.flush();
      } catch (cause) {
        this.#reports.add({ step: 'flush', message: 'an idle buffer could not be written', cause });
      }
    });
  }

  async #close(): Promise<FlushResult> {
    this.#cancelFlush?.();
    if (this.#keeper !== null) await this.#keeper.stop();
    this.#stopExitHook();
    const writer = this.#writer;
    try {
      writer?.finish();
    } finally {
      const isUnused = writer?.isUnused ?? false;
      if (isUnused) this.#removeUnused();
      await this.#lock?.release();
      if (isUnused && this.#isDirectoryNew) removeUnusedDirectory(this.#env.fs, this.#paths);
    }
    return this.#maintenance();
  }

  #maintenance(): FlushResult {
    const maintenance = this.#reports.take();
    return maintenance.length === 0 ? {} : { maintenance };
  }

  #removeUnused(): void {
    try {
      removeUnusedFile(this.#env.fs, this.#paths);
    } catch (cause) {
      this.#reports.add({ step: 'close', message: 'an unused log could not be removed', cause });
    }
  }
}

/** The seqs behind `after` up to `last`; null when there are none. */
function rangeOf(after: number, last: number): SeqRange | null {
  return last > after ? { from: after + 1, to: last } : null;
}

function closedBeforeOpen(directory: string): never {
  throw new TurnlogError('TURNLOG_CLOSED', { details: { path: directory } });
}
