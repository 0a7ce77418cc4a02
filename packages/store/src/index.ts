export { type AssetEnvironment, AssetStore, type StoredAsset } from './asset-store.js';
export { type CheckUp, type CheckUpOptions, checkUp } from './check-up.js';
export {
  type ConversationPiece,
  type ConversationRecord,
  conversation,
  type MissingPart,
  type MissingReason,
} from './conversation.js';
export type { Finding, FindingKind, Repair } from './finding.js';
export { storeNames } from './layout.js';
export { completeEnvironment, programName } from './machine.js';
export {
  openRedactionKey,
  RedactionKey,
  type RedactionKeyPlace,
  type RedactionKeyScope,
} from './redaction-key.js';
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
export { openStore, type Session, Store, type StoreOptions } from './store.js';
