import { partBound } from '../bm25.js';
import { type Evaluation, scoreBoundOf } from '../evaluation.js';
import type { BlockCursor } from './postings.js';

/** How many ordinals are looked at together. */
const windowChunks = 4_096;

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
  /** What its chunks can be to the filters: see `Evaluation.couldEnter`. */
  readonly among: 'anything' | 'matches';
  /** By ordinal: 0 for chunks that are not to be offered; null when all are. */
  readonly presence: Uint8Array | null;
}

/**
 * Offers the chunks of sources that hold any term, source by source. Ordinals are gone through in windows, term by
 * term, so that no posting costs more than a store.
 *
 * Once counts cannot change any more, most are left out. Terms that together could not bring a chunk in are only looked
 * up for chunks that others brought; of the others a window is what lies within one block of each, and is skipped where
 * the bounds of its blocks say that nothing in it can enter.
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
    const { evaluation, among } = scope;
    let start = from;
    // A bound of nothing can enter as long as something is still counted.
    while (start < to && evaluation.couldEnter(0, 0, among)) {
      start = nextOrdinal(postings, 0, start);
      if (start >= to) return;
      const end = Math.min(start + windowChunks, to);
      for (const { cursor, term } of postings) this.#fill(cursor, term, start, end);
      this.#offer(scope, start, end);
      start = end;
    }
    if (start < to) this.#runPruned(new BoundedPostings(postings, this.#whole, scope), scope, start, to);
  }

  #runPruned(bounded: BoundedPostings, scope: CandidateScope, from: number, to: number): void {
    const { postings } = bounded;
    for (let start = from; start < to; ) {
      bounded.findEssential();
      start = nextOrdinal(postings, bounded.firstEssential, start);
      if (start >= to) return;
      const end = Math.min(start + windowChunks, to, endOfBlocks(postings, bounded.firstEssential));
      if (bounded.couldEnterBefore(end)) this.#essential(bounded, scope, start, end);
      else this.skippedCount += 1;
      start = end;
    }
  }

  #essential(bounded: BoundedPostings, scope: CandidateScope, start: number, end: number): void {
    const { postings, firstEssential } = bounded;
    for (let at = firstEssential; at < postings.length; at += 1) {
      const entry = postings[at];
      if (entry !== undefined) this.#fill(entry.cursor, entry.term, start, end);
    }
    for (let at = 0; at < firstEssential; at += 1) {
      const entry = postings[at];
      if (entry !== undefined) this.#lookUp(entry.cursor, entry.term, start, end);
    }
    this.#offer(scope, start, end);
  }

  /** Notes how often the chunks of the window hold a term, and marks them. */
  #fill(cursor: BlockCursor, term: number, start: number, end: number): void {
    while (cursor.previousLast + 1 < end && cursor.count > 0) {
      cursor.decode();
      this.#fillBlock(cursor, term, start, end);
      if (cursor.last >= end) return;
      cursor.next();
    }
  }

  #fillBlock(cursor: BlockCursor, term: number, start: number, end: number): void {
    const { ordinals, tfs, count } = cursor;
    const [matrix, marks, columns] = [this.#matrix, this.#marks, this.#columns];
    let at = cursor.used;
    for (; at < count; at += 1) {
      const slot = (ordinals[at] ?? 0) - start;
      if (slot < 0) continue;
      if (slot >= end - start) break;
      marks[slot >>> 5] = (marks[slot >>> 5] ?? 0) | (1 << (slot & 31));
      matrix[slot * columns + term] = tfs[at] ?? 0;
    }
    cursor.used = at;
  }

  /** Notes how often the chunks that are marked hold a term. Blocks that hold none of them are not read. */
  #lookUp(cursor: BlockCursor, term: number, start: number, end: number): void {
    const marks = this.#marks;
    const wordsEnd = (end - start + 31) >>> 5;
    for (let word = 0; word < wordsEnd; word += 1) {
      for (let bits = marks[word] ?? 0; bits !== 0; bits &= bits - 1) {
        const slot = word * 32 + (31 - Math.clz32(bits & -bits));
        const tf = tfAt(cursor, start + slot);
        if (tf > 0) this.#matrix[slot * this.#columns + term] = tf;
      }
    }
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

