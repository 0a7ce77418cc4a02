import { limits } from '@turnlog/kernel';
import { isCount, isText, MerkleFrontier, ownMembers, treeRoot } from '@turnlog/log';

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

const markBytes = 4;
const markDigits = 2 * markBytes;

/** How many leaves a mark stands for in a log of so many. */
export function leavesPerMark(leafCount: number): number {
  let each = 1;
  while (leafCount / each > limits.packMarksMax) each *= 2;
  return each;
}

/** Makes marks as the leaves go by. */
export class MarkBuilder {
  readonly #each: number;
  #bytes: Buffer = Buffer.alloc(1_024 * markBytes);
  #length = 0;
  #group: MerkleFrontier = new MerkleFrontier();

  /** `before`: marks of the leaves before, to go on from; the last one must be whole. */
  constructor(each: number, before: Uint8Array = new Uint8Array(0)) {
    this.#each = each;
    if (before.length > 0) {
      this.#bytes = Buffer.from(before);
      this.#length = before.length;
    }
  }

  add(leaf: string): void {
    if (this.#each === 1) {
      this.#push(leaf);
      return;
    }
    this.#group.add(leaf);
    if (this.#group.size === this.#each) this.#endGroup();
  }

  /** The marks, that of a last group which is not full included. */
  end(): Uint8Array {
    if (this.#group.size > 0) this.#endGroup();
    return this.#bytes.subarray(0, this.#length);
  }

  #endGroup(): void {
    this.#push(treeRoot(this.#group.head()));
    this.#group = new MerkleFrontier();
  }

  #push(hash: string): void {
    if (this.#length + markBytes > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    }
    for (let digit = 0; digit < markDigits; digit += 2) {
      this.#bytes[this.#length] = hexDigit(hash, digit) * 16 + hexDigit(hash, digit + 1);
      this.#length += 1;
    }
  }
}

/** The value of a lower-case hex digit: `0` is 0x30, `a` is 0x61. */
function hexDigit(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit < 0x40 ? unit - 0x30 : unit - 0x57;
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
