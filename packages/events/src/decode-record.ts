import { assert, limits, TurnlogError } from '@turnlog/kernel';
import { utf8Text } from './internal/text-codec.js';
import { recordPeeker } from './peek-record.js';
import type { ThreadEvent } from './thread-event.js';
import type { TurnlogEvent, TurnlogOwnEvent, UnknownEvent } from './turnlog-event.js';

/**
 * A record as values, for reading only. Numbers are doubles: where the text of one matters, the stored bytes
 * are the truth. Nothing is filled in and nothing replaced: unknown values, members and types stand as stored.
 */
export interface DecodedRecord {
  readonly schemaVersion: string;
  /** The stated number; null when missing or not a whole number from 1 to 2^53-1. */
  readonly seq: number | null;
  readonly ts: string | null;
  readonly key: string | null;
  readonly salt: string | null;
  readonly event: TurnlogEvent | UnknownEvent;
}

function isEvent(value: unknown): value is UnknownEvent {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';
}

function eventValue(bytes: Uint8Array, start: number, end: number): UnknownEvent {
  const value: unknown = JSON.parse(utf8Text(bytes, start, end));
  assert(isEvent(value), 'the bytes hold an event');
  return value;
}

/**
 * The values of one line without its 0x0A. Bytes that are not UTF-8 read as U+FFFD.
 *
 * @throws TURNLOG_INVALID_EVENT when the line is no record; details: place, rule (the kind of damage).
 *   TURNLOG_TOO_DEEP beyond the reader's nesting; details: nestingLevels, nestingLevelsMax.
 */
export function decodeRecord(bytes: Uint8Array, start: number, end: number): DecodedRecord {
  const peeked = recordPeeker.peekRecord(bytes, start, end);
  if (typeof peeked === 'string') {
    throw new TurnlogError('TURNLOG_INVALID_EVENT', { details: { place: '', rule: peeked } });
  }
  const nestingLevels = recordPeeker.deepest;
  if (nestingLevels > limits.readerNestingLevelsMax) {
    const nestingLevelsMax = limits.readerNestingLevelsMax;
    throw new TurnlogError('TURNLOG_TOO_DEEP', { details: { nestingLevels, nestingLevelsMax } });
  }
  return {
    schemaVersion: peeked.schemaVersion,
    seq: peeked.statedSeq,
    ts: peeked.ts,
    key: peeked.key,
    salt: recordPeeker.salt(),
    event: eventValue(bytes, peeked.eventStart, peeked.eventEnd),
  };
}

/** The salt of the line without its 0x0A in bytes[start, end); null when it has none, or is no record. */
export function recordSalt(bytes: Uint8Array, start: number, end: number): string | null {
  const isRecord = typeof recordPeeker.peekRecord(bytes, start, end) !== 'string';
  return isRecord ? recordPeeker.salt() : null;
}

const openBracket = 0x5b;
const openBrace = 0x7b;

/** How many containers begin at most: as deep the text may be, and no deeper. */
function openingBytes(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === openBracket || bytes[at] === openBrace) count += 1;
  }
  return count;
}

/** Whether the event and the envelope around it are nested no deeper than a reader decodes. */
function isWithinReaderNesting(bytes: Uint8Array, start: number, end: number): boolean {
  const levelsMax = limits.readerNestingLevelsMax - 1;
  if (openingBytes(bytes, start, end) <= levelsMax) return true;
  recordPeeker.peekEvent(bytes, start, end);
  return recordPeeker.deepest <= levelsMax;
}

/**
 * The value of the event object that a `PeekedRecord` locates, or null when it is nested deeper than a reader
 * decodes. The type says what the event ought to be; whether it is, `inspectRecord` tells.
 *
 * @param recordLevels its `nestingLevels`, where they are at hand: the bytes are not counted then.
 */
export function parseEvent(
  bytes: Uint8Array,
  start: number,
  end: number,
  recordLevels: number = Number.POSITIVE_INFINITY,
): ThreadEvent | TurnlogOwnEvent | UnknownEvent | null {
  const isWithin = recordLevels <= limits.readerNestingLevelsMax || isWithinReaderNesting(bytes, start, end);
  return isWithin ? eventValue(bytes, start, end) : null;
}
