import { join } from 'node:path';
import { type FileKind, type FileSystem, limits, TurnlogError } from '@turnlog/kernel';
import { listIfThere } from './if-there.js';

/** Something below a directory. */
export interface WalkedEntry {
  readonly path: string;
  readonly kind: FileKind;
}

/**
 * All that lies below `directory`, what a directory holds before itself; links are named and not followed. What
 * others remove meanwhile is passed over.
 *
 * @throws TURNLOG_UNSAFE_PATH when directories are nested deeper than ours ever are.
 */
export function* walkBelow(fs: FileSystem, directory: string, depth = 1): Generator<WalkedEntry, void, void> {
  if (depth > limits.walkLevelsMax) {
    const details = { path: directory, levels: depth, levelsMax: limits.walkLevelsMax };
    throw new TurnlogError('TURNLOG_UNSAFE_PATH', { details, message: `it lies too deep: ${directory}` });
  }
  for (const { name, kind } of listIfThere(fs, directory)) {
    const path = join(directory, name);
    if (kind === 'directory') yield* walkBelow(fs, path, depth + 1);
    yield { path, kind };
  }
}

/** The bytes of all files below `directory`. */
export function bytesBelow(fs: FileSystem, directory: string): number {
  let bytes = 0;
  for (const { path, kind } of walkBelow(fs, directory)) {
    if (kind === 'file') bytes += fs.status(path)?.size ?? 0;
  }
  return bytes;
}
