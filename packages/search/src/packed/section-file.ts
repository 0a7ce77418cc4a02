import type { DraftFile } from '@turnlog/fs';
import { limits, sha256 } from '@turnlog/kernel';
import { ByteWriter } from './byte-codec.js';
import { type Place, pageDigestOf } from './segment-format.js';

const pageBytes = limits.searchPageBytes;

/** Writes the part of a segment that is read by page, a page at a time, and keeps the digest of each. */
export class SectionFile {
  readonly #draft: DraftFile;
  readonly #page = new Uint8Array(pageBytes);
  readonly #digests = new ByteWriter();
  #used = 0;
  #length = 0;

  constructor(draft: DraftFile) {
    this.#draft = draft;
  }

  get length(): number {
    return this.#length;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(bytes.length - at, pageBytes - this.#used);
      this.#page.set(bytes.subarray(at, at + count), this.#used);
      this.#used += count;
      this.#length += count;
      at += count;
      if (this.#used === pageBytes) this.#flush();
    }
  }

  /** Fills up with zeros to a multiple of 8, and returns the place of what was written since `start`. */
  endSection(start: number): Place {
    const end = this.#length;
    this.write(new Uint8Array((8 - (end % 8)) % 8));
    return { start, end };
  }

  /** Writes what is left of the last page; returns the digests of all. */
  finish(): Uint8Array {
    if (this.#used > 0) this.#flush();
    return this.#digests.written().slice();
  }

  #flush(): void {
    const page = this.#page.subarray(0, this.#used);
    this.#draft.write(page);
    this.#digests.bytes(pageDigestOf(sha256(page)));
    this.#used = 0;
  }
}
