import { errnoOf, type FileSystem } from '@turnlog/kernel';
import { checkDirectory, containedPath } from './contained-path.js';
import { walkBelow } from './walk.js';

/**
 * Removes the directory `name` of `parent` with all that lies in it. Links go as names; what they lead to is not
 * touched. What somebody else has removed already is as good as removed.
 *
 * @throws TURNLOG_UNSAFE_PATH when `name` is no plain name, or anything but a directory of `uid` has it; TURNLOG_IO
 *   when something cannot be removed: the rest stays, and a second call goes on with it.
 */
export function removeChildDirectory(fs: FileSystem, parent: string, name: string, uid: number | null): void {
  const directory = containedPath(parent, name);
  if (fs.status(directory) === null) return;
  checkDirectory(fs, directory, uid);
  for (const { path, kind } of walkBelow(fs, directory)) {
    unlessGone(() => (kind === 'directory' ? fs.removeDirectory(path) : fs.removeFile(path)));
  }
  unlessGone(() => fs.removeDirectory(directory));
}

function unlessGone(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
