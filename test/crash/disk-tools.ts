import { join } from 'node:path';
import type { ModelFileSystem } from '@turnlog/testkit';

/** The files below a directory by their paths in it. */
export type Snapshot = ReadonlyMap<string, string>;

export function snapshotOf(fs: ModelFileSystem, directory = '/'): Snapshot {
  const found = new Map<string, string>();
  const prefix = directory === '/' ? '' : directory;
  const visit = (at: string): void => {
    for (const { name, kind } of fs.list(at)) {
      const path = join(at, name);
      if (kind === 'directory') visit(path);
      else found.set(path.slice(prefix.length), Buffer.from(fs.contentOf(path)).toString('latin1'));
    }
  };
  if (fs.status(directory) !== null) visit(directory);
  return found;
}

/** Whether `work` came to its end; any failure but the crash is one of the scenario. */
export async function runToEnd(work: () => Promise<void>, fs: ModelFileSystem): Promise<boolean> {
  try {
    await work();
  } catch (error) {
    if (!fs.isDown) throw error;
  }
  return !fs.isDown;
}
