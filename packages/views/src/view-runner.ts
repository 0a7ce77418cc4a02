import { join } from 'node:path';
import {
  type DerivedFile,
  ensurePrivateDirectory,
  publishDerived,
  readDerived,
  removeDerivedLeftovers,
} from '@turnlog/fs';
import { type FileSystem, isTurnlogError } from '@turnlog/kernel';
import { effectiveRecords, type LogEnvironment, type LogReader, logNames } from '@turnlog/log';
import { type View, viewRecord } from './view.js';
import { type RunningFold, ViewFold } from './view-fold.js';

/** Where the view of that name is published. */
export function viewPath(directory: string, name: string): string {
  return join(directory, logNames.derived, `${name}.json`);
}

/** A view of a session, at the place where its published document lets it begin. */
export function openFold<State>(fs: FileSystem, reader: LogReader, view: View<State>): ViewFold<State> {
  return foldFrom(reader, view, publishedView(fs, reader.directory, view.name));
}

export function foldFrom<State>(
  reader: LogReader,
  view: View<State>,
  published: DerivedFile,
): ViewFold<State> {
  if (published.kind === 'document') return ViewFold.resume(view, reader, published.text);
  return ViewFold.fromStart(view, reader, published.kind === 'wrong' ? 'wrong' : 'unpublished');
}

/** Gives all folds the records that they lack, in one reading. Nothing is written. */
export function runFolds(reader: LogReader, folds: readonly RunningFold[]): void {
  if (folds.length === 0) return;
  const seq = Math.min(...folds.map(({ from }) => from.seq));
  const isWhole = folds.some(({ from }) => from.offset === 0);
  const records = isWhole ? reader.history() : reader.readRange(seq, Number.MAX_SAFE_INTEGER);
  // No cursor stands inside of a frame, so frames are told apart wherever the reading begins.
  for (const effective of effectiveRecords(records)) {
    const seen = viewRecord(effective.record);
    for (const fold of folds) fold.take(effective, seen);
  }
}

/**
 * Publishes what the folds have come to, each document in one step with its cursor: a crash before or after leaves
 * the old or the new one, and the next reading goes on from there.
 *
 * @throws TURNLOG_IO, TURNLOG_UNSAFE_PATH, TURNLOG_RECORD_TOO_LARGE; the views before have been published.
 */
export function publishFolds(env: LogEnvironment, directory: string, folds: readonly RunningFold[]): void {
  if (folds.length === 0) return;
  const derived = join(directory, logNames.derived);
  ensurePrivateDirectory(env.fs, derived, env.ownership);
  removeDerivedLeftovers(env.fs, derived, env.clock.now());
  for (const fold of folds) publishDerived(env.fs, viewPath(directory, fold.name), fold.document());
}

/** What stands where a view is published: what is no file of ours, or lies behind a link, is as good as wrong. */
export function publishedView(fs: FileSystem, directory: string, name: string): DerivedFile {
  const status = fs.status(join(directory, logNames.derived));
  if (status === null) return { kind: 'absent' };
  if (status.kind !== 'directory') return { kind: 'wrong' };
  try {
    return readDerived(fs, viewPath(directory, name));
  } catch (error) {
    if (isTurnlogError(error, 'TURNLOG_UNSAFE_PATH')) return { kind: 'wrong' };
    throw error;
  }
}
