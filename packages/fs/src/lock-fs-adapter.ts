import { errnoOf, type FileHandle, type FileStatus, isTurnlogError, type LockMode } from '@turnlog/kernel';
import { codeOf, ioError, undoAfter } from './file-errors.js';
import { removeFileIfThere } from './if-there.js';
import {
  coarseTimeMs,
  describeSelf,
  type LockContext,
  lockPathOf,
  lockStatus,
  newIntentPath,
  ownerPathOf,
  removeDirectoryIfPresent,
} from './lock-files.js';
import { formatCompletion, formatIntent, isSameLock } from './owner-record.js';
import { renameReplacing } from './publish.js';
import { writeAll } from './write-all.js';

type Done<T> = (error: Error | null, result?: T) => void;

/**
 * The file system that proper-lockfile sees while it takes, keeps and gives back one lock. It adds the owner
 * record to the lock directory, and makes sure that the library never touches a lock that is not ours: who may
 * break one is not decided by the age of a directory.
 *
 * The library calls these five functions of its `fs` option and no others; each calls back later.
 */
export class LockFsAdapter {
  readonly #context: LockContext;
  readonly #mode: LockMode;
  readonly #onBroken: (cause: unknown) => void;
  #directory: string;
  /** The lock directory we made; null before, and again when it was given back. */
  #lock: FileStatus | null = null;
  /** Our owner record, kept open so that no other file can have its inode. */
  #record: FileHandle | null = null;
  #lastSetMs: number | null = null;

  /** `onBroken` is called when the library itself fails while it is answered: nobody keeps the lock alive then. */
  constructor(context: LockContext, directory: string, mode: LockMode, onBroken: (cause: unknown) => void) {
    this.#context = context;
    this.#directory = directory;
    this.#mode = mode;
    this.#onBroken = onBroken;
  }

  /** Whether the owner record on disk is the one we published. */
  isRecordOurs(): boolean {
    if (this.#record === null) return false;
    const ours = this.#record.status();
    const present = this.#context.fs.status(ownerPathOf(this.#directory));
    return present !== null && present.device === ours.device && present.inode === ours.inode;
  }

  /** The locked directory was renamed. The library goes on naming the old path, so what it says is not looked at. */
  movedTo(directory: string): void {
    this.#directory = directory;
  }

  /** Lets go of what the process holds, not of the lock. */
  dispose(): void {
    const record = this.#record;
    this.#record = null;
    record?.close();
  }

  mkdir(_path: string, done: Done<void>): void {
    this.#answer(done, () => this.#take());
  }

  stat(path: string, done: Done<{ mtime: Date }>): void {
    this.#answer(done, () => {
      const status = lockStatus(this.#context.fs, this.#directory);
      if (status === null) throw ioError('status', path, missing());
      return { mtime: new Date(this.#timeOf(status)) };
    });
  }

  utimes(_path: string, accessed: Date, modified: Date, done: Done<void>): void {
    this.#answer(done, () => {
      const path = lockPathOf(this.#directory);
      if (!this.#isOurs()) throw ioError('setTimes', path, missing());
      this.#context.fs.setTimes(path, accessed.getTime(), modified.getTime());
      this.#lastSetMs = modified.getTime();
    });
  }

  rmdir(path: string, done: Done<void>): void {
    this.#answer(done, () => this.rmdirSync(path));
  }

  /**
   * Gives back the lock if it is ours. The record becomes an intent until the directory is gone: a directory
   * without a record would be taken for a dead owner's, and its successor's would then be the one removed here.
   */
  rmdirSync(_path: string): void {
    if (!this.#isOurs()) return;
    const { fs } = this.#context;
    const intent = newIntentPath(this.#context, this.#directory);
    try {
      fs.rename(ownerPathOf(this.#directory), intent);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    removeDirectoryIfPresent(fs, lockPathOf(this.#directory));
    this.#lock = null;
    removeFileIfThere(fs, intent);
  }

  /** Calls back later, as the library expects of a file system, with errors that carry the errno as their code. */
  #answer<T>(done: Done<T>, make: () => T): void {
    let error: Error | null = null;
    let result: T | undefined;
    try {
      result = make();
    } catch (cause) {
      error = asLibraryError(cause);
    }
    queueMicrotask(() => {
      try {
        done(error, result);
      } catch (cause) {
        this.#onBroken(cause);
      }
    });
  }

  #take(): void {
    const { fs } = this.#context;
    const lockPath = lockPathOf(this.#directory);
    // Looked at first, because an intent makes a lock without a record look alive.
    if (lockStatus(fs, this.#directory) !== null) throw ioError('makeDirectory', lockPath, taken());
    const intent = newIntentPath(this.#context, this.#directory);
    const file = fs.open(intent, 'create');
    let hasDirectory = false;
    try {
      writeAll(file, Buffer.from(formatIntent(describeSelf(this.#context, this.#mode))));
      fs.makeDirectory(lockPath);
      hasDirectory = true;
      this.#lock = this.#publishRecord(file, intent);
      this.#record = file;
    } catch (error) {
      throw undoAfter(
        error,
        () => file.close(),
        () => hasDirectory && removeDirectoryIfPresent(fs, lockPath),
        () => removeFileIfThere(fs, intent),
      );
    }
  }

  #publishRecord(file: FileHandle, intent: string): FileStatus {
    const { fs } = this.#context;
    const lock = lockStatus(fs, this.#directory);
    if (lock === null) throw ioError('status', lockPathOf(this.#directory), missing());
    writeAll(file, Buffer.from(formatCompletion(lock)));
    renameReplacing(fs, intent, ownerPathOf(this.#directory));
    return lock;
  }

  #isOurs(): boolean {
    const status = lockStatus(this.#context.fs, this.#directory);
    return status !== null && this.#isOurLock(status);
  }

  #isOurLock(status: FileStatus): boolean {
    if (this.#lock === null || this.#lock.device !== status.device) return false;
    // Without a time of birth a successor's directory may have our inode; its record cannot have ours.
    return isSameLock(this.#lock, status) && (status.birthNs !== '0' || this.isRecordOurs());
  }

  /** A lock of others is always fresh, ours is as old as we made it unless somebody else touched it. */
  #timeOf(status: FileStatus): number {
    if (!this.#isOurLock(status)) return this.#context.clock.now();
    const setMs = this.#lastSetMs;
    return setMs !== null && Math.abs(status.modifiedMs - setMs) <= coarseTimeMs ? setMs : status.modifiedMs;
  }
}

function asLibraryError(cause: unknown): Error {
  if (!isTurnlogError(cause)) return cause instanceof Error ? cause : new Error('failed', { cause });
  return Object.assign(new Error(cause.message, { cause }), { code: errnoOf(cause) ?? codeOf(cause) });
}

function missing(): Error {
  return Object.assign(new Error('there is no lock'), { code: 'ENOENT' });
}

function taken(): Error {
  return Object.assign(new Error('the lock is taken'), { code: 'EEXIST' });
}
