import { ensurePrivateDirectory } from '@turnlog/fs';
import { limits } from '@turnlog/kernel';
import { logPaths } from './log-layout.js';
import { LogWriter } from './log-writer.js';
import { MaintenanceReports } from './maintenance-report.js';
import { openLogFiles } from './opened-log.js';
import type { LogEnvironment } from './options.js';
import { removeUnusedDirectory, removeUnusedFile } from './unused-log.js';

/** What a transaction may do with the log while it holds the lock; it is over when the function returns. */
export type SharedHandle = Pick<LogWriter, 'append' | 'appendBatch' | 'appendFrame' | 'lastSeq' | 'state'>;

export interface TransactionOptions {
  /** How long to wait for the lock, in milliseconds; by default 10 s. */
  readonly waitMs?: number;
}

/**
 * Appends to a log that several processes write to: takes the lock, catches up with what the others appended,
 * runs `work`, makes the result durable, publishes it and gives the lock back. `work` is synchronous, so the
 * lock is never held while something else is waited for.
 *
 * When `work` throws, nothing that it appended is stored.
 *
 * @throws TURNLOG_LOCKED after `waitMs`; what `work` throws; TURNLOG_IO when the result cannot be stored.
 */
export async function transaction<Result>(
  env: LogEnvironment,
  directory: string,
  sessionId: string,
  work: (log: SharedHandle) => Result,
  options: TransactionOptions = {},
): Promise<Result> {
  const paths = logPaths(directory);
  const isDirectoryNew = ensurePrivateDirectory(env.fs, directory, env.ownership) === 'created';
  let writer: LogWriter | null = null;
  const lock = await env.locks.acquire(directory, {
    mode: 'shared',
    waitMs: options.waitMs ?? limits.sharedLockWaitMs,
    onLost: (cause) => writer?.poisonByLock(cause),
  });
  try {
    const opened = openLogFiles(env, paths, sessionId);
    // One write and one sync for the whole transaction, whatever the classes of its appends.
    const reports = new MaintenanceReports();
    writer = new LogWriter(env, opened, lock, { durability: 'buffered', reports, writes: 'at-sync' });
    return runIn(writer, work);
  } finally {
    const isUnused = isDirectoryNew && (writer?.isUnused ?? true);
    try {
      if (isUnused) removeUnusedFile(env.fs, paths);
    } finally {
      await lock.release();
    }
    if (isUnused) removeUnusedDirectory(env.fs, paths);
  }
}

function runIn<Result>(writer: LogWriter, work: (log: SharedHandle) => Result): Result {
  try {
    writer.begin();
    const result = work(writer);
    writer.sync();
    return result;
  } finally {
    writer.closeFiles();
  }
}
