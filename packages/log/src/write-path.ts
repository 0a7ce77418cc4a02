import { dirname } from 'node:path';
import { type FileSystem, type HeldLock, isTurnlogError, type TurnlogError } from '@turnlog/kernel';
import type { HandleGuard } from './handle-guard.js';
import { ioFailure } from './log-file.js';
import type { LogState } from './log-state.js';
import type { OpenedLog } from './opened-log.js';
import { readFully } from './read-fully.js';

const lineFeed = 0x0a;

/**
 * The way of whole lines to the disk: written under the lock, made durable, and only then called durable. Log
 * and lock are looked at before each write and again after each sync; a failure that leaves doubt poisons the
 * handle.
 */
export class WritePath {
  readonly #fs: FileSystem;
  readonly #opened: OpenedLog;
  readonly #guard: HandleGuard;
  #lock: HeldLock;
  #written: LogState;
  #synced: LogState;
  /** Whether all that the file held at open, and its name, are known to be durable. */
  #isFoundDurable: boolean;
  #isNameDurable: boolean;
  /** A copy of the last line that was written, its 0x0A included. */
  #lastLine: Uint8Array | null = null;
  #sharedSync: Promise<void> | null = null;

  constructor(fs: FileSystem, opened: OpenedLog, lock: HeldLock, guard: HandleGuard) {
    this.#fs = fs;
    this.#opened = opened;
    this.#guard = guard;
    this.#lock = lock;
    this.#written = opened.state;
    this.#synced = this.#written;
    this.#isFoundDurable = opened.scan === 'none' || opened.state.length === 0;
    this.#isNameDurable = opened.scan !== 'full';
  }

  /** What the file holds. */
  get written(): LogState {
    return this.#written;
  }

  /** What of it is durable. */
  get synced(): LogState {
    return this.#synced;
  }

  /** Whether something in the file is not known to be durable. */
  get hasUnsynced(): boolean {
    return this.#written.length > this.#synced.length || !this.#isFoundDurable;
  }

  /**
   * Hands whole lines to the operating system; `state` is what is known of the log with them.
   *
   * @throws TURNLOG_LOCK_LOST, TURNLOG_IO; nothing of the lines is in the file unless the outcome is `unknown`.
   */
  write(lines: Uint8Array, state: LogState): void {
    this.checkOwnership();
    try {
      this.#opened.file.append(lines);
    } catch (error) {
      if (isTurnlogError(error) && error.details['outcome'] === 'unknown') this.#guard.poison(error);
      throw error;
    }
    this.#lastLine = lines.slice(lines.lastIndexOf(lineFeed, -2) + 1);
    this.#written = state;
  }

  /** Makes what was written durable. Blocks. */
  sync(): void {
    if (!this.hasUnsynced) return;
    const mark = this.#written;
    this.#poisoning('sync', mark, () => this.#opened.file.sync());
    this.#afterSync(mark);
  }

  /** As `sync`, without holding up the event loop; calls at the same time share one sync. */
  async syncLater(): Promise<void> {
    const mark = this.#written;
    while (!this.#isDurable(mark)) {
      this.#sharedSync ??= this.#startSync();
      await this.#sharedSync;
    }
  }

  /** Whether the file still holds what was written last, and nothing behind it. */
  isFileUnchanged(): boolean {
    try {
      this.#opened.file.checkUnchanged();
    } catch (error) {
      if (isTurnlogError(error, 'TURNLOG_LOCK_LOST')) return false;
      throw error;
    }
    return this.isLastLineThere();
  }

  /** Whether the last line that was written stands where it was put. */
  isLastLineThere(): boolean {
    const { tail } = this.#written;
    if (this.#lastLine === null || tail === null) return true;
    const stored = new Uint8Array(this.#lastLine.length);
    return readFully(this.#opened.file, stored, tail.offset) && Buffer.compare(stored, this.#lastLine) === 0;
  }

  /** Goes on under a new lock. */
  relock(lock: HeldLock): void {
    this.#lock = lock;
  }

  /** Looks whether log and lock are still ours; when not, nothing more is written. */
  checkOwnership(): void {
    try {
      this.#lock.check();
      this.#opened.file.checkUnchanged();
    } catch (error) {
      this.#guard.poison(error);
      throw error;
    }
  }

  #isDurable(mark: LogState): boolean {
    return this.#synced.length >= mark.length && this.#isFoundDurable;
  }

  #startSync(): Promise<void> {
    const mark = this.#written;
    return this.#opened.file
      .syncLater()
      .then(
        () => {
          if (!this.#isDurable(mark)) this.#afterSync(mark);
        },
        (cause: unknown) => {
          // A close in between has synced the same bytes and taken the file away.
          if (!this.#isDurable(mark)) throw this.#syncFailure('sync', mark, cause);
        },
      )
      .finally(() => {
        this.#sharedSync = null;
      });
  }

  /** The bytes are durable: make their names durable too, and see that they are still ours. */
  #afterSync(mark: LogState): void {
    this.#guard.check();
    if (!this.#isNameDurable) {
      const { directory } = this.#opened.paths;
      this.#poisoning('sync-directory', mark, () => {
        this.#fs.syncDirectory(directory);
        this.#fs.syncDirectory(dirname(directory));
      });
      this.#isNameDurable = true;
    }
    this.checkOwnership();
    this.#isFoundDurable = true;
    if (mark.length > this.#synced.length) this.#synced = mark;
  }

  #poisoning(step: string, mark: LogState, action: () => void): void {
    try {
      action();
    } catch (cause) {
      throw this.#syncFailure(step, mark, cause);
    }
  }

  #syncFailure(step: string, mark: LogState, cause: unknown): TurnlogError {
    const error = ioFailure(step, this.#opened.paths.events, 'unknown', cause, {
      fromSeq: this.#synced.order.highestSeq + 1,
      toSeq: mark.order.highestSeq,
    });
    this.#guard.poison(error);
    return error;
  }
}
