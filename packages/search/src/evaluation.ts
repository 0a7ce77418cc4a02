import { limits } from '@turnlog/kernel';
import { averageLen, type CorpusStats, idf, lexicalScore } from './bm25.js';
import type { ChunkFields, ChunkKey } from './chunk.js';
import { FacetCounts, type Facets } from './facets.js';
import type { FilterVerdict } from './filters.js';
import type { QueryPlan } from './query-plan.js';
import { recencyBound, recencyFactor, recencyFactorMax } from './recency.js';
import { compareSortKeys, type SortKey } from './sort-key.js';

/**
 * Turns candidates into an answer: one place for scores, filters, counts and order, so that every engine that offers
 * the same chunks gives the same answer. An engine may leave a candidate out only where `couldEnter` says that it
 * would change nothing.
 */

/** What an engine knows of its chunks, each named by a number of its own. */
export interface ChunkTable {
  /** Tokens of the chunk. */
  len(chunk: number): number;
  /** Milliseconds since the epoch; null when unknown. */
  tsMs(chunk: number): number | null;
  key(chunk: number): ChunkKey;
  fields(chunk: number): ChunkFields;
  /** What the plan's filters say of it. */
  judge(chunk: number): FilterVerdict;
  /** Everything of the session that facets name. */
  workspaces(chunk: number): readonly string[];
}

/** The state of the corpus that is asked. */
export interface QueryStatistics extends CorpusStats {
  /** For each term of the plan, in how many live chunks it occurs. */
  readonly dfs: readonly number[];
}

/** Whether a chunk holds the required phrases of the plan and none of the excluded ones, by its text. */
export type TextVerdict = (key: ChunkKey) => boolean;

/** How often each term of the plan occurs in a chunk, for whoever keeps it. */
export interface TermCounts {
  copy(): readonly number[];
}

/** A chunk whose parts have been added, in the order of the plan. */
export interface SummedChunk {
  readonly chunk: number;
  readonly verdict: FilterVerdict;
  readonly tier: 0 | 1;
  readonly lexical: number;
}

export interface ScoredChunk extends SortKey {
  readonly chunk: number;
  readonly lexical: number;
  readonly recency: number;
  readonly len: number;
  /** How often each term of the plan occurs in it. */
  readonly tfs: readonly number[];
  /** Matches of its session, where only the best of each is given; else null. */
  readonly hitsInSession: number | null;
}

/** A count that stops at a limit unless everything is counted. */
export interface Total {
  readonly value: number;
  readonly relation: 'eq' | 'gte';
}

/** How many chunks are looked at before the time is looked at again. */
const offersPerLook = 256;

/** For whoever gives no end to a query. */
export const neverOver = (): boolean => false;

export interface RankedChunks {
  readonly hits: readonly ScoredChunk[];
  /** Whether more hits follow the last one. */
  readonly hasMore: boolean;
  readonly total: Total;
  readonly hiddenMatches: Total;
  readonly unknownTime: Total;
  /** Null unless they were asked for. */
  readonly facets: Facets | null;
  /** Whether time was over before all candidates had been looked at: every count is of some of them. */
  readonly isPartial: boolean;
}

export class Evaluation {
  readonly #plan: QueryPlan;
  readonly #table: ChunkTable;
  readonly #textVerdict: TextVerdict | null;
  readonly #idfs: readonly number[];
  readonly #averageLen: number;
  readonly #best: Best;
  readonly #facets: FacetCounts | null;
  readonly #sessions: Map<string, { best: ScoredChunk; hits: number }> | null;
  /** Whether nothing is wanted of most matches but that there are some. */
  readonly #isCountEnough: boolean;
  /** Whether a match that is not among the best is counted and nothing else. */
  readonly #isPlainMatch: boolean;
  readonly #isOver: () => boolean;
  /** Whether time is over: what is offered from then on changes nothing, and nothing need be. */
  #isEnded: boolean;
  #offersToLook = offersPerLook;
  #matches = 0;
  #hidden = 0;
  #unknownTime = 0;

  /** `textVerdict` is asked only where the plan has phrases. */
  constructor(
    plan: QueryPlan,
    statistics: QueryStatistics,
    table: ChunkTable,
    textVerdict: TextVerdict,
    dayOf: (tsMs: number | null) => string,
    isOver: () => boolean = neverOver,
  ) {
    this.#isOver = isOver;
    this.#isEnded = isOver();
    this.#plan = plan;
    this.#table = table;
    this.#textVerdict = plan.required.length + plan.excluded.length === 0 ? null : textVerdict;
    this.#idfs = statistics.dfs.map((df) => idf(df, statistics.chunkCount));
    this.#averageLen = averageLen(statistics);
    // One more than is wanted tells whether there is a next page.
    this.#best = new Best(plan.limit + 1);
    this.#facets = plan.facets === 'counted' ? new FacetCounts(dayOf) : null;
    this.#sessions = plan.group === 'session' ? new Map() : null;
    this.#isCountEnough = plan.counting === 'saturating' && plan.facets === 'none' && plan.group === 'none';
    this.#isPlainMatch = this.#textVerdict === null && this.#facets === null && this.#sessions === null;
  }

