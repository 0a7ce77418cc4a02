import type { LogRecord } from '@turnlog/log';
import type { RecordView } from './record-lines.js';
import type { Shown, Wording } from './shown.js';

/**
 * One record as programs see it; the event as stored, see `eventJson`. A session is named where the record belongs to
 * another one than was asked for.
 */
export function recordJson({ record, described }: RecordView, words: Wording, session?: string): Shown {
  return words.json({
    session,
    seq: record.seq,
    ts: record.ts,
    turn: record.turn,
    type: record.type,
    role: described.role,
    kind: described.kind,
    key: record.key,
    flags: flagsOf(record),
    offset: record.offset,
    length: record.length,
    event: words.eventJson(record.eventBytes()),
  });
}

/** What is odd about the place of a record and about its content. */
function flagsOf(record: LogRecord): readonly string[] {
  return [...new Set<string>([...record.flags, ...record.inspect().flags])].sort();
}
