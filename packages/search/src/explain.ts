import { averageLen, idf, termPart } from './bm25.js';
import type { QueryStatistics, ScoredChunk } from './evaluation.js';
import type { ListName, ListPlace } from './hybrid/fuse.js';
import type { QueryPlan } from './query-plan.js';

/** What one term adds to the score of a hit, and from which numbers (SE-25). */
export interface TermExplanation {
  readonly term: string;
  /** `whole`: the form that brings a hit before all others. */
  readonly as: 'whole' | 'part' | 'prefix';
  readonly tf: number;
  readonly df: number;
  readonly idf: number;
  readonly len: number;
  readonly avgdl: number;
  readonly part: number;
}

/** How a score came about: the parts sum to `lexical`, and `lexical` times the factor is `score`, within 1e-9. */
export interface Explanation {
  readonly terms: readonly TermExplanation[];
  readonly lexical: number;
  readonly recency: { readonly age_days: number | null; readonly factor: number };
  readonly score: number;
  readonly tier: 0 | 1;
  /** Of a hybrid search: where the hit stands in each list that holds it, and the sum of the shares. */
  readonly lists?: Readonly<Partial<Record<ListName, ListPlace>>>;
  readonly fused?: number;
}

const msOfDay = 86_400_000;

/** Explains a hit; terms that it does not hold are left out. */
export function explain(
  plan: QueryPlan,
  statistics: QueryStatistics,
  hit: ScoredChunk,
  tsMs: number | null,
): Explanation {
  const avgdl = averageLen(statistics);
  const terms = plan.terms.flatMap(({ kind, text }, at): readonly TermExplanation[] => {
    const [tf, df] = [hit.tfs[at] ?? 0, statistics.dfs[at] ?? 0];
    if (tf === 0) return [];
    const weight = idf(df, statistics.chunkCount);
    const as = kind === 'prefix' ? 'prefix' : text === plan.whole ? 'whole' : 'part';
    return [
      {
        term: text,
        as,
        tf,
        df,
        idf: weight,
        len: hit.len,
        avgdl,
        part: termPart(weight, tf, hit.len, avgdl),
      },
    ];
  });
  return {
    terms,
    lexical: hit.lexical,
    recency: { age_days: ageInDays(plan, tsMs), factor: hit.recency },
    score: hit.score,
    tier: hit.tier,
  };
}

/** Explains a hit that only other lists hold: none of its terms counts. */
export function explainUnscored(plan: QueryPlan, tsMs: number | null, factor: number): Explanation {
  return { terms: [], lexical: 0, recency: { age_days: ageInDays(plan, tsMs), factor }, score: 0, tier: 0 };
}

function ageInDays({ nowMs }: QueryPlan, tsMs: number | null): number | null {
  return tsMs !== null && tsMs <= nowMs ? (nowMs - tsMs) / msOfDay : null;
}
