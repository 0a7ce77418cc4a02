import { Evaluation, neverOver } from '../evaluation.js';
import type { IndexAnswer, QueryHelp } from '../lexical-index.js';
import type { QueryPlan, QueryTerm } from '../query-plan.js';
import type { BlockCursor } from './block-cursor.js';
import type { CandidateScan, TermPostings } from './block-max.js';
import { rangeOfLog } from './chunk-source.js';
import { learnAhead } from './learn-ahead.js';
import { expandPrefix, uniteTerms } from './prefix-union.js';
import { QueryTable } from './query-table.js';
import type { SourceView } from './source-view.js';

/** A term of the plan as the sources know it. */
export interface FoundTerm {
  readonly df: number;
  /** Its postings in each source, from the first one on; null where it has none. */
  readonly cursors: readonly ((() => BlockCursor) | null)[];
}

/** Answers a plan from some sources, each in the state that is asked. */
export function answerQuery(
  plan: QueryPlan,
  help: QueryHelp,
  views: readonly SourceView[],
  scan: CandidateScan,
): IndexAnswer {
  const { isOver = neverOver } = help;
  let expansionsCapped = false;
  const found = plan.terms.map((term): FoundTerm => {
    if (term.kind === 'token') return findToken(views, term.text);
    const union = findPrefix(views, term, isOver);
    expansionsCapped ||= union.isCapped;
    return union;
  });
  const statistics = {
    chunkCount: views.reduce((sum, { chunkCount }) => sum + chunkCount, 0),
    tokenCount: views.reduce((sum, { tokenCount }) => sum + tokenCount, 0),
    dfs: found.map(({ df }) => df),
  };
  const table = new QueryTable(views, plan.filters);
  const evaluation = new Evaluation(plan, statistics, table, help.textVerdict, help.dayOf, isOver);
  const whole = wholeTerm(plan);
  if (evaluation.mayKnowAhead && views.every((_, at) => table.part(at).judge === null)) {
    learnAhead(found, views, evaluation, plan.nowMs);
  }
  scan.begin(plan.terms.length, whole);
  for (const [at, view] of views.entries()) {
    if (evaluation.isEnded) break;
    const postings = postingsIn(view, at, found, plan, whole);
    if (postings.length === 0) continue;
    const { base, among, judge } = table.part(at);
    const { presence, source, facts } = view;
    const scope = { evaluation, base, among, judge, presence, lens: source.lens(), facts };
    scan.run(postings, scope, askedRanges(view, at, table, plan));
  }
  return { ...evaluation.finish(), statistics, expansionsCapped };
}

function findToken(views: readonly SourceView[], text: string): FoundTerm {
  const terms = views.map(({ source }) => source.findTerm(text));
  return {
    df: views.reduce((sum, view, at) => sum + view.df(terms[at] ?? -1), 0),
    cursors: views.map(({ source }, at) => {
      const term = terms[at] ?? -1;
      return term === -1 ? null : () => source.cursor(term);
    }),
  };
}

function findPrefix(
  views: readonly SourceView[],
  { text }: QueryTerm,
  isOver: () => boolean,
): FoundTerm & { isCapped: boolean } {
  const { terms, isCapped } = expandPrefix(views, text, isOver);
  const unions = views.map((view, at) => {
    const held = terms[at] ?? [];
    return held.length === 0 ? null : uniteTerms(view, held, isOver);
  });
  return {
    df: unions.reduce((sum, union) => sum + (union?.df ?? 0), 0),
    cursors: unions.map((union) => union?.cursor ?? null),
    isCapped,
  };
}

/** The number of the term that is the whole form; where it is not scored, the number behind all others. */
function wholeTerm({ whole, terms }: QueryPlan): number {
  if (whole === null) return -1;
  const found = terms.findIndex(({ kind, text }) => kind === 'token' && text === whole);
  return found === -1 ? terms.length : found;
}

function postingsIn(
  view: SourceView,
  at: number,
  found: readonly FoundTerm[],
  plan: QueryPlan,
  whole: number,
): readonly TermPostings[] {
  const postings: TermPostings[] = [];
  for (const [term, { cursors }] of found.entries()) {
    const cursor = cursors[at] ?? null;
    if (cursor !== null) postings.push({ cursor, term });
  }
  if (whole !== plan.terms.length || postings.length === 0) return postings;
  const term = view.source.findTerm(plan.whole ?? '');
  return term === -1 ? postings : [...postings, { cursor: () => view.source.cursor(term), term: whole }];
}

/** Where sessions are asked for and chunks lie in the order of ids, only theirs are looked at. */
function askedRanges(
  view: SourceView,
  at: number,
  table: QueryTable,
  { filters }: QueryPlan,
): readonly (readonly [from: number, to: number])[] {
  const { source } = view;
  if (filters.sessions.length === 0 || source.order !== 'ids') return [[0, source.chunkCount]];
  return [...source.logs.keys()]
    .filter((log) => table.isLogAsked(at, log))
    .map((log) => rangeOfLog(source, log));
}
