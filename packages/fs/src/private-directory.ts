import { join } from 'node:path';
import {
  type DirectoryEntry,
  errnoOf,
  type FileHandle,
  type FileStatus,
  type FileSystem,
  type OpenMode,
} from '@turnlog/kernel';
import { checkDirectoryStatus } from './contained-path.js';
import { unsafePath } from './file-errors.js';

/** The file system does not let modes be set: others may be able to read the named file or directory. */
export interface ModeWarning {
  readonly path: string;
  readonly mode: number;
  readonly errno: string;
}

export interface Ownership {
  /** The user everything must belong to; null where the system knows none. */
  readonly uid: number | null;
  /** Called for each mode that could not be tightened; see `firstWarningOnly`. */
  readonly onModeWarning: (warning: ModeWarning) => void;
}

/** Passes on the first warning and drops the others: one store lies on one file system. */
export function firstWarningOnly(callback: (warning: ModeWarning) => void): (warning: ModeWarning) => void {
  let isSpent = false;
  return (warning) => {
    if (isSpent) return;
    isSpent = true;
    callback(warning);
  };
}

/**
 * Makes sure that a directory of mode 0700 and of our own stands at `path`; a looser mode is tightened. The
 * name of a new one is not durable before its parent is synced.
 *
 * @throws TURNLOG_UNSAFE_PATH when something else, or somebody else's, stands there.
 */
export function ensurePrivateDirectory(
  fs: FileSystem,
  path: string,
  ownership: Ownership,
): 'created' | 'present' {
  const found = fs.status(path);
  const isNew = found === null && makeDirectory(fs, path);
  const status = found ?? fs.status(path);
  checkDirectoryStatus(fs, path, status, ownership.uid);
  if (status !== null) tighten(status, 0o700, path, ownership, (mode) => fs.setMode(path, mode));
  return isNew ? 'created' : 'present';
}

/**
 * Opens a file that must be ours; one opened for writing is tightened to 0600.
 *
 * @throws TURNLOG_UNSAFE_PATH for a link, a device, a directory or somebody else's file.
 */
export function openOwnFile(fs: FileSystem, path: string, mode: OpenMode, ownership: Ownership): FileHandle {
  const file = fs.open(path, mode);
  try {
    const status = file.status();
    if (ownership.uid !== null && status.uid !== ownership.uid) {
      throw unsafePath(path, 'it belongs to another user');
    }
    if (mode !== 'read') tighten(status, 0o600, path, ownership, (wanted) => file.setMode(wanted));
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/**
 * Tightens the modes of `entries`, which lie in a directory of ours: 0600 for files, 0700 for directories. What has
 * links or special files as names is left alone; nothing below our directories is reached through them.
 */
export function tightenEntries(
  fs: FileSystem,
  directory: string,
  entries: readonly DirectoryEntry[],
  ownership: Ownership,
): void {
  for (const entry of entries) {
    if (entry.kind !== 'file' && entry.kind !== 'directory') continue;
    const path = join(directory, entry.name);
    const status = fs.status(path);
    const wanted = entry.kind === 'file' ? 0o600 : 0o700;
    if (status?.kind === entry.kind)
      tighten(status, wanted, path, ownership, (mode) => fs.setMode(path, mode));
  }
}

/** False when somebody was faster. */
function makeDirectory(fs: FileSystem, path: string): boolean {
  try {
    fs.makeDirectory(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function tighten(
  status: FileStatus,
  wanted: number,
  path: string,
  ownership: Ownership,
  setMode: (mode: number) => void,
): void {
  // Systems without users have no group and no others to keep out either.
  if (ownership.uid === null || (status.mode & 0o777 & ~wanted) === 0) return;
  try {
    setMode(wanted);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'EPERM' && errno !== 'ENOTSUP') throw error;
    ownership.onModeWarning({ path, mode: status.mode, errno });
  }
}
