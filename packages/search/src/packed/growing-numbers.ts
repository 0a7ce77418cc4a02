type Numbers = Uint8Array | Uint32Array | Int32Array | Float64Array;

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

  set(index: number, value: number): void {
    this.#values[index] = value;
  }
}
