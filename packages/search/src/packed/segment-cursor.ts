import { limits } from '@turnlog/kernel';
import { BlockCursor, blockPostings, firstAbove, noOrdinal, type PostingBuffer } from './block-cursor.js';
import type { PagedFile } from './paged-file.js';

const pageBytes = limits.searchPageBytes;

/** Reads the postings of one term of a segment, as `PostingsWriter` wrote them. They begin at the start of its file. */
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
