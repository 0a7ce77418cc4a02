import { join } from 'node:path';
import { checkDirectory } from '@turnlog/fs';
import { type Clock, isTurnlogError, limits } from '@turnlog/kernel';
import { type Store, storeNames } from '@turnlog/store';
import type { EngineProvider, OpenEngine } from '../engine-choice.js';
import { fileBytes } from '../freshness.js';
import { CatchUp } from './catch-up.js';
import { PackedIndex } from './packed-index.js';
import { type Maintenance, Sealing } from './sealing.js';

/** The default engine, in the files below `search/` of a store. */
export function packedEngine(store: Store): EngineProvider {
  return { name: 'packed', open: async () => new PackedEngine(store) };
}

class PackedEngine implements OpenEngine {
  readonly index: PackedIndex;
  readonly #store: Store;
  /** Whether there was no index when it was opened, and more to put into one than is read while somebody waits. */
  #isMissing: boolean;
  readonly #catchUp: CatchUp;
  readonly #sealing: Sealing;
  /** Writing of what is in memory, and joining of segments: an answer does not wait for the end of it. */
  #maintaining: Promise<Maintenance> | null = null;

  constructor(store: Store) {
    this.#store = store;
    checkPlace(store);
    this.index = PackedIndex.open(store.environment, store.root);
    this.#sealing = new Sealing(this.index);
    this.#catchUp = new CatchUp(store, this.index, this.#sealing);
    this.#isMissing = this.index.listRevision === null && this.#isMuch();
  }

  get lacks(): readonly string[] {
    const { state } = this.index;
    if (state.kind === 'incomplete') return state.reasons;
    return this.#isMissing ? ['there was none, and it is being built'] : [];
  }

  get unindexedBytes(): number {
    return this.index.unindexedBytes;
  }

  async catchUp(waitMs: number, signal?: AbortSignal): ReturnType<OpenEngine['catchUp']> {
    const { clock } = this.#store.environment;
    const endMs = clock.monotonicMs() + waitMs;
    const leftMs = (): number => (signal?.aborted === true ? 0 : Math.max(0, endMs - clock.monotonicMs()));
    // Writing that is under way makes room.
    if (this.#sealing.isFull) await this.#maintained(leftMs());
    const caughtUp = await this.#catchUp.run({ waitMs: leftMs(), signal });
    // What was read is left to the next process where reading it again would be felt, or was not finished.
    const isWorthIt = this.#isMissing || this.index.tail.chunkCount >= limits.searchTailLeftChunks;
    const wish = isWorthIt || caughtUp.behind.bytes > 0 ? 'everything' : 'due';
    const { failed, behind } = caughtUp;
    this.#maintaining ??= this.#sealing.maintain(wish);
    const outcome = await this.#maintained(leftMs());
    if (behind.events === 0) this.#isMissing = false;
    const isFull = outcome !== null && this.#sealing.isFull;
    if (outcome?.kind !== 'failed') return { failed, behind, isFull };
    const reason = `what is new stays in memory: ${messageOf(outcome.error)}`;
    return { failed, behind, degraded: [{ name: 'packed', reason }], isFull };
  }

  async settled(): Promise<void> {
    await this.#maintaining;
  }

  /** What became of writing that is under way; null when there is none, or when it goes on for longer than the wait. */
  async #maintained(waitMs: number): Promise<Maintenance | null> {
    if (this.#maintaining === null) return null;
    const outcome = await within(this.#store.environment.clock, this.#maintaining, waitMs);
    if (outcome !== null) this.#maintaining = null;
    return outcome;
  }

  #isMuch(): boolean {
    let bytes = 0;
    for (const session of this.#store.ids()) {
      bytes += fileBytes(this.#store, session);
      if (bytes > limits.searchBuiltAtOnceBytes) return true;
    }
    return false;
  }

  close(): void {
    this.index.close();
  }
}

/** Nothing below the root is reached through a link: whoever planted one would choose what is searched. */
function checkPlace({ environment, root }: Store): void {
  const directory = join(root, storeNames.search);
  if (environment.fs.status(directory) === null) return;
  checkDirectory(environment.fs, directory, environment.ownership.uid);
}

function messageOf(error: unknown): string {
  return isTurnlogError(error) ? error.message : 'a file could not be written';
}

/** What the work comes to; null when it is not done within `waitMs` milliseconds, and goes on. */
function within<Result>(clock: Clock, work: Promise<Result>, waitMs: number): Promise<Result | null> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(waitMs, () => resolve(null));
    work.then(
      (result) => {
        cancel();
        resolve(result);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
