import { limits, sha256Text } from '@turnlog/kernel';

/** The first 64 bits of the SHA-256 of an item's id, as two halves; 0 and 0 for no item. */
export interface ItemHash {
  readonly high: number;
  readonly low: number;
}

const none: ItemHash = { high: 0, low: 0 };

/**
 * Those that were asked for lately, and, until as many others have been, those that were before: an item is looked up
 * before it is taken, it has several snapshots, and agents number the items of each session from the same one on.
 */
let known = new Map<string, ItemHash>();
let knownBefore = new Map<string, ItemHash>();

export function itemHash(itemId: string | null): ItemHash {
  if (itemId === null) return none;
  const found = known.get(itemId);
  if (found !== undefined) return found;
  const hash = knownBefore.get(itemId) ?? hashOf(itemId);
  if (itemId.length > limits.knownItemUnitsMax) return hash;
  if (known.size >= limits.knownItemsMax) {
    knownBefore = known;
    known = new Map();
  }
  known.set(itemId, hash);
  return hash;
}

function hashOf(itemId: string): ItemHash {
  const digest = sha256Text(itemId, 'hex');
  return { high: Number.parseInt(digest.slice(0, 8), 16), low: Number.parseInt(digest.slice(8, 16), 16) };
}

/** A number of the upper 53 bits, for look-ups; those that it finds are compared as a whole. */
export function hashKey({ high, low }: ItemHash): number {
  return high * 0x200000 + (low >>> 11);
}
