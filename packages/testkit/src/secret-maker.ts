import { SeededRandom } from './seed.js';

export const lower: string = 'abcdefghijklmnopqrstuvwxyz';
export const upper: string = lower.toUpperCase();
export const digits: string = '0123456789';
export const hex: string = `${digits}abcdef`;
export const letters: string = lower + upper + digits;
export const word: string = `${letters}_-`;
export const base64: string = `${letters}+/`;

/** Texts of random characters, the same ones for the same seed. */
export class Maker {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  below(limit: number): number {
    return this.#random.below(limit);
  }

  from(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.below(alphabet.length)]).join('');
  }

  /** As `from`, beginning with a small letter, a capital and a digit, so that it is no word by chance. */
  mixed(alphabet: string, length: number): string {
    return `${this.from(lower, 1)}${this.from(upper, 1)}${this.from(digits, 1)}${this.from(alphabet, length - 3)}`;
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new Error('there is nothing to pick from');
    return value;
  }

  base64url(json: unknown): string {
    return Buffer.from(JSON.stringify(json)).toString('base64url');
  }
}
