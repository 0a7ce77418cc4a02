import { limits } from '@turnlog/kernel';
import type { PagedFile } from './paged-file.js';

/**
 * The postings of a term: which chunks hold it and how often, in blocks of 128, ordinals rising.
 *
 * A block is four numbers of 7 bits a byte: its last ordinal as the distance from the last one of the block before,
 * bytes that follow, largest tf, smallest len of its chunks; then of each posting `(gap - 1) * 2 + (tf > 1)` and, where
 * tf is above 1, tf. A block of one posting needs nothing more. Where a block would not fit into the page there is a
 * zero, or the end of the page: it begins on the next one, so that none lies across pages.
 */
export const blockPostings = 128;

const pageBytes = limits.searchPageBytes;

/** How many postings of one term are written before the work may pause. */
const slicePostings = 128 * blockPostings;

/** Behind every ordinal: they are below 2^30. A whole number, so that what holds ordinals holds nothing else. */
export const noOrdinal = 0x3fffffff;

/** Goes through the postings of one term, a block at a time. */
export abstract class BlockCursor {
  /** Last ordinal of the present block, and of the one before it; `noOrdinal` behind the last block. */
  last = -1;
  previousLast = -1;
  /** No chunk of the block holds the term more often, or is shorter. */
  tfMax = 0;
  lenMin = 0;
  /** Postings of the present block; 0 behind the last one. */
  count = 0;
  /** Postings of all blocks. */
  readonly df: number;

  constructor(df: number) {
    this.df = df;
  }

  /** Goes to the next block; `last` is `noOrdinal` when there is none. */
  abstract next(): void;

  /** Writes the postings of the present block from `at` on. */
  abstract read(ordinals: Uint32Array, tfs: Uint32Array, at: number): void;

  /**
   * Writes, from `at` on, the postings of the present block for those of the ordinals in `wanted`, which rise, from
   * the place `from` on; returns where they end. Costs less than reading a block of which little is wanted.
   */
  abstract pick(wanted: Uint32Array, from: number, into: PostingBuffer, at: number): number;

  /** Goes to the first block that may hold `ordinal` or a later one. */
  skipTo(ordinal: number): void {
    while (this.last < ordinal) this.next();
  }

  protected end(): void {
    this.previousLast = this.last;
    this.last = noOrdinal;
    this.count = 0;
  }
}

/** Postings in memory, which is used again and again. */
export class PostingBuffer {
  ordinals: Uint32Array = new Uint32Array(2 * blockPostings);
  tfs: Uint32Array = new Uint32Array(2 * blockPostings);

  /** Makes room for so many; what is there stays. */
  reserve(count: number): void {
    if (count <= this.ordinals.length) return;
    const length = Math.max(count, 2 * this.ordinals.length);
    const [ordinals, tfs] = [new Uint32Array(length), new Uint32Array(length)];
    ordinals.set(this.ordinals);
    tfs.set(this.tfs);
    this.ordinals = ordinals;
    this.tfs = tfs;
  }

  /** Writes one posting at `at` if its ordinal is among those `wanted`, which rise, from the place `from` on. */
  putWanted(wanted: Uint32Array, from: number, ordinal: number, tf: number, at: number): number {
    let of = from;
    while ((wanted[of] ?? noOrdinal) < ordinal) of += 1;
    if (wanted[of] !== ordinal) return at;
    this.ordinals[at] = ordinal;
    this.tfs[at] = tf;
    return at + 1;
  }

  /** Writes the postings of a block from `at` on. */
  read(cursor: BlockCursor, at: number): void {
    this.reserve(at + cursor.count);
    cursor.read(this.ordinals, this.tfs, at);
  }

  get byteLength(): number {
    return this.ordinals.byteLength + this.tfs.byteLength;
  }
}

/** No number of a block takes more bytes. */
const numberBytesMax = 5;
const headBytesMax = 4 * numberBytesMax;

/** Postings side by side, ordinals rising. */
type Postings = Pick<PostingBuffer, 'ordinals' | 'tfs'>;

/** Writes the postings of one term after the other. */
export class PostingsWriter {
  readonly #write: (bytes: Uint8Array) => void;
  /** The postings of a block behind room for its head. */
  readonly #block = new Uint8Array(headBytesMax + 2 * blockPostings * numberBytesMax);
  readonly #head = new Uint8Array(headBytesMax);
  #at = 0;
  postingCount = 0;
  /** Where the term begins that was written last. */
  place = 0;