/** How often a chunk holds the term; ordinals are asked for in their order. */
function tfAt(cursor: BlockCursor, ordinal: number): number {
  cursor.skipTo(ordinal);
  if (cursor.count === 0 || cursor.previousLast >= ordinal) return 0;
  cursor.decode();
  const { ordinals } = cursor;
  while (cursor.used < cursor.count && (ordinals[cursor.used] ?? 0) < ordinal) cursor.used += 1;
  return ordinals[cursor.used] === ordinal && cursor.used < cursor.count ? (cursor.tfs[cursor.used] ?? 0) : 0;
}

/** The first ordinal from `start` on that a block of any may hold; infinite when none does. */
function nextOrdinal(postings: readonly TermPostings[], first: number, start: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (let at = first; at < postings.length; at += 1) {
    const cursor = postings[at]?.cursor;
    if (cursor === undefined) continue;
    cursor.skipTo(start);
    if (cursor.count > 0) next = Math.min(next, Math.max(start, cursor.previousLast + 1));
  }
  return next;
}

/** Behind the last ordinal of the block that ends first. */
function endOfBlocks(postings: readonly TermPostings[], first: number): number {
  let end = Number.POSITIVE_INFINITY;
  for (let at = first; at < postings.length; at += 1) {
    end = Math.min(end, (postings[at]?.cursor.last ?? end) + 1);
  }
  return end;
}

/** Terms in the order of what they can bring, the least first. */
class BoundedPostings {
  readonly postings: readonly TermPostings[];
  /** Those before it cannot bring a chunk in together. */
  firstEssential = 0;
  readonly #whole: number;
  readonly #scope: CandidateScope;
  /** What the first terms can add together, whatever the chunk. */
  readonly #sums: readonly number[];
  /** How many there are but the whole form: what brings chunks before others is always looked at. */
  readonly #othersCount: number;

  constructor(postings: readonly TermPostings[], whole: number, scope: CandidateScope) {
    const { idfs } = scope.evaluation;
    // A part is below idf · 2.2 however often the chunk holds the term.
    const most = ({ term }: TermPostings): number =>
      term === whole ? Number.POSITIVE_INFINITY : (idfs[term] ?? 0) * 2.2;
    this.postings = [...postings].sort((left, right) => most(left) - most(right));
    this.#othersCount = postings.filter(({ term }) => term !== whole).length;
    this.#whole = whole;
    this.#scope = scope;
    let sum = 0;
    this.#sums = this.postings.map((entry) => {
      sum += most(entry);
      return sum;
    });
  }

  /** Finds the first essential term again: scores that are to be beaten only rise. */
  findEssential(): void {
    const { evaluation, among } = this.#scope;
    for (; this.firstEssential < this.#othersCount; this.firstEssential += 1) {
      const sum = this.#sums[this.firstEssential] ?? 0;
      if (evaluation.couldEnter(0, scoreBoundOf(sum), among)) return;
    }
  }

  /** Whether any chunk before `end` could: it lies in the present block of each essential term, or in none of it. */
  couldEnterBefore(end: number): boolean {
    const { evaluation, among } = this.#scope;
    let sum = this.firstEssential === 0 ? 0 : (this.#sums[this.firstEssential - 1] ?? 0);
    let tier: 0 | 1 = 0;
    for (let at = this.firstEssential; at < this.postings.length; at += 1) {
      const entry = this.postings[at];
      if (entry === undefined || entry.cursor.previousLast + 1 >= end) continue;
      sum += boundOf(entry, evaluation);
      if (entry.term === this.#whole) tier = 1;
    }
    return evaluation.couldEnter(tier, scoreBoundOf(sum), among);
  }
}

/** What the term can add to the score of a chunk of the present block, at most. */
function boundOf({ cursor, term }: TermPostings, evaluation: Evaluation): number {
  const weight = evaluation.idfs[term] ?? 0;
  if (!Number.isFinite(cursor.tfMax)) return weight * 2.2;
  return partBound(weight, cursor.tfMax, cursor.lenMin, evaluation.averageLen);
}
