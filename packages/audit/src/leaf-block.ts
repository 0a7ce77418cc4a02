import { limits, sha256Hex } from '@turnlog/kernel';
import { leafBytes, leafHash } from '@turnlog/log';
import type { LeafTree } from './leaf-tree.js';

/** A block as it goes from one thread to another: its memory moves, and is not copied. */
export interface PassedBlock {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: Uint32Array<ArrayBuffer>;
  readonly count: number;
}

/**
 * Leaves one behind the other: of a line a zero byte and its bytes, which is what its hash is made of, or a hash by
 * itself, whose length is noted as 0, which no line has.
 */
export class LeafBlock {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #lengths: Uint32Array<ArrayBuffer>;
  #used = 0;
  #count = 0;

  /** `emptied`: one that was passed before and is not needed any more. */
  constructor(emptied?: PassedBlock) {
    this.#bytes = emptied?.bytes ?? new Uint8Array(limits.hashBlockBytes);
    this.#lengths = emptied?.lengths ?? new Uint32Array(limits.hashBlockLeavesMax);
  }

  /** Whether there may be no room for one more. */
  get isFull(): boolean {
    return this.#bytes.length - this.#used < roomBytesMin || this.#count === this.#lengths.length;
  }

  /** Takes bytes[start, end) = one line; what finds no room is hashed at once. */
  addLine(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length + 1 > this.#bytes.length - this.#used) {
      this.addHash(leafHash(bytes, start, end));
      return;
    }
    this.#bytes[this.#used] = 0;
    this.#bytes.set(bytes.subarray(start, end), this.#used + 1);
    this.#note(length, length + 1);
  }

  /** Takes 64 hex digits. */
  addHash(hash: string): void {
    Buffer.from(this.#bytes.buffer).write(hash, this.#used, 'hex');
    this.#note(0, leafBytes);
  }

  pass(): PassedBlock {
    return { bytes: this.#bytes, lengths: this.#lengths, count: this.#count };
  }

  #note(length: number, used: number): void {
    this.#lengths[this.#count] = length;
    this.#count += 1;
    this.#used += used;
  }
}

/** Most lines are shorter, so that few have to be hashed where there is no room for them. */
const roomBytesMin = 65_536;

/** Adds the leaves of a block to a tree. */
export function addBlock(tree: LeafTree, { bytes, lengths, count }: PassedBlock): void {
  const held = Buffer.from(bytes.buffer);
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    const length = lengths[index] ?? 0;
    const end = at + (length === 0 ? leafBytes : length + 1);
    tree.add(length === 0 ? held.toString('hex', at, end) : sha256Hex(held.subarray(at, end)));
    at = end;
  }
}
