import { isTurnlogError, sha256Hex } from '@turnlog/kernel';
import type { LogReader, LogRecord } from '@turnlog/log';
import type { TakenIn } from './log-table.js';

/**
 * What a log is to somebody who has read some of it.
 *
 * - `new`: nothing of it has been read.
 * - `same`: what was read is still there; more may follow.
 * - `rewritten`: it is the same log, of which records have left or were replaced. `taken` is the place to go on from.
 * - `other`: it is another log, or cannot be told to be the same: all of it is to be read.
 */
export type LogPlace =
  | { readonly kind: 'new' | 'same' | 'other' }
  | { readonly kind: 'rewritten'; readonly taken: TakenIn };

/** Judges by the last line that was read and, where the log was rewritten, by the hash tree over all of it (SE-42). */
export function placeOf(reader: LogReader, taken: TakenIn | null): LogPlace {
  if (taken === null) return { kind: 'new' };
  // Nothing but the start of it was noted: whatever there is comes behind.
  if (taken.seq === 0) return { kind: 'same' };
  if (reader.state.order.highestSeq < taken.seq) return { kind: 'other' };
  if (isUnchanged(reader, taken)) return { kind: 'same' };
  return isSameHistory(reader, taken)
    ? { kind: 'rewritten', taken: placeIn(reader, taken) }
    : { kind: 'other' };
}

function isUnchanged(reader: LogReader, taken: TakenIn): boolean {
  if (reader.generation !== taken.generation) return false;
  const { firstSeq } = reader.state;
  // The line stood there when this generation was met, and has left it by then.
  if (firstSeq === null || taken.seq < firstSeq) return reader.generation !== null;
  for (const record of reader.readRange(taken.seq, taken.seq)) {
    if (record.end === taken.offset && sha256Hex(record.bytes) === taken.sha256) return true;
  }
  return false;
}

function isSameHistory(reader: LogReader, { tree }: TakenIn): boolean {
  if (tree === null) return false;
  try {
    return reader.root(tree.size).root === tree.root;
  } catch (error) {
    // It never had so many records, or what tells is not there any more.
    if (isTurnlogError(error, 'TURNLOG_NOT_FOUND') || isTurnlogError(error, 'TURNLOG_GONE')) return false;
    throw error;
  }
}

/** Behind the record of the cursor where the file has it, else behind the header that stands for it. */
function placeIn(reader: LogReader, taken: TakenIn): TakenIn {
  const { generation, state } = reader;
  const isInFile = state.firstSeq !== null && taken.seq >= state.firstSeq;
  const { seq, tree } = taken;
  for (const record of isInFile ? reader.readRange(seq, seq) : reader.records()) {
    return { ...takenBehind(record, generation), seq, tree };
  }
  return { generation, offset: 0, sha256: null, seq, tree };
}

/** The cursor behind a record. */
export function takenBehind(record: LogRecord, generation: string | null): TakenIn {
  return { generation, offset: record.end, sha256: sha256Hex(record.bytes), seq: record.seq, tree: null };
}

/** Whether a cursor may stand behind a record of the file: it is the whole line, and a 0x0A ends it. */
export function fillsLine(record: LogRecord): boolean {
  const isWhole = record.end === record.offset + record.length + 1;
  return isWhole && !record.flags.some((flag) => partOfLine.has(flag));
}

const partOfLine: ReadonlySet<string> = new Set(['salvaged', 'unterminated', 'bom']);
