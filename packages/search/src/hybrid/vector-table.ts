import type { ChunkKey } from '../chunk.js';
import { compareChunkKeys, formatChunkId } from '../chunk-id.js';

/**
 * The vectors of one encoder, by chunk. Each is kept as whole numbers of one byte: its largest number becomes 127, the
 * others in proportion. Cosines are those of the whole numbers, exactly, and count to six places: so the order of an
 * answer is the same on every machine.
 */
export class VectorTable {
  readonly #entries = new Map<string, VectorEntry>();
  #vectorCount = 0;

  get chunkCount(): number {
    return this.#entries.size;
  }

  get vectorCount(): number {
    return this.#vectorCount;
  }

  entries(): Iterable<VectorEntry> {
    return this.#entries.values();
  }

  get(id: string): VectorEntry | null {
    return this.#entries.get(id) ?? null;
  }

  /** Takes the vectors of a chunk; those that it had are forgotten. */
  put(entry: VectorEntry): void {
    const id = formatChunkId(entry.key);
    this.remove(id);
    this.#entries.set(id, entry);
    this.#vectorCount += entry.vectors.length;
  }

  remove(id: string): void {
    const known = this.#entries.get(id);
    if (known === undefined) return;
    this.#vectorCount -= known.vectors.length;
    this.#entries.delete(id);
  }
}

/** What is known of one chunk: none of its vectors where the encoder can make nothing of the text. */
export interface VectorEntry {
  readonly key: ChunkKey;
  /** Names the text that was encoded: the first 16 hex digits of its SHA-256. */
  readonly textHash: string;
  readonly vectors: readonly Int8Array[];
}

export interface SimilarChunk {
  readonly key: ChunkKey;
  readonly similarity: number;
}

/** The vector as whole numbers from -127 to 127. */
export function wholeNumbers(vector: Float32Array): Int8Array {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  return Int8Array.from(vector, (number) => (largest === 0 ? 0 : Math.round((number * 127) / largest)));
}

/**
 * The chunks among `entries` that are most like the query, down to a cosine of `floor`: the most alike first, equal
 * ones by id. A chunk is as alike as its best segment.
 */
export function mostAlike(
  query: readonly Int8Array[],
  entries: Iterable<VectorEntry>,
  floor: number,
): readonly SimilarChunk[] {
  const found: SimilarChunk[] = [];
  for (const { key, vectors } of entries) {
    let best = Number.NEGATIVE_INFINITY;
    for (const vector of vectors) {
      for (const asked of query) best = Math.max(best, cosine(asked, vector));
    }
    if (best >= floor) found.push({ key, similarity: best });
  }
  return found.sort(
    (left, right) => right.similarity - left.similarity || compareChunkKeys(left.key, right.key),
  );
}

/** To six places: what differs less is equal. */
export function cosine(left: Int8Array, right: Int8Array): number {
  let dot = 0;
  let leftSquare = 0;
  let rightSquare = 0;
  for (let at = 0; at < left.length; at += 1) {
    const [a, b] = [left[at] ?? 0, right[at] ?? 0];
    dot += a * b;
    leftSquare += a * a;
    rightSquare += b * b;
  }
  const lengths = Math.sqrt(leftSquare * rightSquare);
  return lengths === 0 ? 0 : Math.round((dot / lengths) * 1e6) / 1e6;
}
