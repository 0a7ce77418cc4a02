import { limits } from '@turnlog/kernel';
import { blockPostings, type PostingBuffer } from './block-cursor.js';

const pageBytes = limits.searchPageBytes;

/** How many postings of one term are written before the work may pause. */
const slicePostings = 128 * blockPostings;

/** No number of a block takes more bytes. */
const numberBytesMax = 5;
const headBytesMax = 4 * numberBytesMax;

/** Postings side by side, ordinals rising. */
type Postings = Pick<PostingBuffer, 'ordinals' | 'tfs'>;

/**
 * Writes the postings of one term after the other: which chunks hold it and how often, in blocks of 128, ordinals
 * rising.
 *
 * A block is four numbers of 7 bits a byte: its last ordinal as the distance from the last one of the block before,
 * bytes that follow, largest tf, smallest len of its chunks; then of each posting `(gap - 1) * 2 + (tf > 1)` and, where
 * tf is above 1, tf. A block of one posting needs nothing more. Where a block would not fit into the page there is a
 * zero, or the end of the page: it begins on the next one, so that none lies across pages.
 */
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
