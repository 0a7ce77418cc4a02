import { limits } from '@turnlog/kernel';
import type { ChunkKey } from '../chunk.js';
import { compareChunkKeys, formatChunkId } from '../chunk-id.js';

/** The lists of a hybrid search, in the order in which their shares are summed. */
export const listNames = ['lexical', 'vector', 'graph'] as const;

export type ListName = (typeof listNames)[number];

/** Chunks of one list, the best first. */
export interface RankedList {
  readonly name: ListName;
  readonly chunks: readonly ChunkKey[];
}

/** Where a chunk stands in a list, and what that adds to its score. */
export interface ListPlace {
  readonly rank: number;
  readonly share: number;
}

export interface FusedChunk {
  readonly key: ChunkKey;
  /** The sum of the shares. */
  readonly fused: number;
  /** Score in the lexical list; 0 for a chunk that is not in it. */
  readonly lexical: number;
  readonly lists: Readonly<Partial<Record<ListName, ListPlace>>>;
}

/** A chunk's place in a list counts 1 divided by this and its rank (reciprocal rank fusion, Cormack et al. 2009). */
const rankOffset = 60;

/**
 * The chunks of all lists in one order (SE-24): each list counts up to 50 chunks, a chunk counts once in each, ranks
 * begin at 1. Equal sums are ordered by the lexical score, then by id.
 */
export function fuse(
  lists: readonly RankedList[],
  lexicalScoreOf: (key: ChunkKey) => number,
): readonly FusedChunk[] {
  const found = new Map<string, FusedChunk>();
  for (const name of listNames) {
    const chunks = lists.filter((list) => list.name === name).flatMap((list) => list.chunks);
    for (const [at, key] of firstOfEach(chunks).entries()) {
      const place = { rank: at + 1, share: 1 / (rankOffset + at + 1) };
      const id = formatChunkId(key);
      const known = found.get(id) ?? { key, fused: 0, lexical: lexicalScoreOf(key), lists: {} };
      const fused = known.fused + place.share;
      found.set(id, { ...known, fused, lists: { ...known.lists, [name]: place } });
    }
  }
  return [...found.values()].sort(compareFused);
}

/** Negative when `left` comes first. */
export function compareFused(
  left: Pick<FusedChunk, 'fused' | 'lexical' | 'key'>,
  right: Pick<FusedChunk, 'fused' | 'lexical' | 'key'>,
): number {
  return right.fused - left.fused || right.lexical - left.lexical || compareChunkKeys(left.key, right.key);
}

function firstOfEach(chunks: readonly ChunkKey[]): readonly ChunkKey[] {
  const first = new Map<string, ChunkKey>();
  for (const key of chunks) {
    const id = formatChunkId(key);
    if (!first.has(id)) first.set(id, key);
  }
  return [...first.values()].slice(0, limits.fusedListChunksMax);
}
