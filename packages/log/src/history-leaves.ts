import type { FileSystem } from '@turnlog/kernel';
import { type ArchivedPart, archivedRecords, headerIn } from './log-history.js';
import { type LogPaths, logPaths } from './log-layout.js';
import type { LogReader } from './log-reader.js';
import type { LogRecord } from './log-record.js';

/** A record of a log's history as a leaf of its hash tree. */
export interface HistoryLeaf {
  /** Its number: how many records the log had before it, those that have left it included. */
  readonly index: number;
  readonly record: LogRecord;
}

/**
 * All records of a log that can still be read, archived ones first, in their order, each with its number in the hash
 * tree. Records that were dropped are passed over; their numbers stay free.
 */
export function* historyLeaves(fs: FileSystem, reader: LogReader): Iterable<HistoryLeaf> {
  const paths = logPaths(reader.directory);
  for (const part of reader.archives()) yield* partLeaves(fs, paths, part);
  const header = reader.state.evicted === null ? null : headerIn(reader.source, reader.length);
  yield* numbered(reader.recordsBefore(reader.length), header?.tree.size ?? 0);
}

/** The records of one archived part, likewise. */
export function partLeaves(fs: FileSystem, paths: LogPaths, part: ArchivedPart): Iterable<HistoryLeaf> {
  return numbered(archivedRecords(fs, paths, [part]), part.begins?.tree.size ?? 0);
}

function* numbered(records: Iterable<LogRecord>, from: number): Iterable<HistoryLeaf> {
  let index = from;
  for (const record of records) {
    yield { index, record };
    index += 1;
  }
}
