import { limits } from '@turnlog/kernel';
import { TokenScanner } from '../token-scanner.js';
import { type FoundPlace, groupAt } from '../tokenizer.js';
import { grownWords } from './growing-numbers.js';
import { KnownCompounds } from './known-compounds.js';
import { ShortCompounds, shortBytesMax } from './short-compounds.js';

type CompoundPlace = Pick<TokenScanner, 'text' | 'start' | 'end' | 'suffixWidth'>;

/**
 * Numbers for terms, in the order in which they were met. What a text holds of them is told without a string for each:
 * identifiers and words that were met before are known by their characters.
 */
export class TermTable {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
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
    this.taken.fill(term, this.takenCount, this.takenCount + count);
    this.takenCount += count;
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
      const place = { text, start, end, suffixWidth: ascii.suffixWidth(end) };
      if (end - start <= shortBytesMax) this.#takeShort(known, place, view, start);
      else this.#takeLong(place, bytes);
      takenCount = this.takenCount;
    }
    this.takenCount = takenCount;
  }

  #takeAny(scanner: TokenScanner): void {
    if (scanner.kind !== 'compound') this.#takeNumbers(this.#numbersOf(scanner));
    else if (this.#isShortAscii(scanner)) {
      const view = this.#scratchView;
      this.#takeShort(this.#short.find(view, 0, scanner.end - scanner.start), scanner, view, 0);
    } else this.#takeLong(scanner, scanner.units);
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

  /** Takes a short compound of which that is known; its bytes begin at `at` in `view`. */
  #takeShort(known: number, place: CompoundPlace, view: DataView, at: number): void {
    const short = this.#short;
    if (known === 0) {
      const numbers = this.#numbersOf({ ...place, kind: 'compound' });
      this.#takeNumbers(numbers);
      if (short.hasRoom) short.add(view, at, place.end - place.start, numbers);
    } else if ((known & 1) === 1) this.takeOften(known >>> 1, 1);
    else this.#takeRow(short.rows, known >>> 1, short.rows[known >>> 1] ?? 0);
  }

  /** Takes any other compound, whose units are those of `characters`. */
  #takeLong({ text, start, end, suffixWidth }: CompoundPlace, characters: Uint8Array | Uint16Array): void {
    const length = end - start;
    const isKept = length <= limits.knownTokenUnitsMax;
    const known = this.#known;
    const units = this.#units;
    if (isKept) for (let at = 0; at < length; at += 1) units[at] = characters[start + at] ?? 0;
    const row = isKept ? known.find(units, 0, length) : 0;
    if (row !== 0) {
      this.#takeRow(known.rows, row, (known.rows[row] ?? 0) & 0xffff);
      return;
    }
    const numbers = this.#numbersOf({ text, kind: 'compound', start, end, suffixWidth });
    this.#takeNumbers(numbers);
    if (isKept && known.hasRoom) known.add(units, 0, length, numbers);
  }

  #numbersOf(place: FoundPlace): readonly number[] {
    return groupAt(place).tokens.map(({ text }) => this.numberOf(text));
  }

  #takeRow(rows: Uint32Array, row: number, count: number): void {
    this.#reserve(count);
    const { taken } = this;
    for (let at = 0; at < count; at += 1) taken[this.takenCount + at] = rows[row + 1 + at] ?? 0;
    this.takenCount += count;
  }

  #takeNumbers(numbers: readonly number[]): void {
    this.#reserve(numbers.length);
    this.taken.set(numbers, this.takenCount);
    this.takenCount += numbers.length;
  }

  #reserve(count: number): void {
    this.taken = grownWords(this.taken, this.takenCount + count);
  }
}
