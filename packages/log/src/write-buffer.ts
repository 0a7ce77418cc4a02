import { type EncodedEvent, type Envelope, recordBytesMax, writeRecord } from '@turnlog/events';

const firstBytes = 4_096;

/**
 * Appended lines that are not yet with the operating system: one reused buffer of whole lines. It grows to hold
 * what one append or batch brings and is handed over in one piece.
 */
export class WriteBuffer {
  /** Small at first: a transaction of one append has a buffer of its own. */
  #bytes: Uint8Array = new Uint8Array(firstBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds one line; returns its length in bytes, the 0x0A included. Nothing is added when it throws. */
  add(envelope: Envelope, event: EncodedEvent): number {
    this.#reserve(recordBytesMax(envelope, event));
    const end = writeRecord(this.#bytes, this.#length, envelope, event);
    const length = end - this.#length;
    this.#length = end;
    return length;
  }

  /** What is held, as a view that the next `add` may overwrite. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Forgets all bytes from `length` on. */
  cutTo(length: number): void {
    this.#length = length;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
