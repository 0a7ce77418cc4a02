import { idf } from '../bm25.js';
import type { QueryStatistics, ScoredChunk } from '../evaluation.js';

/** The least part of what the words of a query weigh together that a hit must hold. */
const coverageMin = 0.25;

/**
 * The hits that hold enough of what is asked: words that weigh, by their idf, a quarter of what all words of the query
 * do. Most questions have words like "did" and "a", which hits without any other word hold as well: by score they are
 * far behind, but ranks do not say so, and next to another list each of them would take the place of an answer.
 */
export function tellingHits(
  hits: readonly ScoredChunk[],
  { dfs, chunkCount }: QueryStatistics,
): readonly ScoredChunk[] {
  const idfs = dfs.map((df) => idf(df, chunkCount));
  const weightOf = (isCounted: (term: number) => boolean): number =>
    idfs.reduce((sum, weight, term) => (isCounted(term) ? sum + weight : sum), 0);
  const least = weightOf(() => true) * coverageMin;
  return hits.filter(({ tfs }) => weightOf((term) => (tfs[term] ?? 0) > 0) >= least);
}
