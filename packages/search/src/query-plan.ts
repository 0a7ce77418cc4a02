import type { Filters } from './filters.js';
import type { SortKey } from './sort-key.js';

/** One scored term of a query: a token, or everything that begins with a text. */
export interface QueryTerm {
  readonly kind: 'token' | 'prefix';
  readonly text: string;
}

/** Leaves that must stand side by side in a chunk's text, in this order. */
export type Phrase = readonly string[];

/**
 * A past state of the corpus to be searched (SE-34): records up to a time, and of the session that names the moment
 * up to a seq. Records of other sessions whose time is unknown are left out.
 */
export interface AsOf {
  readonly tsMs: number;
  readonly session: { readonly id: string; readonly seq: number } | null;
}

/** What an engine is asked. The same plan gives the same answer from every engine. */
export interface QueryPlan {
  /** In the order of their first appearance, each once, at most 64. */
  readonly terms: readonly QueryTerm[];
  /** The form whose chunks come before all others: the query is exactly one identifier of several parts. */
  readonly whole: string | null;
  readonly required: readonly Phrase[];
  readonly excluded: readonly Phrase[];
  readonly filters: Filters;
  readonly asOf: AsOf | null;
  /** The moment that recency counts from, in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly minScore: number;
  /** `session`: the best chunk of each session only. */
  readonly group: 'none' | 'session';
  /** How many hits are wanted; 0 for counts alone. */
  readonly limit: number;
  /** The last hit of the page before; null for the first page. */
  readonly after: SortKey | null;
  /** Counts everything, however much there is. Otherwise counting may stop at `limits.searchTotalMax`. */
  readonly counting: 'exact' | 'saturating';
  /** Asks for the facets; they count everything. */
  readonly facets: 'counted' | 'none';
}
