import { type Clock, limits } from '@turnlog/kernel';

/**
 * Goes through work that pauses, and lets the event loop have its turn whenever a slice of it is over. `check` throws
 * when the work has lost its sense meanwhile.
 */
export async function runInSlices<Result>(
  clock: Clock,
  work: Generator<void, Result, void>,
  check: () => void = () => undefined,
): Promise<Result> {
  for (let startMs = clock.monotonicMs(); ; ) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (clock.monotonicMs() - startMs < limits.searchSliceMs) continue;
    await turnOfTheLoop();
    try {
      check();
    } catch (error) {
      // It is told, so that it leaves nothing behind.
      work.throw(error);
      throw error;
    }
    startMs = clock.monotonicMs();
  }
}

/** Goes through work that pauses without a pause. */
export function wholeOf<Result>(work: Generator<void, Result, void>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

export function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
