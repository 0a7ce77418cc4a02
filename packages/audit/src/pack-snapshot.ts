import { type FileHandle, isTurnlogError, limits } from '@turnlog/kernel';
import { type ByteSource, type LogEnvironment, type LogReader, logNames, openLogReader } from '@turnlog/log';
import { listPackable, openGuarded, unpackable } from './guarded-files.js';
import { isLeftOut } from './session-files.js';

/** A file of a session as it was when the snapshot was taken. */
export interface SnapshotFile {
  /** Relative to the session, with `/`. */
  readonly path: string;
  /** Bytes that count. */
  readonly size: number;
  /** Open since then, unless it never changes: then it is opened when it is read. */
  readonly file: FileHandle | null;
}

/**
 * A session held still: its files are open, and how long each was is known. What happens to their names afterwards
 * changes nothing, so that a writer has to wait for this only.
 */
export interface PackSnapshot {
  readonly directory: string;
  readonly reader: LogReader;
  /** Bytes of the log up to its last 0x0A. */
  readonly cut: number;
  /** All files but the log. */
  readonly files: readonly SnapshotFile[];
  /** Whether no writer was at work; otherwise views and index may be from other moments than the log. */
  readonly isLocked: boolean;
}

/**
 * Takes the snapshot of a session: under its writer lock for the moment that takes, or without it while somebody else
 * is writing.
 *
 * @throws TURNLOG_UNPACKABLE, TURNLOG_NOT_FOUND, TURNLOG_IO.
 */
export async function takeSnapshot(
  env: LogEnvironment,
  directory: string,
  sessionId: string,
): Promise<PackSnapshot> {
  const release = await lockIfFree(env, directory);
  try {
    return openAll(env, directory, sessionId, release !== null);
  } finally {
    await release?.();
  }
}

async function lockIfFree(env: LogEnvironment, directory: string): Promise<(() => Promise<void>) | null> {
  try {
    const lock = await env.locks.acquire(directory, { mode: 'shared', waitMs: 0, onLost: () => undefined });
    return () => lock.release();
  } catch (error) {
    if (isTurnlogError(error, 'TURNLOG_LOCKED')) return null;
    throw error;
  }
}

function openAll(env: LogEnvironment, directory: string, sessionId: string, isLocked: boolean): PackSnapshot {
  const { fs } = env;
  const found = listPackable(fs, directory, isLeftOut);
  const reader = openLogReader(fs, directory, sessionId, { unreadable: 'show' });
  const files: SnapshotFile[] = [];
  try {
    for (const path of found) {
      if (path === logNames.events) continue;
      const file = openPacked(env, directory, path);
      // Without the lock a file may be gone again: then it belongs to another moment.
      if (file === null) continue;
      const { size } = file.status();
      // Archives never change, and there may be more of them than a process may open.
      const isLater = path.startsWith(`${logNames.archive}/`);
      if (isLater) file.close();
      files.push({ path, size, file: isLater ? null : file });
    }
    return { directory, reader, cut: lastLineEnd(reader.source, reader.length), files, isLocked };
  } catch (error) {
    closeSnapshot({ reader, files });
    throw error;
  }
}

/** The file at `path`; null when it is not there any more. @throws TURNLOG_UNPACKABLE */
export function openPacked(
  { fs }: Pick<LogEnvironment, 'fs'>,
  directory: string,
  path: string,
): FileHandle | null {
  const opened = openGuarded(fs, directory, path);
  if (opened.kind === 'unsafe') throw unpackable(path, opened.reason);
  return opened.kind === 'absent' ? null : opened.file;
}

export function closeSnapshot({ reader, files }: Pick<PackSnapshot, 'reader' | 'files'>): void {
  try {
    reader.close();
  } finally {
    for (const { file } of files) file?.close();
  }
}

const lineFeed = 0x0a;

/** Where the last line with a 0x0A ends within the first `length` bytes; 0 when there is none. */
function lastLineEnd(source: ByteSource, length: number): number {
  const block = Buffer.alloc(Math.min(limits.readBlockBytes, length));
  for (let end = length; end > 0; ) {
    const start = Math.max(end - block.length, 0);
    let filled = 0;
    for (let count = -1; count !== 0 && filled < end - start; filled += count) {
      count = source.read(block.subarray(filled, end - start), start + filled);
    }
    const found = block.subarray(0, filled).lastIndexOf(lineFeed);
    if (found !== -1) return start + found + 1;
    end = start;
  }
  return 0;
}
