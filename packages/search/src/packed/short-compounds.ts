import { limits } from '@turnlog/kernel';
import { grownWords } from './growing-numbers.js';

/** What a slot takes: the bytes of a compound as three words, and what is known of it, 0 in an empty slot. */
const slotWords = 4;
const knownAt = 3;

/** The longest compound that has a slot. */
export const shortBytesMax = 12;

/** The bytes that belong to a compound, by its length, of each of its three words. */
const masks: readonly Uint32Array[] = [0, 4, 8].map((from) =>
  Uint32Array.from({ length: shortBytesMax + 1 }, (_, length) => maskOf(length - from)),
);
const [firstMasks = new Uint32Array(0), secondMasks = firstMasks, thirdMasks = firstMasks] = masks;

function maskOf(byteCount: number): number {
  return byteCount <= 0 ? 0 : byteCount >= 4 ? 0xffffffff : 2 ** (8 * byteCount) - 1;
}

/**
 * Short compounds in ASCII by their bytes, each with the numbers of its terms. The bytes stand in the slot itself: one
 * place in memory is looked at for each, where `KnownCompounds`, which takes any, needs two.
 */
export class ShortCompounds {
  #slots = new Uint32Array(1_024 * slotWords);
  /** Rows of terms: how many, and the terms; the first word is none of any. */
  rows: Uint32Array = new Uint32Array(1_024);
  #rowsEnd = 1;
  #count = 0;

  /** Whether another one has a place. */
  get hasRoom(): boolean {
    return this.#count < limits.knownCompoundsMax;
  }

  /**
   * What is known of the compound of `length` bytes at `start`, of which no more than `shortBytesMax` are given: twice
   * its term and 1 where it has but one, else twice the place of its row; 0 when it was not added.
   */
  find(view: DataView, start: number, length: number): number {
    const slots = this.#slots;
    const first = view.getUint32(start, true) & (firstMasks[length] ?? 0);
    const second = view.getUint32(start + 4, true) & (secondMasks[length] ?? 0);
    const third = view.getUint32(start + 8, true) & (thirdMasks[length] ?? 0);
    const mask = slots.length - 1;
    let at = placeOf(first, second, third, mask);
    for (;;) {
      const known = slots[at + knownAt] ?? 0;
      if (known === 0) return 0;
      if (
        ((slots[at] ?? 0) ^ first) === 0 &&
        ((slots[at + 1] ?? 0) ^ second) === 0 &&
        ((slots[at + 2] ?? 0) ^ third) === 0
      ) {
        return known;
      }
      at = (at + slotWords) & mask;
    }
  }

  /** Adds a compound that is not there yet; `hasRoom` says whether that is possible. */
  add(view: DataView, start: number, length: number, terms: Uint32Array): void {
    const known = terms.length === 1 ? 2 * (terms[0] ?? 0) + 1 : 2 * this.#addRow(terms);
    this.#count += 1;
    // At most three of four slots are taken: what lies close together stays in the caches of the processor.
    if (4 * slotWords * this.#count > 3 * this.#slots.length) this.#grow();
    this.#place(
      view.getUint32(start, true) & (firstMasks[length] ?? 0),
      view.getUint32(start + 4, true) & (secondMasks[length] ?? 0),
      view.getUint32(start + 8, true) & (thirdMasks[length] ?? 0),
      known,
    );
  }

  #addRow(terms: Uint32Array): number {
    const row = this.#rowsEnd;
    this.#rowsEnd = row + 1 + terms.length;
    this.rows = grownWords(this.rows, this.#rowsEnd);
    this.rows[row] = terms.length;
    this.rows.set(terms, row + 1);
    return row;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += slotWords) {
      const known = before[at + knownAt] ?? 0;
      if (known !== 0) this.#place(before[at] ?? 0, before[at + 1] ?? 0, before[at + 2] ?? 0, known);
    }
  }

  #place(first: number, second: number, third: number, known: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = placeOf(first, second, third, mask);
    while (slots[at + knownAt] !== 0) at = (at + slotWords) & mask;
    slots[at] = first;
    slots[at + 1] = second;
    slots[at + 2] = third;
    slots[at + knownAt] = known;
  }
}

/** Where the search for a compound begins. */
function placeOf(first: number, second: number, third: number, mask: number): number {
  let mixed = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed ^= mixed >>> 13;
  return (mixed << 2) & mask;
}
