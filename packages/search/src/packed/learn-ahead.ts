import { lengthNorm, normedPart } from '../bm25.js';
import type { Evaluation } from '../evaluation.js';
import { recencyFactor } from '../recency.js';
import { type BlockCursor, PostingBuffer } from './block-cursor.js';
import type { FoundTerm } from './packed-query.js';
import { timeOf } from './query-table.js';
import { presences, type SourceView } from './source-view.js';

/** So many postings of one term are looked at before all others. */
const postingsMax = 1_024;

/**
 * Tells an evaluation what is known before all chunks are gone through, so that most of them need not be: how many
 * match at least, and what a chunk must score to be among the best, for so many score that by the rarest term alone.
 * All chunks of the views must match.
 */
export function learnAhead(
  found: readonly FoundTerm[],
  views: readonly SourceView[],
  evaluation: Evaluation,
  nowMs: number,
): void {
  for (const { df } of found) evaluation.knowMatches(df);
  if (evaluation.isCounting('matches')) return;
  const rarest = rarestOf(found, evaluation);
  const best = new LargestParts(evaluation.floorChunks);
  let left = postingsMax;
  for (const [at, view] of views.entries()) {
    const cursor = found[rarest]?.cursors[at]?.() ?? null;
    if (cursor !== null)
      left = offerParts(
        { view, cursor, weight: evaluation.idfs[rarest] ?? 0 },
        evaluation.averageLen,
        left,
        best,
      );
  }
  const floor = best.floor(({ source }, ordinal) => recencyFactor(timeOf(source, ordinal), nowMs));
  if (floor !== null) evaluation.knowFloor(floor);
}

/** The term that adds most to a chunk, of those that are in as many as are wanted; -1 when none is. */
function rarestOf(found: readonly FoundTerm[], { idfs, floorChunks }: Evaluation): number {
  let rarest = -1;
  for (const [term, { df }] of found.entries()) {
    if (df >= floorChunks && (idfs[term] ?? 0) > (idfs[rarest] ?? 0)) rarest = term;
  }
  return rarest;
}

interface TermIn {
  readonly view: SourceView;
  readonly cursor: BlockCursor;
  readonly weight: number;
}

/** Offers what a term adds to the chunks of a view, of so many postings at most; returns how many are left to look at. */
function offerParts(
  { view, cursor, weight }: TermIn,
  averageLen: number,
  most: number,
  best: LargestParts,
): number {
  const { source, presence } = view;
  const lens = source.lens().values;
  const block = new PostingBuffer();
  let left = most;
  for (; cursor.count > 0 && left > 0; cursor.next()) {
    block.read(cursor, 0);
    left -= cursor.count;
    for (let posting = 0; posting < cursor.count; posting += 1) {
      const ordinal = block.ordinals[posting] ?? 0;
      if (presence !== null && presence[ordinal] !== presences.there) continue;
      const norm = lengthNorm(lens[ordinal] ?? 0, averageLen);
      best.offer(normedPart(weight, block.tfs[posting] ?? 0, norm), view, ordinal);
    }
  }
  return left;
}

interface FoundPart {
  readonly part: number;
  readonly view: SourceView;
  readonly ordinal: number;
}

/** The largest parts that were offered, the smallest last. */
class LargestParts {
  readonly #capacity: number;
  readonly #found: FoundPart[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  offer(part: number, view: SourceView, ordinal: number): void {
    const found = this.#found;
    if (found.length === this.#capacity) {
      if (part <= (found.at(-1)?.part ?? 0)) return;
      found.pop();
    }
    let at = found.length;
    while (at > 0 && (found[at - 1]?.part ?? 0) < part) at -= 1;
    found.splice(at, 0, { part, view, ordinal });
  }

  /** What all of them score at least; null when they are fewer than are wanted. */
  floor(factorOf: (view: SourceView, ordinal: number) => number): number | null {
    if (this.#found.length < this.#capacity) return null;
    return Math.min(...this.#found.map(({ part, view, ordinal }) => part * factorOf(view, ordinal)));
  }
}
