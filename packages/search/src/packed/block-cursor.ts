/** So many postings stand in a block, but for the last one of a term. */
export const blockPostings = 128;

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

/** The first place from `from` on at which one of rising numbers is greater than `limit`: it is near. */
export function firstAbove(numbers: Uint32Array, limit: number, from: number): number {
  let at = from;
  while (at < numbers.length && (numbers[at] ?? 0) <= limit) at += 1;
  return at;
}
