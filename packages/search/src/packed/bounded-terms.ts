import { partBound } from '../bm25.js';
import type { Evaluation } from '../evaluation.js';
import type { BlockCursor } from './block-cursor.js';
import type { TermWindow } from './term-window.js';

/**
 * The terms of a source in the order of what they can bring, the least first, once only the best are wanted. Those
 * that together could not bring a chunk in are not essential: they are looked up for chunks that others brought.
 */
export class BoundedTerms {
  readonly windows: readonly TermWindow[];
  /** Those before it cannot bring a chunk in together. */
  firstEssential = 0;
  readonly #evaluation: Evaluation;
  readonly #bounds: ReadonlyMap<TermWindow, number>;
  /** What the first terms can add together, whatever the chunk; one more than there are terms. */
  readonly #sums: readonly number[];
  readonly #hasWhole: boolean;
  /** How many need not be essential: what brings chunks before others is always looked at. */
  readonly #freeCount: number;

  /** `bounds`: the most that each term adds to a chunk. */
  constructor(
    windows: readonly TermWindow[],
    bounds: readonly number[],
    whole: number,
    evaluation: Evaluation,
  ) {
    this.#bounds = new Map(windows.map((window, at) => [window, bounds[at] ?? 0]));
    const rank = (window: TermWindow): number =>
      window.term === whole ? Number.POSITIVE_INFINITY : this.#boundOf(window);
    this.windows = [...windows].sort((left, right) => rank(left) - rank(right));
    const others = windows.filter(({ term }) => term !== whole);
    this.#hasWhole = others.length < windows.length;
    // Where the whole form is not scored, it adds up nothing by which the chunks that hold it would be found.
    const isWholeScored = whole < evaluation.idfs.length;
    this.#freeCount = this.#hasWhole && !isWholeScored ? 0 : others.length;
    this.#evaluation = evaluation;
    let sum = 0;
    this.#sums = [0, ...this.windows.map((window) => (sum += this.#boundOf(window)))];
  }

  /** Finds the first essential term again: scores that are to be beaten only rise. `factor`: see `isWanted`. */
  findEssential(factor: number): void {
    const floor = this.#evaluation.floor(0);
    for (; this.firstEssential < this.#freeCount; this.firstEssential += 1) {
      const sum = this.#sums[this.firstEssential + 1] ?? 0;
      if (sum * factor >= floor) return;
    }
  }

  /** What the terms before `count` can add together. */
  sumBefore(count: number): number {
    return this.#sums[count] ?? 0;
  }

  /**
   * Says of blocks of a term whether any chunk in them could enter, whatever other terms it holds. `factorUpTo`: the
   * most that a chunk can score for each unit of its parts, of those from the window on up to an ordinal: a block may
   * reach into windows whose chunks are newer, and is passed once.
   */
  isWanted(window: TermWindow, factorUpTo: (last: number) => number): (block: BlockCursor) => boolean {
    const evaluation = this.#evaluation;
    const weight = evaluation.idfs[window.term] ?? 0;
    const others = this.sumBefore(this.windows.length) - this.#boundOf(window);
    const floor = evaluation.floor(this.#hasWhole ? 1 : 0);
    return ({ tfMax, lenMin, last }) =>
      (partBound(weight, tfMax, lenMin, evaluation.averageLen) + others) * factorUpTo(last) >= floor;
  }

  #boundOf(window: TermWindow): number {
    return this.#bounds.get(window) ?? 0;
  }
}

/** The most that a term adds to any chunk of its blocks, which are gone through without their postings. */
export function boundOfTerm(blocks: BlockCursor, term: number, { idfs, averageLen }: Evaluation): number {
  const weight = idfs[term] ?? 0;
  let bound = 0;
  for (; blocks.count > 0; blocks.next()) {
    bound = Math.max(bound, partBound(weight, blocks.tfMax, blocks.lenMin, averageLen));
  }
  return bound;
}
