import { checkDirectory, openOwnFile } from '@turnlog/fs';
import { errnoOf, type FileHandle, type FileSystem, TurnlogError } from '@turnlog/kernel';
import { gatherEvidence, oldTurnNumber } from './evidence.js';
import { type LogPaths, logPaths } from './log-layout.js';
import { LogReader, type ReaderBasis, type ReaderOptions } from './log-reader.js';
import { LogScan, scanWholeLog } from './log-scan.js';
import { logUnreadable } from './opened-log.js';
import { planScan } from './recovery-plan.js';

/**
 * Opens the log in `directory` for reading, as it is now. Nothing is created, locked, repaired or published.
 *
 * @throws TURNLOG_NOT_FOUND; TURNLOG_LOG_UNREADABLE when it holds bytes but no record; TURNLOG_UNSAFE_PATH,
 *   TURNLOG_IO.
 */
export function openLogReader(
  fs: FileSystem,
  directory: string,
  sessionId: string,
  options: ReaderOptions = {},
): LogReader {
  const paths = logPaths(directory);
  const file = openForReading(fs, paths, sessionId);
  try {
    return read(fs, paths, sessionId, file, options);
  } catch (error) {
    file.close();
    throw error;
  }
}

function openForReading(fs: FileSystem, paths: LogPaths, sessionId: string): FileHandle {
  try {
    checkDirectory(fs, paths.directory, null);
    // Whose the directory is was asked by whoever knows the user; a file of others in it would be theirs, not ours.
    const uid = fs.status(paths.directory)?.uid ?? null;
    return openOwnFile(fs, paths.events, 'read', { uid, onModeWarning: () => undefined });
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause;
    throw new TurnlogError('TURNLOG_NOT_FOUND', { details: { sessionId, path: paths.events }, cause });
  }
}

function read(
  fs: FileSystem,
  paths: LogPaths,
  sessionId: string,
  file: FileHandle,
  options: ReaderOptions,
): LogReader {
  const length = file.status().size;
  const lineBytesMax = options.lineBytesMax === undefined ? {} : { lineBytesMax: options.lineBytesMax };
  const turnBase = options.foreignTurnBase?.(length);
  if (turnBase !== undefined) {
    const scan = new LogScan(file, { tree: 'none', turnBase, ...lineBytesMax }).run(length);
    return readerOf(fs, paths, sessionId, file, scan, { indexed: null, generation: null, ...options });
  }
  const { tree: hashing = 'none' } = options;
  const evidence = gatherEvidence(fs, paths, sessionId, file, length);
  const plan = planScan(evidence, length);
  if (plan.kind === 'full') {
    const oldNumber = (seq: number): number | null => oldTurnNumber(fs, paths, seq);
    const scan = scanWholeLog(file, length, { tree: hashing, oldTurnNumber: oldNumber, ...lineBytesMax });
    return readerOf(fs, paths, sessionId, file, scan, { indexed: null, generation: null, ...options });
  }
  const { state, tree, generation, indexBytes } = plan.manifest;
  const scan = new LogScan(file, { tree: hashing, from: { state, tree }, ...lineBytesMax }).run(length);
  const indexed = indexBytes === 0 ? null : { path: paths.turns, bytes: indexBytes };
  return readerOf(fs, paths, sessionId, file, scan, { indexed, generation, ...options });
}

function readerOf(
  fs: FileSystem,
  paths: LogPaths,
  sessionId: string,
  file: FileHandle,
  scan: LogScan,
  basis: ReaderBasis,
): LogReader {
  if (basis.unreadable !== 'show' && scan.isUnreadable()) throw logUnreadable(paths, sessionId, scan);
  return new LogReader(fs, paths, sessionId, file, scan, basis);
}
