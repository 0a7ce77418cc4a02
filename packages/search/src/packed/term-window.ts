import { type BlockCursor, firstAbove, type PostingBuffer } from './block-cursor.js';

/**
 * The postings of one term in one source as far as they are looked at: those of the present window, and those behind
 * it of a block that was read. Ordinals are asked for in their order.
 */
export class TermWindow {
  readonly cursor: BlockCursor;
  /** Number of the term in the plan; the whole form may be none of them, and has the number behind the last. */
  readonly term: number;
  readonly #buffer: PostingBuffer;
  /** Those of the window are `[from, to)` of the buffer, and `[to, #filled)` lie behind it. */
  from = 0;
  to = 0;
  #filled = 0;

  /** `buffer` is its own until another window takes it. */
  constructor(cursor: BlockCursor, term: number, buffer: PostingBuffer) {
    this.cursor = cursor;
    this.term = term;
    this.#buffer = buffer;
  }

  get ordinals(): Uint32Array {
    return this.#buffer.ordinals;
  }

  get tfs(): Uint32Array {
    return this.#buffer.tfs;
  }

  /** The first ordinal from `start` on that it may hold; infinite when there is none. */
  next(start: number): number {
    this.#drop(start);
    const { ordinals } = this.#buffer;
    if (this.to < this.#filled) return ordinals[this.to] ?? 0;
    this.cursor.skipTo(start);
    return this.cursor.count === 0 ? Number.POSITIVE_INFINITY : Math.max(start, this.cursor.previousLast + 1);
  }

  /**
   * Reads the postings of `[start, end)`. Of blocks that `isWanted` turns down none is read; how many that were is
   * returned.
   */
  fill(start: number, end: number, isWanted: ((cursor: BlockCursor) => boolean) | null): number {
    const { cursor } = this;
    this.#drop(start);
    this.#moveToFront();
    cursor.skipTo(start);
    let skipped = 0;
    for (; cursor.count > 0 && cursor.previousLast + 1 < end; cursor.next()) {
      if (isWanted !== null && !isWanted(cursor)) {
        skipped += 1;
        continue;
      }
      this.#buffer.read(cursor, this.#filled);
      this.#filled += cursor.count;
    }
    this.from = this.#placeOf(start, 0);
    this.to = this.#placeOf(end, this.from);
    return skipped;
  }

  /**
   * Reads, of the postings of `[start, end)`, those of the ordinals `wanted`, which rise; there may be others among
   * them. Nothing but such windows may follow.
   */
  seek(start: number, end: number, wanted: Uint32Array): void {
    const { cursor } = this;
    this.#drop(start);
    this.#moveToFront();
    let of = this.#filled === 0 ? 0 : firstAbove(wanted, this.ordinals[this.#filled - 1] ?? 0, 0);
    while (of < wanted.length) {
      cursor.skipTo(wanted[of] ?? 0);
      if (cursor.count === 0) break;
      this.#buffer.reserve(this.#filled + cursor.count);
      this.#filled = cursor.pick(wanted, of, this.#buffer, this.#filled);
      of = firstAbove(wanted, cursor.last, of);
    }
    this.to = this.#placeOf(end, 0);
  }

  /** How often a chunk of the window holds the term, as far as it was read. */
  tfOf(ordinal: number): number {
    const { ordinals, tfs } = this.#buffer;
    const at = this.#placeOf(ordinal, 0);
    return at < this.#filled && ordinals[at] === ordinal ? (tfs[at] ?? 0) : 0;
  }

  /** The first place from `from` on that holds `ordinal` or a later one. */
  #placeOf(ordinal: number, from: number): number {
    const { ordinals } = this.#buffer;
    let [low, high] = [from, this.#filled];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ordinals[middle] ?? 0) < ordinal) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Lets go of what lies before `start`. */
  #drop(start: number): void {
    this.to = this.#placeOf(start, this.to);
    this.from = this.to;
  }

  #moveToFront(): void {
    if (this.to > 0) {
      this.ordinals.copyWithin(0, this.to, this.#filled);
      this.tfs.copyWithin(0, this.to, this.#filled);
      this.#filled -= this.to;
    }
    this.from = 0;
    this.to = 0;
  }
}
