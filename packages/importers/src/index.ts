export { detectSource, type SourceKind } from './detect.js';
export type { Ledger } from './ledger.js';
export { openEventStream } from './open-event-stream.js';
export type {
  ChildEvents,
  EarlierRuns,
  EventStream,
  MappedEvent,
  Refusal,
  StreamEnd,
  StreamKind,
  StreamOptions,
  StreamSource,
  StreamStep,
} from './stream-types.js';
