import { BlockCursor, blockPostings, firstAbove, type PostingBuffer } from './block-cursor.js';

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
