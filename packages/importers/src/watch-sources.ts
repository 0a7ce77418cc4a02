import { type Watch, type WatchWarning, watchPath } from '@turnlog/fs';
import type { BatchReport } from './batch-report.js';
import { type ImportRequest, importSources, placesOf } from './import-sources.js';
import type { ImportTarget } from './import-target.js';

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
 * only wakes the next pass, which looks at all files: a wake that is missed costs time and nothing else.
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
      await bell.rung();
    }
  } finally {
    for (const watch of watches) await watch.close();
  }
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
