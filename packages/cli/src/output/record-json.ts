import type { LogRecord } from '@turnlog/log';
import { eventJson } from './event-json.js';
import { objectJson, RawJson } from './json.js';
import type { RecordView } from './record-lines.js';

/** One record as programs see it; the event as stored, see `eventJson`. */
export function recordJson({ record, described }: RecordView): string {
  return objectJson({
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
    event: new RawJson(eventJson(record.eventBytes())),
  });
}

/** What is odd about the place of a record and about its content. */
function flagsOf(record: LogRecord): readonly string[] {
  return [...new Set<string>([...record.flags, ...record.inspect().flags])].sort();
}
