export { ModelDirectory, type ModelLink, type ModelNode } from './model-directory.js';
export { CrashSignal } from './model-errors.js';
export { ModelFile } from './model-file.js';
export { ModelFileSystem, type ModelOptions } from './model-fs.js';
