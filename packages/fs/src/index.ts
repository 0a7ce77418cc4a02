export { checkDirectory, checkRoot, childPath, containedPath } from './contained-path.js';
export { DraftFile } from './draft-file.js';
export { type FilesystemKind, filesystemKind } from './filesystem-kind.js';
export { createHost, systemTemporaryDirectory } from './host.js';
export { listIfThere, removeFileIfThere } from './if-there.js';
export { createNodeFileSystem } from './node-fs.js';
export {
  ensurePrivateDirectory,
  firstWarningOnly,
  type ModeWarning,
  type Ownership,
  openOwnFile,
  tightenEntries,
} from './private-directory.js';
export {
  type PublishDurability,
  type PublishOptions,
  publish,
  renameReplacing,
  temporaryNamePattern,
  temporaryPathBeside,
} from './publish.js';
export {
  type DerivedFile,
  publishDerived,
  readDerived,
  removeDerivedLeftovers,
} from './publish-derived.js';
export { createRandomIds } from './random-ids.js';
export { removeChildDirectory } from './remove-child-directory.js';
export { createSystemClock } from './system-clock.js';
export { bytesBelow, type WalkedEntry, walkBelow } from './walk.js';
export {
  type LibraryWatcher,
  type Watch,
  type WatchLibrary,
  type WatchLibraryOptions,
  type WatchRequest,
  type WatchWarning,
  watchPath,
} from './watch.js';
export { writeAll } from './write-all.js';
export { createWriterLocks, type WriterLocksOptions } from './writer-lock.js';
