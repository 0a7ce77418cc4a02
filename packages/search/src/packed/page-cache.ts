import { limits } from '@turnlog/kernel';

/** 64 KiB of a segment, checked, as numbers of each size. */
export interface Page {
  /** When it was used last, in uses of the cache that it is in. */
  usedAt: number;
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly doubles: Float64Array;
}

/** A page with room for its bytes; the last one of a file is filled up with zeros. */
export function emptyPage(): Page {
  const buffer = new ArrayBuffer(limits.searchPageBytes);
  return {
    usedAt: 0,
    bytes: new Uint8Array(buffer),
    words: new Uint32Array(buffer),
    doubles: new Float64Array(buffer),
  };
}

/** The pages that were used last, of all segments of one index. */
export class PageCache {
  readonly #pagesMax: number;
  readonly #pages = new Map<number, Page>();
  #nextFile = 0;
  #uses = 0;
  /** Pages that were read from a file, for those who count. */
  readCount = 0;

  constructor(bytesMax: number = limits.searchCacheBytesMax) {
    this.#pagesMax = Math.max(1, Math.floor(bytesMax / limits.searchPageBytes));
  }

  /** A number for a file; its pages are kept under it. */
  newFile(): number {
    this.#nextFile += 1;
    return this.#nextFile;
  }

  get(file: number, number: number, read: () => Page): Page {
    const key = keyOf(file, number);
    let page = this.#pages.get(key);
    if (page === undefined) {
      page = read();
      this.readCount += 1;
      this.#pages.set(key, page);
      if (this.#pages.size > this.#pagesMax) this.#forgetOldest(key);
    }
    this.#uses += 1;
    page.usedAt = this.#uses;
    return page;
  }

  /** Lets the pages of a file go. */
  forget(file: number, pageCount: number): void {
    for (let number = 0; number < pageCount; number += 1) this.#pages.delete(keyOf(file, number));
  }

  get byteCount(): number {
    return this.#pages.size * limits.searchPageBytes;
  }

  /** Looking at all of them costs far less than reading the one that is kept for it. */
  #forgetOldest(kept: number): void {
    let oldest = kept;
    let usedAt = Number.POSITIVE_INFINITY;
    for (const [key, page] of this.#pages) {
      if (key === kept || page.usedAt >= usedAt) continue;
      oldest = key;
      usedAt = page.usedAt;
    }
    if (oldest !== kept) this.#pages.delete(oldest);
  }
}

/** Files have far fewer than 2^24 pages: that is a tebibyte. */
function keyOf(file: number, number: number): number {
  return file * 0x1000000 + number;
}