  /** `write` takes the bytes; they begin at the start of a page. */
  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write;
  }

  /**
   * Writes the postings of a term from `from` on, as many as it takes until the work may pause; returns where to go on,
   * which is `count` when all are written. `lens`: the tokens of each chunk.
   */
  add({ ordinals, tfs }: Postings, from: number, count: number, lens: Uint32Array): number {
    const end = Math.min(from + slicePostings, count);
    for (let at = from; at < end; at += blockPostings) {
      const start = this.#addBlock({ ordinals, tfs }, at, Math.min(at + blockPostings, end), lens);
      if (at === 0) this.place = start;
    }
    this.postingCount += end - from;
    return end;
  }

  #addBlock({ ordinals, tfs }: Postings, from: number, to: number, lens: Uint32Array): number {
    const block = this.#block;
    const before = from === 0 ? -1 : (ordinals[from - 1] ?? 0);
    let [tfMax, lenMin, present] = [0, 0xffffffff, before];
    let end = headBytesMax;
    for (let at = from; at < to; at += 1) {
      const ordinal = ordinals[at] ?? 0;
      const tf = tfs[at] ?? 0;
      const len = lens[ordinal] ?? 0;
      if (tf > tfMax) tfMax = tf;
      if (len < lenMin) lenMin = len;
      end = writeNumber(block, end, (ordinal - present - 1) * 2 + (tf > 1 ? 1 : 0));
      if (tf > 1) end = writeNumber(block, end, tf);
      present = ordinal;
    }
    // A block of one posting is all in its head.
    if (to - from === 1) end = headBytesMax;
    const head = this.#head;
    let headBytes = writeNumber(head, 0, present - before);
    headBytes = writeNumber(head, headBytes, end - headBytesMax);
    headBytes = writeNumber(head, headBytes, tfMax);
    headBytes = writeNumber(head, headBytes, lenMin);
    return this.#put(headBytes, end);
  }

  /** Writes the head and the postings behind it, which end at `blockEnd`, in one page. */
  #put(headBytes: number, blockEnd: number): number {
    const start = headBytesMax - headBytes;
    for (let at = 0; at < headBytes; at += 1) this.#block[start + at] = this.#head[at] ?? 0;
    const left = pageBytes - (this.#at % pageBytes);
    if (blockEnd - start > left) {
      this.#write(new Uint8Array(left));
      this.#at += left;
    }
    const place = this.#at;
    this.#write(this.#block.subarray(start, blockEnd));
    this.#at += blockEnd - start;
    return place;
  }
}

/** Writes a number below 2^31 as bytes of 7 bits, the lowest first; returns where they end. */
function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let rest = value;
  while (rest > 0x7f) {
    bytes[end] = (rest & 0x7f) | 0x80;
    end += 1;
    rest >>>= 7;
  }
  bytes[end] = rest;
  return end + 1;
}

/** Reads the postings of one term of a segment. They begin at the start of its file. */
export class SegmentCursor extends BlockCursor {
  readonly #file: PagedFile;
  #bytes: Uint8Array;
  #pageNumber: number;
  /** Within the page: where the postings of the present block begin, and the next block. */
  #bodyAt = 0;
  #nextAt: number;
  /** Postings of the blocks up to the present one. */
  #passed = 0;
  /** Behind the last number that took more than one byte. */
  #longerEnd = 0;

  constructor(file: PagedFile, place: number, df: number) {
    super(df);
    this.#file = file;
    this.#pageNumber = Math.floor(place / pageBytes);
    this.#bytes = file.page(this.#pageNumber).bytes;
    this.#nextAt = place % pageBytes;
    this.next();
  }

  next(): void {
    if (this.#passed >= this.df) {
      this.end();
      return;
    }
    if (this.#nextAt >= pageBytes || this.#bytes[this.#nextAt] === 0) {
      this.#pageNumber += 1;
      this.#bytes = this.#file.page(this.#pageNumber).bytes;
      this.#nextAt = 0;
    }
    const left = this.df - this.#passed;
    this.count = Math.min(left, blockPostings);
    this.#passed += this.count;
    this.previousLast = this.last;
    this.last += this.#number();
    const bodyBytes = this.#number();
    this.tfMax = this.#number();
    this.lenMin = this.#number();
    this.#bodyAt = this.#nextAt;
    this.#nextAt += bodyBytes;
  }

