import { assert } from '@turnlog/kernel';

/**
 * Text to bytes and back, on plain byte arrays. Node's own slice and write routines are several times faster
 * than the standard codecs on short texts; where they are missing, the standard ones give the same result.
 */

type Slice = (this: Uint8Array, start: number, end: number) => string;
type Write = (this: Uint8Array, text: string, at: number, length: number) => number;

function isSlice(value: unknown): value is Slice {
  return typeof value === 'function';
}

function isWrite(value: unknown): value is Write {
  return typeof value === 'function';
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

function standardSlice(this: Uint8Array, start: number, end: number): string {
  return decoder.decode(this.subarray(start, end));
}

function standardWrite(this: Uint8Array, text: string, at: number): number {
  return encoder.encodeInto(text, this.subarray(at)).written;
}

function nodeRoutine(name: string): unknown {
  return Reflect.get(Buffer.prototype, name);
}

const foundLatin1Slice = nodeRoutine('latin1Slice');
const foundUtf8Slice = nodeRoutine('utf8Slice');
const foundUtf8Write = nodeRoutine('utf8Write');
const latin1Slice: Slice = isSlice(foundLatin1Slice) ? foundLatin1Slice : standardSlice;
const utf8Slice: Slice = isSlice(foundUtf8Slice) ? foundUtf8Slice : standardSlice;
const utf8Write: Write = isWrite(foundUtf8Write) ? foundUtf8Write : standardWrite;

/** The text of bytes that are known to be ASCII. */
export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end);
}

/** The text of bytes; each sequence that is not UTF-8 reads as U+FFFD. */
export function utf8Text(bytes: Uint8Array, start: number, end: number): string {
  return utf8Slice.call(bytes, start, end);
}

/** How many bytes `text` takes as UTF-8. */
export function utf8ByteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** The bytes of `text`. */
export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Writes `text` whole at `at` and returns where it ends; the caller has made sure that it fits. */
export function writeUtf8(into: Uint8Array, at: number, text: string): number {
  return at + utf8Write.call(into, text, at, into.length - at);
}

/**
 * The value of a JSON string token that begins at `start` with its quote.
 *
 * @param isPlain whether it holds neither a backslash nor a byte from 0x80 on.
 */
export function stringValue(bytes: Uint8Array, start: number, end: number, isPlain: boolean): string {
  if (isPlain) return asciiText(bytes, start + 1, end - 1);
  const value: unknown = JSON.parse(utf8Text(bytes, start, end));
  assert(typeof value === 'string', 'a string token holds a string');
  return value;
}
