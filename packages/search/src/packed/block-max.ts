import { partBound } from '../bm25.js';
import type { Evaluation } from '../evaluation.js';
import { recencyFactorMax } from '../recency.js';
import type { BlockCursor } from './postings.js';

/** How many ordinals are looked at together. */
const windowChunks = 4_096;

/** No rounding of a sum of at most 64 parts, or of a product, makes a score larger than this much more of its bound. */
const roundingFactor = 1 + 1e-9;

/** The postings of one term in one source. */
export interface TermPostings {
  readonly cursor: BlockCursor;
  /** Number of the term in the plan; the whole form may be none of them, and has the number behind the last. */
  readonly term: number;
}

/** Where candidates are offered: chunks of one source. */
export interface CandidateScope {
  readonly evaluation: Evaluation;
  /** What is added to an ordinal to name the chunk. */
  readonly base: number;
  /** By ordinal: 0 for chunks that are not to be offered; null when all are. */
  readonly presence: Uint8Array | null;
}

/**
 * Offers the chunks of sources that hold any term, source by source. Ordinals are gone through in windows, term by
 * term, so that no posting costs more than a store. Once counts cannot change any more, a window is what lies within
 * one block of each term, and is skipped where the bounds of its blocks say that nothing in it can enter; where it
 * cannot be skipped, terms that could not bring a chunk in by themselves are only looked up for what others brought.
 */
export class CandidateScan {
  readonly #columns: number;
  readonly #whole: number;
  readonly #matrix: Uint32Array;
  readonly #marks = new Uint32Array(windowChunks / 32);
  readonly #tfs: Uint32Array;
  /** Windows that were left out, for those who count. */
  skippedCount = 0;

  /** `whole`: number of the term whose chunks come first; -1 when there is none. */
  constructor(termCount: number, whole: number) {
    this.#columns = Math.max(termCount, whole + 1);
    this.#whole = whole;
    this.#matrix = new Uint32Array(windowChunks * this.#columns);
    this.#tfs = new Uint32Array(this.#columns);
  }

  /** Looks at the ordinals `[from, to)`. Cursors only go forwards. */
  run(postings: readonly TermPostings[], scope: CandidateScope, from: number, to: number): void {
    for (let start = from; start < to; ) {
      const next = nextOrdinal(postings, start);
      if (next >= to) return;
      // A bound of nothing can enter as long as something is still counted.
      const isPruning = !scope.evaluation.couldEnter(0, 0);
      const limit = Math.min(next + windowChunks, to);
      const end = isPruning ? Math.min(limit, endOfBlocks(postings)) : limit;
      if (isPruning) this.#pruned(postings, scope, next, end);
      else this.#exhaustive(postings, scope, next, end);
      start = end;
    }
  }

