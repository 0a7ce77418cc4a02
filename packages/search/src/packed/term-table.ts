import { limits } from '@turnlog/kernel';
import type { TokenScanner } from '../token-scanner.js';
import { groupAt } from '../tokenizer.js';
import { grownWords } from './growing-numbers.js';
import { KnownCompounds } from './known-compounds.js';

/** What is noted of a compound of a text, side by side: where it stands, its suffix, and its hash. */
const noteWords = 4;
const startAt = 0;
const endAt = 1;
const suffixAt = 2;
const hashAt = 3;

/**
 * Numbers for terms, in the order in which they were met. What a text holds of them is told without a string for each:
 * identifiers and words that were met before are known by their characters.
 */
export class TermTable {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  #known = new KnownCompounds();
  #notes: Uint32Array = new Uint32Array(1_024);
  /** The terms of the text that was taken last, as often as they occur in it, in no order. */
  found: Uint32Array = new Uint32Array(1_024);
  foundCount = 0;

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

  /**
   * Finds the terms of what a scan goes through. First all compounds are noted, then all are looked for: so the memory
   * that each of them lies in is fetched while others are looked for.
   */
  take(scanner: TokenScanner): void {
    this.foundCount = 0;
    if (!this.#known.hasRoom) this.forget();
    const count = this.#note(scanner);
    const { units } = scanner;
    const known = this.#known;
    const notes = this.#notes;
    known.fetch(notes, count, noteWords, hashAt);
    for (let note = 0; note < count * noteWords; note += noteWords) {
      const start = notes[note + startAt] ?? 0;
      const end = notes[note + endAt] ?? 0;
      const row = known.find(units, start, end, notes[note + hashAt] ?? 0);
      if (row === 0)
        this.#takeNew(scanner, start, end, notes[note + suffixAt] ?? 0, notes[note + hashAt] ?? 0);
      else this.#takeRow(known.rows, row);
    }
  }

  /** Lets go of what only makes taking faster. */
  forget(): void {
    this.#known = new KnownCompounds();
  }

  /** Notes the compounds; what else there is, is seldom, and taken at once. */
  #note(scanner: TokenScanner): number {
    let count = 0;
    while (scanner.next()) {
      if (scanner.kind !== 'compound' || scanner.end - scanner.start > limits.knownTokenUnitsMax) {
        this.#takeNumbers(groupAt(scanner).tokens.map(({ text }) => this.numberOf(text)));
        continue;
      }
      const note = count * noteWords;
      if (note === this.#notes.length) this.#notes = grownWords(this.#notes, note + noteWords);
      const notes = this.#notes;
      notes[note + startAt] = scanner.start;
      notes[note + endAt] = scanner.end;
      notes[note + suffixAt] = scanner.suffixWidth;
      notes[note + hashAt] = scanner.hash;
      count += 1;
    }
    return count;
  }

  #takeRow(rows: Uint32Array, row: number): void {
    const count = (rows[row] ?? 0) & 0xffff;
    const end = this.foundCount + count;
    if (end > this.found.length) this.found = grownWords(this.found, end);
    const { found } = this;
    for (let to = this.foundCount, from = row + 1; to < end; to += 1, from += 1) found[to] = rows[from] ?? 0;
    this.foundCount = end;
  }

  #takeNew(scanner: TokenScanner, start: number, end: number, suffixWidth: number, hash: number): void {
    const { tokens } = groupAt({ text: scanner.text, kind: 'compound', start, end, suffixWidth });
    const numbers = tokens.map(({ text }) => this.numberOf(text));
    this.#takeNumbers(numbers);
    if (this.#known.hasRoom) this.#known.add(scanner.units, start, end, hash, numbers);
  }

  #takeNumbers(numbers: readonly number[]): void {
    this.found = grownWords(this.found, this.foundCount + numbers.length);
    this.found.set(numbers, this.foundCount);
    this.foundCount += numbers.length;
  }
}
