import { sha256Text } from '@turnlog/kernel';

/** The first 64 bits of the SHA-256 of an item's id, as two halves; 0 and 0 for no item. */
export interface ItemHash {
  readonly high: number;
  readonly low: number;
}

const none: ItemHash = { high: 0, low: 0 };

/** The last one that was asked for: an item is looked up before it is taken, and once in each source. */
let last: { readonly itemId: string; readonly hash: ItemHash } = { itemId: '', hash: none };

export function itemHash(itemId: string | null): ItemHash {
  if (itemId === null) return none;
  if (last.itemId !== itemId || last.hash === none) last = { itemId, hash: hashOf(itemId) };
  return last.hash;
}

function hashOf(itemId: string): ItemHash {
  const digest = sha256Text(itemId, 'hex');
  return { high: Number.parseInt(digest.slice(0, 8), 16), low: Number.parseInt(digest.slice(8, 16), 16) };
}

/** A number of the upper 53 bits, for look-ups; those that it finds are compared as a whole. */
export function hashKey({ high, low }: ItemHash): number {
  return high * 0x200000 + (low >>> 11);
}
