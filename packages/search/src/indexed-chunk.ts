import type { ChunkFields } from './chunk.js';

/** A chunk as an index takes it: its fields, and its text as counted tokens. */
export interface IndexedChunk {
  readonly fields: ChunkFields;
  /** Tokens of the text, tails included: the length that scores are made with. */
  readonly len: number;
  /** How often each token occurs. */
  readonly terms: ReadonlyMap<string, number>;
  /** The item whose snapshot it is, by which a later one finds what it supersedes; null for what is said once. */
  readonly itemId: string | null;
}
