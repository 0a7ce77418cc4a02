import { errnoOf, type FileHandle, type FileSystem } from '@turnlog/kernel';
import { readFully } from './scanner.js';

/** The file at `path`, open for reading; null when there is none, and only then. */
export function openIfThere(fs: FileSystem, path: string): FileHandle | null {
  try {
    return fs.open(path, 'read');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The text of a derived file; null when there is none, or it is longer than `bytesMax`. */
export function readTextIfThere(fs: FileSystem, path: string, bytesMax: number): string | null {
  const file = openIfThere(fs, path);
  if (file === null) return null;
  try {
    const { size } = file.status();
    if (size > bytesMax) return null;
    const bytes = new Uint8Array(size);
    return readFully(file, bytes, 0) ? new TextDecoder().decode(bytes) : null;
  } finally {
    file.close();
  }
}

/** The bytes of a small file; null when there is none, or it is longer than `bytesMax`. */
export function readBytesIfThere(fs: FileSystem, path: string, bytesMax: number): Uint8Array | null {
  const file = openIfThere(fs, path);
  if (file === null) return null;
  try {
    const { size } = file.status();
    if (size > bytesMax) return null;
    const bytes = new Uint8Array(size);
    return readFully(file, bytes, 0) ? bytes : null;
  } finally {
    file.close();
  }
}
