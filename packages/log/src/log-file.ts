import { writeAll } from '@turnlog/fs';
import { type FileHandle, type FileStatus, type FileSystem, TurnlogError } from '@turnlog/kernel';
import type { ByteSource } from './line-framer.js';

/** Whether anything of a failed call is in the log: `none` for certain, or `unknown`. */
export type WriteOutcome = 'none' | 'unknown';

/**
 * The open `events.jsonl` of a writer. It knows how many good bytes the file holds; whatever a failed write
 * left behind them is cut off again before the failure is reported.
 */
export class LogFile implements ByteSource {
  readonly path: string;
  readonly #fs: FileSystem;
  #file: FileHandle;
  readonly #identity: FileStatus;
  #length: number;
  #isAttached = true;

  private constructor(fs: FileSystem, file: FileHandle, identity: FileStatus) {
    this.#fs = fs;
    this.#file = file;
    this.path = file.path;
    this.#identity = identity;
    this.#length = identity.size;
  }

  /** Takes over `file`, which is closed when its status cannot be read. */
  static of(fs: FileSystem, file: FileHandle): LogFile {
    try {
      return new LogFile(fs, file, file.status());
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Bytes of the file that are known to be good. */
  get length(): number {
    return this.#length;
  }

  get device(): string {
    return this.#identity.device;
  }

  get inode(): string {
    return this.#identity.inode;
  }

  read(into: Uint8Array, offset: number): number {
    return this.#file.read(into, offset);
  }

  /**
   * Stores all of `bytes` at the end, or throws and leaves the file as it was.
   *
   * @throws TURNLOG_IO with `outcome`: `none` when the file was cut back to its good bytes, `unknown` when that
   *   failed too.
   */
  append(bytes: Uint8Array): void {
    try {
      writeAll(this.#file, bytes);
    } catch (cause) {
      this.#cutBack(cause);
    }
    this.#length += bytes.length;
  }

  /** Cuts the file to `length` bytes. */
  truncate(length: number): void {
    this.#file.truncate(length);
    this.#length = length;
  }

  /** Makes all that was appended durable (fdatasync). */
  sync(): void {
    this.#file.syncData();
  }

  /** As `sync`, without holding up the event loop. */
  syncLater(): Promise<void> {
    return this.#file.syncDataLater();
  }

  /**
   * Looks whether the path still names this file and its size is what this writer left.
   *
   * @throws TURNLOG_LOCK_LOST: somebody else replaced or wrote the log.
   */
  checkUnchanged(): void {
    const status = this.#fs.status(this.path);
    const isSame = status !== null && status.inode === this.inode && status.device === this.device;
    if (isSame && status.size === this.#length) return;
    throw new TurnlogError('TURNLOG_LOCK_LOST', {
      details: {
        path: this.path,
        expectedBytes: this.#length,
        actualBytes: status?.size ?? null,
        isReplaced: !isSame,
      },
    });
  }

  /** Gives the descriptor back while another file takes the name: some systems rename over no open file. */
  detach(): void {
    this.#isAttached = false;
    this.#file.close();
  }

  /**
   * Opens the file again after the name was not taken.
   *
   * @throws TURNLOG_LOCK_LOST when another file has it by now; TURNLOG_IO.
   */
  attach(): void {
    this.checkUnchanged();
    this.#file = this.#fs.open(this.path, 'append');
    this.#isAttached = true;
    this.checkUnchanged();
  }

  close(): void {
    if (this.#isAttached) this.detach();
  }

  #cutBack(cause: unknown): never {
    try {
      this.#file.truncate(this.#length);
    } catch (truncateFailure) {
      throw writeFailure(
        this.path,
        'unknown',
        new AggregateError([cause, truncateFailure], 'write and cutting back failed'),
      );
    }
    throw writeFailure(this.path, 'none', cause);
  }
}

function writeFailure(path: string, outcome: WriteOutcome, cause: unknown): TurnlogError {
  return ioFailure('write', path, outcome, cause);
}

/** The error of a failed step of the log: what failed, where, and whether anything of the call is in the log. */
export function ioFailure(
  step: string,
  path: string,
  outcome: WriteOutcome,
  cause: unknown,
  more: Readonly<Record<string, unknown>> = {},
): TurnlogError {
  const errno = errnoWithin(cause);
  return new TurnlogError('TURNLOG_IO', {
    details: { step, path, errno, outcome, ...more },
    cause,
    message: `${step} of ${path} failed${errno === null ? '' : ` (${errno})`}`,
  });
}

function errnoWithin(cause: unknown): string | null {
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(first instanceof TurnlogError)) return null;
  const errno = first.details['errno'];
  return typeof errno === 'string' ? errno : null;
}
