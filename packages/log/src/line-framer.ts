import { limits } from '@turnlog/kernel';

/** Where bytes come from: a file handle, or memory. */
export interface ByteSource {
  /** Reads into `into` from `offset` on and returns how many bytes came, 0 at the end. */
  read(into: Uint8Array, offset: number): number;
}

export interface FramerOptions {
  /** First byte to read, at the start of a line. */
  readonly from: number;
  /** End of what is read, exclusive; bytes behind it do not exist for this reader. */
  readonly to: number;
  /** The longest line that is taken, in bytes without its 0x0A. */
  readonly lineBytesMax?: number;
  /** How many bytes one read takes. */
  readonly blockBytes?: number;
}

const lineFeed = 0x0a;

/**
 * Cuts bytes into lines at 0x0A and nowhere else. Memory: one block, and one line when a line is longer than
 * what is left of a block. The fields describe the present line until the next call of `next`.
 */
export class LineFramer {
  /** The line is bytes[start, end) of this buffer, without its 0x0A. Meaningless for a line that is too long. */
  bytes: Uint8Array;
  start = 0;
  end = 0;
  /** Position of the line in the file, and its length without the 0x0A. */
  offset: number;
  length = 0;
  /** Whether a 0x0A ends the line; only the last line may have none. */
  isTerminated = false;
  /** Whether the line is over the limit: skipped, its bytes are not here. */
  isTooLong = false;

  readonly #source: ByteSource;
  readonly #to: number;
  readonly #lineBytesMax: number;
  readonly #blockBytes: number;
  /** File position of bytes[0]. */
  #base: number;
  /** Bytes of the buffer that are filled, and a view of them. */
  #filled = 0;
  #held: Buffer;
  /** Where the next line starts within the buffer. */
  #at = 0;
  #isAtEnd = false;

  constructor(source: ByteSource, options: FramerOptions) {
    this.#source = source;
    this.#to = options.to;
    this.#lineBytesMax = options.lineBytesMax ?? limits.readerLineBytesMax;
    // No more than there is to read: what a transaction finds behind its manifest is a line or two.
    const wantedBytes = options.blockBytes ?? limits.readBlockBytes;
    this.#blockBytes = Math.max(1, Math.min(wantedBytes, options.to - options.from));
    this.#base = options.from;
    this.offset = options.from;
    this.bytes = new Uint8Array(this.#blockBytes);
    this.#held = Buffer.alloc(0);
  }

  /** File position behind the present line and its 0x0A. */
  get nextOffset(): number {
    return this.offset + this.length + (this.isTerminated ? 1 : 0);
  }

  /** Goes to the next line; false when there is none. */
  next(): boolean {
    this.isTooLong = false;
    let searchFrom = this.#at;
    for (;;) {
      const found = this.#filled > searchFrom ? this.#find(searchFrom) : -1;
      if (found !== -1) return this.#deliver(found, true);
      if (this.#filled - this.#at > this.#lineBytesMax) return this.#skipLong();
      searchFrom = this.#filled;
      const moved = this.#fill();
      searchFrom -= moved;
      if (this.#isAtEnd) {
        return this.#filled > this.#at ? this.#deliver(this.#filled, false) : false;
      }
    }
  }

  #find(from: number): number {
    return this.#held.indexOf(lineFeed, from);
  }

  #deliver(end: number, isTerminated: boolean): boolean {
    this.start = this.#at;
    this.end = end;
    this.offset = this.#base + this.#at;
    this.length = end - this.#at;
    this.isTerminated = isTerminated;
    this.#at = isTerminated ? end + 1 : end;
    this.isTooLong = this.length > this.#lineBytesMax;
    return true;
  }

  /** Reads one more block behind what is there; returns by how much the unread bytes moved to the front. */
  #fill(): number {
    const moved = this.#at;
    if (moved > 0) {
      this.bytes.copyWithin(0, moved, this.#filled);
      this.#base += moved;
      this.#filled -= moved;
      this.#at = 0;
    }
    if ((this.bytes.length - this.#filled) * 2 <= this.#blockBytes) this.#grow();
    const fileOffset = this.#base + this.#filled;
    const room = Math.min(this.bytes.length - this.#filled, this.#blockBytes, this.#to - fileOffset);
    const into = this.bytes.subarray(this.#filled, this.#filled + Math.max(room, 0));
    const count = into.length === 0 ? 0 : this.#source.read(into, fileOffset);
    this.#filled += count;
    // A Buffer looks for one byte several times as fast as a plain array does.
    this.#held = Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.#filled);
    this.#isAtEnd = count === 0;
    return moved;
  }

  /** Doubles the buffer, but not beyond what the longest line that is taken needs. */
  #grow(): void {
    const enough = this.#lineBytesMax + 2 * this.#blockBytes;
    const length = Math.max(this.bytes.length + this.#blockBytes, Math.min(this.bytes.length * 2, enough));
    const grown = new Uint8Array(length);
    grown.set(this.bytes.subarray(0, this.#filled));
    this.bytes = grown;
  }

  /** Passes over a line that is over the limit, a block at a time, keeping none of it. */
  #skipLong(): boolean {
    this.offset = this.#base + this.#at;
    this.#base += this.#filled;
    this.#filled = 0;
    this.#at = 0;
    this.bytes = new Uint8Array(this.#blockBytes);
    for (;;) {
      this.#fill();
      if (this.#isAtEnd) return this.#deliverLong(this.#base + this.#at, false);
      const found = this.#find(this.#at);
      if (found !== -1) {
        const end = this.#base + found;
        this.#at = found + 1;
        return this.#deliverLong(end, true);
      }
      this.#at = this.#filled;
    }
  }

  #deliverLong(endOffset: number, isTerminated: boolean): boolean {
    this.start = 0;
    this.end = 0;
    this.length = endOffset - this.offset;
    this.isTerminated = isTerminated;
    this.isTooLong = true;
    return true;
  }
}
