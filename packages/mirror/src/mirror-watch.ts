import { basename, dirname } from 'node:path';
import { type Watch, type WatchLibrary, type WatchWarning, watchPath } from '@turnlog/fs';
import { isTurnlogError } from '@turnlog/kernel';
import { logNames } from '@turnlog/log';
import type { Store } from '@turnlog/store';
import type { Mirror, MirrorCatchUp } from './mirror.js';

/** How long a rebuild that failed is not tried again: the first time, and at most. */
const rebuildRestMs = 60_000;
const rebuildRestMsMax = 3_600_000;

export interface MirrorWatchOptions {
  /** Told of each round, also of one that changed nothing. Must not throw. */
  readonly onRound?: (round: MirrorCatchUp) => void;
  /** Told once when files cannot be watched, so that they are looked at again and again. */
  readonly onWarning?: (warning: WatchWarning) => void;
  /** Where the watching library comes from; by default chokidar. */
  readonly load?: () => Promise<WatchLibrary>;
}

/**
 * Keeps a mirror at the end of its logs for as long as the process lasts. A changed file wakes it, and nothing more:
 * what is new is found by looking. A mirror that only building anew can help is built anew, with longer and longer
 * pauses while that fails.
 */
export class MirrorWatch {
  readonly #store: Store;
  readonly #mirror: Mirror;
  readonly #options: MirrorWatchOptions;
  readonly #stop = new AbortController();
  readonly #watch: Watch;
  #isWoken = false;
  #running: Promise<void> | null = null;
  #rebuildRest = { untilMs: Number.NEGATIVE_INFINITY, ms: rebuildRestMs / 2 };

  /** The first round begins at once. */
  constructor(store: Store, mirror: Mirror, options: MirrorWatchOptions = {}) {
    this.#store = store;
    this.#mirror = mirror;
    this.#options = options;
    const { fs, clock } = store.environment;
    const path = store.ensureSessionsDirectory();
    this.#watch = watchPath({
      fs,
      clock,
      path,
      depth: 1,
      accepts: (candidate) => dirname(candidate) === path || basename(candidate) === logNames.events,
      onWake: () => this.wake(),
      onWarning: options.onWarning ?? (() => undefined),
      ...(options.load === undefined ? {} : { load: options.load }),
    });
    this.wake();
  }

  /** Something may be new. Rounds follow one another; many wakes during one are one more round. */
  wake(): void {
    this.#isWoken = true;
    this.#running ??= this.#run();
  }

  /** Resolves when no round is under way any more, and none will begin. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#watch.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    // What the constructor has begun must not run inside of it.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#isWoken && !this.#stop.signal.aborted) {
      this.#isWoken = false;
      const round = await this.#round();
      this.#options.onRound?.(round);
    }
    this.#running = null;
  }

  async #round(): Promise<MirrorCatchUp> {
    const { signal } = this.#stop;
    const round = await this.#mirror.catchUp({ signal });
    const { clock } = this.#store.environment;
    if (!round.needsRebuild || clock.monotonicMs() < this.#rebuildRest.untilMs) return round;
    try {
      const rebuilt = await this.#mirror.rebuild({ signal });
      this.#rebuildRest = { untilMs: Number.NEGATIVE_INFINITY, ms: rebuildRestMs / 2 };
      return rebuilt;
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      const ms = Math.min(this.#rebuildRest.ms * 2, rebuildRestMsMax);
      this.#rebuildRest = { untilMs: clock.monotonicMs() + ms, ms };
      return { ...round, degraded: [...round.degraded, error.message] };
    }
  }
}
