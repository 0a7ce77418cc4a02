import type { Store } from '@turnlog/store';
import type { EngineProvider } from './engine-choice.js';
import type { EncoderProvider } from './hybrid/encoder.js';
import { energeticEncoderProvider } from './hybrid/energetic-encoder.js';
import { hashEncoderProvider } from './hybrid/hash-encoder.js';
import { packedEngine } from './packed/packed-engine.js';
import { Search } from './search.js';
import { winkEngine } from './wink-engine.js';

/**
 * Search over a store. The packed engine answers; where it cannot, one of `others` does, and where none can, one that
 * needs nothing but memory: losing an index changes how long an answer takes, never the answer. `encoders` are asked in
 * their order, and by hybrid searches alone; none is loaded before.
 */
export function openSearch(
  store: Store,
  others: readonly EngineProvider[] = [],
  encoders: readonly EncoderProvider[] = [energeticEncoderProvider, hashEncoderProvider],
): Search {
  return new Search(store, [packedEngine(store), ...others, winkEngine(store)], encoders);
}
