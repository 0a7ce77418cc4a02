import { join } from 'node:path';
import { checkDirectory } from '@turnlog/fs';
import { errnoOf, type FileHandle, type FileSystem, limits } from '@turnlog/kernel';
import { readFully, readUpTo } from './read-fully.js';

const decoder = new TextDecoder();

/** Used again by each read, none of which is interrupted. */
const block = new Uint8Array(limits.readBlockBytes);

/** The file at `path`, open for reading; null when there is none, and only then. */
export function openIfThere(fs: FileSystem, path: string): FileHandle | null {
  try {
    return fs.open(path, 'read');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * The same of a file in one of the directories of a log.
 *
 * @throws TURNLOG_UNSAFE_PATH also when that directory is a link, which would lead out of the store.
 */
export function openInside(fs: FileSystem, directory: string, name: string): FileHandle | null {
  try {
    checkDirectory(fs, directory, null);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
  return openIfThere(fs, join(directory, name));
}

/** The text of a derived file; null when there is none, or it is longer than `bytesMax`. */
export function readTextIfThere(fs: FileSystem, path: string, bytesMax: number): string | null {
  return readIfThere(fs, path, bytesMax, (file) => readUpTo(file, block, 0));
}

/**
 * The same of a file that holds one line and is replaced as a whole: what was read and ends with 0x0A is all of it,
 * and no further call asks whether there is more.
 */
export function readLineIfThere(fs: FileSystem, path: string, bytesMax: number): string | null {
  return readIfThere(fs, path, bytesMax, (file) => {
    const first = file.read(block, 0);
    if (first === 0 || block[first - 1] === lineFeed) return first;
    return first + readUpTo(file, block.subarray(first), first);
  });
}

const lineFeed = 0x0a;

function readIfThere(
  fs: FileSystem,
  path: string,
  bytesMax: number,
  fillBlock: (file: FileHandle) => number,
): string | null {
  const file = openIfThere(fs, path);
  if (file === null) return null;
  try {
    // Most are far shorter than a block: filling one costs less than asking for the length first.
    const length = fillBlock(file);
    const bytes = length < block.length ? block.subarray(0, length) : readLong(file, bytesMax);
    return bytes === null || bytes.length > bytesMax ? null : decoder.decode(bytes);
  } finally {
    file.close();
  }
}

/** The bytes of a small file; null when there is none, or it is longer than `bytesMax`. */
export function readBytesIfThere(fs: FileSystem, path: string, bytesMax: number): Uint8Array | null {
  const file = openIfThere(fs, path);
  if (file === null) return null;
  try {
    return readLong(file, bytesMax);
  } finally {
    file.close();
  }
}

function readLong(file: FileHandle, bytesMax: number): Uint8Array | null {
  const { size } = file.status();
  if (size > bytesMax) return null;
  const bytes = new Uint8Array(size);
  return readFully(file, bytes, 0) ? bytes : null;
}
