import { lexicalScore, normedPart } from '../bm25.js';
import type { Evaluation, TermCounts } from '../evaluation.js';
import type { FilterVerdict } from '../filters.js';
import { type BlockCursor, PostingBuffer } from './block-cursor.js';
import { BoundedTerms, boundOfTerm } from './bounded-terms.js';
import type { ChunkLens } from './chunk-source.js';
import { NormTable } from './norm-table.js';
import { type SourceFacts, timeBlockChunks } from './source-facts.js';
import { TermWindow } from './term-window.js';

/** How many ordinals are looked at together: few before anything may be left out, then more and more. */
const windowChunks = 32_768;
const firstWindowChunks = 4_096;

/** A posting that is passed over costs so much less than one that is read and added. */
const sparseness = 8;

/** The postings of one term in one source, by its number in the plan. */
export interface TermPostings {
  /** Goes through them from the first one on. */
  readonly cursor: () => BlockCursor;
  readonly term: number;
}

/** Where candidates are offered: chunks of one source. */
export interface CandidateScope {
  readonly evaluation: Evaluation;
  /** What is added to an ordinal to name the chunk. */
  readonly base: number;
  /** What its chunks can be to the filters: see `Evaluation.isCounting`. */
  readonly among: 'anything' | 'matches';
  /** By ordinal: 0 for chunks that are not to be offered; null when all are. */
  readonly presence: Uint8Array | null;
  /** What the filters say of a chunk; null when all match. */
  readonly judge: ((ordinal: number) => FilterVerdict) | null;
  readonly lens: ChunkLens;
  readonly facts: Pick<SourceFacts, 'newestIn'>;
}

/**
 * Offers the chunks of sources that hold any term, source by source. Ordinals are gone through in windows, term by
 * term in the order of the plan: each posting adds its part to the sum of its chunk, so that a sum is rounded as the
 * score is that adds the parts of one chunk.
 *
 * Once counts cannot change any more, most are left out. Terms that together could not bring a chunk in are only looked
 * up for chunks that others brought, and of the others blocks are not read whose bounds say that nothing in them can
 * enter. Sums are estimates then: what passes is summed again.
 *
 * One scan serves one query after the other.
 */
export class CandidateScan implements TermCounts {
  #sums = new Float64Array(0);
  /** Slots of the window whose sum is not 0. */
  #touched = new Uint32Array(0);
  #touchedCount = 0;
  #wantedOrdinals = new Uint32Array(0);
  /** By slot: 1 for chunks that hold the whole form. */
  #wholes = new Uint8Array(0);
  readonly #norms = new NormTable();
  readonly #buffers: PostingBuffer[] = [];
  #windows: readonly TermWindow[] = [];
  #ordinal = 0;
  #termCount = 0;
  #whole = -1;
  #windowChunks = firstWindowChunks;
  /** Blocks that were left out, for those who count. */
  skippedCount = 0;

  /** `whole`: number of the term whose chunks come first; -1 when there is none. */
  begin(termCount: number, whole: number): void {
    this.#termCount = termCount;
    this.#whole = whole;
  }

  /** Looks at the ordinals in `ranges`, `[from, to)` each, which rise. */
  run(
    postings: readonly TermPostings[],
    scope: CandidateScope,
    ranges: readonly (readonly [from: number, to: number])[],
  ): void {
    this.#windows = postings.map(
      ({ cursor, term }, at) => new TermWindow(cursor(), term, this.#bufferAt(at)),
    );
    this.#reserve(Math.min(windowChunks, scope.lens.values.length));
    this.#norms.fill(scope.evaluation.averageLen, scope.lens.max);
    this.#windowChunks = firstWindowChunks;
    let bounded: BoundedTerms | null = null;
    for (const [from, to] of ranges) {
      const start = this.#runExhaustive(scope, from, to);
      if (start >= to) continue;
      bounded ??= this.#bound(postings, scope.evaluation);
      this.#runPruned(bounded, scope, start, to);
    }
  }

