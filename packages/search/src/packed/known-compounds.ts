import { limits } from '@turnlog/kernel';
import { grownWords } from './growing-numbers.js';

/** A slot of the table is the place of a row, and above it some bits of the hash, which tell most others apart. */
const placeBits = 22;
const placeMask = 2 ** placeBits - 1;

/** More words than a row has: few units are known by their characters. */
const rowWordsMax = 1_024;

/**
 * Compounds by their characters, each with the numbers of its terms. A compound is a row of words: how many units and
 * terms it has, the terms, then its units, two to a word. They are found by open addressing, at most half full. All of
 * it is kept small: what does not lie in the caches of the processor costs more than everything else.
 */
export class KnownCompounds {
  #slots = new Uint32Array(2_048);
  /** The first word is none of any row. */
  rows: Uint32Array = new Uint32Array(4_096);
  #end = 1;
  /** Of each that was added its row and its hash, for when there are more slots. */
  #added: Uint32Array = new Uint32Array(1_024);
  #count = 0;

  /** Whether another one has a place. */
  get hasRoom(): boolean {
    return this.#count < limits.knownCompoundsMax && this.#end + rowWordsMax <= placeMask;
  }

  /** The row of a compound, the units `[start, end)`; 0 when it was not added. */
  find(units: Uint16Array, start: number, end: number): number {
    const hash = hashOf(units, start, end);
    const slots = this.#slots;
    const mask = slots.length - 1;
    const tag = hash >>> placeBits;
    for (let slot = slotOf(hash, mask); ; slot = (slot + 1) & mask) {
      const value = slots[slot] ?? 0;
      if (value === 0) return 0;
      if (value >>> placeBits === tag && this.#isAt(value & placeMask, units, start, end)) {
        return value & placeMask;
      }
    }
  }

  /** Adds a compound that is not there yet; `hasRoom` says whether that is possible. */
  add(units: Uint16Array, start: number, end: number, terms: Uint32Array): void {
    const hash = hashOf(units, start, end);
    const row = this.#end;
    const unitsFrom = row + 1 + terms.length;
    this.#end = unitsFrom + ((end - start + 1) >> 1);
    this.rows = grownWords(this.rows, this.#end);
    this.rows[row] = (end - start) * 0x10000 + terms.length;
    this.rows.set(terms, row + 1);
    for (let unit = start, to = unitsFrom; unit < end; unit += 2, to += 1) {
      this.rows[to] = pairAt(units, unit, end);
    }
    this.#added = grownWords(this.#added, 2 * this.#count + 2);
    this.#added[2 * this.#count] = row;
    this.#added[2 * this.#count + 1] = hash;
    this.#count += 1;
    if (2 * this.#count > this.#slots.length) this.#rehash();
    else this.#place(row, hash);
  }

  #isAt(row: number, units: Uint16Array, start: number, end: number): boolean {
    const { rows } = this;
    const counts = rows[row] ?? 0;
    if (counts >>> 16 !== end - start) return false;
    for (let unit = start, at = row + 1 + (counts & 0xffff); unit < end; unit += 2, at += 1) {
      if (rows[at] !== pairAt(units, unit, end)) return false;
    }
    return true;
  }

  #rehash(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (let at = 0; at < 2 * this.#count; at += 2) {
      this.#place(this.#added[at] ?? 0, this.#added[at + 1] ?? 0);
    }
  }

  #place(row: number, hash: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = slotOf(hash, mask);
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = ((hash >>> placeBits) << placeBits) | row;
  }
}

/** Two units of a compound that ends at `end`, as one number. */
function pairAt(units: Uint16Array, at: number, end: number): number {
  const second = at + 1 < end ? (units[at + 1] ?? 0) : 0;
  return ((units[at] ?? 0) | (second << 16)) >>> 0;
}

/** The prime of FNV-1a. */
const hashPrime = 0x01000193;

/** Of a compound: equal for equal ones, 32 bits. */
function hashOf(units: Uint16Array, start: number, end: number): number {
  let mixed = 0;
  for (let at = start; at < end; at += 1) mixed = Math.imul(mixed ^ (units[at] ?? 0), hashPrime);
  return mixed;
}

/** The upper bits take part: those below say most of the last characters. */
function slotOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask;
}
