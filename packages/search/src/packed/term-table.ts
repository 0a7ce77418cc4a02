import { limits } from '@turnlog/kernel';
import { copyOf } from '../expand-compound.js';
import { TokenScanner } from '../token-scanner.js';
import { compoundGroup, groupAt } from '../tokenizer.js';
import { grownWords } from './growing-numbers.js';
import { KnownCompounds } from './known-compounds.js';
import { ShortCompounds, shortBytesMax } from './short-compounds.js';

/**
 * Numbers for terms, in the order in which they were met. What a text holds of them is told without a string for each:
 * identifiers and words that were met before are known by their characters.
 */
export class TermTable {
  readonly #numbers = new Map<string, number>();
  readonly #scanner = new TokenScanner();
  #short = new ShortCompounds();
  #known = new KnownCompounds();
  /** The bytes of a short compound of a text that is not all ASCII, and room behind them. */
  readonly #scratch = new Uint8Array(2 * shortBytesMax);
  readonly #scratchView = new DataView(this.#scratch.buffer);
  /** The units of a compound that is not short. */
  readonly #units = new Uint16Array(limits.knownTokenUnitsMax);
  /** The terms of all texts that were taken, text by text, of each one for every token, in no order. */
  taken: Uint32Array = new Uint32Array(1_024);
  takenCount = 0;

  get count(): number {
    return this.#numbers.size;
  }

  /** The terms in the order of their numbers, which is that in which they came. */
  get texts(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  /** Number of a term; -1 for one that was not met. */
  find(text: string): number {
    return this.#numbers.get(text) ?? -1;
  }

  /** Number of a term, a new one where it was not met. */
  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    return number;
  }

  /** Takes the terms of a text. */
  take(text: string): void {
    if (!this.#known.hasRoom || !this.#short.hasRoom) this.forget();
    const scanner = this.#scanner;
    scanner.begin(text);
    if (scanner.isAscii) this.#takeAscii(scanner);
    else while (scanner.next()) this.#takeAny(scanner);
  }

  /** Takes a term so many times. */
  takeOften(term: number, count: number): void {
    this.#reserve(count);
    for (const end = this.takenCount + count; this.takenCount < end; this.takenCount += 1) {
      this.taken[this.takenCount] = term;
    }
  }

  /** Lets go of what only makes taking faster. */
  forget(): void {
    this.#known = new KnownCompounds();
    this.#short = new ShortCompounds();
  }

  /** Most compounds are short: those are known by their bytes. */
  #takeAscii({ text, ascii }: TokenScanner): void {
    const { bytes, count, places, view } = ascii;
    const short = this.#short;
    let { takenCount } = this;
    for (let at = 0; at < 2 * count; at += 2) {
      const start = places[at] ?? 0;
      const end = places[at + 1] ?? 0;
      const known = end - start > shortBytesMax ? 0 : short.find(view, start, end - start);
      if ((known & 1) === 1 && takenCount < this.taken.length) {
        this.taken[takenCount] = known >>> 1;
        takenCount += 1;
        continue;
      }
      this.takenCount = takenCount;
      if (known !== 0) this.#takeShort(known);
      else if (end - start > shortBytesMax) this.#takeLong(text, start, end, ascii.suffixWidth(end), bytes);
      else this.#addShort(this.#takeNew(text, start, end, ascii.suffixWidth(end)), view, start, end - start);
      takenCount = this.takenCount;
    }
    this.takenCount = takenCount;
  }

  #takeAny(scanner: TokenScanner): void {
    const { text, start, end, suffixWidth } = scanner;
    if (scanner.kind !== 'compound') {
      for (const token of groupAt(scanner).tokens) this.takeOften(this.numberOf(token.text), 1);
    } else if (this.#isShortAscii(scanner)) {
      const known = this.#short.find(this.#scratchView, 0, end - start);
      if (known !== 0) this.#takeShort(known);
      else {
        const terms = this.#takeNew(text, start, end, suffixWidth);
        this.#addShort(terms, this.#scratchView, 0, end - start);
      }
    } else this.#takeLong(text, start, end, suffixWidth, scanner.units);
  }

  /** Whether a compound is short and in ASCII; its bytes are in `#scratch` then. */
  #isShortAscii({ units, start, end }: TokenScanner): boolean {
    if (end - start > shortBytesMax) return false;
    for (let at = start; at < end; at += 1) {
      const unit = units[at] ?? 0;
      if (unit >= 0x80) return false;
      this.#scratch[at - start] = unit;
    }
    return true;
  }

  /** Takes any other compound, whose units are those of `characters`. */
  #takeLong(
    text: string,
    start: number,
    end: number,
    suffixWidth: number,
    characters: Uint8Array | Uint16Array,
  ): void {
    const length = end - start;
    if (length > limits.knownTokenUnitsMax) {
      this.#takeNew(text, start, end, suffixWidth);
      return;
    }
    const known = this.#known;
    const units = this.#units;
    for (let at = 0; at < length; at += 1) units[at] = characters[start + at] ?? 0;
    const row = known.find(units, 0, length);
    if (row !== 0) {
      this.#takeRow(known.rows, row, (known.rows[row] ?? 0) & 0xffff);
      return;
    }
    const terms = this.#takeNew(text, start, end, suffixWidth);
    if (known.hasRoom) known.add(units, 0, length, terms);
  }

  /** Takes a compound that was not met before; returns its terms, which are good until more are taken. */
  #takeNew(text: string, start: number, end: number, suffixWidth: number): Uint32Array {
    const { tokens } = compoundGroup(copyOf(text.slice(start, end)), suffixWidth);
    const from = this.takenCount;
    for (const token of tokens) this.takeOften(this.numberOf(token.text), 1);
    return this.taken.subarray(from, this.takenCount);
  }

  #addShort(terms: Uint32Array, view: DataView, start: number, length: number): void {
    if (this.#short.hasRoom) this.#short.add(view, start, length, terms);
  }

  /** Takes what is known of a short compound. */
  #takeShort(known: number): void {
    const { rows } = this.#short;
    if ((known & 1) === 1) this.takeOften(known >>> 1, 1);
    else this.#takeRow(rows, known >>> 1, rows[known >>> 1] ?? 0);
  }

  #takeRow(rows: Uint32Array, row: number, count: number): void {
    this.#reserve(count);
    const { taken } = this;
    for (let at = 0; at < count; at += 1) taken[this.takenCount + at] = rows[row + 1 + at] ?? 0;
    this.takenCount += count;
  }

  #reserve(count: number): void {
    this.taken = grownWords(this.taken, this.takenCount + count);
  }
}
