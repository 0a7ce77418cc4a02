export type { BatchReport, SourceOutcome, SourceReport } from './batch-report.js';
export { detectSource, type SourceKind } from './detect.js';
export type { AgentName, AgentPlaces } from './discover-sources.js';
export { type FoundSource, type FoundSources, findSources } from './find-sources.js';
export type { TurnBase } from './foreign-turn-base.js';
export type { HookAgent } from './hook-source.js';
export { type HookReport, type HookRequest, importHook } from './import-hook.js';
export type { ImportReport, ImportState } from './import-report.js';
export {
  type ImportProgress,
  type ImportRequest,
  importSources,
  placesOf,
  type SourceToImport,
} from './import-sources.js';
export { importStreamFile, type StreamFileOptions } from './import-stream-file.js';
export type { ImportTarget } from './import-target.js';
export { importVtcode } from './import-vtcode.js';
export type { Ledger } from './ledger.js';
export { openEventStream } from './open-event-stream.js';
export { type ForeignLog, openForeign } from './open-foreign.js';
export type { RawMode } from './raw-copy.js';
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
export { type WatchOptions, watchSources } from './watch-sources.js';
