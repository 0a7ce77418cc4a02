import { assert } from '@turnlog/kernel';
import { TokenScanner } from '../token-scanner.js';
import { scanText } from '../tokenizer.js';
import { grownWords } from './growing-numbers.js';
import { type BlockCursor, ListCursor } from './postings.js';
import { TermTable } from './term-table.js';

/** A posting is its ordinal, and in the lower bits its tf. */
const tfBits = 14;
const tfMask = 2 ** tfBits - 1;

/** No ordinal of a posting is as large. */
export const tailOrdinalsMax: number = 2 ** (32 - tfBits);

/** How many postings the first block of a term takes, and the largest ones. */
const smallestBlock = 4;
const largestBlock = 128;

/** What is kept of each term, side by side. */
const headWords = 4;
/** Its newest posting, which is in no block yet. */
const newestAt = 0;
/** How many it has, the newest included. */
const dfAt = 1;
/** Where the next one goes, and the end of that block, where the place of the block behind it will stand. */
const nextAt = 2;
const endAt = 3;

/**
 * The postings of chunks that come one after the other: of each term in blocks that are linked, the newest posting
 * beside its counts, where a further token of the same chunk finds it.
 */
export class TailPostings {
  readonly terms: TermTable = new TermTable();
  readonly #scanner = new TokenScanner();
  #heads: Uint32Array = new Uint32Array(4_096);
  /** By term where its first block begins. */
  #firsts: Uint32Array = new Uint32Array(1_024);
  /** All blocks; the first word is none of any. */
  #blocks: Uint32Array = new Uint32Array(4_096);
  #blocksEnd = 1;

  /** Counts the tokens of the next chunk; returns how many there are, tails included. */
  addText(ordinal: number, text: string): number {
    const { terms } = this;
    scanText(this.#scanner, text);
    terms.take(this.#scanner);
    const { found, foundCount } = terms;
    for (let at = 0; at < foundCount; at += 1) this.#count(found[at] ?? 0, ordinal);
    return foundCount;
  }

  /** Takes the tokens of the next chunk counted. */
  addCounts(ordinal: number, counts: ReadonlyMap<string, number>): void {
    for (const [text, tf] of counts) {
      assert(tf <= tfMask, 'no chunk is so long that it holds a token this often');
      const term = this.terms.numberOf(text);
      for (let left = tf; left > 0; left -= 1) this.#count(term, ordinal);
    }
  }

  df(term: number): number {
    return this.#heads[term * headWords + dfAt] ?? 0;
  }

  cursor(term: number): BlockCursor {
    const df = this.df(term);
    const [ordinals, tfs] = [new Uint32Array(df), new Uint32Array(df)];
    this.read(term, ordinals, tfs, 0);
    return new ListCursor(ordinals, tfs);
  }

  /** Writes the postings of a term, ordinals rising, from `at` on; there are `df` of them. */
  read(term: number, ordinals: Uint32Array, tfs: Uint32Array, at: number): void {
    const df = this.df(term);
    if (df === 0) return;
    const blocks = this.#blocks;
    let place = this.#firsts[term] ?? 0;
    let end = place + smallestBlock;
    for (let passed = 0; passed < df - 1; passed += 1) {
      if (place === end) {
        place = blocks[end] ?? 0;
        end = place + blockLength(passed);
      }
      const posting = blocks[place] ?? 0;
      ordinals[at + passed] = posting >>> tfBits;
      tfs[at + passed] = posting & tfMask;
      place += 1;
    }
    const newest = this.#heads[term * headWords + newestAt] ?? 0;
    ordinals[at + df - 1] = newest >>> tfBits;
    tfs[at + df - 1] = newest & tfMask;
  }

  /** Bytes of the arrays that it holds. */
  get byteLength(): number {
    return this.#heads.byteLength + this.#firsts.byteLength + this.#blocks.byteLength;
  }

  #count(term: number, ordinal: number): void {
    const head = term * headWords;
    if (head >= this.#heads.length) this.#heads = grownWords(this.#heads, head + headWords);
    const heads = this.#heads;
    const newest = heads[head + newestAt] ?? 0;
    const df = heads[head + dfAt] ?? 0;
    if (df > 0) {
      if (newest >>> tfBits === ordinal) {
        heads[head + newestAt] = newest + 1;
        return;
      }
      if (heads[head + nextAt] === heads[head + endAt]) this.#addBlock(term, df - 1);
      const next = heads[head + nextAt] ?? 0;
      this.#blocks[next] = newest;
      heads[head + nextAt] = next + 1;
    }
    heads[head + newestAt] = ordinal * (tfMask + 1) + 1;
    heads[head + dfAt] = df + 1;
  }

  /** Begins a block for a term of which so many postings are in blocks. */
  #addBlock(term: number, passed: number): void {
    const start = this.#blocksEnd;
    const end = start + blockLength(passed);
    this.#blocksEnd = end + 1;
    this.#blocks = grownWords(this.#blocks, this.#blocksEnd);
    const head = term * headWords;
    if (passed === 0) {
      this.#firsts = grownWords(this.#firsts, term + 1);
      this.#firsts[term] = start;
    } else {
      this.#blocks[this.#heads[head + endAt] ?? 0] = start;
    }
    this.#heads[head + nextAt] = start;
    this.#heads[head + endAt] = end;
  }
}

/** How many postings the block takes before which there are so many: as many as there are, within bounds. */
function blockLength(passed: number): number {
  return Math.min(Math.max(passed, smallestBlock), largestBlock);
}
