import type { Clock } from '@turnlog/kernel';

/** The clock of this machine. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    sleep,
    after(ms: number, callback: () => void): () => void {
      const timer = setTimeout(callback, ms);
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish, { once: true });
  });
}
