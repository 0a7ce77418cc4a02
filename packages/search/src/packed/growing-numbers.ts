type Numbers = Uint8Array | Uint32Array | Float64Array;

/** A list of numbers of one kind that grows; reading outside of it gives 0. */
export class GrowingNumbers<Kind extends Numbers> {
  readonly #Type: new (
    length: number,
  ) => Kind;
  #values: Kind;
  #length = 0;

  constructor(Type: new (length: number) => Kind) {
    this.#Type = Type;
    this.#values = new Type(256);
  }

  get length(): number {
    return this.#length;
  }

  /** The numbers, and behind them room for more; another array once that is used up. */
  get values(): Kind {
    return this.#values;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new this.#Type(2 * this.#length);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  get byteLength(): number {
    return this.#values.byteLength;
  }
}

/**
 * The array, or one twice as long with the same numbers, so that it holds `length`. For lists that take a number for
 * every token: a class that serves several kinds of arrays costs many times more.
 */
export function grownWords(words: Uint32Array, length: number): Uint32Array {
  if (length <= words.length) return words;
  const grown = new Uint32Array(Math.max(length, 2 * words.length));
  grown.set(words);
  return grown;
}
