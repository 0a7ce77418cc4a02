import { assert, limits, TurnlogError } from '@turnlog/kernel';
import { type EncodedEvent, withEscapedSeparators } from './encode-event.js';
import { utf8ByteLength, utf8Bytes, writeUtf8 } from './internal/text-codec.js';
import { schemaVersion } from './schema-version.js';

/**
 * A stored line:
 *
 *     {"schema_version":"0.18.0","seq":7,"ts":"2026-10-05T08:30:00.125Z","key":"k","salt":"…","event":{…}} 0x0A
 *
 * `key` and `salt` are there when given, `ts` is absent only where no time is known.
 */
export interface Envelope {
  readonly seq: number;
  /** 24 characters, as `formatTimestamp` makes them; null leaves the member out. */
  readonly ts: string | null;
  readonly key?: string;
  /** 32 lower-case hex digits. */
  readonly salt?: string;
}

const lineFeed = 0x0a;
const closeBrace = 0x7d;
const digitZero = 0x30;

const versionAndSeq: Uint8Array = utf8Bytes(`{"schema_version":"${schemaVersion}","seq":`);
const tsHead: Uint8Array = utf8Bytes(',"ts":"');
const eventAfterText: Uint8Array = utf8Bytes('","event":');
const eventAfterOther: Uint8Array = utf8Bytes(',"event":');

/** The bytes of all that is always there but the event, numbers and times at their longest. */
const fixedBytesMax = 128;
/** `,"salt":"` and its quote, with room to spare. */
const saltFrameBytes = 16;
/** `,"key":` and quotes, with room to spare. */
const keyFrameBytes = 16;
/** A character of a key may become an escape of six bytes. */
const keyCharacterBytesMax = 6;
/** Up to here it is cheaper to assume three bytes a character than to count. */
const countedFromCharacters = 2_048;

const controlCharacter = /\p{Cc}/u;
const surrogate = /\p{Surrogate}/u;

/**
 * Refuses what is no idempotency key: 1 to 256 bytes, no control characters, no half surrogate pair.
 *
 * @throws TURNLOG_INVALID_EVENT; details: place, rule.
 */
export function checkKey(key: string): void {
  const rule = keyFault(key);
  if (rule !== null) throw new TurnlogError('TURNLOG_INVALID_EVENT', { details: { place: '/key', rule } });
}

function keyFault(key: string): string | null {
  if (typeof key !== 'string' || key === '') return `1 to ${limits.keyBytesMax} bytes`;
  if (key.length > limits.keyBytesMax || utf8ByteLength(key) > limits.keyBytesMax) {
    return `1 to ${limits.keyBytesMax} bytes`;
  }
  if (controlCharacter.test(key)) return 'no control characters';
  return surrogate.test(key) ? 'whole characters' : null;
}

/** No record of these takes more bytes in the log, its 0x0A included. Cheap, not exact. */
export function recordBytesMax(envelope: Envelope, event: EncodedEvent): number {
  const { text } = event;
  const textBytes = text.length > countedFromCharacters ? utf8ByteLength(text) : text.length * 3;
  const keyBytes =
    envelope.key === undefined ? 0 : keyFrameBytes + envelope.key.length * keyCharacterBytesMax;
  const saltBytes = envelope.salt === undefined ? 0 : saltFrameBytes + envelope.salt.length;
  return fixedBytesMax + keyBytes + saltBytes + textBytes;
}

function writeBytes(into: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index += 1) into[at + index] = bytes[index] as number;
  return at + bytes.length;
}

/** Text of the envelope that is ours: ASCII without anything JSON would escape. */
function writePlain(into: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    assert(unit >= 0x20 && unit < 0x7f && unit !== 0x22 && unit !== 0x5c, 'envelope text needs no escape');
    into[at + index] = unit;
  }
  return at + text.length;
}

function writeInteger(into: Uint8Array, at: number, value: number): number {
  let rest = value;
  let end = at + 1;
  for (let bound = 10; value >= bound; bound *= 10) end += 1;
  for (let index = end - 1; index >= at; index -= 1) {
    const quotient = Math.floor(rest / 10);
    into[index] = digitZero + (rest - quotient * 10);
    rest = quotient;
  }
  return end;
}

function writeOptional(into: Uint8Array, at: number, envelope: Envelope): number {
  let end = at;
  if (envelope.key !== undefined) {
    end = writeUtf8(into, end, `,"key":${withEscapedSeparators(JSON.stringify(envelope.key))}`);
  }
  if (envelope.salt !== undefined) end = writeUtf8(into, end, `,"salt":"${envelope.salt}"`);
  return writeBytes(into, end, eventAfterOther);
}

function writeHead(into: Uint8Array, at: number, envelope: Envelope): number {
  let end = writeBytes(into, at, versionAndSeq);
  end = writeInteger(into, end, envelope.seq);
  const isPlain = envelope.key === undefined && envelope.salt === undefined;
  if (envelope.ts === null) return writeOptional(into, end, envelope);
  end = writePlain(into, writeBytes(into, end, tsHead), envelope.ts);
  if (isPlain) return writeBytes(into, end, eventAfterText);
  into[end] = 0x22;
  return writeOptional(into, end + 1, envelope);
}

function refuseLarge(lineBytes: number): never {
  throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', {
    details: { lineBytes, lineBytesMax: limits.writerLineBytesMax },
  });
}

/**
 * Writes the line of a record and its 0x0A at `at` and returns where it ends. `into` must have room for
 * `recordBytesMax` bytes from `at` on; what lies behind the returned end may be overwritten too.
 *
 * @throws TURNLOG_RECORD_TOO_LARGE when the line without its 0x0A is longer than a writer may make it;
 *   details: lineBytes, lineBytesMax. Bytes from `at` on may have been overwritten then.
 */
export function writeRecord(into: Uint8Array, at: number, envelope: Envelope, event: EncodedEvent): number {
  assert(Number.isSafeInteger(envelope.seq) && envelope.seq > 0, 'seq is a whole number from 1');
  if (event.text.length > limits.writerLineBytesMax) refuseLarge(event.text.length);
  assert(into.length - at >= recordBytesMax(envelope, event), 'the buffer has room for the record');
  let end = writeUtf8(into, writeHead(into, at, envelope), event.text);
  into[end] = closeBrace;
  into[end + 1] = lineFeed;
  end += 2;
  if (end - at - 1 > limits.writerLineBytesMax) refuseLarge(end - at - 1);
  return end;
}

/** As `writeRecord`, into bytes of its own. */
export function encodeRecord(envelope: Envelope, event: EncodedEvent): Uint8Array {
  const bytes = new Uint8Array(recordBytesMax(envelope, event));
  return bytes.slice(0, writeRecord(bytes, 0, envelope, event));
}
