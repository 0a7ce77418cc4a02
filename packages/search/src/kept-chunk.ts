import type { ChunkKey } from './chunk.js';
import type { ChunkTable, ScoredChunk } from './evaluation.js';
import { compareSortKeys, type SortKey } from './sort-key.js';

export type Scores = Pick<ScoredChunk, 'lexical' | 'recency' | 'score' | 'tier'>;

/**
 * A chunk that may be among the best. Many are made and displaced, and most differ in their scores: what its id is, is
 * looked up only where ids decide, and for those that are left at the end.
 */
export class KeptChunk implements SortKey {
  readonly tier: 0 | 1;
  readonly score: number;
  readonly #table: ChunkTable;
  readonly #chunk: number;
  readonly #scores: Scores;
  readonly #tfs: readonly number[];
  #key: ChunkKey | null = null;

  constructor(table: ChunkTable, chunk: number, scores: Scores, tfs: readonly number[]) {
    this.tier = scores.tier;
    this.score = scores.score;
    this.#table = table;
    this.#chunk = chunk;
    this.#scores = scores;
    this.#tfs = tfs;
  }

  get session(): string {
    return this.#keyed().session;
  }

  get seq(): number {
    return this.#keyed().seq;
  }

  get n(): number {
    return this.#keyed().n;
  }

  scored(hitsInSession: number | null): ScoredChunk {
    const { session, seq, n } = this.#keyed();
    const { lexical, recency, score, tier } = this.#scores;
    const len = this.#table.len(this.#chunk);
    return {
      session,
      seq,
      n,
      tier,
      score,
      chunk: this.#chunk,
      lexical,
      recency,
      len,
      tfs: this.#tfs,
      hitsInSession,
    };
  }

  #keyed(): ChunkKey {
    this.#key ??= this.#table.key(this.#chunk);
    return this.#key;
  }
}

/** What a session has, where only the best of each is given. */
export interface SessionHits {
  best: KeptChunk;
  hits: number;
}

export function noteSession(sessions: Map<string, SessionHits>, kept: KeptChunk): void {
  const known = sessions.get(kept.session);
  if (known === undefined) {
    sessions.set(kept.session, { best: kept, hits: 1 });
    return;
  }
  known.hits += 1;
  if (compareSortKeys(kept, known.best) < 0) known.best = kept;
}
