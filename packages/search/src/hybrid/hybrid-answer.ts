import { dayOf, limits } from '@turnlog/kernel';
import {
  type AnsweredQuestion,
  type Answering,
  answerQuestion,
  emptyFields,
  Showing,
  wantedLeaves,
} from '../answer-question.js';
import { chooseTerms } from '../choose-terms.js';
import type { ChunkFields, ChunkKey } from '../chunk.js';
import { formatChunkId } from '../chunk-id.js';
import type { ScoredChunk } from '../evaluation.js';
import { type Explanation, explain, explainUnscored } from '../explain.js';
import { FacetCounts } from '../facets.js';
import type { IndexAnswer, QueryHelp } from '../lexical-index.js';
import { encodePageCursor } from '../page-cursor.js';
import { holdsPhrases } from '../phrase-match.js';
import type { QueryPlan } from '../query-plan.js';
import { recencyFactor } from '../recency.js';
import type { Degraded, SearchHit } from '../search-answer.js';
import { compareFused, type FusedChunk, fuse } from './fuse.js';
import { tellingHits } from './telling-hits.js';
import type { VectorAnswer, VectorLists } from './vector-list.js';

export type HybridAnswer = AnsweredQuestion & { readonly degraded: readonly Degraded[] };

const noGraph: Degraded = { name: 'graph', reason: 'there is no memory whose links could be followed' };

/**
 * Answers from the lexical list and the list of vectors together (SE-24). A query that only a look through the texts
 * can answer is answered as without vectors. Texts that have no vectors yet are encoded until `isWaitOver`.
 */
export async function answerHybrid(
  answering: Answering,
  vectors: VectorLists,
  isWaitOver: () => boolean,
): Promise<HybridAnswer> {
  const { question, index, texts, searcher } = answering;
  if (question.parsed.terms.length === 0) return { ...answerQuestion(answering), degraded: [] };
  const help: QueryHelp = {
    textVerdict: (key) => holdsPhrases(question.plan, texts.text(key) ?? ''),
    dayOf: (tsMs) => (tsMs === null ? 'unknown' : dayOf(tsMs, searcher.zone)),
    isOver: answering.isOver,
  };
  const { plan, droppedCount } = chooseTerms(listPlan(question.plan), index, help);
  const lexical = index.query(plan, help);
  const { text, required } = question.parsed;
  const vector = await vectors.list({
    text: [text, ...required.map((phrase) => phrase.join(' '))].join(' ').trim(),
    plan,
    index,
    texts,
    textVerdict: help.textVerdict,
    isWaitOver,
    isOver: answering.isOver,
  });
  const fused = fusedChunks(lexical, vector, question.plan.minScore);
  const isPartial = lexical.isPartial || answering.isOver();
  const revision = `${index.revision}+${vector.revision}`;
  const page = new HybridPage(answering, { plan, lexical, isPartial, revision });
  return {
    ...page.of(fused, help),
    capped: lexical.expansionsCapped || droppedCount > 0,
    terms_dropped: droppedCount,
    degraded: [...vector.degraded, noGraph],
  };
}

/** What the lexical list is asked: its best chunks, whichever page is wanted. */
function listPlan(plan: QueryPlan): QueryPlan {
  return {
    ...plan,
    limit: limits.fusedListChunksMax,
    after: null,
    minScore: 0,
    group: 'none',
    counting: 'saturating',
    facets: 'none',
  };
}

function fusedChunks(
  { hits, statistics }: IndexAnswer,
  { chunks }: VectorAnswer,
  minScore: number,
): readonly FusedChunk[] {
  const scores = new Map(hits.map((hit) => [formatChunkId(hit), hit.score]));
  const alike = chunks ?? [];
  // Where nothing else answers, the lexical list is the answer.
  const telling = alike.length === 0 ? hits : tellingHits(hits, statistics);
  const lists = [
    { name: 'lexical', chunks: telling.map(keyOf) },
    { name: 'vector', chunks: alike },
  ] as const;
  return fuse(lists, (key) => scores.get(formatChunkId(key)) ?? 0).filter(({ fused }) => fused >= minScore);
}

function keyOf({ session, seq, n }: ChunkKey): ChunkKey {
  return { session, seq, n };
}

