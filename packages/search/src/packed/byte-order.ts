import { compareBytes } from '../chunk-id.js';

/** So few texts are sorted at once. */
const sortedAtOnce = 1_024;

/** Units of UTF-16 from here on are not in the order of bytes. */
const firstSurrogate = /[\ud800-\uffff]/;

/**
 * Distinct texts in the order of their bytes, sorted part by part while they are asked for: however many there are, the
 * next one never takes long but for the first, which takes a look at each.
 */
export function* inByteOrder(texts: readonly string[], depth = 0): Generator<string, void, void> {
  if (texts.length <= sortedAtOnce) {
    yield* sortTexts(texts);
    return;
  }
  const parts = new Map<number, string[]>();
  for (const text of texts) {
    const rank = depth < text.length ? rankOf(text.charCodeAt(depth)) : -1;
    const part = parts.get(rank);
    if (part === undefined) parts.set(rank, [text]);
    else part.push(text);
  }
  const ranks = [...parts.keys()].sort((left, right) => left - right);
  for (const rank of ranks) yield* inByteOrder(parts.get(rank) ?? [], depth + 1);
}

function sortTexts(texts: readonly string[]): readonly string[] {
  const isPlain = !texts.some((text) => firstSurrogate.test(text));
  // The order that needs no function is many times faster, and the same but for these.
  return isPlain ? [...texts].sort() : [...texts].sort(compareBytes);
}

/** Surrogates stand for code points above all others, although their units do not. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
