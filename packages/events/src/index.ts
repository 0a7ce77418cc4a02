export type { ExecutionContext, ItemContext } from './context.js';
export { type DecodedRecord, decodeRecord, parseEvent } from './decode-record.js';
export { type EncodedEvent, encodeEvent, encodeRawEvent } from './encode-event.js';
export { checkKey, type Envelope, encodeRecord, recordBytesMax, writeRecord } from './encode-record.js';
export { type ContentFlag, type Fault, type Inspection, inspectRecord } from './inspect-record.js';
export {
  type DamagePiece,
  judgeLine,
  type LineContext,
  type LinePiece,
  type RecordPiece,
} from './judge-line.js';
export { type LifecycleKind, lifecycleKindOf } from './lifecycle-kind.js';
export type { MatrixAttempt, MatrixEvidence, MatrixSpec, MatrixTask, MatrixTaskSpec } from './matrix.js';
export type { OpenEnum } from './open-enum.js';
export { emptyOrder, type Ordered, type OrderFlag, type OrderState, order } from './order.js';
export { type DamageKind, type PeekedRecord, peekRecord } from './peek-record.js';
export { isKnownEventName, knownEventNames } from './reserved-names.js';
export { schemaVersion } from './schema-version.js';
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
export type {
  ArchiveFile,
  AssetPart,
  CarriedRecord,
  DamageTotals,
  ForkOrigin,
  ImportSource,
  KnownPart,
  LogEvictedEvent,
  LogImportedEvent,
  LogPinnedEvent,
  LogPurgedEvent,
  LogRecoveredEvent,
  LogRedactedEvent,
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
export type { TokenBreakdown, Usage } from './usage.js';
