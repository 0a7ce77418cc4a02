import { limits, sha256Hex } from '@turnlog/kernel';
import { leafHash } from '@turnlog/log/tree';
import type { LeafTree } from './leaf-tree.js';

/**
 * A block as it goes from one thread to another. Both see the same memory: moving it would make all arrays of the
 * thread that it leaves slower.
 */
export interface PassedBlock {
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  readonly lengths: Uint32Array<SharedArrayBuffer>;
  readonly count: number;
}

/**
 * Leaves one behind the other: of a line a zero byte and its bytes, which is what its hash is made of, or a hash by
 * itself, whose length is noted as 0, which no line has. Whoever has passed it leaves it alone until it comes back.
 */
export class LeafBlock {
  readonly #bytes: Uint8Array<SharedArrayBuffer>;
  readonly #lengths: Uint32Array<SharedArrayBuffer>;
  #used = 0;
  #count = 0;

  /** `emptied`: one that was passed before and is not needed any more. */
  constructor(emptied?: PassedBlock) {
    this.#bytes = emptied?.bytes ?? new Uint8Array(new SharedArrayBuffer(limits.hashBlockBytes));
    this.#lengths = emptied?.lengths ?? new Uint32Array(new SharedArrayBuffer(4 * limits.hashBlockLeavesMax));
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
    this.#note(0, hashBytes);
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

const hashBytes = 32;

/** Most lines are shorter, so that few have to be hashed where there is no room for them. */
const roomBytesMin = 65_536;

/** Adds the leaves of a block to a tree. */
export function addBlock(tree: LeafTree, { bytes, lengths, count }: PassedBlock): void {
  const held = Buffer.from(bytes.buffer);
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    const length = lengths[index] ?? 0;
    const end = at + (length === 0 ? hashBytes : length + 1);
    tree.add(length === 0 ? held.toString('hex', at, end) : sha256Hex(held.subarray(at, end)));
    at = end;
  }
}
