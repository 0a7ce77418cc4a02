import { limits } from '@turnlog/kernel';
import type { ByteSource } from './line-framer.js';
import { readFully } from './read-fully.js';

const lineFeed = 0x0a;

/**
 * Reads the lines of a file from a position backwards, in blocks: the cost is that of what is returned. The
 * fields describe the present line until the next call.
 */
export class BackwardLines {
  /** Position of the line in the file. */
  offset: number;
  /** The line without its 0x0A. */
  bytes: Uint8Array = new Uint8Array(0);

  readonly #source: ByteSource;
  readonly #lineBytesMax: number;
  /** The buffer holds the file from #base to #base + #buffer.length. */
  #buffer: Uint8Array = new Uint8Array(0);
  #base: number;

  /** `end` is the end of the file or the start of a line. */
  constructor(source: ByteSource, end: number, lineBytesMax: number = limits.readerLineBytesMax) {
    this.#source = source;
    this.#lineBytesMax = lineBytesMax;
    this.#base = end;
    this.offset = end;
  }

  /** Goes to the line before; false at the start of the file, and at a line that is over the limit. */
  next(): boolean {
    const end = this.offset;
    if (end === 0) return false;
    if (end === this.#base && !this.#extend(end)) return false;
    const lineEnd = this.#buffer[end - this.#base - 1] === lineFeed ? end - 1 : end;
    const start = this.#findStart(end, lineEnd);
    if (start === null) return false;
    this.offset = start;
    this.bytes = this.#buffer.subarray(start - this.#base, lineEnd - this.#base);
    return true;
  }

  #findStart(end: number, lineEnd: number): number | null {
    for (;;) {
      const within = lineEnd - this.#base;
      const found = within === 0 ? -1 : this.#buffer.lastIndexOf(lineFeed, within - 1);
      if (found !== -1) return this.#base + found + 1;
      if (this.#base === 0) return 0;
      if (lineEnd - this.#base > this.#lineBytesMax || !this.#extend(end)) return null;
    }
  }

  /** Reads the block before the buffer and drops what lies behind `end`. */
  #extend(end: number): boolean {
    const kept = this.#buffer.subarray(0, end - this.#base);
    // As much again as is held: a long line costs no more than twice its bytes.
    const wanted = Math.min(Math.max(limits.readBlockBytes, kept.length), this.#base);
    const buffer = new Uint8Array(wanted + kept.length);
    if (!readFully(this.#source, buffer.subarray(0, wanted), this.#base - wanted)) return false;
    buffer.set(kept, wanted);
    this.#buffer = buffer;
    this.#base -= wanted;
    return true;
  }
}
