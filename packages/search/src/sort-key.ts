import type { ChunkKey } from './chunk.js';
import { compareChunkKeys } from './chunk-id.js';

/** The place of a chunk in an answer (SE-22). */
export interface SortKey extends ChunkKey {
  /** 1 for chunks that hold the whole of a query that is one identifier, else 0. */
  readonly tier: 0 | 1;
  readonly score: number;
}

/** Tier, then score, both descending, then the order of ids. Negative when `left` comes first. */
export function compareSortKeys(left: SortKey, right: SortKey): number {
  return right.tier - left.tier || right.score - left.score || compareChunkKeys(left, right);
}
