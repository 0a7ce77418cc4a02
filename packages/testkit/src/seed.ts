/** A sequence of numbers that looks random and is the same for the same seed. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0 to 2^32 - 1 (the generator mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    return Math.floor((this.next() / 4_294_967_296) * limit);
  }

  bytes(length: number): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(Math.ceil(length / 4) * 4);
    for (let at = 0; at < length; at += 4) bytes.writeUInt32LE(this.next(), at);
    return new Uint8Array(bytes.buffer, 0, length);
  }
}
