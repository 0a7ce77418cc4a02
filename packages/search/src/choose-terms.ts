import { limits } from '@turnlog/kernel';
import { idf } from './bm25.js';
import { compareBytes } from './chunk-id.js';
import type { LexicalIndex, QueryHelp } from './lexical-index.js';
import type { QueryPlan } from './query-plan.js';

/** A plan of which no more terms are left than are scored. */
export interface ChosenTerms {
  readonly plan: QueryPlan;
  readonly droppedCount: number;
}

/**
 * Of a query with very many terms the rarest are scored (SE-19): those with the highest idf, equals by their bytes,
 * in the order in which they were typed. Terms that no chunk has go first, though their idf would be the highest:
 * they add nothing to any score.
 */
export function chooseTerms(plan: QueryPlan, index: LexicalIndex, help: QueryHelp): ChosenTerms {
  const { terms } = plan;
  if (terms.length <= limits.queryTermsMax) return { plan, droppedCount: 0 };
  const { statistics } = index.query({ ...plan, limit: 0, after: null, counting: 'saturating' }, help);
  const ranked = terms
    .map((term, at) => ({ term, at, weight: weightOf(statistics.dfs[at] ?? 0, statistics.chunkCount) }))
    .sort((left, right) => right.weight - left.weight || compareBytes(left.term.text, right.term.text));
  const kept = ranked.slice(0, limits.queryTermsMax).sort((left, right) => left.at - right.at);
  return {
    plan: { ...plan, terms: kept.map(({ term }) => term) },
    droppedCount: terms.length - kept.length,
  };
}

function weightOf(df: number, chunkCount: number): number {
  return df === 0 ? 0 : idf(df, chunkCount);
}
