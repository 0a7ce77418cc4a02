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
    // A command that had too little time leaves what it has read to the next one, however little that is.
    await this.#sealing.maintain(caughtUp.behind.bytes > 0 ? 'everything' : 'due');
    return caughtUp;
  }

  close(): void {
    this.index.close();
  }
}
