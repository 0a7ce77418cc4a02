import { type Watch, type WatchWarning, watchPath } from '@turnlog/fs';
import type { Clock } from '@turnlog/kernel';
import type { BatchReport } from './batch-report.js';
import { type ImportRequest, importSources, placesOf } from './import-sources.js';
import type { ImportTarget } from './import-target.js';

/** What no event told of is found after so long. */
const passPauseMs = 5_000;

/** Agents sort their files into folders by project or by day. */
const watchedLevels = 6;

export interface WatchOptions {
  /** Ends the watch, behind the file in hand. */
  readonly signal: AbortSignal;
  /** Called with what each pass did. */
  readonly onReport: (report: BatchReport) => void;
  /** Called when watching is not possible and looking again and again takes its place. */
  readonly onWarning?: (warning: WatchWarning) => void;
}

/**
 * Imports what is there, and what is new whenever something may have changed, until the signal says stop. A watcher
 * only wakes the next pass, which looks at all files and comes after a while by itself: a wake that is missed costs
 * time and nothing else.
 */
export async function watchSources(
  target: ImportTarget,
  request: ImportRequest,
  options: WatchOptions,
): Promise<void> {
  const { signal, onReport, onWarning = () => undefined } = options;
  const bell = new Bell(signal);
  const { fs, clock } = target.environment;
  const watches: readonly Watch[] = placesOf(request).map(({ path }) =>
    watchPath({ fs, clock, path, depth: watchedLevels, onWake: () => bell.ring(), onWarning }),
  );
  try {
    while (!signal.aborted) {
      bell.reset();
      onReport(await importSources(target, { ...request, signal }));
      await rungOrDue(bell, clock);
    }
  } finally {
    for (const watch of watches) await watch.close();
  }
}

/** The watch itself keeps no process alive; waiting for the next pass does. */
async function rungOrDue(bell: Bell, clock: Clock): Promise<void> {
  const over = new AbortController();
  await Promise.race([bell.rung(), clock.sleep(passPauseMs, over.signal)]);
  over.abort();
}

/** Rings once, however often somebody pulls; stopping rings too. */
class Bell {
  #isRung = false;
  #answer: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.ring(), { once: true });
  }

  ring(): void {
    this.#isRung = true;
    this.#answer();
  }

  reset(): void {
    this.#isRung = false;
  }

  rung(): Promise<void> {
    if (this.#isRung) return Promise.resolve();
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }
}
