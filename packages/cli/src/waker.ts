import { type WatchRequest, watchPath } from '@turnlog/fs';
import type { Store } from '@turnlog/store';
import type { Context } from './command.js';

/** Says when to look again. It only shortens the wait: whoever is woken looks, and polling finds what it misses. */
export interface Waker {
  /** Resolves when something may have changed since the last call. */
  next(): Promise<void>;
  close(): Promise<void>;
}

/** Watches files and directories; that they cannot be watched is a note and no failure. */
export function wakerOf(
  { clock, output }: Context,
  store: Store,
  paths: readonly string[],
  options: Pick<WatchRequest, 'depth'> = {},
): Waker {
  let isDue = false;
  let wake: () => void = () => undefined;
  let hasWarned = false;
  const watches = paths.map((path) =>
    watchPath({
      ...options,
      fs: store.environment.fs,
      clock,
      path,
      onWake: () => {
        isDue = true;
        wake();
      },
      onWarning: ({ message }) => {
        if (!hasWarned) void output.note(output.shown`${message}`);
        hasWarned = true;
      },
    }),
  );
  return {
    next: async () => {
      if (!isDue) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      isDue = false;
    },
    close: async () => {
      for (const watch of watches) await watch.close();
    },
  };
}
