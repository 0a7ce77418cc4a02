import { limits } from '@turnlog/kernel';
import { judgeUnknownTime, type Presence } from './as-of.js';
import type { CorpusStats } from './bm25.js';
import { type ChunkTable, Evaluation, neverOver, type QueryStatistics } from './evaluation.js';
import type { IndexAnswer, QueryHelp } from './lexical-index.js';
import type { QueryPlan, QueryTerm } from './query-plan.js';

/** How often each chunk holds a token, by the engine's number of the chunk. */
export type Postings = ReadonlyMap<number, number>;

/** What an engine that skips nothing has to know of the state of the corpus that is asked. */
export interface PostingSource {
  readonly table: ChunkTable;
  /** Sums over the chunks that are there. */
  statistics(): CorpusStats;
  /** All chunks that hold a token and may be there; an engine may give some that are not. */
  postings(token: string): Postings;
  /** The tokens that begin with a text, in the order of their bytes. */
  tokensFrom(prefix: string): Iterable<string>;
  /** Whether a chunk belongs to that state. */
  presence(chunk: number): Presence;
}

/**
 * Answers a plan by looking at every chunk that holds one of its terms: what an engine does that only finds chunks.
 * Scores, filters, counts and order are those of `Evaluation`.
 */
export function answerFromPostings(plan: QueryPlan, help: QueryHelp, source: PostingSource): IndexAnswer {
  // What is left out when the time is over changes nothing: the evaluation takes no chunk then.
  const { isOver = neverOver } = help;
  const expansions = plan.terms.map((term) => expand(source, term, isOver));
  const terms = expansions.map(({ postings }) => postings);
  const statistics: QueryStatistics = {
    ...source.statistics(),
    dfs: terms.map((postings) => presentIn(source, postings, isOver)),
  };
  const table = presentTable(source);
  const evaluation = new Evaluation(plan, statistics, table, help.textVerdict, help.dayOf, isOver);
  const whole = wholeOf(plan, source, terms);
  const tfs = terms.map(() => 0);
  for (const chunk of chunksOf(terms)) {
    if (evaluation.isEnded) break;
    if (source.presence(chunk) === 'no') continue;
    for (const [at, postings] of terms.entries()) tfs[at] = postings.get(chunk) ?? 0;
    evaluation.offer(chunk, tfs, whole?.has(chunk) ?? false);
  }
  const expansionsCapped = expansions.some(({ isCapped }) => isCapped);
  return { ...evaluation.finish(), statistics, expansionsCapped };
}

/** The chunks that hold any of the terms, each once. */
function* chunksOf(terms: readonly Postings[]): Iterable<number> {
  for (const [at, postings] of terms.entries()) {
    const before = terms.slice(0, at);
    for (const chunk of postings.keys()) if (!before.some((other) => other.has(chunk))) yield chunk;
  }
}

interface Expansion {
  readonly postings: Postings;
  readonly isCapped: boolean;
}

/** A prefix is one term: its tf is the sum over the tokens that it stands for (SE-17). */
function expand(source: PostingSource, { kind, text }: QueryTerm, isOver: () => boolean): Expansion {
  if (isOver()) return { postings: new Map(), isCapped: false };
  if (kind === 'token') return { postings: source.postings(text), isCapped: false };
  const sums = new Map<number, number>();
  let count = 0;
  for (const token of source.tokensFrom(text)) {
    if (isOver()) break;
    const postings = source.postings(token);
    if (!isHeld(source, postings)) continue;
    if (count === limits.prefixExpansionsMax) return { postings: sums, isCapped: true };
    count += 1;
    for (const [chunk, tf] of postings) sums.set(chunk, (sums.get(chunk) ?? 0) + tf);
  }
  return { postings: sums, isCapped: false };
}

/** Whether any chunk that counts, or of which nobody knows whether it does, is among them. */
function isHeld(source: PostingSource, postings: Postings): boolean {
  for (const chunk of postings.keys()) if (source.presence(chunk) !== 'no') return true;
  return false;
}

/** How many chunks are counted before the time is looked at again. */
const chunksPerLook = 256;

function presentIn(source: PostingSource, postings: Postings, isOver: () => boolean): number {
  let [count, looked] = [0, 0];
  for (const chunk of postings.keys()) {
    if (looked % chunksPerLook === 0 && isOver()) break;
    looked += 1;
    if (source.presence(chunk) === 'there') count += 1;
  }
  return count;
}

function wholeOf(
  { whole, terms }: QueryPlan,
  source: PostingSource,
  found: readonly Postings[],
): Postings | null {
  if (whole === null) return null;
  const at = terms.findIndex(({ kind, text }) => kind === 'token' && text === whole);
  return found[at] ?? source.postings(whole);
}

/** The table, with the verdict on chunks of which nobody knows whether they were there. */
function presentTable(source: PostingSource): ChunkTable {
  const { table } = source;
  return {
    len: (chunk) => table.len(chunk),
    tsMs: (chunk) => table.tsMs(chunk),
    key: (chunk) => table.key(chunk),
    fields: (chunk) => table.fields(chunk),
    workspaces: (chunk) => table.workspaces(chunk),
    judge: (chunk) => {
      const verdict = table.judge(chunk);
      return source.presence(chunk) === 'unknown-time' ? judgeUnknownTime(verdict) : verdict;
    },
  };
}
