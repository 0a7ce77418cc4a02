import { limits, RunningSha256 } from '@turnlog/kernel';
import type { ByteSource } from '@turnlog/log';

/**
 * A source that computes the digest of its first bytes while somebody else reads them, so that a log is read once for
 * its records and for its digest. Reading back changes nothing.
 */
export class HashingSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #to: number;
  readonly #digest = new RunningSha256();
  #hashedTo = 0;

  /** `to`: how many bytes the digest covers. */
  constructor(source: ByteSource, to: number) {
    this.#source = source;
    this.#to = to;
  }

  read(into: Uint8Array, offset: number): number {
    const count = this.#source.read(into, offset);
    const end = Math.min(offset + count, this.#to);
    if (offset <= this.#hashedTo && end > this.#hashedTo) {
      this.#digest.update(into.subarray(this.#hashedTo - offset, end - offset));
      this.#hashedTo = end;
    }
    return count;
  }

  /** Bytes that the digest covers by now. */
  get hashedBytes(): number {
    return this.#hashedTo;
  }

  /** The digest of the first bytes; what nobody has read so far is read now. Shorter sources end where they end. */
  digestHex(): string {
    this.hashTo(this.#to);
    return this.#digest.digestHex();
  }

  /** Goes on to `to`, or to the end of the source. */
  hashTo(to: number): void {
    const block = new Uint8Array(Math.min(limits.hashBlockBytes, Math.max(to - this.#hashedTo, 1)));
    while (this.#hashedTo < to) {
      const room = Math.min(block.length, to - this.#hashedTo);
      if (this.read(block.subarray(0, room), this.#hashedTo) === 0) return;
    }
  }

  /** The digest of what was hashed so far. */
  digestSoFar(): string {
    return this.#digest.digestHex();
  }
}
