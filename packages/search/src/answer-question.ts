import { formatTimestamp } from '@turnlog/events';
import { dayOf, limits } from '@turnlog/kernel';
import { chooseTerms } from './choose-terms.js';
import type { ChunkFields, ChunkKey } from './chunk.js';
import { formatChunkId } from './chunk-id.js';
import type { ChunkTexts, ShownChunk } from './chunk-texts.js';
import type { ScoredChunk } from './evaluation.js';
import { explain } from './explain.js';
import type { IndexAnswer, LexicalIndex, QueryHelp } from './lexical-index.js';
import { encodePageCursor } from './page-cursor.js';
import { holdsPhrases } from './phrase-match.js';
import type { QueryPlan } from './query-plan.js';
import type { Question } from './question.js';
import type { SearchAnswer, SearchHit } from './search-answer.js';
import type { Searcher } from './search-request.js';
import { snippetOf } from './snippet.js';
import { isVisible, searchSubstring } from './substring-search.js';
import { leavesOf } from './token-views.js';

/** The part of an answer that depends on nothing but the question and the index. */
export type AnsweredQuestion = Pick<
  SearchAnswer,
  | 'mode'
  | 'hits'
  | 'total'
  | 'capped'
  | 'partial'
  | 'next_cursor'
  | 'drift'
  | 'facets'
  | 'hidden_matches'
  | 'unknown_time'
  | 'terms_dropped'
  | 'reason'
>;

export interface Answering {
  readonly question: Question;
  readonly index: LexicalIndex;
  readonly texts: ChunkTexts;
  readonly searcher: Searcher;
  /** Whether hits say how their scores came about. */
  readonly isExplained: boolean;
  /** Whether the time is over that the answer may take. */
  readonly isOver: () => boolean;
}

export function answerQuestion(answering: Answering): AnsweredQuestion {
  const { parsed } = answering.question;
  if (parsed.terms.length > 0) return answerByTerms(answering);
  return isVisible(parsed.text) ? answerBySubstring(answering) : nothingSearchable;
}

const nothingSearchable: AnsweredQuestion = {
  mode: 'lexical',
  hits: [],
  total: { value: 0, relation: 'eq' },
  capped: false,
  partial: false,
  next_cursor: null,
  drift: false,
  hidden_matches: 0,
  unknown_time: 0,
  terms_dropped: 0,
  reason: 'no-searchable-term',
};

function answerByTerms(answering: Answering): AnsweredQuestion {
  const { question, index, texts, searcher } = answering;
  const help: QueryHelp = {
    textVerdict: (key) => holdsPhrases(question.plan, texts.text(key) ?? ''),
    dayOf: (tsMs) => (tsMs === null ? 'unknown' : dayOf(tsMs, searcher.zone)),
    isOver: answering.isOver,
  };
  const { plan, droppedCount } = chooseTerms(question.plan, index, help);
  const found = index.query(plan, help);
  const showing = new Showing(answering, wantedLeaves(question));
  const hits = found.hits.map((hit) => shownHit(answering, plan, found, hit, showing));
  const last = found.hits.at(-1);
  return {
    mode: 'lexical',
    hits,
    total: showing.isCut ? atLeast(found.total) : found.total,
    capped: found.expansionsCapped || droppedCount > 0,
    partial: found.isPartial || showing.isCut,
    next_cursor: found.hasMore && last !== undefined ? cursorBehind(question, index, last) : null,
    drift: isDrifted(question, index),
    ...(found.facets === null ? {} : { facets: found.facets }),
    hidden_matches: found.hiddenMatches.value,
    unknown_time: found.unknownTime.value,
    terms_dropped: droppedCount,
    reason: null,
  };
}

