import { limits } from '@turnlog/kernel';
import { BestChunks } from './best-chunks.js';
import { averageLen, type CorpusStats, idf, lexicalScore } from './bm25.js';
import type { ChunkFields, ChunkKey } from './chunk.js';
import { FacetCounts, type Facets } from './facets.js';
import type { FilterVerdict } from './filters.js';
import { KeptChunk, noteSession, type Scores, type SessionHits } from './kept-chunk.js';
import type { QueryPlan } from './query-plan.js';
import { recencyBound, recencyFactor, recencyFactorMax } from './recency.js';
import { compareSortKeys, type SortKey } from './sort-key.js';

/**
 * Turns candidates into an answer: one place for scores, filters, counts and order, so that every engine that offers
 * the same chunks gives the same answer. An engine may leave a candidate out only where no count can change any more
 * (`isCounting`), and what the candidate can score at most is below `floor`.
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
  readonly #best: BestChunks<KeptChunk>;
  readonly #facets: FacetCounts | null;
  readonly #sessions: Map<string, SessionHits> | null;
  /** Whether nothing is wanted of most matches but that there are some. */
  readonly #isCountEnough: boolean;
  /** Whether a match that is not among the best is counted and nothing else. */
  readonly #isPlainMatch: boolean;
  readonly #isOver: () => boolean;
  /** Whether time is over: what is offered from then on changes nothing, and nothing need be. */
  #isEnded: boolean;
  #offersToLook = offersPerLook;
  #matches = 0;
  /** Enough chunks score this much for none that scores less to be wanted, unless it holds the whole form. */
  #knownFloor = Number.NEGATIVE_INFINITY;
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
    this.#best = new BestChunks(plan.limit + 1);
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
   * Whether any count can still change: only behind that candidates may be skipped. `among` says what is known of the
   * candidates: `matches` where none of them can be hidden or of unknown time, so that only matches are counted.
   */
  isCounting(among: 'anything' | 'matches'): boolean {
    if (!this.#isCountEnough || this.#matches <= limits.searchTotalMax) return true;
    if (among === 'matches') return false;
    const { filters } = this.#plan;
    const isTimeAsked = filters.sinceMs !== null || filters.untilMs !== null;
    const isHiddenAsked = filters.hidden === 'left-out';
    return (
      (isTimeAsked && this.#unknownTime <= limits.searchTotalMax) ||
      (isHiddenAsked && this.#hidden <= limits.searchTotalMax)
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
    const known = tier === 0 ? this.#knownFloor : Number.NEGATIVE_INFINITY;
    if (last === null || tier > last.tier) return known;
    return tier === last.tier ? Math.max(last.score, known) : Number.POSITIVE_INFINITY;
  }

  /** Whether what is known of matches before any is looked at is of use: see `knowMatches` and `knowFloor`. */
  get mayKnowAhead(): boolean {
    return !this.#isEnded && this.#isCountEnough && this.isOnlyCounted && this.#plan.after === null;
  }

  /** So many chunks that all match hold a term: where that is more than is counted, nothing more need be. */
  knowMatches(count: number): void {
    if (count > limits.searchTotalMax) this.#matches = Math.max(this.#matches, count);
  }

  /** How many chunks that score no less than what is known make a floor of it. */
  get floorChunks(): number {
    return this.#plan.limit + 1;
  }

  knowFloor(score: number): void {
    this.#knownFloor = Math.max(this.#knownFloor, score);
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
    for (const { best } of this.#sessions?.values() ?? []) this.#offerToPage(best);
    const found = this.#best.sorted();
    const { limit } = this.#plan;
    return {
      hits: found.slice(0, limit).map((kept) => this.#hitOf(kept)),
      // What comes next is not known when not all was looked at.
      hasMore: limit > 0 && found.length > limit && !this.#isEnded,
      total: this.#total(this.#sessions?.size ?? this.#matches),
      hiddenMatches: this.#total(this.#hidden),
      unknownTime: this.#total(this.#unknownTime),
      facets: this.#facets?.counts() ?? null,
      isPartial: this.#isEnded,
    };
  }

  #take(chunk: number, scored: Scores, counts: TermCounts): void {
    this.#facets?.count(this.#table.fields(chunk), this.#table.workspaces(chunk));
    if (this.#sessions === null && !this.#best.wants(scored.tier, scored.score)) return;
    const kept = new KeptChunk(this.#table, chunk, scored, counts.copy());
    if (this.#sessions === null) this.#offerToPage(kept);
    else noteSession(this.#sessions, kept);
  }

  #offerToPage(kept: KeptChunk): void {
    const { after } = this.#plan;
    if (after === null || compareSortKeys(after, kept) < 0) this.#best.offer(kept);
  }

  #hitOf(kept: KeptChunk): ScoredChunk {
    return kept.scored(this.#sessions?.get(kept.session)?.hits ?? null);
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
function scoreBoundOf(lexical: number): number {
  return lexical * recencyFactorMax * roundingFactor;
}
