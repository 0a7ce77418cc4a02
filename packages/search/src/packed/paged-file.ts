import { type FileHandle, limits, sha256 } from '@turnlog/kernel';
import { readFully } from '@turnlog/log';
import { damagedFile } from './byte-codec.js';
import { emptyPage, type Page, type PageCache } from './page-cache.js';
import { isPageRight, type Place, pageCountOf } from './segment-format.js';

const pageBytes = limits.searchPageBytes;

/** The part of a segment that is read by page; each page is checked when it is first read. */
export class PagedFile {
  readonly #file: FileHandle;
  readonly #cache: PageCache;
  readonly #digests: Uint8Array;
  readonly #end: number;
  readonly #number: number;
  /** By page: 1 once it was read and was what was written. */
  readonly #isChecked: Uint8Array;

  constructor(file: FileHandle, cache: PageCache, end: number, digests: Uint8Array) {
    this.#file = file;
    this.#cache = cache;
    this.#end = end;
    this.#digests = digests;
    this.#number = cache.newFile();
    this.#isChecked = new Uint8Array(pageCountOf(end));
  }

  /** @throws TURNLOG_IO when it is not what was written. */
  page(number: number): Page {
    return this.#cache.get(this.#number, number, () => this.#read(number));
  }

  /** Bytes that may lie across pages. */
  slice(start: number, end: number): Uint8Array {
    const bytes = new Uint8Array(end - start);
    for (let at = start; at < end; ) {
      const within = at % pageBytes;
      const count = Math.min(pageBytes - within, end - at);
      const page = this.page((at - within) / pageBytes);
      bytes.set(page.bytes.subarray(within, within + count), at - start);
      at += count;
    }
    return bytes;
  }

  close(): void {
    this.#cache.forget(this.#number, pageCountOf(this.#end));
    this.#file.close();
  }

  #read(number: number): Page {
    const page = emptyPage();
    const start = number * pageBytes;
    const bytes = page.bytes.subarray(0, Math.max(0, Math.min(pageBytes, this.#end - start)));
    if (!readFully(this.#file, bytes, start)) throw damagedFile(this.#file.path, 'it is cut short');
    if (this.#isChecked[number] === 1) return page;
    if (!isPageRight(this.#digests, number, sha256(bytes))) {
      throw damagedFile(this.#file.path, `page ${number} is not what was written`);
    }
    this.#isChecked[number] = 1;
    return page;
  }
}

/** A column of numbers; the page that was used last is at hand, so reading in order costs no look-up. */
abstract class Column {
  readonly #file: PagedFile;
  readonly #firstPage: number;
  /** Elements of a page, and how many stand on the first page before the column. */
  readonly #perPage: number;
  readonly #before: number;
  /** The elements at hand are `[from, to)`. */
  protected from = 0;
  protected to = 0;

  constructor(file: PagedFile, place: Place, elementBytes: number) {
    this.#file = file;
    this.#perPage = pageBytes / elementBytes;
    this.#firstPage = Math.floor(place.start / pageBytes);
    this.#before = (place.start % pageBytes) / elementBytes;
  }

  /** Takes the page of an element; returns it. */
  protected turnTo(at: number): Page {
    const number = Math.floor((at + this.#before) / this.#perPage);
    const page = this.#file.page(this.#firstPage + number);
    this.from = number * this.#perPage - this.#before;
    this.to = this.from + this.#perPage;
    return page;
  }

  /** Copies the beginning of the column, as much as there is room for. */
  protected copyTo<Numbers extends Uint32Array | Float64Array>(
    values: Numbers,
    numbersOf: (page: Page) => Numbers,
  ): Numbers {
    for (let at = 0; at < values.length; at = this.to) {
      const numbers = numbersOf(this.turnTo(at));
      values.set(numbers.subarray(at - this.from, Math.min(this.to, values.length) - this.from), at);
    }
    // The page of the last elements is not the one that is at hand.
    this.from = 0;
    this.to = 0;
    return values;
  }
}

export class ByteColumn extends Column {
  #values: Uint8Array = new Uint8Array(0);

  constructor(file: PagedFile, place: Place) {
    super(file, place, 1);
  }

  at(ordinal: number): number {
    if (ordinal < this.from || ordinal >= this.to) this.#values = this.turnTo(ordinal).bytes;
    return this.#values[ordinal - this.from] ?? 0;
  }
}

export class WordColumn extends Column {
  #values: Uint32Array = new Uint32Array(0);

  constructor(file: PagedFile, place: Place) {
    super(file, place, 4);
  }

  at(ordinal: number): number {
    if (ordinal < this.from || ordinal >= this.to) this.#values = this.turnTo(ordinal).words;
    return this.#values[ordinal - this.from] ?? 0;
  }

  /** A copy of the first so many. */
  copied(length: number): Uint32Array {
    return this.copyTo(new Uint32Array(length), ({ words }) => words);
  }
}

export class DoubleColumn extends Column {
  #values: Float64Array = new Float64Array(0);

  constructor(file: PagedFile, place: Place) {
    super(file, place, 8);
  }

  at(ordinal: number): number {
    if (ordinal < this.from || ordinal >= this.to) this.#values = this.turnTo(ordinal).doubles;
    return this.#values[ordinal - this.from] ?? 0;
  }

  /** A copy of the first so many. */
  copied(length: number): Float64Array {
    return this.copyTo(new Float64Array(length), ({ doubles }) => doubles);
  }
}