function answerBySubstring(answering: Answering): AnsweredQuestion {
  const { question, index, texts } = answering;
  const text = question.parsed.text.trim();
  const found = searchSubstring(text, question.plan, index, texts, answering.isOver);
  const last = found.hits.at(-1);
  const showing = new Showing(answering, new Set([text]));
  const hits = found.hits.map((fields): SearchHit => ({ ...showing.chunk(fields), score: 1, tier: 0 }));
  const isExact = !found.isCut && !found.hasMore && !showing.isCut;
  return {
    mode: 'substring',
    hits,
    total: { value: found.hits.length, relation: isExact ? 'eq' : 'gte' },
    capped: false,
    partial: found.isCut || showing.isCut,
    next_cursor:
      found.hasMore && last !== undefined
        ? cursorBehind(question, index, { ...last, tier: 0, score: 1 })
        : null,
    drift: isDrifted(question, index),
    hidden_matches: found.hiddenCount,
    unknown_time: 0,
    terms_dropped: 0,
    reason: null,
  };
}

function cursorBehind(
  { asked }: Question,
  index: LexicalIndex,
  { session, seq, n, tier, score }: ChunkKey & Pick<ScoredChunk, 'tier' | 'score'>,
): string {
  return encodePageCursor(asked, {
    after: { session, seq, n, tier, score },
    lexical: 0,
    index: index.revision,
  });
}

function isDrifted({ cursor }: Question, index: LexicalIndex): boolean {
  return cursor !== null && cursor.index !== index.revision;
}

/** Everything that a snippet marks. */
export function wantedLeaves({ parsed }: Question): ReadonlySet<string> {
  const required = parsed.required.flat();
  const prefixes = parsed.terms.filter(({ kind }) => kind === 'prefix').map(({ text }) => text);
  return new Set([...leavesOf(parsed.text), ...required, ...prefixes]);
}

function shownHit(
  answering: Answering,
  plan: QueryPlan,
  { statistics }: IndexAnswer,
  hit: ScoredChunk,
  showing: Showing,
): SearchHit {
  const fields = answering.index.fieldsOf(hit) ?? emptyFields(hit);
  return {
    ...showing.chunk(fields),
    score: hit.score,
    tier: hit.tier,
    ...(hit.hitsInSession === null ? {} : { hits_in_session: hit.hitsInSession }),
    ...(answering.isExplained ? { explain: explain(plan, statistics, hit, fields.tsMs) } : {}),
  };
}

/** What is left of a chunk that went away between the query and here. */
export function emptyFields({ session, seq, n }: ChunkKey): ChunkFields {
  return { session, seq, n, turn: null, tsMs: null, role: 'unknown', kind: 'unknown', tool: null, paths: [] };
}

/** What is said of a count when not all was done that belongs to it. */
export function atLeast({ value }: SearchAnswer['total']): SearchAnswer['total'] {
  return { value: Math.min(value, limits.searchTotalMax), relation: 'gte' };
}

/** Shows the chunks of an answer. Their texts are read one by one, until the time is over. */
export class Showing {
  readonly #answering: Answering;
  readonly #wanted: ReadonlySet<string>;
  /** Whether there was no time any more for the texts of some: they are shown without. */
  isCut = false;

  constructor(answering: Answering, wanted: ReadonlySet<string>) {
    this.#answering = answering;
    this.#wanted = wanted;
  }

  /** A chunk as it may be shown; its score is another matter. */
  chunk(fields: ChunkFields): Omit<SearchHit, 'score' | 'tier'> {
    const { session, seq, n, turn, tsMs, role, kind, tool } = fields;
    const { index, texts, searcher, isOver } = this.#answering;
    this.isCut ||= isOver();
    // Paths without their record cannot be shown: secrets are looked for in what is written there.
    const { text, paths } = this.isCut ? nothingShown : texts.shown(fields, searcher.redact);
    return {
      id: formatChunkId(fields),
      session,
      seq,
      n,
      turn,
      ts: tsMs === null ? null : formatTimestamp(tsMs),
      role,
      kind,
      tool: tool === null ? null : searcher.redact(tool),
      paths: paths.slice(0, limits.hitPathsMax),
      agent: index.sessionInfo(session)?.agent ?? 'primary',
      snippet: snippetOf(text, this.#wanted),
    };
  }
}

const nothingShown: ShownChunk = { text: '', paths: [] };
