export { type AssetEnvironment, AssetStore, type StoredAsset } from './asset-store.js';
export { type CheckUp, type CheckUpOptions, checkUp } from './check-up.js';
export {
  type ConversationPiece,
  type ConversationRecord,
  conversation,
  type MissingPart,
  type MissingReason,
} from './conversation.js';
export { type DeletedSession, type DeletionPlan, deleteSession, planDeletion } from './delete-session.js';
export type { Finding, FindingKind, Repair } from './finding.js';
export { storeNames, trashEntryPath } from './layout.js';
export { Ledger, type LedgerAppend, type LedgerEvent } from './ledger.js';
export {
  foldLedger,
  type LedgerFacts,
  type LedgerPin,
  type LedgerRecord,
  type LedgerRemoval,
  newestRemoval,
  type RemovalFate,
} from './ledger-facts.js';
export {
  cursorBehindRow,
  type ListPage,
  type ListPageRequest,
  pageOfRows,
  rowBehindCursor,
} from './list-page.js';
export { completeEnvironment, programName } from './machine.js';
export { instantOf, type Moment, parseDuration, parseMoment } from './moment.js';
export { listPins, type Pin, pinSession, unpinSession } from './pins.js';
export {
  openRedactionKey,
  RedactionKey,
  type RedactionKeyPlace,
  type RedactionKeyScope,
} from './redaction-key.js';
export { type RedactionKindName, redactionKindNames } from './redaction-kinds.js';
export {
  createRedactor,
  type Egress,
  type EgressBytes,
  type EgressText,
  type PassThrough,
  passThrough,
  type RedactionFacts,
  type Redactor,
  type RedactorOptions,
  redactionFacts,
} from './redactor.js';
export { planRepair, type RepairFailure, type RepairStep, repair } from './repair.js';
export { parseSessionReference, type SessionReference } from './resolve-session.js';
export {
  type CarryOutOptions,
  type ChangeReason,
  type CleanUpOptions,
  type CleanUpPlan,
  type CleanUpReport,
  carryOutCleanUp,
  planCleanUp,
  type RemovedSession,
} from './retention.js';
export {
  type GoingSession,
  planRetention,
  type RetentionPlan,
  type RetentionReason,
  type RetentionSession,
  type StayingSession,
  type StayReason,
} from './retention-plan.js';
export { type RetentionOptions, type RetentionPolicy, retentionPolicy } from './retention-policy.js';
export {
  chooseRoot,
  type RootChoice,
  type RootRequest,
  type RootSource,
  rootWarning,
  type Variables,
} from './root.js';
export { safeLine, safeLineCodePointsMax, safeText } from './safe-text.js';
export { type SessionFilter, type SessionSort, sessionSorts } from './session-filter.js';
export { isSessionId, parseSessionId } from './session-id.js';
export type { ListOptions, SessionPage } from './session-page.js';
export type { SessionError, SessionSummary } from './session-summary.js';
export type { SettlingStep } from './settle-trash.js';
export { openStore, type Session, Store, type StoreOptions } from './store.js';
export { readTrash, restoreSession, type Trash, type TrashEntry } from './trash.js';
export { parseTrashName, type TrashName } from './trash-name.js';
