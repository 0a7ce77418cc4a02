import { type EncodedEvent, encodeEvent } from '@turnlog/events';
import { type HeldLock, isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import {
  type Accepted,
  Appender,
  type AppenderMark,
  checkedKey,
  EngineEvent,
  type EventInput,
  encodeInput,
  isBoundary,
} from './append.js';
import type { AppendResult, BatchResult, FlushResult, FrameResult } from './append-result.js';
import { Batch, type BatchBuilder } from './batch.js';
import { type FrameHeader, type FrameMembers, type FrameOptions, writeFrame } from './frame-writer.js';
import { GapTracker } from './gap-tracker.js';
import { HandleGuard } from './handle-guard.js';
import type { LogState } from './log-state.js';
import type { MaintenanceReports } from './maintenance-report.js';
import type { OpenedLog } from './opened-log.js';
import { type AppendOptions, type Durability, durabilities, type LogEnvironment } from './options.js';
import { Salting, type SaltMode } from './salting.js';
import { Upkeep } from './upkeep.js';
import { WritePath } from './write-path.js';

export interface LogWriterOptions {
  readonly durability: Durability;
  readonly reports: MaintenanceReports;
  readonly gap?: GapTracker;
  /**
   * `by-class`: as the durability class says, and whenever the buffer is full. `at-sync`: nothing before the next
   * sync, so that everything until then can still be forgotten.
   */
  readonly writes: 'by-class' | 'at-sync';
  /** An append that would make the file longer than this is refused; by default none is. */
  readonly hardMaxBytes?: number;
  /** By default as the log has been written so far. */
  readonly salt?: SaltMode;
  /** Called when a record that ends a turn or the thread has been taken and carried out. */
  readonly onBoundary?: () => void;
}

/** What a failed write takes back, for the report that the next record carries. */
interface Refused {
  readonly count: number;
  readonly key: string | null;
}

/**
 * Writes one log while its lock is held: accepts events into memory, hands them over, makes them durable and
 * publishes what is durable, in this order and each as its durability class asks. Every failure either leaves
 * everything as it was or poisons the handle.
 */
export class LogWriter {
  readonly opened: OpenedLog;
  readonly gap: GapTracker;

  readonly #env: LogEnvironment;
  readonly #durability: Durability;
  readonly #appender: Appender;
  readonly #reports: MaintenanceReports;
  readonly #guard: HandleGuard;
  readonly #path: WritePath;
  readonly #options: LogWriterOptions;
  readonly #upkeep: Upkeep;
  #areFilesReleased = false;

  constructor(env: LogEnvironment, opened: OpenedLog, lock: HeldLock, options: LogWriterOptions) {
    this.#env = env;
    this.opened = opened;
    this.#durability = options.durability;
    this.#options = options;
    this.#upkeep = new Upkeep(env.fs, opened, options.reports);
    this.#reports = options.reports;
    this.gap = options.gap ?? new GapTracker();
    this.#guard = new HandleGuard(opened.paths.directory);
    this.#path = new WritePath(env.fs, opened, lock, this.#guard);
    const floor = opened.lostTail?.toSeq ?? 0;
    const salting = new Salting(env.ids, opened.file, opened.state.tail, options.salt ?? 'as-before');
    this.#appender = new Appender(env.clock, opened, salting, floor);
  }

  /** Seq of the last accepted record; 0 in an empty log. */
  get lastSeq(): number {
    return this.#appender.lastSeq;
  }

  /** Seq of the last record with the operating system, and of the last that is known to be durable. */
  get writtenSeq(): number {
    return this.#path.written.order.highestSeq;
  }

  get durableSeq(): number {
    return this.#path.synced.order.highestSeq;
  }

  /** Seq of the last record that was there when the files were opened. */
  get foundSeq(): number {
    return this.opened.state.order.highestSeq;
  }

  /** What is known of the log, accepted records included. */
  get state(): LogState {
    return this.#appender.state;
  }

  /** Whether the log is of this handle's making and holds nothing. */
  get isUnused(): boolean {
    return this.opened.isNew && this.opened.file.length === 0;
  }

  get bufferedBytes(): number {
    return this.#appender.buffer.length;
  }

  get isOpen(): boolean {
    return this.#guard.isOpen;
  }

  get isPoisonedByLock(): boolean {
    return this.#guard.isPoisonedByLock;
  }

  /** Records what open found before anything else, and publishes what open, or a rewrite, has brought. */
  begin(): void {
    const { first } = this.opened;
    for (const event of first) this.#appender.accept(encodeEvent(event), null);
    if (first.length > 0 || this.#path.hasUnsynced || this.#upkeep.hasMarker) this.#settle();
  }

  append(input: EventInput, options: AppendOptions = {}): AppendResult {
    this.#guard.check();
    const key = checkedKey(options.key);
    const event = encodeInput(input);
    const duplicate = key === null ? null : this.#appender.findDuplicate(key, event);
    if (duplicate !== null) return this.#withMaintenance({ seq: duplicate.seq, turn: null, duplicate: true });
    this.#checkHead(options.expectLast);
    const mark = this.#appender.mark();
    const accepted = this.#accept(event, key, mark, options.tsMs);
    if (!(input instanceof EngineEvent)) this.#checkLength(mark);
    this.#carryOut(mark, this.#classOf(options.durability), isBoundary(event), { count: 1, key });
    return this.#withMaintenance(accepted);
  }

  appendBatch(
    input: readonly EventInput[] | ((batch: BatchBuilder) => void),
    options: Pick<AppendOptions, 'expectLast' | 'durability'> = {},
  ): BatchResult {
    this.#guard.check();
    this.#checkHead(options.expectLast);
    const mark = this.#appender.mark();
    const batch = new Batch(this.#appender, () => this.#reportGap(null));
    try {
      if (typeof input === 'function') this.#guard.during(() => input(batch));
      else for (const event of input) batch.add(event);
    } catch (error) {
      this.#appender.rollBack(mark);
      this.gap.retract();
      throw error;
    }
    this.#checkLength(mark);
    const refused = { count: batch.seqs.length, key: null };
    this.#carryOut(mark, this.#classOf(options.durability), batch.hasBoundary, refused);
    return this.#withMaintenance({ seqs: batch.seqs });
  }

  /** As `OwnedLog.appendFrame`. */
  appendFrame(header: FrameHeader, members: FrameMembers, options: FrameOptions = {}): FrameResult {
    return writeFrame(this, header, members, options);
  }

  /** Hands what is held to the operating system, and only that. */
  flush(): FlushResult {
    this.#guard.check();
    this.#write();
    return this.#withMaintenance({});
  }

  /** Makes all accepted records durable and publishes them. */
  sync(): FlushResult {
    this.#guard.check();
    this.#settle();
    return this.#withMaintenance({});
  }

  /** As `sync`, without holding up the event loop; calls at the same time share one sync. */
  async commit(): Promise<FlushResult> {
    this.#guard.check();
    this.#write();
    await this.#path.syncLater();
    // Closed in between: everything was made durable and published there.
    if (this.#guard.isClosed) return {};
    this.#guard.check();
    this.#upkeep.publish(this.#path.synced, 'whole');
    return this.#withMaintenance({});
  }

  /** The last call: makes everything durable, publishes, closes the files. The lock is the caller's to release. */
  finish(): void {
    try {
      if (this.#guard.isOpen) {
        this.#settle();
      } else if (this.lastSeq > this.durableSeq) {
        // Accepted, and never made durable: whoever closes must not take it for stored.
        this.#guard.check();
      }
    } catch (cause) {
      throw this.#unstored(cause);
    } finally {
      this.closeFiles();
    }
  }

  /** Gives the files back without writing anything more; this is the end of the writer. */
  closeFiles(): void {
    this.releaseFiles();
    this.#guard.close();
  }

  /** Gives the files back and stays poisoned: another writer may take the log over, or fail to. */
  releaseFiles(): void {
    if (this.#areFilesReleased) return;
    this.#areFilesReleased = true;
    for (const file of [this.opened.publisher, this.opened.file]) {
      try {
        file.close();
      } catch (cause) {
        // Whatever had to last was synced before; the descriptor is gone all the same.
        this.#reports.add({ step: 'close', message: 'a file could not be closed cleanly', cause });
      }
    }
  }

  /** For the exit of the process: hands over what is held, once, and never throws. */
  flushAtExit(): void {
    if (!this.#guard.isOpen) return;
    try {
      this.#write();
    } catch (cause) {
      // The process is ending and there is nobody left to tell: the handle must not try again.
      this.#guard.poison(cause);
    }
  }

  /** The lock turned out to be lost: nothing more is written. */
  poisonByLock(cause: unknown): void {
    const details = { path: this.opened.paths.directory, fromSeq: this.durableSeq + 1, toSeq: this.lastSeq };
    this.#guard.poison(new TurnlogError('TURNLOG_LOCK_LOST', { details, cause }));
  }

  /** Whether the file still holds what this writer wrote last, and nothing behind it. */
  isFileUnchanged(): boolean {
    return this.#path.isFileUnchanged();
  }

  /** Whether the last line that this writer wrote stands where it was put. */
  isLastLineThere(): boolean {
    return this.#path.isLastLineThere();
  }

  /**
   * Looks whether log and lock are still this writer's, as before and after each write.
   *
   * @throws TURNLOG_LOCK_LOST; the writer is poisoned then. TURNLOG_POISONED, CLOSED.
   */
  checkOwnership(): void {
    this.#guard.check();
    this.#path.checkOwnership();
  }

  /** Ends all writing because of `cause`; reopening tells what is in the log. */
  poison(cause: unknown): void {
    this.#guard.poison(cause);
  }

  /** Goes on under a new lock; nobody may have changed the file since the old one was lost. */
  resume(lock: HeldLock): void {
    this.opened.publisher.distrust();
    this.#path.relock(lock);
    this.#guard.reopen();
  }

  #checkHead(expected: number | undefined): void {
    if (expected === undefined || expected === this.lastSeq) return;
    throw new TurnlogError('TURNLOG_STALE_HEAD', {
      details: { path: this.opened.paths.directory, expected, actual: this.lastSeq },
    });
  }

  #classOf(asked: Durability | undefined): Durability {
    if (asked === undefined) return this.#durability;
    return durabilities.indexOf(asked) > durabilities.indexOf(this.#durability) ? asked : this.#durability;
  }

  #accept(
    event: EncodedEvent,
    key: string | null,
    mark: AppenderMark,
    tsMs: number | null | undefined,
  ): Accepted {
    try {
      this.#reportGap(key);
      return this.#appender.accept(event, key, tsMs);
    } catch (error) {
      this.#appender.rollBack(mark);
      this.gap.retract();
      throw error;
    }
  }

  /** Takes back what would make the log longer than it may be. */
  #checkLength(mark: AppenderMark): void {
    const { hardMaxBytes = 0 } = this.#options;
    const bytes = this.#appender.state.length;
    if (hardMaxBytes === 0 || bytes <= hardMaxBytes) return;
    this.#appender.rollBack(mark);
    this.gap.retract();
    throw new TurnlogError('TURNLOG_CAP', {
      details: { path: this.opened.paths.events, bytes, hardMaxBytes },
      message: `the log may not become longer than ${hardMaxBytes} bytes`,
    });
  }

  /** Puts the report of refused appends before the next accepted one. */
  #reportGap(key: string | null): void {
    const report = this.gap.report(key, this.#appender.state.lifecycle.open?.turn ?? null);
    if (report !== null) this.#appender.accept(encodeEvent(report), null);
  }

  /** Writes, syncs and publishes what the class asks for; a write that fails takes the append back. */
  #carryOut(mark: AppenderMark, durability: Durability, hasBoundary: boolean, refused: Refused): void {
    if (this.#options.writes === 'at-sync') this.gap.settle();
    else this.#carryOutByClass(mark, durability, hasBoundary, refused);
    if (hasBoundary) this.#options.onBoundary?.();
  }

  #carryOutByClass(mark: AppenderMark, durability: Durability, hasBoundary: boolean, refused: Refused): void {
    const isFull = this.bufferedBytes >= limits.writeBufferBytes;
    const mustSync = durability === 'event' || (durability === 'turn' && (hasBoundary || isFull));
    if (mustSync || isFull) this.#writeOrTakeBack(mark, refused);
    this.gap.settle();
    if (!mustSync) return;
    this.#path.sync();
    if (
      durability === 'turn' ||
      hasBoundary ||
      this.#upkeep.unpublishedBytes >= limits.manifestPublishBytes
    ) {
      this.#upkeep.publish(this.#path.synced, 'turn');
    }
  }

  /** What may be in the log after all is not taken back: reopening tells. */
  #writeOrTakeBack(mark: AppenderMark, refused: Refused): void {
    try {
      this.#write();
    } catch (error) {
      if (isTurnlogError(error) && error.details['outcome'] === 'unknown') throw error;
      this.#appender.rollBack(mark);
      this.gap.note(refused.count, refused.key, this.#env.clock.now());
      throw error;
    }
  }

  /** Everything accepted is durable and published when it returns. */
  #settle(): void {
    this.#write();
    this.#path.sync();
    this.#upkeep.publish(this.#path.synced, 'whole');
  }

  #write(): void {
    const { buffer, state } = this.#appender;
    if (buffer.length === 0) return;
    this.#path.write(buffer.view(), state);
    this.#upkeep.noteWritten(buffer.length);
    buffer.cutTo(0);
  }

  #unstored(cause: unknown): unknown {
    if (!isTurnlogError(cause)) return cause;
    const details = { ...cause.details, fromSeq: this.writtenSeq + 1, toSeq: this.lastSeq };
    return new TurnlogError(cause.code, { details, cause, message: cause.message });
  }

  #withMaintenance<Result extends object>(result: Result): Result & FlushResult {
    const maintenance = this.#reports.take();
    return maintenance.length === 0 ? result : { ...result, maintenance };
  }
}
