import { join } from 'node:path';
import { createNodeFileSystem, createRandomIds, systemTemporaryDirectory } from '@turnlog/fs';
import { type FileSystem, TurnlogError } from '@turnlog/kernel';

export interface TemporaryDirectory {
  readonly path: string;
  remove(): void;
}

/** A real directory of mode 0700 under the system's directory for temp files. */
export function makeTemporaryDirectory(): TemporaryDirectory {
  const fs = createNodeFileSystem();
  const parent = fs.resolve(systemTemporaryDirectory());
  const path = join(parent, `turnlog-test-${createRandomIds().randomHex(8)}`);
  fs.makeDirectory(path);
  return { path, remove: () => removeTree(fs, path, 0) };
}

/** How deep a test may have nested its directories. */
const depthMax = 16;

function removeTree(fs: FileSystem, path: string, depth: number): void {
  if (depth > depthMax) throw new TurnlogError('TURNLOG_INTERNAL', { details: { path, depth } });
  for (const { name, kind } of fs.list(path)) {
    const child = join(path, name);
    if (kind === 'directory') removeTree(fs, child, depth + 1);
    else fs.removeFile(child);
  }
  fs.removeDirectory(path);
}
