import { idf } from '../bm25.js';
import type { QueryStatistics, ScoredChunk } from '../evaluation.js';

/** How rare a word must be that speaks for a hit, as a part of how rare the rarest word of the query is. */
const rarityShareMin = 0.25;

/**
 * The hits that hold a word which tells something: one whose idf is at least a quarter of that of the query's rarest
 * word. Most questions have words like "did" and "a", which hits without any other word hold as well: by score they are
 * far behind, but ranks do not say so, and next to another list each of them would take the place of an answer.
 */
export function tellingHits(
  hits: readonly ScoredChunk[],
  { dfs, chunkCount }: QueryStatistics,
): readonly ScoredChunk[] {
  const idfs = dfs.map((df) => idf(df, chunkCount));
  const least = Math.max(0, ...idfs) * rarityShareMin;
  return hits.filter(({ tfs }) => tfs.some((tf, at) => tf > 0 && (idfs[at] ?? 0) >= least));
}
