export { answerFromPostings, type PostingSource, type Postings } from './answer-from-postings.js';
export { type Presence, presenceAt, type Supersession } from './as-of.js';
export {
  type BlameGap,
  type BlameQuery,
  type BlameRow,
  blameLineInSession,
  blameLineInStore,
  blameSession,
  blameStore,
  changingOps,
  type LineOrigin,
} from './blame.js';
export { type BlameReport, type BlameRequest, blame, blameRowJson, lineOriginJson } from './blame-report.js';
export { averageLen, type CorpusStats, idf, partBound, termPart } from './bm25.js';
export type {
  AgentKind,
  ChunkFields,
  ChunkKey,
  Kind,
  Role,
  SearchDocument,
  SessionInfo,
} from './chunk.js';
export { compareBytes, compareChunkKeys, formatChunkId, parseChunkId } from './chunk-id.js';
export { chunksOf, type IndexedText, indexedPart } from './chunker.js';
export {
  type DocumentOptions,
  documentsOf,
  type RecordDocument,
  sessionInfoOf,
} from './documents.js';
export { earlierItemsOf, type ReadingPlace } from './earlier-items.js';
export type { EngineProvider, OpenEngine } from './engine-choice.js';
export type {
  ChunkTable,
  QueryStatistics,
  RankedChunks,
  ScoredChunk,
  TextVerdict,
  Total,
} from './evaluation.js';
export type { Explanation, TermExplanation } from './explain.js';
export type { Facets, FacetValues } from './facets.js';
export { type Filters, type FilterVerdict, judgeFields, noFilters } from './filters.js';
export { freshnessOf } from './freshness.js';
export type { Encoder, EncoderProvider, OpenedEncoder } from './hybrid/encoder.js';
export { energeticEncoderProvider } from './hybrid/energetic-encoder.js';
export type { ListName, ListPlace } from './hybrid/fuse.js';
export { hashEncoderProvider } from './hybrid/hash-encoder.js';
export type { IndexedChunk } from './indexed-chunk.js';
export { type EarlierItem, type EarlierItems, type KnownItem, noEarlierItems } from './item-chain.js';
export type {
  EngineName,
  Freshness,
  IndexAnswer,
  IndexState,
  LexicalIndex,
  QueryHelp,
} from './lexical-index.js';
export { openSearch } from './open-search.js';
export { checkPackedIndex, type IndexCheck, purgePackedIndex } from './packed/index-upkeep.js';
export {
  comparePackedIndex,
  hasPackedIndex,
  type IndexRebuild,
  type IndexVerdict,
  packedIndexDamage,
  rebuildPackedIndex,
} from './packed/rebuild-index.js';
export { type FilterField, filterFields, parseQuery, type QuerySyntax } from './parse-query.js';
export {
  type LineRange,
  type PathBasis,
  type PathOp,
  type PathRef,
  type PathTouch,
  pathRefsOf,
  pathTouchesOf,
} from './path-refs.js';
export { comparablePath, type PlacedPath, type WorkingPlace } from './path-text.js';
export type { AsOf, Phrase, QueryPlan, QueryTerm } from './query-plan.js';
export { recencyFactor, recencyFactorMax } from './recency.js';
export { Search } from './search.js';
export type { Degraded, SearchAnswer, SearchHit } from './search-answer.js';
export type { WrittenFilters } from './search-filters.js';
export type { Searcher, SearchRequest } from './search-request.js';
export type { Snippet } from './snippet.js';
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
export { type TouchingRecord, touchingRecords } from './touching-records.js';
export { winkEngine } from './wink-engine.js';
export { WinkSegments } from './wink-segments.js';
