export type { ExecutionContext, ItemContext } from './context.js';
export { type DecodedRecord, decodeRecord, parseEvent, recordSalt } from './decode-record.js';
export { type EncodedEvent, encodeEvent, encodeRawEvent } from './encode-event.js';
export { checkKey, type Envelope, encodeRecord, recordBytesMax, writeRecord } from './encode-record.js';
export type {
  FrameEvent,
  JobBeginEvent,
  JobCommitEvent,
  JobVoidEvent,
  JournalBeginEvent,
  JournalCommitEvent,
  JournalVoidEvent,
} from './frame-event.js';
export { type ContentFlag, type Fault, type Inspection, inspectRecord } from './inspect-record.js';
export { isLooseObject, type LooseObject, ownList, ownMember, ownText } from './internal/loose-value.js';
export {
  evolveItems,
  type FoldedCall,
  type FoldedItem,
  type ItemsState,
  initialItems,
  listCalls,
  listItems,
  strayOutputs,
  unansweredCalls,
} from './item-fold.js';
export {
  type DamagePiece,
  judgeLine,
  type LineContext,
  type LinePiece,
  type RecordPiece,
} from './judge-line.js';
export { type LifecycleKind, lifecycleKindOf } from './lifecycle-kind.js';
export type { MatrixAttempt, MatrixEvidence, MatrixSpec, MatrixTask, MatrixTaskSpec } from './matrix.js';
export {
  evolveMatrices,
  type FlaggedMatrix,
  initialMatrices,
  listMatrices,
  type MatricesState,
  type MatrixRule,
  type MatrixState,
  matrixOf,
} from './matrix-replay.js';
export { type MatrixFault, type MatrixSnapshotRule, matrixSnapshotFaults } from './matrix-rules.js';
export type { OpenEnum } from './open-enum.js';
export { emptyOrder, type Ordered, type OrderFlag, type OrderState, order } from './order.js';
export { pathArguments } from './path-arguments.js';
export { type DamageKind, type PeekedRecord, peekRecord } from './peek-record.js';
export { type DocumentKind, documentKinds, type RecordRole, recordRoles } from './record-roles.js';
export { isEngineEventName, isKnownEventName, knownEventNames } from './reserved-names.js';
export { schemaVersion } from './schema-version.js';
export type { StoredEvent } from './stored-event.js';
export type {
  ContextResetEvent,
  ErrorEvent,
  InterjectedEvent,
  ItemCompletedEvent,
  ItemStartedEvent,
  ItemUpdatedEvent,
  MatrixUpdatedEvent,
  PermissionRequestedEvent,
  PermissionResolvedEvent,
  PlanApprovalRequestedEvent,
  PlanApprovalResolvedEvent,
  PlanDeltaEvent,
  ThreadCompactBoundaryEvent,
  ThreadCompletedEvent,
  ThreadEvent,
  ThreadStartedEvent,
  TurnBlockedEvent,
  TurnCompletedEvent,
  TurnFailedEvent,
  TurnStartedEvent,
} from './thread-event.js';
export type {
  AgentMessageItem,
  CommandExecutionItem,
  ContractItem,
  DecisionItem,
  ErrorItem,
  FileChange,
  FileChangeItem,
  HarnessItem,
  ItemAdditions,
  ItemHead,
  McpToolCallItem,
  PlanItem,
  ReasoningItem,
  ThreadItem,
  ToolInvocationItem,
  ToolOutputItem,
  UnknownItem,
  WebSearchItem,
} from './thread-item.js';
export { formatTimestamp, parseTimestamp } from './timestamp.js';
export {
  evolveTurnUsage,
  initialTurnUsage,
  type TurnUsage,
  type TurnUsageState,
  turnUsage,
  turnUsageOf,
} from './turn-usage.js';
export type {
  ArchiveFile,
  AssetPart,
  AuditEvent,
  CarriedRecord,
  DamageTotals,
  ForkOrigin,
  ImportSource,
  KnownPart,
  LogEvictedEvent,
  LogImportedEvent,
  LogPackEvent,
  LogPinnedEvent,
  LogPurgedEvent,
  LogRecoveredEvent,
  LogRedactedEvent,
  LogRedactionEvent,
  LogRemovedEvent,
  LogRestoredEvent,
  LogSummaryEvent,
  LogUnpinnedEvent,
  LostRange,
  MessagePart,
  RecoveredDamage,
  RunParent,
  RunStartedEvent,
  SummaryReference,
  TextPart,
  TreeFrontier,
  TreeHead,
  TurnlogEvent,
  TurnlogOwnEvent,
  UnknownEvent,
  UnknownPart,
  UserMessageEvent,
} from './turnlog-event.js';
export { type DiffFile, type DiffHunk, readUnifiedDiff } from './unified-diff.js';
export type { TokenBreakdown, Usage } from './usage.js';
export {
  addUsage,
  cacheHitRate,
  noTokens,
  readUsageCounts,
  type UsageCounts,
  uncachedInput,
} from './usage-counts.js';
export {
  evolveTurnMessages,
  initialTurnMessages,
  isOwnWords,
  messageText,
  ownWordsOrigins,
  type TurnMessage,
  type TurnMessagesState,
} from './user-words.js';
