import { dirname } from 'node:path';
import { renameReplacing, temporaryPathBeside, writeAll } from '@turnlog/fs';
import {
  errnoOf,
  type FileHandle,
  type FileSystem,
  isTurnlogError,
  limits,
  RunningSha256,
  TurnlogError,
} from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import type { ExportChunk } from './export-request.js';

export type WriteEnvironment = Pick<LogEnvironment, 'fs' | 'ids'>;

export interface WriteExportOptions {
  /** Whether a file that is there already may be replaced. By default it may not. */
  readonly force?: boolean;
}

export interface WrittenExport {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Puts a document at `path` in one step: a temp file of mode 0600 beside it, written whole, synced, read back and
 * compared with what was written, renamed, and the name synced. When anything of that fails, also the making of the
 * document, what stood at `path` is untouched and the temp file is removed.
 *
 * @throws TURNLOG_NEEDS_YES when the file is there already and `force` was not said; TURNLOG_UNSAFE_PATH when
 *   something else than a file is there. TURNLOG_IO; details: operation, path, errno, outcome.
 */
export function writeExport(
  { fs, ids }: WriteEnvironment,
  path: string,
  chunks: Iterable<ExportChunk>,
  options: WriteExportOptions = {},
): WrittenExport {
  checkTarget(fs, path, options);
  const temporary = temporaryPathBeside(ids, path);
  let written: WrittenExport;
  const file = fs.open(temporary, 'create');
  try {
    try {
      written = writeChunks(file, chunks);
      file.sync();
      checkWritten(file, written);
    } finally {
      file.close();
    }
    // Another process may have made it in the meantime.
    checkTarget(fs, path, options);
    renameReplacing(fs, temporary, path);
  } catch (error) {
    removeTemporary(fs, temporary);
    throw withOutcome(error, 'none');
  }
  syncName(fs, path);
  return written;
}

function checkTarget(fs: FileSystem, path: string, { force }: WriteExportOptions): void {
  const status = fs.status(path);
  if (status === null) return;
  if (status.kind !== 'file') {
    throw new TurnlogError('TURNLOG_UNSAFE_PATH', {
      details: { path, kind: status.kind },
      message: `it is no file: ${path}`,
    });
  }
  if (force === true) return;
  // Nothing failed: what somebody keeps there is replaced when they say so, as all that destroys something.
  throw new TurnlogError('TURNLOG_NEEDS_YES', {
    details: { path },
    message: `the file is there already, and is replaced only with force: ${path}`,
  });
}

function writeChunks(file: FileHandle, chunks: Iterable<ExportChunk>): WrittenExport {
  const digest = new RunningSha256();
  let bytes = 0;
  for (const block of blocksOf(chunks)) {
    writeAll(file, block);
    digest.update(block);
    bytes += block.length;
  }
  return { bytes, sha256: digest.digestHex() };
}

/** Small pieces put together, so that each write is worth it. */
function* blocksOf(chunks: Iterable<ExportChunk>): Iterable<Uint8Array> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk;
    parts.push(bytes);
    length += bytes.length;
    if (length < limits.exportWriteBytes) continue;
    yield Buffer.concat(parts);
    parts = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(parts);
}

/** A disk can accept bytes and keep others. */
function checkWritten(file: FileHandle, expected: WrittenExport): void {
  const digest = new RunningSha256();
  const block = new Uint8Array(limits.exportWriteBytes);
  let offset = 0;
  for (;;) {
    const count = file.read(block, offset);
    if (count === 0) break;
    digest.update(block.subarray(0, count));
    offset += count;
  }
  if (offset === expected.bytes && digest.digestHex() === expected.sha256) return;
  const { path } = file;
  throw new TurnlogError('TURNLOG_IO', {
    details: { operation: 'read back', path, errno: null, byteCount: expected.bytes, readByteCount: offset },
    message: `what was read back is not what was written: ${path}`,
  });
}

function removeTemporary(fs: FileSystem, temporary: string): void {
  try {
    fs.removeFile(temporary);
  } catch (error) {
    // What went wrong before is what is to be told.
    if (!isTurnlogError(error)) throw error;
  }
}

function syncName(fs: FileSystem, path: string): void {
  try {
    fs.syncDirectory(dirname(path));
  } catch (error) {
    throw withOutcome(error, 'unknown');
  }
}

function withOutcome(error: unknown, outcome: 'none' | 'unknown'): unknown {
  if (!isTurnlogError(error) || errnoOf(error) === null) return error;
  return new TurnlogError(error.code, {
    details: { ...error.details, outcome },
    cause: error,
    message: error.message,
  });
}
