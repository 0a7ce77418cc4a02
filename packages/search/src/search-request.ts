import type { TimeZone } from '@turnlog/kernel';
import type { EngineName } from './lexical-index.js';
import type { QuerySyntax } from './parse-query.js';
import type { WrittenFilters } from './search-filters.js';

/** What is searched for, and how the answer is wanted. */
export interface SearchRequest {
  readonly text: string;
  /** By default `literal`. */
  readonly syntax?: QuerySyntax;
  /** `hybrid` fuses the lexical list with one of vectors; by default `lexical`. */
  readonly mode?: 'lexical' | 'hybrid';
  readonly filters?: WrittenFilters;
  /** At most so many hits, by default 10 and never more than 100; 0 for counts alone. */
  readonly limit?: number;
  readonly cursor?: string;
  /** RFC 3339, or `session:seq`: the answer that would have been given then. */
  readonly asOf?: string;
  readonly minScore?: number;
  readonly group?: 'none' | 'session';
  readonly facets?: boolean;
  readonly explain?: boolean;
  /** Searches what is left out otherwise: sessions of programs and sub-agents, context that nobody said. */
  readonly includeHidden?: boolean;
  readonly engine?: EngineName;
  /** How long the index may take to come up to the logs, in milliseconds; by default 200. */
  readonly waitMs?: number;
  /** When the work ends, in milliseconds from its beginning, with what was found by then; by default it has no end. */
  readonly budgetMs?: number;
  /** Ends the wait and the work as if their time were over. */
  readonly signal?: AbortSignal;
}

/** Who asks: what is shown to them, and what their words mean. */
export interface Searcher {
  readonly zone: TimeZone;
  /** Takes secrets out of a text; everything that is shown passes it. */
  readonly redact: (text: string) => string;
  /** The absolute path of a workspace as it was written. */
  readonly resolveWorkspace: (path: string) => string;
}
