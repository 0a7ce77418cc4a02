import { removeFileIfThere } from '@turnlog/fs';
import { type FileSystem, isTurnlogError } from '@turnlog/kernel';
import type { LogPaths } from './log-layout.js';

/** Removes the empty log file of a handle that made it and appended nothing; the lock must still be held. */
export function removeUnusedFile(fs: FileSystem, paths: LogPaths): void {
  removeFileIfThere(fs, paths.events);
}

/** Removes the directory that a handle made and put nothing into; somebody else may be using it by now. */
export function removeUnusedDirectory(fs: FileSystem, paths: LogPaths): void {
  try {
    fs.removeDirectory(paths.directory);
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_IO')) throw error;
  }
}