  /** How often the chunk that is offered holds each term. */
  copy(): readonly number[] {
    const tfs: number[] = [];
    for (let term = 0; term < this.#termCount; term += 1) tfs.push(0);
    for (const window of this.#windows) {
      if (window.term < this.#termCount) tfs[window.term] = window.tfOf(this.#ordinal);
    }
    return tfs;
  }

  /** Bytes of the arrays that it holds. */
  get byteLength(): number {
    const own = [
      this.#sums,
      this.#touched,
      this.#wantedOrdinals,
      this.#wholes,
      this.#norms,
      ...this.#buffers,
    ];
    return own.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Makes room for windows of so many chunks. Nothing is in them between two runs. */
  #reserve(chunkCount: number): void {
    if (chunkCount <= this.#sums.length) return;
    this.#sums = new Float64Array(chunkCount);
    this.#touched = new Uint32Array(chunkCount);
    this.#wantedOrdinals = new Uint32Array(chunkCount);
    this.#wholes = new Uint8Array(chunkCount);
  }

  #bound(postings: readonly TermPostings[], evaluation: Evaluation): BoundedTerms {
    const bounds = postings.map(({ cursor, term }) => boundOfTerm(cursor(), term, evaluation));
    return new BoundedTerms(this.#windows, bounds, this.#whole, evaluation);
  }

  #bufferAt(at: number): PostingBuffer {
    const buffer = this.#buffers[at] ?? new PostingBuffer();
    this.#buffers[at] = buffer;
    return buffer;
  }

  /** Looks at all chunks as long as any of them is counted; returns where that ended. */
  #runExhaustive(scope: CandidateScope, from: number, to: number): number {
    const { evaluation, among } = scope;
    let start = from;
    while (start < to && !evaluation.isEnded && evaluation.isCounting(among)) {
      start = firstOrdinal(this.#windows, 0, start);
      if (start >= to) return to;
      const end = this.#endOfWindow(start, to);
      for (const window of this.#windows) {
        window.fill(start, end, null);
        this.#add(window, scope, start);
      }
      evaluation.passes(this.#touchedCount);
      this.#offer(scope, start, end);
      start = end;
    }
    return start;
  }

  #endOfWindow(start: number, to: number): number {
    // Where blocks of times end, so that few take part.
    const end = Math.min(start + this.#windowChunks - (start % timeBlockChunks), to);
    this.#windowChunks = Math.min(2 * this.#windowChunks, windowChunks);
    return end;
  }

  /** Adds what a term brings to the chunks of the window. */
  #add(window: TermWindow, { evaluation, lens }: CandidateScope, start: number): void {
    const { ordinals, tfs, from, to, term } = window;
    if (term === this.#whole) this.#markWhole(window, start, 1);
    if (term >= this.#termCount) return;
    const weight = evaluation.idfs[term] ?? 0;
    const [sums, touched, norms, lengths] = [this.#sums, this.#touched, this.#norms.values, lens.values];
    let count = this.#touchedCount;
    for (let at = from; at < to; at += 1) {
      const ordinal = ordinals[at] ?? 0;
      const slot = ordinal - start;
      const sum = sums[slot] ?? 0;
      if (sum === 0) {
        touched[count] = slot;
        count += 1;
      }
      sums[slot] = sum + normedPart(weight, tfs[at] ?? 0, norms[lengths[ordinal] ?? 0] ?? 0);
    }
    this.#touchedCount = count;
  }

  #markWhole({ ordinals, from, to }: TermWindow, start: number, mark: 0 | 1): void {
    for (let at = from; at < to; at += 1) this.#wholes[(ordinals[at] ?? 0) - start] = mark;
  }

  /** Offers what was added up, or counts it, and forgets it. */
  #offer(scope: CandidateScope, start: number, end: number): void {
    const { evaluation, presence, judge, facts } = scope;
    const factor = evaluation.boundFactor(facts.newestIn(start, end));
    const [sums, touched, wholes] = [this.#sums, this.#touched, this.#wholes];
    const { isOnlyCounted } = evaluation;
    let [floor, wholeFloor] = [evaluation.floor(0), evaluation.floor(1)];
    for (let at = 0; at < this.#touchedCount; at += 1) {
      const slot = touched[at] ?? 0;
      const lexical = sums[slot] ?? 0;
      sums[slot] = 0;
      if (presence !== null && presence[start + slot] === 0) continue;
      const verdict = judge === null ? 'match' : judge(start + slot);
      const isBelow = lexical > 0 && lexical * factor < (wholes[slot] === 1 ? wholeFloor : floor);
      if (isOnlyCounted && (isBelow || verdict !== 'match')) {
        evaluation.count(verdict);
        continue;
      }
      this.#offerSlot(scope, verdict, start, slot, lexical);
      floor = evaluation.floor(0);
      wholeFloor = evaluation.floor(1);
    }
    this.#forget(start);
  }

  #offerSlot(
    { evaluation, base }: CandidateScope,
    verdict: FilterVerdict,
    start: number,
    slot: number,
    lexical: number,
  ): void {
    if (verdict === 'no') return;
    this.#ordinal = start + slot;
    const tier = this.#tierOf(slot);
    evaluation.offerSummed({ chunk: base + start + slot, verdict, tier, lexical }, this);
  }

  #tierOf(slot: number): 0 | 1 {
    return this.#wholes[slot] === 1 ? 1 : 0;
  }

  #forget(start: number): void {
    this.#touchedCount = 0;
    for (const window of this.#windows) if (window.term === this.#whole) this.#markWhole(window, start, 0);
  }

  #runPruned(bounded: BoundedTerms, scope: CandidateScope, from: number, to: number): void {
    const { evaluation, facts } = scope;
    const factor = evaluation.boundFactor(facts.newestIn(from, to));
    for (let start = from; start < to && !evaluation.isEnded; ) {
      bounded.findEssential(factor);
      const { windows, firstEssential } = bounded;
      start = firstOrdinal(windows, firstEssential, start);
      if (start >= to) return;
      const end = this.#endOfWindow(start, to);
      const factorOf = factorsFrom(scope, start, end);
      for (let at = firstEssential; at < windows.length; at += 1) {
        const window = windows[at];
        if (window === undefined) continue;
        this.skippedCount += window.fill(start, end, bounded.isWanted(window, factorOf));
        this.#add(window, scope, start);
      }
      this.#offerBounded(bounded, scope, start, end, factorOf(end - 1));
      start = end;
    }
  }

  /**
   * Offers the chunks of the window that could enter. The other terms are added one by one, those that bring most
   * first, and what cannot enter with what is left of them goes.
   */
  #offerBounded(
    bounded: BoundedTerms,
    scope: CandidateScope,
    start: number,
    end: number,
    factor: number,
  ): void {
    const floors = [scope.evaluation.floor(0), scope.evaluation.floor(1)];
    let count = this.#keep(this.#touchedCount, bounded.sumBefore(bounded.firstEssential), factor, floors);
    for (let at = bounded.firstEssential - 1; at >= 0; at -= 1) {
      const window = bounded.windows[at];
      if (window === undefined) continue;
      this.#addToTouched(window, scope, start, end, count);
      count = this.#keep(count, bounded.sumBefore(at), factor, floors);
    }
    for (let at = 0; at < count; at += 1) {
      const slot = this.#touched[at] ?? 0;
      const bound = (this.#sums[slot] ?? 0) * factor;
      this.#sums[slot] = 0;
      // What was offered before has raised the floor.
      if (bound >= scope.evaluation.floor(this.#tierOf(slot))) this.#offerAgain(scope, start, slot);
    }
    this.#forget(start);
  }

  /** Keeps those of the first `count` that could enter if `others` were added; returns how many they are. */
  #keep(count: number, others: number, factor: number, floors: readonly number[]): number {
    const [sums, touched, wholes] = [this.#sums, this.#touched, this.#wholes];
    let kept = 0;
    for (let at = 0; at < count; at += 1) {
      const slot = touched[at] ?? 0;
      if (((sums[slot] ?? 0) + others) * factor < (floors[wholes[slot] ?? 0] ?? 0)) {
        sums[slot] = 0;
        continue;
      }
      touched[kept] = slot;
      kept += 1;
    }
    return kept;
  }

  /** Adds what a term brings to the first `count` that were touched, and to no others. */
  #addToTouched(
    window: TermWindow,
    { evaluation, lens }: CandidateScope,
    start: number,
    end: number,
    count: number,
  ): void {
    const weight = evaluation.idfs[window.term] ?? 0;
    const [sums, norms, lengths] = [this.#sums, this.#norms.values, lens.values];
    const expected = (window.cursor.df * (end - start)) / lengths.length;
    if (count * sparseness < expected) window.seek(start, end, this.#wanted(start, count));
    else window.fill(start, end, null);
    const { ordinals, tfs, from, to } = window;
    for (let at = from; at < to; at += 1) {
      const ordinal = ordinals[at] ?? 0;
      const sum = sums[ordinal - start] ?? 0;
      if (sum === 0) continue;
      sums[ordinal - start] = sum + normedPart(weight, tfs[at] ?? 0, norms[lengths[ordinal] ?? 0] ?? 0);
    }
  }

  /** The ordinals of the first `count` that were touched, rising. */
  #wanted(start: number, count: number): Uint32Array {
    const wanted = this.#wantedOrdinals.subarray(0, count);
    for (let at = 0; at < count; at += 1) wanted[at] = start + (this.#touched[at] ?? 0);
    return wanted.sort();
  }

  /** Offers a chunk whose sum is an estimate: its parts are added again, in the order of the plan. */
  #offerAgain(scope: CandidateScope, start: number, slot: number): void {
    const { evaluation, presence, judge, lens } = scope;
    const ordinal = start + slot;
    if (presence !== null && presence[ordinal] === 0) return;
    const verdict = judge === null ? 'match' : judge(ordinal);
    this.#ordinal = ordinal;
    const len = lens.values[ordinal] ?? 0;
    const lexical = lexicalScore(evaluation.idfs, this.copy(), len, evaluation.averageLen);
    this.#offerSlot(scope, verdict, start, slot, lexical);
  }
}

/**
 * The most that a chunk can score for each unit of its parts, of those from `start` up to an ordinal. It is the same for
 * all that lie before `end`.
 */
function factorsFrom(
  { evaluation, facts }: CandidateScope,
  start: number,
  end: number,
): (last: number) => number {
  const factor = evaluation.boundFactor(facts.newestIn(start, end));
  return (last) => (last < end ? factor : evaluation.boundFactor(facts.newestIn(start, last + 1)));
}

/** The first ordinal from `start` on that any of the terms from `first` on may hold; infinite when none does. */
function firstOrdinal(windows: readonly TermWindow[], first: number, start: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (let at = first; at < windows.length; at += 1) {
    next = Math.min(next, windows[at]?.next(start) ?? next);
  }
  return next;
}
