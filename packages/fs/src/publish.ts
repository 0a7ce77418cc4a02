import { dirname, join } from 'node:path';
import { errnoOf, type FileSystem, type Ids, isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import { writeAll } from './write-all.js';

/**
 * - `durable`: content and name have reached the disk when the call returns.
 * - `visible`: readers see the old or the new file, whole; a crash may leave either, or an empty one.
 */
export type PublishDurability = 'durable' | 'visible';

export interface PublishOptions {
  readonly durability: PublishDurability;
  /** Blocks for so many milliseconds between two tries of the rename; by default it really does. */
  readonly pause?: (ms: number) => void;
}

/** The names of temp files: `.t-` and 16 hex digits. A writer's open removes what a crash left. */
export const temporaryNamePattern: RegExp = /^\.t-[0-9a-f]{16}$/;

/** A fresh name for a temp file beside `path`, so that the rename stays on one device. */
export function temporaryPathBeside(ids: Ids, path: string): string {
  return join(dirname(path), `.t-${ids.randomHex(8)}`);
}

/**
 * Puts `bytes` at `path` in one step: a temp file beside it, written whole, then renamed over it. Nothing is
 * deleted first. The file has mode 0600.
 *
 * When it fails before or in the rename, the temp file is removed and what stood at `path` is untouched
 * (details: outcome `none`); when the directory cannot be synced after it, the new file is in place but a crash
 * may bring the old one back (outcome `unknown`).
 *
 * @throws TURNLOG_IO; details: operation, path, errno, outcome, and `leftOver` when the temp file stayed.
 */
export function publish(
  fs: FileSystem,
  ids: Ids,
  path: string,
  bytes: Uint8Array,
  options: PublishOptions,
): void {
  const temporary = temporaryPathBeside(ids, path);
  const file = fs.open(temporary, 'create');
  try {
    try {
      writeAll(file, bytes);
      if (options.durability === 'durable') file.sync();
    } finally {
      file.close();
    }
    renameReplacing(fs, temporary, path, options.pause);
  } catch (error) {
    throw failed(error, 'none', removeTemporary(fs, temporary));
  }
  if (options.durability === 'durable') syncName(fs, path);
}

/**
 * Renames `from` over `to`, again and again while another program holds the target (EPERM, EACCES, EBUSY, as
 * virus scanners and indexers cause them), for up to `limits.renameRetryMsMax` of pauses.
 *
 * @throws TURNLOG_IO the last failure.
 */
export function renameReplacing(
  fs: FileSystem,
  from: string,
  to: string,
  pause: (ms: number) => void = pauseBlocking,
): void {
  let pausedMs = 0;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    try {
      fs.rename(from, to);
      return;
    } catch (error) {
      const isBusy = retriedErrnos.has(errnoOf(error) ?? '');
      if (!isBusy || pausedMs + pauseMs > limits.renameRetryMsMax) throw error;
    }
    pause(pauseMs);
    pausedMs += pauseMs;
  }
}

const retriedErrnos: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'EBUSY']);

/** The file-system verbs block, so their pauses do too. */
function pauseBlocking(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function syncName(fs: FileSystem, path: string): void {
  try {
    fs.syncDirectory(dirname(path));
  } catch (error) {
    throw failed(error, 'unknown', null);
  }
}

/** Returns the path when it could not be removed, for the report; a missing temp file is as good as removed. */
function removeTemporary(fs: FileSystem, temporary: string): string | null {
  try {
    fs.removeFile(temporary);
    return null;
  } catch (error) {
    if (!isTurnlogError(error)) throw error;
    return errnoOf(error) === 'ENOENT' ? null : temporary;
  }
}

function failed(error: unknown, outcome: 'none' | 'unknown', leftOver: string | null): unknown {
  if (!isTurnlogError(error)) return error;
  const details = { ...error.details, outcome, ...(leftOver === null ? {} : { leftOver }) };
  return new TurnlogError(error.code, { details, cause: error, message: error.message });
}