  /** Weight of each term. */
  get idfs(): readonly number[] {
    return this.#idfs;
  }

  get averageLen(): number {
    return this.#averageLen;
  }

  /** The most that chunks that are no newer can score for each unit that their parts sum to. */
  boundFactor(newestMs: number): number {
    return recencyBound(newestMs, this.#plan.nowMs) * roundingFactor;
  }

  /** Whether time is over, so that nothing more need be offered. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Whether a chunk of this tier with at most `scoreBound` could still change the answer. Engines that skip
   * candidates ask this and nothing else. `among` says what is known of the candidates: `matches` where none of them
   * can be hidden or of unknown time, so that only matches are counted.
   */
  couldEnter(tier: 0 | 1, scoreBound: number, among: 'anything' | 'matches' = 'anything'): boolean {
    if (this.#isEnded) return false;
    if (!this.#isSaturated(among)) return true;
    return this.#best.last === null || this.#best.wants(tier, scoreBound);
  }

  /** Whether no count can change any more: only then candidates may be skipped. */
  #isSaturated(among: 'anything' | 'matches'): boolean {
    if (!this.#isCountEnough || this.#matches <= limits.searchTotalMax) return false;
    const { filters } = this.#plan;
    const isTimeAsked = filters.sinceMs !== null || filters.untilMs !== null;
    const isHiddenAsked = filters.hidden === 'left-out';
    return (
      among === 'matches' ||
      ((!isTimeAsked || this.#unknownTime > limits.searchTotalMax) &&
        (!isHiddenAsked || this.#hidden > limits.searchTotalMax))
    );
  }

  /** Takes one chunk that holds at least one term; `tfs` may be overwritten afterwards. */
  offer(chunk: number, tfs: ArrayLike<number>, holdsWhole: boolean): void {
    if (this.passes(1)) return;
    const verdict = this.#table.judge(chunk);
    if (verdict === 'no') return;
    const lexical = lexicalScore(this.#idfs, tfs, this.#table.len(chunk), this.#averageLen);
    const tier = holdsWhole ? 1 : 0;
    if (this.isOnlyCounted && lexical > 0 && !this.#mayBeBest(verdict, tier, lexical)) {
      this.count(verdict);
      return;
    }
    this.#offerSummed({ chunk, verdict, tier, lexical }, { copy: () => firstOf(tfs, this.#idfs.length) });
  }

  /** Notes that so many chunks are looked at, and now and then the time; returns whether it is over. */
  passes(chunkCount: number): boolean {
    this.#offersToLook -= chunkCount;
    if (this.#offersToLook > 0) return this.#isEnded;
    this.#offersToLook = offersPerLook;
    this.#isEnded ||= this.#isOver();
    return this.#isEnded;
  }

  /** Whether a chunk that holds a term, and cannot be among the best, is counted and nothing else. */
  get isOnlyCounted(): boolean {
    return this.#isPlainMatch && this.#plan.minScore <= 0;
  }

  /** What a chunk of this tier must score at least to be among the best; anything while there is room. */
  floor(tier: 0 | 1): number {
    const { last } = this.#best;
    if (last === null || tier > last.tier) return Number.NEGATIVE_INFINITY;
    return tier === last.tier ? last.score : Number.POSITIVE_INFINITY;
  }

  /** Counts a chunk that cannot be among the best; only where `isOnlyCounted`. */
  count(verdict: FilterVerdict): void {
    if (verdict === 'match') this.#matches += 1;
    else if (verdict === 'hidden') this.#hidden += 1;
    else if (verdict === 'unknown-time') this.#unknownTime += 1;
  }

  /** Takes one chunk that holds at least one term and may match; `counts` are asked for only if it is kept. */
  offerSummed(summed: SummedChunk, counts: TermCounts): void {
    if (!this.passes(1)) this.#offerSummed(summed, counts);
  }

  #offerSummed({ chunk, verdict, tier, lexical }: SummedChunk, counts: TermCounts): void {
    const recency = recencyFactor(this.#table.tsMs(chunk), this.#plan.nowMs);
    const score = lexical * recency;
    if (score < this.#plan.minScore || !(score > 0)) return;
    if (this.#textVerdict !== null && !this.#holdsPhrases(chunk, this.#textVerdict)) return;
    this.count(verdict);
    if (verdict === 'match') this.#take(chunk, { lexical, recency, score, tier }, counts);
  }

  /** A text is read for it, which takes longer than all else: so the time is looked at before each. */
  #holdsPhrases(chunk: number, textVerdict: TextVerdict): boolean {
    return !this.passes(offersPerLook) && textVerdict(this.#table.key(chunk));
  }

  #mayBeBest(verdict: FilterVerdict, tier: 0 | 1, lexical: number): boolean {
    return verdict === 'match' && scoreBoundOf(lexical) >= this.floor(tier);
  }

  finish(): RankedChunks {
    if (this.#sessions !== null) this.#takeSessions(this.#sessions);
    const found = this.#best.sorted();
    const { limit } = this.#plan;
    return {
      hits: found.slice(0, limit),
      // What comes next is not known when not all was looked at.
      hasMore: limit > 0 && found.length > limit && !this.#isEnded,
      total: this.#total(this.#sessions?.size ?? this.#matches),
      hiddenMatches: this.#total(this.#hidden),
      unknownTime: this.#total(this.#unknownTime),
      facets: this.#facets?.counts() ?? null,
      isPartial: this.#isEnded,
    };
  }

  #take(
    chunk: number,
    scored: Pick<ScoredChunk, 'lexical' | 'recency' | 'score' | 'tier'>,
    counts: TermCounts,
  ): void {
    this.#facets?.count(this.#table.fields(chunk), this.#table.workspaces(chunk));
    const { score, lexical, recency, tier } = scored;
    if (this.#sessions === null && !this.#best.wants(tier, score)) return;
    const { session, seq, n } = this.#table.key(chunk);
    // Written out: one literal is made many times faster than one that begins with another object.
    const hit: ScoredChunk = {
      session,
      seq,
      n,
      tier,
      score,
      chunk,
      lexical,
      recency,
      len: this.#table.len(chunk),
      tfs: counts.copy(),
      hitsInSession: null,
    };
    if (this.#sessions === null) this.#offerToPage(hit);
    else noteSession(this.#sessions, hit);
  }

  #offerToPage(hit: ScoredChunk): void {
    const { after } = this.#plan;
    if (after === null || compareSortKeys(after, hit) < 0) this.#best.offer(hit);
  }

  #takeSessions(sessions: ReadonlyMap<string, { readonly best: ScoredChunk; readonly hits: number }>): void {
    for (const { best, hits } of sessions.values()) this.#offerToPage({ ...best, hitsInSession: hits });
  }

  #total(count: number): Total {
    const { counting, facets } = this.#plan;
    if (this.#isEnded) return { value: Math.min(count, limits.searchTotalMax), relation: 'gte' };
    const isExact = counting === 'exact' || facets === 'counted';
    return isExact || count <= limits.searchTotalMax
      ? { value: count, relation: 'eq' }
      : { value: limits.searchTotalMax, relation: 'gte' };
  }
}

/** A copy of the first `count` numbers. Many hits are made and displaced: what copies any list costs more than all else. */
function firstOf(numbers: ArrayLike<number>, count: number): readonly number[] {
  const copy: number[] = [];
  for (let at = 0; at < count; at += 1) copy.push(numbers[at] ?? 0);
  return copy;
}

/** No rounding of a sum of at most 64 parts, or of a product, makes a score larger than this much more of its bound. */
const roundingFactor = 1 + 1e-9;

/** The most that a chunk can score whose parts sum to no more than `lexical`. */
export function scoreBoundOf(lexical: number): number {
  return lexical * recencyFactorMax * roundingFactor;
}

function noteSession(sessions: Map<string, { best: ScoredChunk; hits: number }>, hit: ScoredChunk): void {
  const known = sessions.get(hit.session);
  if (known === undefined) {
    sessions.set(hit.session, { best: hit, hits: 1 });
    return;
  }
  known.hits += 1;
  if (compareSortKeys(hit, known.best) < 0) known.best = hit;
}

/** The best so many hits, worst on top of a heap. */
class Best {
  readonly #capacity: number;
  readonly #heap: ScoredChunk[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The worst of them when there are as many as are wanted; null before. */
  get last(): ScoredChunk | null {
    return this.#heap.length < this.#capacity ? null : (this.#heap[0] ?? null);
  }

  /** Whether a hit of that tier and score may be among them; ids decide between equals. */
  wants(tier: 0 | 1, score: number): boolean {
    const last = this.last;
    return last === null || tier > last.tier || (tier === last.tier && score >= last.score);
  }

  offer(hit: ScoredChunk): void {
    const heap = this.#heap;
    if (heap.length < this.#capacity) {
      heap.push(hit);
      this.#up(heap.length - 1);
      return;
    }
    const worst = heap[0];
    if (worst === undefined || compareSortKeys(hit, worst) >= 0) return;
    heap[0] = hit;
    this.#down();
  }

  sorted(): readonly ScoredChunk[] {
    return [...this.#heap].sort(compareSortKeys);
  }

  #up(from: number): void {
    const heap = this.#heap;
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      const [child, above] = [heap[at], heap[parent]];
      if (child === undefined || above === undefined || compareSortKeys(child, above) <= 0) return;
      heap[at] = above;
      heap[parent] = child;
      at = parent;
    }
  }

  #down(): void {
    const heap = this.#heap;
    for (let at = 0; ; ) {
      const worse = this.#worseChild(at);
      const [present, child] = [heap[at], heap[worse]];
      if (present === undefined || child === undefined || compareSortKeys(child, present) <= 0) return;
      heap[at] = child;
      heap[worse] = present;
      at = worse;
    }
  }

  #worseChild(at: number): number {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const [first, second] = [this.#heap[left], this.#heap[right]];
    return first !== undefined && second !== undefined && compareSortKeys(second, first) > 0 ? right : left;
  }
}
