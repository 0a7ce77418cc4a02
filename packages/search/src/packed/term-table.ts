import { limits } from '@turnlog/kernel';
import type { TokenScanner } from '../token-scanner.js';
import { groupAt } from '../tokenizer.js';
import { grownWords } from './growing-numbers.js';

/**
 * Numbers for terms, in the order in which they were met. What a text holds of them is told without a string for each:
 * identifiers and words that were met before are known by their characters, in a table of hashes.
 */
export class TermTable {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  #known = new KnownCompounds();
  /** Of what was taken: its terms stand in `found[from]` to `found[to - 1]`. */
  found: Uint32Array = new Uint32Array(0);
  from = 0;
  to = 0;

  get count(): number {
    return this.#texts.length;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  /** Number of a term; -1 for one that was not met. */
  find(text: string): number {
    return this.#numbers.get(text) ?? -1;
  }

  /** Number of a term, a new one where it was not met. */
  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#texts.length;
    this.#numbers.set(text, number);
    this.#texts.push(text);
    return number;
  }

  /** Finds the terms of what a scan is at. */
  take(scanner: TokenScanner): void {
    const known = this.#known;
    if (scanner.kind === 'compound' && known.find(scanner)) {
      this.found = known.rows;
      this.from = known.termsFrom;
      this.to = known.termsTo;
    } else {
      this.#takeNew(scanner);
    }
  }

  /** Lets go of what only makes taking faster. */
  forget(): void {
    this.#known = new KnownCompounds();
  }

  #takeNew(scanner: TokenScanner): void {
    const numbers = groupAt(scanner).tokens.map(({ text }) => this.numberOf(text));
    this.found = Uint32Array.from(numbers);
    this.from = 0;
    this.to = numbers.length;
    if (scanner.kind !== 'compound' || scanner.end - scanner.start > limits.knownTokenUnitsMax) return;
    if (this.#known.count >= limits.knownCompoundsMax) this.forget();
    this.#known.add(scanner, numbers);
  }
}

/**
 * Compounds by their characters, each with the numbers of its terms. A compound is a row of words: how many units and
 * terms it has, the terms, then its units, two to a word. They are found by open addressing, at most half full: a slot
 * is two numbers, the place of the row and the hash.
 */
class KnownCompounds {
  #slots = new Int32Array(2_048);
  /** The first word is none of any row. */
  rows: Uint32Array = new Uint32Array(4_096);
  #end = 1;
  count = 0;
  /** Where the terms of the one that was found last begin and end. */
  termsFrom = 0;
  termsTo = 0;

  /** Whether what a scan is at was added; its terms are pointed at then. */
  find({ units, start, end, hash }: TokenScanner): boolean {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    for (let slot = slotOf(hash, mask); ; slot = (slot + 1) & mask) {
      const row = slots[2 * slot] ?? 0;
      if (row === 0) return false;
      if (slots[2 * slot + 1] === hash && this.#isAt(row, units, start, end)) return true;
    }
  }

  /** Adds what a scan is at, which is not there yet. */
  add({ units, start, end, hash }: TokenScanner, terms: readonly number[]): void {
    const row = this.#end;
    const unitsFrom = row + 1 + terms.length;
    this.#end = unitsFrom + ((end - start + 1) >> 1);
    this.rows = grownWords(this.rows, this.#end);
    this.rows[row] = (end - start) * 0x10000 + terms.length;
    this.rows.set(terms, row + 1);
    for (let unit = start, to = unitsFrom; unit < end; unit += 2, to += 1) {
      this.rows[to] = pairAt(units, unit, end);
    }
    this.count += 1;
    if (4 * this.count > this.#slots.length) this.#rehash();
    this.#place(row, hash);
  }

  #isAt(row: number, units: Uint16Array, start: number, end: number): boolean {
    const { rows } = this;
    const counts = rows[row] ?? 0;
    if (counts >>> 16 !== end - start) return false;
    const termsTo = row + 1 + (counts & 0xffff);
    for (let unit = start, at = termsTo; unit < end; unit += 2, at += 1) {
      if (rows[at] !== pairAt(units, unit, end)) return false;
    }
    this.termsFrom = row + 1;
    this.termsTo = termsTo;
    return true;
  }

  #rehash(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(4 * before.length);
    for (let at = 0; at < before.length; at += 2) {
      const row = before[at] ?? 0;
      if (row !== 0) this.#place(row, before[at + 1] ?? 0);
    }
  }

  #place(row: number, hash: number): void {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    let slot = slotOf(hash, mask);
    while (slots[2 * slot] !== 0) slot = (slot + 1) & mask;
    slots[2 * slot] = row;
    slots[2 * slot + 1] = hash;
  }
}

/** Two units of a compound that ends at `end`, as one number. */
function pairAt(units: Uint16Array, at: number, end: number): number {
  const second = at + 1 < end ? (units[at + 1] ?? 0) : 0;
  return ((units[at] ?? 0) | (second << 16)) >>> 0;
}

/** The upper bits take part: those below say most of the last characters. */
function slotOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask;
}
