import { join } from 'node:path';
import { ensurePrivateDirectory, renameReplacing } from '@turnlog/fs';
import { type HeldLock, isTurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { trashPath } from './layout.js';

/** Makes `trash/`, durably, where it is missing; returns its path. */
export function ensureTrash({ fs, ownership }: LogEnvironment, root: string): string {
  const path = trashPath(root);
  if (ensurePrivateDirectory(fs, path, ownership) === 'created') fs.syncDirectory(root);
  return path;
}

/** A place that a directory is moved from or to. */
export interface Place {
  readonly parent: string;
  readonly name: string;
}

/**
 * Moves a directory whose lock is held, lock and all, in one step, and makes that durable: when a call fails it lies
 * in one of the two places, whole, and a crash leaves it in one of them.
 */
export function moveLocked({ fs }: LogEnvironment, lock: HeldLock, from: Place, to: Place): void {
  const target = join(to.parent, to.name);
  lock.check();
  renameReplacing(fs, join(from.parent, from.name), target);
  lock.movedTo(target);
  fs.syncDirectory(to.parent);
  if (from.parent !== to.parent) fs.syncDirectory(from.parent);
}

/** Holds the lock of `directory` while `work` is done; whoever holds it now is not waited for. */
export async function whileLocked<Result>(
  env: LogEnvironment,
  directory: string,
  work: (lock: HeldLock) => Promise<Result>,
): Promise<Result> {
  const lock = await env.locks.acquire(directory, { mode: 'owned', waitMs: 0, onLost: () => undefined });
  try {
    return await work(lock);
  } finally {
    await lock.release();
  }
}

/** Whether `error` says that somebody holds the lock of `directory`, and not one that was wanted besides. */
export function isHeldByOthers(error: unknown, directory: string): boolean {
  if (!isTurnlogError(error, 'TURNLOG_LOCKED')) return false;
  const { path } = error.details;
  return typeof path === 'string' && (path === directory || path.startsWith(join(directory, '/')));
}
