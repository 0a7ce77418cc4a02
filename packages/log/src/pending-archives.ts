import { join } from 'node:path';
import { openOwnFile, renameReplacing } from '@turnlog/fs';
import { errnoOf, type FileHandle } from '@turnlog/kernel';
import type { DraftedArchive } from './archive-file.js';
import type { LogPaths } from './log-layout.js';
import type { LogEnvironment } from './options.js';
import { isRewritten, type RewriteMarker } from './rewrite-marker.js';

/**
 * Archives that were written anew together with their log have temporary names until the log has been replaced: the
 * rename of the log is the one step that decides. Here they take their names behind it, also after a crash in between.
 */

/** Gives the archives of a rewrite that came to its rename their names; of one that did not, nothing is done. */
export function nameArchives(env: LogEnvironment, paths: LogPaths, marker: RewriteMarker): void {
  if (marker.archives.length === 0 || !hasHappened(env, paths, marker)) return;
  let hasNamed = false;
  for (const { temporary, file } of marker.archives) {
    const from = join(paths.archive, temporary);
    if (env.fs.status(from)?.kind !== 'file') continue;
    renameReplacing(env.fs, from, join(paths.archive, file));
    hasNamed = true;
  }
  // Those that had their names may have got them a moment before the crash.
  if (hasNamed || env.fs.status(paths.archive) !== null) env.fs.syncDirectory(paths.archive);
}

/** Gives archives that were just written anew their names, their log having been replaced, durably. */
export function namePendingArchives(
  { fs }: LogEnvironment,
  paths: LogPaths,
  archives: readonly DraftedArchive[],
): void {
  for (const { draft } of archives) draft.rename();
  if (archives.length > 0) fs.syncDirectory(paths.archive);
}

function hasHappened({ fs, ownership }: LogEnvironment, paths: LogPaths, marker: RewriteMarker): boolean {
  let file: FileHandle;
  try {
    file = openOwnFile(fs, paths.events, 'read', ownership);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
  try {
    return isRewritten(file, file.status().size, marker);
  } finally {
    file.close();
  }
}
