import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import {
  type DirectoryEntry,
  type FileHandle,
  type FileStatus,
  type FileSystem,
  isTurnlogError,
  type OpenMode,
} from '@turnlog/kernel';
import { codeOf, ioError, unsafePath } from './file-errors.js';
import { NodeFileHandle } from './node-file-handle.js';
import { fileKind, fileStatus } from './node-file-status.js';
import { replaceDerivedFile } from './replace-derived-file.js';

/** Flags that keep an open from following a link and from waiting for the other end of a pipe. */
const guardFlags = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const openFlags: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY | guardFlags,
  append: constants.O_RDWR | constants.O_APPEND | guardFlags,
  create: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | guardFlags,
};

/** What `open` answers when something else than a regular file has the name. */
const notAFile: ReadonlySet<string> = new Set(['ELOOP', 'EMLINK', 'EFTYPE', 'EISDIR', 'ENXIO', 'ENODEV']);

/** What a file system answers that cannot set modes. */
const modeRefused: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL', 'ENOSYS']);

/** What a file system answers that cannot make directories durable. */
const directorySyncRefused: ReadonlySet<string> = new Set([
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EPERM',
  'EISDIR',
  'ENOSYS',
]);

/** Absence is asked for often, of locks for one, and an error of the runtime costs more than the call. */
const lookQuietly = { bigint: true, throwIfNoEntry: false } as const;

/** The file system of this machine: blocking verbs, no link followed, modes whatever the umask says. */
export function createNodeFileSystem(): FileSystem {
  return nodeFileSystem;
}

const nodeFileSystem: FileSystem = {
  open: openFile,
  status(path: string): FileStatus | null {
    const stats = run('status', path, () => lstatSync(path, lookQuietly));
    return stats === undefined ? null : fileStatus(stats);
  },
  list: (path: string) => run('list', path, () => listDirectory(path)),
  makeDirectory(path: string): void {
    run('makeDirectory', path, () => {
      mkdirSync(path, 0o700);
      if ((lstatSync(path).mode & 0o777) !== 0o700) unlessRefused(() => chmodSync(path, 0o700));
    });
  },
  removeFile: (path: string) => run('removeFile', path, () => unlinkSync(path)),
  removeDirectory: (path: string) => run('removeDirectory', path, () => rmdirSync(path)),
  rename(from: string, to: string): void {
    try {
      renameSync(from, to);
    } catch (error) {
      throw ioError('rename', from, error, { to });
    }
  },
  replaceDerived(path: string, bytes: Uint8Array): void {
    const status = nodeFileSystem.status(path);
    if (status !== null && status.kind !== 'file') throw unsafePath(path, 'it is not a regular file');
    run('replaceDerived', path, () => replaceDerivedFile(path, bytes));
  },
  syncDirectory,
  setMode,
  setTimes: (path: string, accessedMs: number, modifiedMs: number) =>
    run('setTimes', path, () => lutimesSync(path, accessedMs / 1000, modifiedMs / 1000)),
  resolve: (path: string) => run('resolve', path, () => realpathSync.native(path)),
};

function run<T>(operation: string, path: string, verb: () => T): T {
  try {
    return verb();
  } catch (error) {
    throw isTurnlogError(error) ? error : ioError(operation, path, error);
  }
}

function openFile(path: string, mode: OpenMode): FileHandle {
  const descriptor = openDescriptor(path, mode);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw unsafePath(path, 'it is not a regular file');
    if (mode === 'create' && (stats.mode & 0o777) !== 0o600)
      unlessRefused(() => fchmodSync(descriptor, 0o600));
  } catch (error) {
    closeSync(descriptor);
    throw isTurnlogError(error) ? error : ioError('open', path, error);
  }
  return new NodeFileHandle(path, descriptor);
}

function openDescriptor(path: string, mode: OpenMode): number {
  try {
    if (constants.O_NOFOLLOW === undefined && mode !== 'create' && lstatSync(path).isSymbolicLink()) {
      throw unsafePath(path, 'it is a link');
    }
    return openSync(path, openFlags[mode], 0o600);
  } catch (error) {
    const errno = codeOf(error);
    if (isTurnlogError(error)) throw error;
    if (errno !== null && notAFile.has(errno)) throw unsafePath(path, 'it is not a regular file', error);
    throw ioError('open', path, error);
  }
}

/** Without these the units of UTF-16 stand in the order of the bytes of UTF-8. */
const aboveSurrogates = /[\ud800-\uffff]/;

function listDirectory(path: string): readonly DirectoryEntry[] {
  // Reading a directory by name would follow a link in the last part.
  if (lstatSync(path).isSymbolicLink()) throw unsafePath(path, 'it is a link');
  const entries = readdirSync(path, { withFileTypes: true }).map(
    (entry): DirectoryEntry => ({ name: entry.name, kind: fileKind(entry) }),
  );
  if (!entries.some(({ name }) => aboveSurrogates.test(name)))
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  return entries
    .map((entry) => ({ entry, bytes: Buffer.from(entry.name) }))
    .sort((left, right) => Buffer.compare(left.bytes, right.bytes))
    .map(({ entry }) => entry);
}

function syncDirectory(path: string): boolean {
  let descriptor: number | null = null;
  try {
    const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
    descriptor = openSync(path, flags);
    fsyncSync(descriptor);
    return true;
  } catch (error) {
    const errno = codeOf(error);
    if (errno !== null && directorySyncRefused.has(errno)) return false;
    throw ioError('syncDirectory', path, error);
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** Through a descriptor, because `chmod` by name follows links and its twin that does not is nowhere on Linux. */
function setMode(path: string, mode: number): void {
  let descriptor: number | null = null;
  try {
    if (constants.O_NOFOLLOW === undefined) {
      chmodSync(path, mode);
      return;
    }
    descriptor = openSync(path, constants.O_RDONLY | guardFlags);
    fchmodSync(descriptor, mode);
  } catch (error) {
    if (codeOf(error) === 'ELOOP') throw unsafePath(path, 'it is a link', error);
    throw ioError('setMode', path, error);
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** A new file or directory keeps the mode the file system gives it where that cannot be changed. */
function unlessRefused(change: () => void): void {
  try {
    change();
  } catch (error) {
    const errno = codeOf(error);
    if (errno === null || !modeRefused.has(errno)) throw error;
  }
}
