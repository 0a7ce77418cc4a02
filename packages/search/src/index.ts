export { averageLen, type CorpusStats, idf, partBound, termPart } from './bm25.js';
export {
  type AgentKind,
  type ChunkFields,
  type ChunkKey,
  type Kind,
  kinds,
  type Role,
  roles,
  type SearchDocument,
  type SessionInfo,
} from './chunk.js';
export { compareBytes, compareChunkKeys, formatChunkId, parseChunkId } from './chunk-id.js';
export type { IndexedChunk } from './indexed-chunk.js';
export { recencyFactor, recencyFactorMax } from './recency.js';
export { compareSortKeys, type SortKey } from './sort-key.js';
export type { Token, TokenForm, TokenGroup } from './token.js';
export {
  type CountedTokens,
  countTokens,
  leavesOf,
  type QueryText,
  type QueryToken,
  readQueryText,
} from './token-views.js';
export { tokenize, tokenizerName } from './tokenizer.js';
