import type { IntegerRule } from '../shape.js';
import { asciiText } from './text-codec.js';

const backslash = 0x5c;
const letterU = 0x75;
/** Up to so many digits every whole number is a double that prints the same. */
const exactDigitsMax = 15;

function digitCount(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at] as number) >= 0x30 && (bytes[at] as number) <= 0x39) at += 1;
  return at - start;
}

/** Whether parsing a number to a double and printing it changes its text. */
export function isInexact(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start <= exactDigitsMax && digitCount(bytes, start, end) === end - start) return false;
  const text = asciiText(bytes, start, end);
  return String(Number(text)) !== text;
}

/** Whether a number token is an integer within the rule: digits only, a sign only where the rule has negatives. */
export function isInteger(bytes: Uint8Array, start: number, end: number, rule: IntegerRule): boolean {
  const digitsStart = bytes[start] === 0x2d && rule.least < 0n ? start + 1 : start;
  const count = digitCount(bytes, digitsStart, end);
  if (count !== end - digitsStart || count > 20) return false;
  const value = BigInt(asciiText(bytes, start, end));
  return value >= rule.least && value <= rule.most;
}

function unitAt(bytes: Uint8Array, at: number): number {
  return Number.parseInt(asciiText(bytes, at + 2, at + 6), 16);
}

/** How many bytes the escape at `at` takes when it is whole: one or a pair; 0 when it is half a pair. */
function wholeEscapeLength(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== letterU) return 2;
  const unit = unitAt(bytes, at);
  if (unit < 0xd800 || unit > 0xdfff) return 6;
  if (unit > 0xdbff || bytes[at + 6] !== backslash || bytes[at + 7] !== letterU) return 0;
  const low = unitAt(bytes, at + 6);
  return low >= 0xdc00 && low <= 0xdfff ? 12 : 0;
}

/** Whether a string token holds the escape of half a surrogate pair. */
export function hasLoneSurrogate(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start + 1;
  while (at < end - 1) {
    if (bytes[at] !== backslash) {
      at += 1;
      continue;
    }
    const length = wholeEscapeLength(bytes, at);
    if (length === 0) return true;
    at += length;
  }
  return false;
}
