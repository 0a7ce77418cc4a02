import { isTurnlogError, limits } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import type { EngineProvider, OpenEngine } from '../engine-choice.js';
import { CatchUp } from './catch-up.js';
import { PackedIndex } from './packed-index.js';
import { Sealing } from './sealing.js';

/** The default engine, in the files below `search/` of a store. */
export function packedEngine(store: Store): EngineProvider {
  return { name: 'packed', open: async () => new PackedEngine(store) };
}

class PackedEngine implements OpenEngine {
  readonly index: PackedIndex;
  readonly #catchUp: CatchUp;
  readonly #sealing: Sealing;

  constructor(store: Store) {
    this.index = PackedIndex.open(store.environment, store.root);
    this.#sealing = new Sealing(this.index);
    this.#catchUp = new CatchUp(store, this.index, this.#sealing);
  }

  get unindexedBytes(): number {
    return this.index.unindexedBytes;
  }

  async catchUp(waitMs: number): ReturnType<OpenEngine['catchUp']> {
    const caughtUp = await this.#catchUp.run({ waitMs });
    // What was read is left to the next process where reading it again would be felt, or was not finished.
    const isWorthIt = this.index.tail.chunkCount >= limits.searchTailLeftChunks;
    const wish = isWorthIt || caughtUp.behind.bytes > 0 ? 'everything' : 'due';
    const { failed, behind } = caughtUp;
    const outcome = await this.#sealing.maintain(wish);
    if (outcome.kind !== 'failed') return { failed, behind };
    const reason = `what is new stays in memory: ${messageOf(outcome.error)}`;
    return { failed, behind, degraded: [{ name: 'packed', reason }] };
  }

  close(): void {
    this.index.close();
  }
}

function messageOf(error: unknown): string {
  return isTurnlogError(error) ? error.message : 'a file could not be written';
}
