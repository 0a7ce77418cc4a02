import { parseTimestamp, peekRecord } from '@turnlog/events';
import { type CountingRecord, effectiveRecords, type LogRecord } from '@turnlog/log';
import type { Egress } from '@turnlog/store';
import { readStored, type StoredValue } from './stored-value.js';

/** A record on its way into a fixture, after the redactor. */
export interface SourceRecord {
  readonly seq: number;
  readonly turn: number | null;
  readonly type: string;
  readonly tsMs: number | null;
  /** The line without its 0x0A. */
  readonly line: Uint8Array;
  readonly event: StoredValue;
  /** Whether it has an effect: members of a frame without commit have none. */
  readonly isEffective: boolean;
  readonly isChanged: boolean;
}

/** The records as a fixture holds them; bytes without a secret are those of the log. */
export function redactRecords(records: readonly LogRecord[], egress: Egress): readonly SourceRecord[] {
  const effective = new Set<CountingRecord>();
  for (const { record } of effectiveRecords(records)) effective.add(record);
  return records.map((record) => {
    const { bytes: line, changed } = egress.jsonBytes(record.bytes);
    return { ...sourceOf(record, line), isEffective: effective.has(record), isChanged: changed };
  });
}

/** A record of a fixture as it is. */
export function sourceOf(record: LogRecord, line: Uint8Array = record.bytes): SourceRecord {
  const { seq, turn, type, ts } = record;
  return {
    seq,
    turn,
    type,
    tsMs: ts === null ? null : parseTimestamp(ts),
    line,
    event: eventIn(line),
    isEffective: true,
    isChanged: false,
  };
}

function eventIn(line: Uint8Array): StoredValue {
  const peeked = peekRecord(line, 0, line.length);
  if (typeof peeked === 'string') return { kind: 'literal', text: 'null' };
  return readStored(line, peeked.eventStart, peeked.eventEnd);
}
