import { isGeneration, isTurnlogError, sha256Hex } from '@turnlog/kernel';
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

/** Judges by the last line that was read, where it can still be read, and else by the generation (SE-42). */
export function placeOf(reader: LogReader, taken: TakenIn | null): LogPlace {
  if (taken === null) return { kind: 'new' };
  // Nothing but the start of it was noted: whatever there is comes behind.
  if (taken.seq === 0) return { kind: 'same' };
  if (reader.state.order.highestSeq < taken.seq) return { kind: 'other' };
  const { firstSeq } = reader.state;
  const isSameFile = reader.generation === taken.generation;
  if (firstSeq !== null && taken.seq >= firstSeq) return placeInFile(reader, taken, isSameFile);
  if (isSameFile && reader.generation !== null && isGeneration(reader.generation)) return { kind: 'same' };
  return placeBeforeFile(reader, taken);
}

function placeInFile(reader: LogReader, taken: TakenIn, isSameFile: boolean): LogPlace {
  for (const record of reader.readRange(taken.seq, taken.seq)) {
    const isLineThere = sha256Hex(record.bytes) === taken.sha256;
    if (isLineThere && isSameFile && record.end === taken.offset) return { kind: 'same' };
    if (isSameFile || !(isLineThere || record.type === 'log.redacted')) continue;
    return { kind: 'rewritten', taken: takenBehind(record, reader.generation) };
  }
  return { kind: 'other' };
}

/** The record has left the file: it is looked for in the archives, and what was dropped is believed to have been it. */
function placeBeforeFile(reader: LogReader, taken: TakenIn): LogPlace {
  if (reader.state.evicted === null) return { kind: 'other' };
  if (taken.seq >= reader.firstReadableSeq && !isArchivedLine(reader, taken)) return { kind: 'other' };
  for (const header of reader.records()) {
    return { kind: 'rewritten', taken: { ...takenBehind(header, reader.generation), seq: taken.seq } };
  }
  return { kind: 'other' };
}

function isArchivedLine(reader: LogReader, { seq, sha256 }: TakenIn): boolean {
  try {
    for (const record of reader.readRange(seq, seq, { archived: true })) {
      if (sha256Hex(record.bytes) === sha256 || record.type === 'log.redacted') return true;
    }
    return false;
  } catch (error) {
    // An archive that is not there says nothing against the log.
    if (isTurnlogError(error, 'TURNLOG_GONE')) return true;
    throw error;
  }
}

/** The cursor behind a record. */
export function takenBehind(record: LogRecord, generation: string | null): TakenIn {
  return { generation, offset: record.end, sha256: sha256Hex(record.bytes), seq: record.seq };
}

/** Whether a cursor may stand behind a record of the file: it is the whole line, and a 0x0A ends it. */
export function fillsLine(record: LogRecord): boolean {
  const isWhole = record.end === record.offset + record.length + 1;
  return isWhole && !record.flags.some((flag) => partOfLine.has(flag));
}

const partOfLine: ReadonlySet<string> = new Set(['salvaged', 'unterminated', 'bom']);
