import { type DirectoryEntry, errnoOf, type FileSystem } from '@turnlog/kernel';

/** Removes a file; one that is gone is as good as removed. @throws TURNLOG_IO for any other reason. */
export function removeFileIfThere(fs: FileSystem, path: string): void {
  try {
    fs.removeFile(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** What stands in a directory; nothing when it is not there. @throws TURNLOG_IO for any other reason. */
export function listIfThere(fs: FileSystem, directory: string): readonly DirectoryEntry[] {
  try {
    return fs.list(directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
