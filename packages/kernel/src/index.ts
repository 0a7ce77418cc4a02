export { AssertionFailure, assert, assertNever } from './assert.js';
export {
  type Brand,
  type ByteCount,
  type ByteOffset,
  byteCount,
  byteOffset,
  type EventCount,
  eventCount,
  type Generation,
  isGeneration,
  type Seq,
  type SessionId,
  seq,
  type TurnNumber,
  turnNumber,
} from './brand.js';
export { canonicalJson, type JsonObject, type JsonValue } from './canonical-json.js';
export type { Clock } from './clock-port.js';
export {
  type DayRange,
  dayAfter,
  dayOf,
  isTimeZone,
  parseTimeZone,
  rangeOfDay,
  systemTimeZone,
  type TimeZone,
  type TimeZoneSource,
  utc,
  wallClockText,
} from './day.js';
export { type ErrorCode, errorCodes } from './error-codes.js';
export type { DirectoryEntry, FileHandle, FileKind, FileStatus, FileSystem, OpenMode } from './fs-port.js';
export type { Host } from './host-port.js';
export type { Ids } from './id-port.js';
export { elementSpans, memberSpans, nestingLevels, type Span, textOf } from './json-spans.js';
export { type JsonToken, JsonTokenizer } from './json-tokenizer.js';
export { limits } from './limits.js';
export type {
  HeldLock,
  LockHolder,
  LockMode,
  LockRequest,
  OwnerState,
  TakeOver,
  WriterLocks,
} from './lock-port.js';
export { logicalDigest } from './logical-digest.js';
export { RunningSha256, sha256, sha256Hex, sha256Text } from './sha256.js';
export {
  type ErrorDetails,
  type ErrorOptions,
  errnoOf,
  isTurnlogError,
  TurnlogError,
} from './turnlog-error.js';
