export type { FailedSession } from './catch-up.js';
export type { MirrorCheck } from './check-mirror.js';
export { FtsIndex } from './fts-index.js';
export type { MirrorDifference } from './logical-rows.js';
export {
  type Mirror,
  type MirrorCatchUp,
  type MirrorOptions,
  type MirrorWait,
  type OpenedMirror,
  openMirror,
} from './mirror.js';
export { mirrorEngine } from './mirror-engine.js';
export { mirrorNames } from './mirror-file.js';
export type { MirrorHealth } from './mirror-health.js';
export { MirrorWatch, type MirrorWatchOptions } from './mirror-watch.js';
export {
  loadSqlite,
  type SqliteDatabase,
  type SqliteLibrary,
  type SqliteMode,
  type SqliteStatement,
  type SqlValue,
} from './sqlite-port.js';
