import { join, sep } from 'node:path';
import type { FileStatus, FileSystem } from '@turnlog/kernel';
import { unsafePath } from './file-errors.js';

/**
 * The path of `names` below `root`. Names from files and callers are hostile until they passed here: each must
 * be one plain name, so that the result lies below `root` whatever they say. Nothing is looked up.
 *
 * @throws TURNLOG_UNSAFE_PATH for an empty name, `.`, `..`, a separator of any system, or a NUL.
 */
export function containedPath(root: string, ...names: readonly string[]): string {
  for (const name of names) {
    const reason = refusalOf(name);
    if (reason !== null) throw unsafePath(join(root, JSON.stringify(name)), reason);
  }
  return join(root, ...names);
}

function refusalOf(name: string): string | null {
  if (name === '') return 'a name is empty';
  if (name === '.' || name === '..') return 'a name leads out of its directory';
  if (name.includes('/') || name.includes('\\')) return 'a name holds a separator';
  return name.includes('\0') ? 'a name holds a NUL' : null;
}

/**
 * The path of `name`, one plain name that was checked or is ours, in a directory whose path is absolute and plain.
 * Nothing is left to be normalised, so nothing is: lists put together tens of thousands of these.
 */
export function childPath(directory: string, name: string): string {
  return directory + sep + name;
}

/**
 * Makes sure that a directory of `uid` stands at `path` itself, not a link to one. A `uid` of null (no users on
 * this system) checks the kind only.
 *
 * @throws TURNLOG_UNSAFE_PATH when something else stands there; TURNLOG_IO (ENOENT) when nothing does.
 */
export function checkDirectory(fs: FileSystem, path: string, uid: number | null): void {
  checkDirectoryStatus(fs, path, fs.status(path), uid);
}

/** As `checkDirectory`, of what was found at `path`. */
export function checkDirectoryStatus(
  fs: FileSystem,
  path: string,
  status: FileStatus | null,
  uid: number | null,
): void {
  // Listing a missing directory makes the port itself report ENOENT, in its own words.
  if (status === null) fs.list(path);
  else if (status.kind !== 'directory') throw unsafePath(path, `it is a ${status.kind}, not a directory`);
  else if (uid !== null && status.uid !== uid) throw unsafePath(path, 'it belongs to another user');
}

/**
 * Resolves the root of a store, once; it may be a link, what lies below it may not. It must be a directory of
 * `uid` that nobody else can write to.
 *
 * @returns the absolute path without links, below which everything is reached.
 * @throws TURNLOG_UNSAFE_PATH; TURNLOG_IO when it does not exist.
 */
export function checkRoot(fs: FileSystem, path: string, uid: number | null): string {
  const resolved = fs.resolve(path);
  checkDirectory(fs, resolved, uid);
  const status = fs.status(resolved);
  if (uid !== null && status !== null && (status.mode & 0o022) !== 0) {
    throw unsafePath(resolved, 'other users can write to it');
  }
  return resolved;
}
