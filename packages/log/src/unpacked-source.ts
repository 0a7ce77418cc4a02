import { limits } from '@turnlog/kernel';
import type { ByteSource } from './line-framer.js';

/**
 * The content of a compressed file as a source of bytes. It is meant to be read forwards; what lies further back than
 * the last few pieces is unpacked again from the start.
 */
export class UnpackedSource implements ByteSource {
  readonly #unpack: () => Iterable<Uint8Array>;
  #pieces: Iterator<Uint8Array>;
  /** The newest pieces, each with its place in the content. */
  #held: { readonly start: number; readonly bytes: Uint8Array }[] = [];
  #unpackedBytes = 0;

  constructor(unpack: () => Iterable<Uint8Array>) {
    this.#unpack = unpack;
    this.#pieces = unpack()[Symbol.iterator]();
  }

  read(into: Uint8Array, offset: number): number {
    if (offset < (this.#held[0]?.start ?? 0)) this.#restart();
    for (;;) {
      const piece = this.#held.find(({ start, bytes }) => offset >= start && offset < start + bytes.length);
      if (piece !== undefined) {
        const from = offset - piece.start;
        const part = piece.bytes.subarray(from, from + into.length);
        into.set(part);
        return part.length;
      }
      if (!this.#unpackNext()) return 0;
    }
  }

  #unpackNext(): boolean {
    const next = this.#pieces.next();
    if (next.done === true) return false;
    this.#held.push({ start: this.#unpackedBytes, bytes: next.value });
    this.#unpackedBytes += next.value.length;
    if (this.#held.length > limits.unpackedPiecesMax) this.#held.shift();
    return true;
  }

  #restart(): void {
    this.#pieces = this.#unpack()[Symbol.iterator]();
    this.#held = [];
    this.#unpackedBytes = 0;
  }
}
