/**
 * The verbs of the file system that the engine uses, and what each promises.
 *
 * All verbs block: `append()` is synchronous. Every failure is a `TURNLOG_IO` error with `operation`, `path`
 * and `errno` (`'ENOENT'`, `'ENOSPC'`, …) in its details. No verb follows a link in the last part of a path
 * but `resolve`, which exists to resolve the root once.
 */
export interface FileSystem {
  /** Opens a regular file; anything else at `path`, also a link, is `TURNLOG_UNSAFE_PATH`. */
  open(path: string, mode: OpenMode): FileHandle;
  /** What stands at `path` itself, a link being a link; null when nothing does (only then). */
  status(path: string): FileStatus | null;
  /** The names in a directory in byte order, without `.` and `..`. */
  list(path: string): readonly DirectoryEntry[];
  /** Creates one directory of mode 0700; EEXIST when the name is taken. Not durable before its parent is synced. */
  makeDirectory(path: string): void;
  /** Removes a name of a file or link. Not durable before the directory is synced. */
  removeFile(path: string): void;
  /** Removes an empty directory. */
  removeDirectory(path: string): void;
  /** Renames, replacing a file at `to` in one step. Not durable before the directory is synced. */
  rename(from: string, to: string): void;
  /**
   * Puts `bytes` at `path` in one step, of mode 0600; only a regular file is replaced, else `TURNLOG_UNSAFE_PATH`.
   * For derived files alone, which are checked when they are read and made anew when they are wrong: nothing is
   * durable, and on a full disk the new file may be cut short although the call returns.
   */
  replaceDerived(path: string, bytes: Uint8Array): void;
  /** Makes the names of a directory durable; false when this file system cannot sync directories. */
  syncDirectory(path: string): boolean;
  /** Sets the mode of a file or directory. */
  setMode(path: string, mode: number): void;
  /** Sets access and modification time, in milliseconds since the epoch. */
  setTimes(path: string, accessedMs: number, modifiedMs: number): void;
  /** The absolute path without links. */
  resolve(path: string): string;
}

/**
 * - `read`: an existing file, for reading.
 * - `append`: an existing file, for reading and for writing at its end.
 * - `create`: a new file of mode 0600, for reading and for writing at its end; EEXIST when the name is taken.
 */
export type OpenMode = 'read' | 'append' | 'create';

export interface FileHandle {
  readonly path: string;
  /**
   * Writes at the end of the file and returns how many bytes were stored, which may be fewer than given:
   * a nearly full disk stores some and reports success.
   */
  write(bytes: Uint8Array): number;
  /** Reads into `into` from `offset` on and returns how many bytes came, 0 at the end of the file. */
  read(into: Uint8Array, offset: number): number;
  /** Cuts the file to `length` bytes. */
  truncate(length: number): void;
  /** Makes content and metadata of the file durable (fsync). */
  sync(): void;
  /** Makes the content and its length durable (fdatasync). */
  syncData(): void;
  /** As `syncData`, without holding up the event loop. */
  syncDataLater(): Promise<void>;
  /** The present status of the open file, whatever its name is by now. */
  status(): FileStatus;
  setMode(mode: number): void;
  /** Releases the descriptor. Closing twice is a bug of the caller. */
  close(): void;
}

export type FileKind = 'file' | 'directory' | 'link' | 'other';

export interface FileStatus {
  readonly kind: FileKind;
  readonly size: number;
  /** Permission bits, as in 0o600. */
  readonly mode: number;
  /** Owner; null where the system knows none. */
  readonly uid: number | null;
  /** Device and inode as decimal text: together they name a file for as long as it is open. */
  readonly device: string;
  readonly inode: string;
  readonly modifiedMs: number;
  /** Time of birth in nanoseconds as decimal text; "0" where the system does not tell. */
  readonly birthNs: string;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
}
