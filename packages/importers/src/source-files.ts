import { dirname, join } from 'node:path';
import { containedPath } from '@turnlog/fs';
import { errnoOf, type FileHandle, type FileSystem, TurnlogError } from '@turnlog/kernel';
import { readBytesIfThere } from '@turnlog/log';

/** The longest file beside a source that is read. */
const besideBytesMax = 67_108_864;

/**
 * A file below the directory of a source; null when there is none, something else stands there, or it is too long.
 * Neither the file nor a directory on the way may be a link.
 */
export function readBeside(fs: FileSystem, sourcePath: string, names: readonly string[]): Uint8Array | null {
  const base = dirname(sourcePath);
  const path = containedPath(base, ...names);
  for (let parent = dirname(path); parent !== base && parent !== dirname(parent); parent = dirname(parent)) {
    if (fs.status(parent)?.kind !== 'directory') return null;
  }
  if (fs.status(path)?.kind !== 'file') return null;
  return readBytesIfThere(fs, path, besideBytesMax);
}

/** Opens a file that was named. @throws TURNLOG_NOT_FOUND; TURNLOG_UNSAFE_PATH for a link */
export function openNamed(fs: FileSystem, path: string): FileHandle {
  try {
    return fs.open(path, 'read');
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause;
    throw new TurnlogError('TURNLOG_NOT_FOUND', { details: { path }, cause });
  }
}

/** The names in the folder `name` beside the folder of a source; none when there is no such folder. */
export function namesBeside(fs: FileSystem, sourcePath: string, name: string): readonly string[] {
  const folder = join(dirname(dirname(sourcePath)), name);
  if (fs.status(folder)?.kind !== 'directory') return [];
  return fs.list(folder).map((entry) => entry.name);
}

/** The first bytes of a file. */
export function headOf(file: FileHandle, bytesMax: number): Uint8Array {
  const head = new Uint8Array(Math.min(bytesMax, file.status().size));
  let filled = 0;
  while (filled < head.length) {
    const count = file.read(head.subarray(filled), filled);
    if (count === 0) break;
    filled += count;
  }
  return head.subarray(0, filled);
}
