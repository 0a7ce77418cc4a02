import { JsonTokenizer, limits } from '@turnlog/kernel';
import type { Span } from './json-text.js';

/** One part of a line: a JSON object, or bytes that are none. */
export type LinePart =
  | ({ readonly kind: 'object' } & Span)
  | ({ readonly kind: 'refused'; readonly reason: RefusalReason } & Span);

/** Why bytes are no record. */
export type RefusalReason = 'bad-json' | 'not-a-record' | 'too-deep' | 'too-long' | 'torn-tail';

const tokenizer = new JsonTokenizer();

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** Position of the first byte from `start` on that is no blank. */
export function skipBlanks(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(bytes[at])) at += 1;
  return at;
}

/**
 * The objects of one line, as many as there are: a producer that went on behind a missing line end leaves two.
 * What is no object ends the line; blanks belong to no part.
 */
export function lineParts(bytes: Uint8Array, start: number, end: number): readonly LinePart[] {
  const parts: LinePart[] = [];
  let last = end;
  while (last > start && isBlank(bytes[last - 1])) last -= 1;
  let at = skipBlanks(bytes, start, last);
  while (at < last) {
    const part = partAt(bytes, at, last);
    parts.push(part);
    at = skipBlanks(bytes, part.end, last);
  }
  return parts;
}

function partAt(bytes: Uint8Array, start: number, end: number): LinePart {
  tokenizer.reset(bytes, start, end);
  const token = tokenizer.next();
  if (token !== 'object-start') return { kind: 'refused', reason: otherReason(token), start, end };
  if (!tokenizer.skipContainer()) return { kind: 'refused', reason: 'bad-json', start, end };
  const span = { start, end: tokenizer.end };
  if (tokenizer.deepest > limits.readerNestingLevelsMax)
    return { kind: 'refused', reason: 'too-deep', ...span };
  return { kind: 'object', ...span };
}

function otherReason(token: string): RefusalReason {
  if (token === 'array-start' && !tokenizer.skipContainer()) return 'bad-json';
  return token !== 'error' && tokenizer.next() === 'end' ? 'not-a-record' : 'bad-json';
}
