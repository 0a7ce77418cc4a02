import { isGeneration, type JsonObject, sha256Hex } from '@turnlog/kernel';
import type { LogCursor, LogReader, LogRecord } from '@turnlog/log';
import { member, number, orNull, text } from './internal/stored-value.js';

/**
 * A view's cursor stands in the file of the view and moves only with it. It is the cursor of a follower, behind a
 * record that fills its line.
 */
export function cursorBehind(record: LogRecord, generation: string | null): LogCursor {
  return { generation, offset: record.end, sha256: sha256Hex(record.bytes), seq: record.seq };
}

/** Whether a cursor may stand behind a record: it is the whole line, and a 0x0A ends it. */
export function fillsLine(record: LogRecord): boolean {
  return (
    record.end === record.offset + record.length + 1 && !record.flags.some((flag) => partOfLine.has(flag))
  );
}

const partOfLine: ReadonlySet<string> = new Set(['salvaged', 'unterminated', 'bom']);

export function cursorJson({ generation, offset, sha256, seq }: LogCursor): JsonObject {
  return { generation, offset, sha256, seq };
}

export function cursorFrom(value: unknown): LogCursor {
  return {
    generation: orNull(member(value, 'generation'), text),
    offset: number(member(value, 'offset')),
    sha256: orNull(member(value, 'sha256'), text),
    seq: number(member(value, 'seq')),
  };
}

/**
 * Whether what was read up to `cursor` is what the log holds there now. Anything that is not certain counts as no:
 * a log without a manifest to be believed, another generation, seqs that do not rise, another line.
 */
export function isCursorThere(reader: LogReader, cursor: LogCursor): boolean {
  const { state, generation } = reader;
  if (generation === null || !isGeneration(generation) || cursor.generation !== generation) return false;
  if (state.unorderedCount > 0 || state.firstSeq === null || cursor.seq < state.firstSeq) return false;
  for (const record of reader.readRange(cursor.seq, cursor.seq)) {
    return record.end === cursor.offset && sha256Hex(record.bytes) === cursor.sha256;
  }
  return false;
}
