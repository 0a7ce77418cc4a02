import type { ChunkFields, ChunkKey, SessionInfo } from './chunk.js';
import type { QueryStatistics, RankedChunks, TextVerdict } from './evaluation.js';
import type { QueryPlan } from './query-plan.js';

/** How an engine is named in answers and on the command line. */
export type EngineName = 'packed' | 'fts5' | 'wink';

/** Whether an engine can answer now. */
export type IndexState =
  | { readonly kind: 'ready' }
  /** It answers, and some of the corpus is read again meanwhile. */
  | { readonly kind: 'incomplete'; readonly reasons: readonly string[] }
  | { readonly kind: 'unusable'; readonly reason: string };

/** How far an index is behind the logs (SE-32). */
export interface Freshness {
  /** Records that are not in the index yet; null when counting them would take too long. */
  readonly events: number | null;
  readonly bytes: number;
  readonly sessions: number;
}

/** What an engine answers: the hits, and the numbers that their scores are made of. */
export interface IndexAnswer extends RankedChunks {
  readonly statistics: QueryStatistics;
  /** Whether a prefix stands for more tokens than are searched. */
  readonly expansionsCapped: boolean;
}

/** What an engine needs of its caller: the verdict on texts, and the days of the reader's zone. */
export interface QueryHelp {
  readonly textVerdict: TextVerdict;
  readonly dayOf: (tsMs: number | null) => string;
  /** Whether the time is over that the query may take; without it there is no end to that. */
  readonly isOver?: () => boolean;
}

/**
 * Finds the chunks that hold terms. All engines give the same answer to the same plan: they find candidates, and
 * `Evaluation` scores, filters, counts and orders them.
 */
export interface LexicalIndex {
  readonly name: EngineName;
  readonly state: IndexState;
  /** Names the state of the corpus that queries are answered from: another name, another state. */
  readonly revision: string;
  /** @throws TURNLOG_CLOSED */
  query(plan: QueryPlan, help: QueryHelp): IndexAnswer;
  /** Null when the index holds no such chunk. */
  fieldsOf(key: ChunkKey): ChunkFields | null;
  /** What is known of a session; null when nothing is. */
  sessionInfo(session: string): SessionInfo | null;
  /** Chunks that count now, the newest first, unknown times last, equal times by id: for texts without a token. */
  newestFirst(): Iterable<ChunkKey>;
  close(): void;
}
