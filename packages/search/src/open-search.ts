import type { Store } from '@turnlog/store';
import type { EngineProvider } from './engine-choice.js';
import { packedEngine } from './packed/packed-engine.js';
import { Search } from './search.js';
import { winkEngine } from './wink-engine.js';

/**
 * Search over a store. The packed engine answers; where it cannot, one of `others` does, and where none can, one that
 * needs nothing but memory: losing an index changes how long an answer takes, never the answer.
 */
export function openSearch(store: Store, others: readonly EngineProvider[] = []): Search {
  return new Search(store, [packedEngine(store), ...others, winkEngine(store)]);
}
