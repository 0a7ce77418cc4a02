import { limits } from '@turnlog/kernel';
import { endedEarly } from './archive-file.js';
import type { ByteSource } from './line-framer.js';
import { readFully } from './read-fully.js';

/** Bytes that take the place of others; what is around them stays as it is. */
export interface Edit {
  /** What is replaced, `[start, end)` in the source. */
  readonly start: number;
  readonly end: number;
  readonly bytes: Uint8Array;
}

/**
 * The first `length` bytes of a source with `edits`, which are in order and do not overlap, in blocks of a bounded
 * size. Everything outside of the edits is passed on byte for byte.
 */
export function* editedBlocks(
  source: ByteSource,
  length: number,
  edits: readonly Edit[],
): Iterable<Uint8Array> {
  const blocks = new BlockFiller();
  let at = 0;
  for (const { start, end, bytes } of edits) {
    yield* blocks.copy(source, at, start);
    yield* blocks.add(bytes);
    at = end;
  }
  yield* blocks.copy(source, at, length);
  yield* blocks.rest();
}

/** Puts pieces together into blocks of one size: an archive of many small ones would be long and slow. */
class BlockFiller {
  #block = new Uint8Array(limits.rewriteSliceBytes);
  #filled = 0;

  *copy(source: ByteSource, from: number, to: number): Iterable<Uint8Array> {
    for (let at = from; at < to; ) {
      const room = this.#block.subarray(
        this.#filled,
        this.#filled + Math.min(this.#block.length - this.#filled, to - at),
      );
      if (!readFully(source, room, at)) throw endedEarly(at, room.length);
      at += room.length;
      yield* this.#fill(room.length);
    }
  }

  *add(bytes: Uint8Array): Iterable<Uint8Array> {
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + this.#block.length - this.#filled);
      this.#block.set(piece, this.#filled);
      at += piece.length;
      yield* this.#fill(piece.length);
    }
  }

  *rest(): Iterable<Uint8Array> {
    if (this.#filled > 0) yield this.#block.subarray(0, this.#filled);
    this.#filled = 0;
  }

  *#fill(bytes: number): Iterable<Uint8Array> {
    this.#filled += bytes;
    if (this.#filled < this.#block.length) return;
    yield this.#block;
    this.#block = new Uint8Array(limits.rewriteSliceBytes);
    this.#filled = 0;
  }
}
