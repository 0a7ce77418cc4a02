import type { ModelFileSystem } from './model-fs.js';

/**
 * Runs `work` to its end and lets `look` at the disk as a crash at each call that changes something leaves it, in
 * one run. A call that a crash meets does nothing and none comes after it, so what it leaves is the disk as it was
 * before that call: nothing has to be run again for each.
 *
 * @param look takes what it needs before the work goes on, as `enumerateDisks` and `copyDisk` do; told which call it
 * is, counted from 0 on.
 */
export async function lookBeforeEachCall(
  fs: ModelFileSystem,
  work: () => Promise<unknown>,
  look: (call: number) => void,
): Promise<void> {
  const first = fs.mutationCount;
  fs.beforeEachChange(() => look(fs.mutationCount - first));
  try {
    await work();
  } finally {
    fs.beforeEachChange(() => undefined);
  }
}