interface Lists {
  readonly plan: QueryPlan;
  readonly lexical: IndexAnswer;
  /** Whether the time was over before all had been looked at. */
  readonly isPartial: boolean;
  /** Names the state that all lists were made from. */
  readonly revision: string;
}

type PageAnswer = Omit<AnsweredQuestion, 'capped' | 'terms_dropped'>;

/** One page of what was fused. */
class HybridPage {
  readonly #answering: Answering;
  readonly #lists: Lists;
  readonly #scored: ReadonlyMap<string, ScoredChunk>;

  constructor(answering: Answering, lists: Lists) {
    this.#answering = answering;
    this.#lists = lists;
    this.#scored = new Map(lists.lexical.hits.map((hit) => [formatChunkId(hit), hit]));
  }

  of(fused: readonly FusedChunk[], help: QueryHelp): PageAnswer {
    const { question } = this.#answering;
    const { plan, cursor, asked } = question;
    const hitsInSession = plan.group === 'session' ? countSessions(fused) : null;
    const all = hitsInSession === null ? fused : bestOfSessions(fused);
    const { lexical, isPartial, revision } = this.#lists;
    const behind = all.filter((chunk) => cursor === null || isBehind(chunk, cursor.after, cursor.lexical));
    const page = behind.slice(0, plan.limit);
    const last = page.at(-1);
    const showing = new Showing(this.#answering, wantedLeaves(question));
    const hits = page.map((chunk) =>
      this.#hit(chunk, showing, hitsInSession?.get(chunk.key.session) ?? null),
    );
    const partial = isPartial || showing.isCut;
    return {
      mode: 'hybrid',
      hits,
      total: { value: all.length, relation: partial ? 'gte' : 'eq' },
      partial,
      next_cursor:
        behind.length > page.length && last !== undefined
          ? encodePageCursor(asked, {
              after: { ...last.key, tier: 0, score: last.fused },
              lexical: last.lexical,
              index: revision,
            })
          : null,
      drift: cursor !== null && cursor.index !== revision,
      ...(plan.facets === 'counted' ? { facets: this.#facets(fused, help) } : {}),
      hidden_matches: lexical.hiddenMatches.value,
      unknown_time: lexical.unknownTime.value,
      reason: null,
    };
  }

  #fields(key: ChunkKey): ChunkFields {
    return this.#answering.index.fieldsOf(key) ?? emptyFields(key);
  }

  #facets(fused: readonly FusedChunk[], { dayOf: day }: QueryHelp): ReturnType<FacetCounts['counts']> {
    const counts = new FacetCounts(day);
    for (const { key } of fused) {
      counts.count(this.#fields(key), this.#answering.index.sessionInfo(key.session)?.workspaces ?? []);
    }
    return counts.counts();
  }

  #hit(chunk: FusedChunk, showing: Showing, hitsInSession: number | null): SearchHit {
    const fields = this.#fields(chunk.key);
    return {
      ...showing.chunk(fields),
      score: chunk.fused,
      tier: this.#scored.get(formatChunkId(chunk.key))?.tier ?? 0,
      ...(hitsInSession === null ? {} : { hits_in_session: hitsInSession }),
      ...(this.#answering.isExplained ? { explain: this.#explanation(chunk, fields) } : {}),
    };
  }

  #explanation({ key, fused, lists }: FusedChunk, { tsMs }: ChunkFields): Explanation {
    const { plan, lexical } = this.#lists;
    const scored = this.#scored.get(formatChunkId(key));
    const own =
      scored === undefined
        ? explainUnscored(plan, tsMs, recencyFactor(tsMs, plan.nowMs))
        : explain(plan, lexical.statistics, scored, tsMs);
    return { ...own, lists, fused };
  }
}

function countSessions(fused: readonly FusedChunk[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { key } of fused) counts.set(key.session, (counts.get(key.session) ?? 0) + 1);
  return counts;
}

function bestOfSessions(fused: readonly FusedChunk[]): readonly FusedChunk[] {
  const best = new Map<string, FusedChunk>();
  for (const chunk of fused) if (!best.has(chunk.key.session)) best.set(chunk.key.session, chunk);
  return [...best.values()];
}

function isBehind(chunk: FusedChunk, after: ChunkKey & { readonly score: number }, lexical: number): boolean {
  return compareFused({ fused: after.score, lexical, key: after }, chunk) < 0;
}
