import { randomBytes, randomInt } from 'node:crypto';
import type { Ids } from '@turnlog/kernel';

/** Names nobody can guess. */
export function createRandomIds(): Ids {
  return {
    randomHex: (bytes) => randomBytes(bytes).toString('hex'),
    randomBelow: (limit) => randomInt(limit),
  };
}
