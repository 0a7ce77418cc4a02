export type { ErrorCode, SessionId } from '@turnlog/kernel';
export { errorCodes, isTurnlogError, TurnlogError } from '@turnlog/kernel';
export type {
  AppendOptions,
  AppendResult,
  Durability,
  EventInput,
  LogCursor,
  LogReader,
  LogRecord,
  WriterOptions,
} from '@turnlog/log';
export { follow } from '@turnlog/log';
export {
  isSessionId,
  openStore,
  parseSessionId,
  type Session,
  type SessionSummary,
  type Store,
  type StoreOptions,
} from '@turnlog/store';
export type { Io, Sink, StopSignal } from './io.js';
export { run } from './run.js';
