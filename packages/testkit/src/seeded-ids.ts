import type { Ids } from '@turnlog/kernel';
import { SeededRandom } from './seed.js';

/** Names that repeat with the seed. */
export function createSeededIds(seed: number): Ids {
  const random = new SeededRandom(seed);
  return {
    randomHex: (bytes) => Buffer.from(random.bytes(bytes)).toString('hex'),
    randomBelow: (limit) => random.below(limit),
  };
}
