import { watchPath } from '@turnlog/fs';
import type { Store } from '@turnlog/store';
import type { Context } from './command.js';

/** Says when to look again. It only shortens the wait: whoever is woken looks, and polling finds what it misses. */
export interface Waker {
  /** Resolves when something may have changed since the last call. */
  next(): Promise<void>;
  close(): Promise<void>;
}

/** Watches a file; that it cannot be watched is a note and no failure. */
export function wakerOf({ clock, output }: Context, store: Store, path: string): Waker {
  let isDue = false;
  let wake: () => void = () => undefined;
  const watch = watchPath({
    fs: store.environment.fs,
    clock,
    path,
    onWake: () => {
      isDue = true;
      wake();
    },
    onWarning: ({ message }) => void output.note(output.shown`${message}`),
  });
  return {
    next: async () => {
      if (!isDue) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      isDue = false;
    },
    close: () => watch.close(),
  };
}
