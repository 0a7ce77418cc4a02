export { type Accepted, checkEvent, EngineEvent, type EventInput, type RawEvent } from './append.js';
export type { AppendResult, BatchResult, FlushResult, FrameResult } from './append-result.js';
export { type ArchiveFault, checkArchives } from './archive-check.js';
export type { BatchBuilder } from './batch.js';
export { type ArchiveMode, type CapOptions, checkCap } from './cap.js';
export { type FoundMembers, isCount, isSha256Hex, isText, ownMembers, readMembers } from './checked-json.js';
export { DamageCollector, type DamageReport } from './damage-report.js';
export { type CountingRecord, type EffectiveRecord, effectiveRecords } from './effective-records.js';
export type { ArchiveOptions } from './evicted-reader.js';
export {
  type EvictionInput,
  type EvictionLimits,
  type EvictionPlan,
  type NoEviction,
  planEviction,
} from './eviction-plan.js';
export { type EvictionHeader, parseEvictionHeader } from './eviction-record.js';
export { readManifest } from './evidence.js';
export { type BrokenFrame, type FrameFault, invalidJournal } from './frame-step.js';
export type { FrameHeader, FrameMembers, FrameOptions } from './frame-writer.js';
export { type GzipLevel, GzipWriter, gunzip, gunzipPieces, gzip } from './gzip.js';
export { type HistoryLeaf, historyLeaves, partLeaves } from './history-leaves.js';
export type { ClosedStatus, ClosedTurn, OpenTurn, SessionStatus } from './lifecycle.js';
export { type ByteSource, type FramerOptions, LineFramer } from './line-framer.js';
export {
  type FollowOptions,
  follow,
  type LogCursor,
  LogFollower,
  startCursor,
} from './log-follower.js';
export {
  type ArchivedPart,
  archivedParts,
  evictedLeaves,
  headerIn,
  leafBlocks,
  leafBytes,
  OpenArchive,
  partsToFile,
} from './log-history.js';
export { type LogPaths, logNames, logPaths, tornName } from './log-layout.js';
export type { LogReader, ReaderOptions, TurnSummary } from './log-reader.js';
export { LogRecord } from './log-record.js';
export type { DamageTotals, EvictedTotals, LineSpan, LogState } from './log-state.js';
export { emptyLogState, turnBaseOf } from './log-state.js';
export type { MaintenanceListener, MaintenanceReport } from './maintenance-report.js';
export { type LineProof, type Manifest, parseManifest } from './manifest.js';
export {
  emptyTree,
  frontierLength,
  leafHash,
  MerkleFrontier,
  nodeHash,
  type TreeHead,
  treeRoot,
} from './merkle-frontier.js';
export { openLogReader } from './open-log-reader.js';
export type { OpenScan } from './opened-log.js';
export {
  type AppendOptions,
  type Durability,
  durabilities,
  type LogEnvironment,
  type ReaderEnvironment,
  type WriterOptions,
} from './options.js';
export {
  type OpenReport,
  type OwnedLog,
  openOwnedLog,
  type ReopenReport,
  type SeqRange,
} from './owned-log.js';
export { type PieceOptions, PieceReader, type PlaceFlag } from './piece-reader.js';
export { readPublishedState } from './published-state.js';
export { readFully } from './read-fully.js';
export { openIfThere, readBytesIfThere, readTextIfThere } from './read-text.js';
export { recordLeaf } from './record-leaf.js';
export type { RecoveredEvent } from './recover.js';
export { type RedactedLog, type RedactionOrder, type RedactLogOptions, redactLog } from './redact-log.js';
export type { RedactionReason } from './redacted-record.js';
export type { RedactedLeaf } from './redaction-rewrite.js';
export {
  type Scanned,
  type ScannedDamage,
  type ScannedRecord,
  Scanner,
  type ScanOptions,
} from './scanner.js';
export type { SessionFacts } from './session-facts.js';
export { type SharedHandle, type TransactionOptions, transaction } from './shared-log.js';
export { type Summary, type SummaryHook, type SummaryRequest, summarizeByDefault } from './summary-hook.js';
