import { assert } from '@turnlog/kernel';
import type { BlockCursor } from './block-cursor.js';
import { grownWords } from './growing-numbers.js';
import { ListCursor } from './list-cursor.js';
import { PostingRun, tfMask } from './posting-run.js';
import { TermTable } from './term-table.js';

/**
 * The postings of chunks that come one after the other. Taking a chunk only notes its terms: they are sorted when
 * somebody asks for postings, in runs of which each is at least twice as long as the next, so that whoever asks behind
 * every few chunks has a term sorted a few times, and whoever asks once has it sorted once.
 */
export class TailPostings {
  readonly terms: TermTable = new TermTable();
  /** By ordinal where the terms of a chunk end. */
  #ends: Uint32Array = new Uint32Array(256);
  #chunkCount = 0;
  #runs: readonly PostingRun[] = [];

  /** Counts the tokens of the next chunk; returns how many there are, tails included. */
  addText(ordinal: number, text: string): number {
    const { terms } = this;
    const before = terms.takenCount;
    terms.take(text);
    this.#end(ordinal);
    return terms.takenCount - before;
  }

  /** Takes the tokens of the next chunk counted. */
  addCounts(ordinal: number, counts: ReadonlyMap<string, number>): void {
    const { terms } = this;
    for (const [text, tf] of counts) {
      assert(tf <= tfMask, 'no chunk is so long that it holds a token this often');
      terms.takeOften(terms.numberOf(text), tf);
    }
    this.#end(ordinal);
  }

  /** Sorts what is not sorted yet, so that nobody who asks waits for that. Pauses as `writeSegment` does. */
  *sort(): Generator<void, void, void> {
    const runs = [...this.#runs];
    const to = this.#chunkCount;
    let from = runs.at(-1)?.to ?? 0;
    if (from === to) return;
    for (let last = runs.at(-1); last !== undefined; last = runs.at(-1)) {
      if (this.#tokensIn(last.from, last.to) >= 2 * this.#tokensIn(from, to)) break;
      from = last.from;
      runs.pop();
    }
    const { taken, count } = this.terms;
    runs.push(yield* PostingRun.sort({ terms: taken, ends: this.#ends, termCount: count }, from, to));
    // Somebody who could not wait may have sorted as much meanwhile.
    if ((this.#runs.at(-1)?.to ?? 0) < to) this.#runs = runs;
  }

  df(term: number): number {
    let df = 0;
    for (const run of this.#sortedRuns()) df += run.df(term);
    return df;
  }

  cursor(term: number): BlockCursor {
    const df = this.df(term);
    const [ordinals, tfs] = [new Uint32Array(df), new Uint32Array(df)];
    this.read(term, ordinals, tfs, 0);
    return new ListCursor(ordinals, tfs);
  }

  /** Writes the postings of a term, ordinals rising, from `at` on; there are `df` of them. */
  read(term: number, ordinals: Uint32Array, tfs: Uint32Array, at: number): void {
    let next = at;
    for (const run of this.#sortedRuns()) next = run.read(term, ordinals, tfs, next);
  }

  /** Bytes of the arrays that it holds. */
  get byteLength(): number {
    const sorted = this.#runs.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return sorted + this.#ends.byteLength + this.terms.taken.byteLength;
  }

  #sortedRuns(): readonly PostingRun[] {
    if ((this.#runs.at(-1)?.to ?? 0) < this.#chunkCount) for (const _pausing of this.sort());
    return this.#runs;
  }

  #tokensIn(from: number, to: number): number {
    const start = from === 0 ? 0 : (this.#ends[from - 1] ?? 0);
    return (this.#ends[to - 1] ?? 0) - start;
  }

  #end(ordinal: number): void {
    assert(ordinal === this.#chunkCount, 'chunks come one after the other');
    this.#ends = grownWords(this.#ends, ordinal + 1);
    this.#ends[ordinal] = this.terms.takenCount;
    this.#chunkCount = ordinal + 1;
  }
}
