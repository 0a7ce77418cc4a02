import { createHash } from 'node:crypto';

/**
 * sfc32, seeded with the first 16 bytes of the SHA-256 of a text. Whole numbers of 32 bits only, so that a seed means
 * the same on every machine.
 */
export class Prng {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: string) {
    const bytes = createHash('sha256').update(seed, 'utf8').digest();
    this.#a = bytes.readInt32LE(0);
    this.#b = bytes.readInt32LE(4);
    this.#c = bytes.readInt32LE(8);
    this.#d = bytes.readInt32LE(12);
  }

  /** From 0 to 2^32 - 1. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  /** From 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.next() / 4_294_967_296) * limit);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  }

  /** Different ones, in a random order. */
  pickSome<Value>(values: readonly Value[], count: number): Value[] {
    return this.shuffled(values).slice(0, count);
  }

  shuffled<Value>(values: readonly Value[]): Value[] {
    return values
      .map((value, at) => ({ value, at, key: this.next() }))
      .sort((left, right) => left.key - right.key || left.at - right.at)
      .map(({ value }) => value);
  }

  text(alphabet: string, length: number): string {
    let text = '';
    while (text.length < length) text += alphabet.charAt(this.below(alphabet.length));
    return text;
  }
}