  read(ordinals: Uint32Array, tfs: Uint32Array, at: number): void {
    if (this.count === 1) {
      ordinals[at] = this.last;
      tfs[at] = this.tfMax;
      return;
    }
    const bytes = this.#bytes;
    const end = at + this.count;
    let next = this.#bodyAt;
    let ordinal = this.previousLast;
    for (let to = at; to < end; to += 1) {
      let value = bytes[next] ?? 0;
      next += 1;
      if (value >= 0x80) {
        value = this.#longer(value, next);
        next = this.#longerEnd;
      }
      ordinal += (value >>> 1) + 1;
      ordinals[to] = ordinal;
      if ((value & 1) === 0) {
        tfs[to] = 1;
        continue;
      }
      const tf = bytes[next] ?? 0;
      next += 1;
      if (tf < 0x80) {
        tfs[to] = tf;
        continue;
      }
      tfs[to] = this.#longer(tf, next);
      next = this.#longerEnd;
    }
  }

  pick(wanted: Uint32Array, from: number, into: PostingBuffer, at: number): number {
    const { last } = this;
    if (this.count === 1) return into.putWanted(wanted, from, last, this.tfMax, at);
    const bytes = this.#bytes;
    let [next, ordinal, to, of] = [this.#bodyAt, this.previousLast, at, from];
    let asked = wanted[from] ?? noOrdinal;
    while (asked <= last) {
      let value = bytes[next] ?? 0;
      next += 1;
      if (value >= 0x80) {
        value = this.#longer(value, next);
        next = this.#longerEnd;
      }
      ordinal += (value >>> 1) + 1;
      let tf = 1;
      if ((value & 1) === 1) {
        tf = bytes[next] ?? 0;
        next += 1;
        if (tf >= 0x80) {
          tf = this.#longer(tf, next);
          next = this.#longerEnd;
        }
      }
      if (ordinal < asked) continue;
      to = into.putWanted(wanted, of, ordinal, tf, to);
      of = firstAbove(wanted, ordinal, of);
      asked = wanted[of] ?? noOrdinal;
    }
    return to;
  }

  #number(): number {
    const first = this.#bytes[this.#nextAt] ?? 0;
    this.#nextAt += 1;
    if (first < 0x80) return first;
    const value = this.#longer(first, this.#nextAt);
    this.#nextAt = this.#longerEnd;
    return value;
  }

  /** A number of two bytes or more, of which the first was read. It is below 2^31. */
  #longer(first: number, at: number): number {
    const bytes = this.#bytes;
    const second = bytes[at] ?? 0;
    let value = (first & 0x7f) | ((second & 0x7f) << 7);
    let next = at + 1;
    for (let byte = second, shift = 14; byte >= 0x80; shift += 7) {
      byte = bytes[next] ?? 0;
      value |= (byte & 0x7f) << shift;
      next += 1;
    }
    this.#longerEnd = next;
    return value;
  }
}

/** Postings that are in memory, as those of a tail, or of all terms with one prefix. */
export class ListCursor extends BlockCursor {
  readonly #ordinals: Uint32Array;
  readonly #tfs: Uint32Array;
  #from = 0;
  #to = 0;

  constructor(ordinals: Uint32Array, tfs: Uint32Array) {
    super(ordinals.length);
    this.#ordinals = ordinals;
    this.#tfs = tfs;
    this.next();
  }

  next(): void {
    this.#from = this.#to;
    if (this.#from >= this.#ordinals.length) {
      this.end();
      return;
    }
    this.#to = Math.min(this.#from + blockPostings, this.#ordinals.length);
    this.previousLast = this.last;
    this.last = this.#ordinals[this.#to - 1] ?? 0;
    this.count = this.#to - this.#from;
    this.tfMax = 0;
    for (let at = this.#from; at < this.#to; at += 1) {
      this.tfMax = Math.max(this.tfMax, this.#tfs[at] ?? 0);
    }
    // A chunk has at least the tokens that were counted: nothing shorter holds any of them.
    this.lenMin = 1;
  }

  read(ordinals: Uint32Array, tfs: Uint32Array, at: number): void {
    for (let from = this.#from, to = at; from < this.#to; from += 1, to += 1) {
      ordinals[to] = this.#ordinals[from] ?? 0;
      tfs[to] = this.#tfs[from] ?? 0;
    }
  }

  pick(wanted: Uint32Array, from: number, into: PostingBuffer, at: number): number {
    let [to, of] = [at, from];
    for (let posting = this.#from; posting < this.#to && of < wanted.length; posting += 1) {
      const ordinal = this.#ordinals[posting] ?? 0;
      to = into.putWanted(wanted, of, ordinal, this.#tfs[posting] ?? 0, to);
      of = firstAbove(wanted, ordinal, of);
    }
    return to;
  }
}

/** The first place from `from` on at which one of rising numbers is greater than `limit`: it is near. */
export function firstAbove(numbers: Uint32Array, limit: number, from: number): number {
  let at = from;
  while (at < numbers.length && (numbers[at] ?? 0) <= limit) at += 1;
  return at;
}
