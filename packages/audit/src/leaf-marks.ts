import { limits } from '@turnlog/kernel';
import { isCount, isText, ownMembers } from '@turnlog/log';
import { markBytes } from './mark-builder.js';

/**
 * Marks of the leaves of a pack: the first four bytes of each leaf hash, or of the root over several neighbours where
 * there are many. The root decides whether a log is as packed; the marks tell which record is not. They prove nothing.
 */
export interface LeafMarks {
  /** How many leaves one mark stands for: a power of two. */
  readonly each: number;
  /** The marks one behind the other, in base64. */
  readonly prefixes: string;
}

/** How many leaves a mark stands for in a log of so many. */
export function leavesPerMark(leafCount: number): number {
  let each = 1;
  while (leafCount / each > limits.packMarksMax) each *= 2;
  return each;
}

export function encodeMarks(each: number, bytes: Uint8Array): LeafMarks {
  return { each, prefixes: Buffer.from(bytes).toString('base64') };
}

export function decodeMarks(marks: LeafMarks): Uint8Array {
  return Buffer.from(marks.prefixes, 'base64');
}

/** The marks in a JSON value, for `leafCount` leaves; null when it is of another form. */
export function parseMarks(value: unknown, leafCount: number): LeafMarks | null {
  const found = ownMembers(value);
  if (found === null) return null;
  const { each, prefixes } = found;
  if (!isCount(each) || each === 0 || !isText(prefixes)) return null;
  const isPower = Number.isInteger(Math.log2(each));
  const count = Math.ceil(leafCount / each);
  if (!isPower || count > limits.packMarksMax || prefixes.length !== Math.ceil((count * markBytes) / 3) * 4)
    return null;
  return decodeMarks({ each, prefixes }).length === count * markBytes ? { each, prefixes } : null;
}

/** What the marks tell of a log that is not as packed. */
export interface MarkComparison {
  /** The first leaf that differs, from 0 on in the packed leaves; null when all that is there is equal. */
  readonly firstDifferent: number | null;
  /** How many of the packed leaves are there unchanged, as far as marks tell. */
  readonly intact: number;
}

/**
 * Compares marks of the same width: equal ones at the front count, and where a record has gone or come, equal ones at
 * the end as well.
 */
export function compareMarks(
  packed: Uint8Array,
  present: Uint8Array,
  each: number,
  leafCount: number,
): MarkComparison {
  const [was, is] = [Buffer.from(packed), Buffer.from(present)];
  const common = Math.min(was.length, is.length);
  let front = 0;
  while (front < common && was.readUInt32BE(front) === is.readUInt32BE(front)) front += markBytes;
  let back = 0;
  while (
    back < common - front &&
    was.readUInt32BE(was.length - markBytes - back) === is.readUInt32BE(is.length - markBytes - back)
  ) {
    back += markBytes;
  }
  const inPlace = was.length === is.length ? countEqual(was, is, front) : 0;
  const equal = Math.max(front + back, front + inPlace) / markBytes;
  const firstDifferent = front === common ? null : (front / markBytes) * each;
  return { firstDifferent, intact: Math.min(equal * each, leafCount) };
}

function countEqual(was: Buffer, is: Buffer, from: number): number {
  let bytes = 0;
  for (let at = from; at < was.length; at += markBytes) {
    if (was.readUInt32BE(at) === is.readUInt32BE(at)) bytes += markBytes;
  }
  return bytes;
}