  #exhaustive(postings: readonly TermPostings[], scope: CandidateScope, start: number, end: number): void {
    for (const { cursor, term } of postings) this.#fill(cursor, term, start, end, 'mark');
    this.#offer(scope, start, end);
  }

  #pruned(postings: readonly TermPostings[], scope: CandidateScope, start: number, end: number): void {
    const { evaluation } = scope;
    const inside = postings.filter(({ cursor }) => cursor.previousLast + 1 < end);
    const bounded = inside
      .map((entry) => ({ ...entry, bound: boundOf(entry, evaluation) }))
      .sort((left, right) => left.bound - right.bound);
    const tier = inside.some(({ term }) => term === this.#whole) ? 1 : 0;
    const mayEnter = (sum: number): boolean =>
      evaluation.couldEnter(tier, sum * recencyFactorMax * roundingFactor);
    let sum = 0;
    let firstEssential = 0;
    for (const [at, { bound }] of bounded.entries()) {
      sum += bound;
      if (!mayEnter(sum)) firstEssential = at + 1;
    }
    if (firstEssential === bounded.length) {
      this.skippedCount += 1;
      return;
    }
    // What could bring a chunk before others by its tier alone is always looked at.
    const isWholeInside = tier === 1;
    const essential = isWholeInside ? bounded : bounded.slice(firstEssential);
    for (const { cursor, term } of essential) this.#fill(cursor, term, start, end, 'mark');
    if (!isWholeInside && this.#isAnyMarked()) {
      for (const { cursor, term } of bounded.slice(0, firstEssential)) {
        this.#fill(cursor, term, start, end, 'marked-only');
      }
    }
    this.#offer(scope, start, end);
  }

  #isAnyMarked(): boolean {
    return this.#marks.some((word) => word !== 0);
  }

  /** Notes how often the chunks of the window hold a term. */
  #fill(
    cursor: BlockCursor,
    term: number,
    start: number,
    end: number,
    marking: 'mark' | 'marked-only',
  ): void {
    while (cursor.previousLast + 1 < end && cursor.count > 0) {
      cursor.decode();
      this.#fillBlock(cursor, term, start, end, marking);
      if (cursor.last >= end) return;
      cursor.next();
    }
  }

  #fillBlock(
    cursor: BlockCursor,
    term: number,
    start: number,
    end: number,
    marking: 'mark' | 'marked-only',
  ): void {
    const { ordinals, tfs, count } = cursor;
    const [matrix, marks, columns] = [this.#matrix, this.#marks, this.#columns];
    let at = cursor.used;
    for (; at < count; at += 1) {
      const slot = (ordinals[at] ?? 0) - start;
      if (slot < 0) continue;
      if (slot >= end - start) break;
      const [word, bit] = [slot >>> 5, 1 << (slot & 31)];
      if (marking === 'mark') marks[word] = (marks[word] ?? 0) | bit;
      else if (((marks[word] ?? 0) & bit) === 0) continue;
      matrix[slot * columns + term] = tfs[at] ?? 0;
    }
    cursor.used = at;
  }

  /** Offers what was marked, and forgets it. */
  #offer({ evaluation, base, presence }: CandidateScope, start: number, end: number): void {
    const marks = this.#marks;
    const wordsEnd = (end - start + 31) >>> 5;
    for (let word = 0; word < wordsEnd; word += 1) {
      for (let bits = marks[word] ?? 0; bits !== 0; bits &= bits - 1) {
        const slot = word * 32 + (31 - Math.clz32(bits & -bits));
        this.#take(slot);
        const ordinal = start + slot;
        if (presence !== null && presence[ordinal] === 0) continue;
        const holdsWhole = this.#whole !== -1 && (this.#tfs[this.#whole] ?? 0) > 0;
        evaluation.offer(base + ordinal, this.#tfs, holdsWhole);
      }
      marks[word] = 0;
    }
  }

  #take(slot: number): void {
    const [matrix, tfs, columns] = [this.#matrix, this.#tfs, this.#columns];
    for (let term = 0, at = slot * columns; term < columns; term += 1, at += 1) {
      tfs[term] = matrix[at] ?? 0;
      matrix[at] = 0;
    }
  }
}

/** The first ordinal from `start` on that any block may hold; infinite when none does. */
function nextOrdinal(postings: readonly TermPostings[], start: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { cursor } of postings) {
    cursor.skipTo(start);
    if (cursor.count > 0) next = Math.min(next, Math.max(start, cursor.previousLast + 1));
  }
  return next;
}

/** Behind the last ordinal of the block that ends first. */
function endOfBlocks(postings: readonly TermPostings[]): number {
  let end = Number.POSITIVE_INFINITY;
  for (const { cursor } of postings) end = Math.min(end, cursor.last + 1);
  return end;
}

/** What the term can add to the score of a chunk of the present block, at most. */
function boundOf({ cursor, term }: TermPostings, evaluation: Evaluation): number {
  const weight = evaluation.idfs[term] ?? 0;
  // A part is below idf · 2.2 however often the chunk holds the term.
  if (!Number.isFinite(cursor.tfMax)) return weight * 2.2;
  return partBound(weight, cursor.tfMax, cursor.lenMin, evaluation.averageLen);
}
