import type { AgentKind, Kind, Role } from './chunk.js';
import type { Explanation } from './explain.js';
import type { Facets } from './facets.js';
import type { EngineName, Freshness } from './lexical-index.js';
import type { QuerySyntax } from './parse-query.js';
import type { Snippet } from './snippet.js';

/** One chunk that was found. Its texts have passed the redactor. */
export interface SearchHit {
  /** Id of the chunk. */
  readonly id: string;
  readonly session: string;
  readonly seq: number;
  readonly n: number;
  readonly turn: number | null;
  /** RFC 3339 in UTC; null when unknown. */
  readonly ts: string | null;
  readonly role: Role;
  readonly kind: Kind;
  readonly tool: string | null;
  readonly paths: readonly string[];
  readonly agent: AgentKind;
  readonly score: number;
  readonly tier: 0 | 1;
  readonly snippet: Snippet;
  readonly hits_in_session?: number;
  readonly explain?: Explanation;
}

/** Something that would have answered, or answered in full, and could not. */
export interface Degraded {
  readonly name: string;
  readonly reason: string;
}

/** What a search comes to (SE-30). */
export interface SearchAnswer {
  readonly query: string;
  readonly syntax: QuerySyntax;
  readonly engine: EngineName;
  readonly mode: 'lexical' | 'substring' | 'hybrid';
  readonly hits: readonly SearchHit[];
  readonly total: { readonly value: number; readonly relation: 'eq' | 'gte' };
  /** Whether a prefix stands for more than is searched, or terms were left out: the hits are right, some may lack. */
  readonly capped: boolean;
  /** Whether the work was ended before everything had been looked at. */
  readonly partial: boolean;
  readonly next_cursor: string | null;
  /** Whether the index moved since the page before. */
  readonly drift: boolean;
  readonly facets?: Facets;
  readonly hidden_matches: number;
  readonly unknown_time: number;
  readonly unindexed_bytes: number;
  readonly terms_dropped: number;
  readonly behind: Freshness;
  readonly index: { readonly tokenizer: string; readonly generation: string };
  readonly degraded: readonly Degraded[];
  /** Why nothing could be searched; null when something was. */
  readonly reason: 'no-searchable-term' | null;
  readonly took_ms: number;
}
