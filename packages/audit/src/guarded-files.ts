import { childPath, containedPath } from '@turnlog/fs';
import {
  errnoOf,
  type FileHandle,
  type FileKind,
  type FileStatus,
  type FileSystem,
  isTurnlogError,
  limits,
  TurnlogError,
} from '@turnlog/kernel';
import { entryPathFault } from './pack-path.js';

/**
 * Files of a directory that may be hostile, reached one component at a time. Paths name their parts anew at each call,
 * so what was opened is compared with what the checked directories hold afterwards: a directory that was replaced by a
 * link in between is noticed and nothing that was read through it counts.
 */

/** Something below a directory, as a pack names it. */
export interface FoundEntry {
  /** Relative, with `/`. */
  readonly path: string;
  readonly kind: Exclude<FileKind, 'directory'>;
}

export type GuardedFile =
  | { readonly kind: 'file'; readonly file: FileHandle }
  | { readonly kind: 'absent' }
  /** A link, a directory or a special file in the place of the file or of a directory before it. */
  | { readonly kind: 'unsafe'; readonly reason: string };

/** Opens the file at `path` below `root` for reading, without following a link anywhere below the root. */
export function openGuarded(fs: FileSystem, root: string, path: string): GuardedFile {
  const names = path.split('/');
  const parents = names.slice(0, -1).map((_, at) => containedPath(root, ...names.slice(0, at + 1)));
  const before = parents.map((parent) => fs.status(parent));
  const refused = refusalOf(before);
  if (refused !== null) return refused;
  const opened = openFile(fs, containedPath(root, ...names));
  if (opened.kind !== 'file') return opened;
  const { file } = opened;
  const after = parents.map((parent) => fs.status(parent));
  const named = fs.status(file.path);
  const isSame =
    after.every((status, at) => isSameFile(status, before[at] ?? null)) && isSameFile(named, file.status());
  if (isSame) return opened;
  file.close();
  return { kind: 'unsafe', reason: 'it was replaced while it was opened' };
}

function openFile(fs: FileSystem, path: string): GuardedFile {
  try {
    return { kind: 'file', file: fs.open(path, 'read') };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { kind: 'absent' };
    if (isTurnlogError(error, 'TURNLOG_UNSAFE_PATH')) return { kind: 'unsafe', reason: error.message };
    throw error;
  }
}

function refusalOf(parents: readonly (FileStatus | null)[]): GuardedFile | null {
  for (const status of parents) {
    if (status === null) return { kind: 'absent' };
    if (status.kind !== 'directory')
      return { kind: 'unsafe', reason: `a ${status.kind} stands in the place of a directory` };
  }
  return null;
}

function isSameFile(left: FileStatus | null, right: FileStatus | null): boolean {
  return left !== null && right !== null && left.device === right.device && left.inode === right.inode;
}

/** All that lies below `root` but directories, in the order of the bytes of their paths. */
export function listBelow(
  fs: FileSystem,
  root: string,
  isLeftOut: (path: string) => boolean,
): readonly FoundEntry[] {
  const found: FoundEntry[] = [];
  collect(fs, { root, path: '', levels: 1 }, isLeftOut, found);
  return found.sort((left, right) => comparePaths(left.path, right.path));
}

/** The order of paths in a pack: that of their bytes. */
export function comparePaths(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/**
 * The paths of all files below `root`, in their order.
 *
 * @throws TURNLOG_UNPACKABLE for a link, a special file, or a name that no pack can hold.
 */
export function listPackable(
  fs: FileSystem,
  root: string,
  isLeftOut: (path: string) => boolean,
): readonly string[] {
  return listBelow(fs, root, isLeftOut).map(({ path, kind }) => {
    if (kind !== 'file') {
      throw unpackable(childPath(root, path), kind === 'link' ? 'it is a link' : 'it is a special file');
    }
    // What is no Unicode is listed with U+FFFD and cannot be opened under that name.
    if (entryPathFault(path) !== null || path.includes('\u{fffd}')) {
      throw unpackable(childPath(root, path), 'its name fits into no pack');
    }
    return path;
  });
}

interface Place {
  readonly root: string;
  /** Relative to the root; empty for the root itself. */
  readonly path: string;
  readonly levels: number;
}

function collect(
  fs: FileSystem,
  place: Place,
  isLeftOut: (path: string) => boolean,
  found: FoundEntry[],
): void {
  const directory = place.path === '' ? place.root : childPath(place.root, place.path);
  const before = fs.status(directory);
  if (before?.kind !== 'directory') throw unpackable(directory, `it is no directory any more`);
  if (place.levels > limits.walkLevelsMax) throw unpackable(directory, 'it lies too deep');
  for (const { name, kind } of listUnchanged(fs, directory, before)) {
    const path = place.path === '' ? name : `${place.path}/${name}`;
    if (isLeftOut(path)) continue;
    if (kind === 'directory') {
      collect(fs, { root: place.root, path, levels: place.levels + 1 }, isLeftOut, found);
      continue;
    }
    found.push({ path, kind });
  }
}

function listUnchanged(
  fs: FileSystem,
  directory: string,
  before: FileStatus,
): ReturnType<FileSystem['list']> {
  const entries = fs.list(directory);
  if (isSameFile(fs.status(directory), before)) return entries;
  throw unpackable(directory, 'it was replaced while it was read');
}

export function unpackable(path: string, reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_UNPACKABLE', {
    details: { path, reason },
    message: `cannot be packed: ${path}: ${reason}`,
  });
}
