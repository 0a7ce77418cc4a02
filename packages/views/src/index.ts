export { type ActivityState, activityView } from './activity-view.js';
export type { ConversationMessage, ConversationPart } from './exports/conversation-window.js';
export {
  type ExportFormat,
  exportFileName,
  exportFormats,
  exportMediaTypes,
} from './exports/export-format.js';
export type {
  ExportChunk,
  ExportOptions,
  ExportReport,
  ExportRequest,
  ExportSource,
  SessionExport,
} from './exports/export-request.js';
export { exportDamage, exportSession } from './exports/export-session.js';
export {
  type ConversationRequest,
  type RenderedConversation,
  renderConversation,
} from './exports/render-conversation.js';
export {
  type WriteEnvironment,
  type WriteExportOptions,
  type WrittenExport,
  writeExport,
} from './exports/write-export.js';
export { type FilesState, filesView, type TouchedFile, touchedFiles } from './files-view.js';
export type { Difference } from './internal/first-difference.js';
export type { ItemPlace } from './internal/slim-items.js';
export { type MemoryState, memoryView } from './memory-view.js';
export { dollars, type ModelPrice, type Picodollars, type Prices, parsePrices } from './prices.js';
export { type Goal, goalsNow, type ProgressState, progressView } from './progress-view.js';
export {
  type PartReport,
  publishViews,
  type RebuildOptions,
  type RebuildOutcome,
  type RebuildPart,
  type RebuildReport,
  rebuildParts,
  rebuildSession,
  rebuildViews,
} from './rebuild-check.js';
export {
  collectStatistics,
  type RowCounts,
  type StatsReport,
  type StatsRequest,
  type UnreadSession,
} from './statistics.js';
export { statsJson, unknownDay, usageJson } from './stats-json.js';
export type { Cost, CostSource, Measures } from './stats-measures.js';
export { type StatsDimension, type StatsKey, type StatsRow, statsDimensions } from './stats-table.js';
export {
  countTools,
  type ToolCall,
  type ToolCount,
  type ToolsState,
  toolCalls,
  toolsView,
} from './tools-view.js';
export {
  type CountedTurn,
  countedTurns,
  type UsageDifference,
  type UsageEntry,
  usageDifference,
  usageEntries,
} from './usage-entries.js';
export {
  type UsageAnswer,
  type UsageState,
  type UsageThread,
  type UsageTurn,
  usageView,
} from './usage-view.js';
export { type View, type ViewRecord, viewRecord } from './view.js';
export { type FoldStart, type RunningFold, ViewFold } from './view-fold.js';
export { type RegisteredView, registerView, views } from './view-registry.js';
export { openFold, publishFolds, runFolds, viewPath } from './view-runner.js';
