import type { ByteSource } from './line-framer.js';

/** Fills `into` from `offset` on; false when the source ends before. */
export function readFully(source: ByteSource, into: Uint8Array, offset: number): boolean {
  return readUpTo(source, into, offset) === into.length;
}

/** Reads into `into` from `offset` on until it is full or the source ends; returns how many bytes came. */
export function readUpTo(source: ByteSource, into: Uint8Array, offset: number): number {
  let filled = 0;
  while (filled < into.length) {
    const count = source.read(filled === 0 ? into : into.subarray(filled), offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}
