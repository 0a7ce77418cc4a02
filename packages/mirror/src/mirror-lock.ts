import { join } from 'node:path';
import { ensurePrivateDirectory } from '@turnlog/fs';
import { type MirrorPlace, mirrorNames } from './mirror-file.js';

/**
 * Runs `work` as the only one that writes to the mirror of this store, in any process. Because of this a mirror can be
 * replaced: nobody else has a connection open that could still write to the files beside it.
 *
 * @throws TURNLOG_LOCKED when another one writes for longer than `waitMs`
 */
export async function withMirrorLock<Result>(
  { env, root }: MirrorPlace,
  waitMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const directory = join(root, mirrorNames.lock);
  ensurePrivateDirectory(env.fs, directory, env.ownership);
  // A lock that is lost would be noticed by the next one who takes it; SQLite's own keeps the file whole.
  const lock = await env.locks.acquire(directory, { mode: 'shared', waitMs, onLost: () => undefined });
  try {
    return await work();
  } finally {
    await lock.release();
  }
}
