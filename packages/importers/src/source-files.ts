import { dirname, join } from 'node:path';
import { containedPath } from '@turnlog/fs';
import { type FileHandle, type FileSystem, limits } from '@turnlog/kernel';

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
  const file = fs.open(path, 'read');
  try {
    return file.status().size > besideBytesMax ? null : wholeOf(file);
  } finally {
    file.close();
  }
}

function wholeOf(file: FileHandle): Uint8Array {
  const bytes = new Uint8Array(file.status().size);
  let filled = 0;
  while (filled < bytes.length) {
    const count = file.read(bytes.subarray(filled, filled + limits.readBlockBytes), filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
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
