import { publish } from '@turnlog/fs';
import { type FileSystem, type Ids, sha256 } from '@turnlog/kernel';
import type { ByteSource } from './line-framer.js';
import { readFully } from './read-fully.js';

/**
 * A sorted run over a range of lines of the key index: it tells where the lines of a key may be without reading the
 * others. It is published once, never changed, and never synced, because every page says whether it is whole.
 *
 * The format of `index/keys-<from>-<to>.run`, numbers big-endian:
 *
 *     header, 56 bytes   "tlkeys1\n", generation (16), from, to, end (8 each), check (8)
 *     pages              up to 256 entries of 16 bytes, check (8)
 *     entry              first 8 bytes of the SHA-256 of the key, offset of its line in keys.jsonl (8)
 *
 * `from` and `to` count lines, `end` is the offset behind the last of them. Entries ascend by all of their 16 bytes. A
 * check is the first 8 bytes of the SHA-256 of what stands before it in its header or page, behind the number of the
 * page (8; the header's is none).
 */
export interface KeyRunSpan {
  readonly from: number;
  readonly to: number;
  /** Offset in the key index behind line `to`. */
  readonly end: number;
}

const magic = Buffer.from('tlkeys1\n');
const headerBytes = 56;
const entryBytes = 16;
const hashBytes = 8;
const checkBytes = 8;
const pageEntries = 256;
const pageBytes = pageEntries * entryBytes + checkBytes;

export function keyRunName({ from, to }: Pick<KeyRunSpan, 'from' | 'to'>): string {
  return `keys-${from}-${to}.run`;
}

/** What the name of a run says; null for other names. */
export function keyRunNamed(name: string): { readonly from: number; readonly to: number } | null {
  const found = /^keys-(0|[1-9]\d{0,14})-([1-9]\d{0,14})\.run$/.exec(name);
  return found === null ? null : { from: Number(found[1]), to: Number(found[2]) };
}

/** The first half of an entry, by which a key is looked for. */
export function keyHash(key: string): Buffer {
  return Buffer.from(sha256(Buffer.from(key))).subarray(0, hashBytes);
}

/** The entries of lines in the order of the file: sorted. */
export function encodeEntries(lines: readonly { readonly key: string; readonly offset: number }[]): Buffer {
  const entries = lines.map(({ key, offset }) => {
    const entry = Buffer.alloc(entryBytes);
    keyHash(key).copy(entry);
    entry.writeBigUInt64BE(BigInt(offset), hashBytes);
    return entry;
  });
  return Buffer.concat(entries.sort((left, right) => left.compare(right)));
}

export function entryCount(entries: Buffer): number {
  return entries.length / entryBytes;
}

/** Joins two sorted lists of entries. */
export function mergeEntries(left: Buffer, right: Buffer): Buffer {
  const merged = Buffer.allocUnsafe(left.length + right.length);
  let atLeft = 0;
  let atRight = 0;
  for (let at = 0; at < merged.length; at += entryBytes) {
    const isLeft =
      atRight === right.length ||
      (atLeft < left.length &&
        left.compare(right, atRight, atRight + entryBytes, atLeft, atLeft + entryBytes) <= 0);
    const source = isLeft ? left : right;
    const from = isLeft ? atLeft : atRight;
    source.copy(merged, at, from, from + entryBytes);
    if (isLeft) atLeft += entryBytes;
    else atRight += entryBytes;
  }
  return merged;
}

/** @throws TURNLOG_IO */
export function writeKeyRun(
  fs: FileSystem,
  ids: Ids,
  path: string,
  generation: string,
  span: KeyRunSpan,
  entries: Buffer,
): void {
  const header = Buffer.alloc(headerBytes);
  magic.copy(header);
  header.write(generation, 8, 16, 'hex');
  for (const [index, value] of [span.from, span.to, span.end].entries()) {
    header.writeBigUInt64BE(BigInt(value), 24 + 8 * index);
  }
  checkOf(-1, header.subarray(0, headerBytes - checkBytes)).copy(header, headerBytes - checkBytes);
  const parts: Buffer[] = [header];
  for (let page = 0; page * pageEntries * entryBytes < entries.length; page += 1) {
    const from = page * pageEntries * entryBytes;
    const content = entries.subarray(from, from + pageEntries * entryBytes);
    parts.push(content, checkOf(page, content));
  }
  publish(fs, ids, path, Buffer.concat(parts), { durability: 'visible' });
}

function checkOf(page: number, content: Uint8Array): Buffer {
  const number = Buffer.alloc(8);
  number.writeBigInt64BE(BigInt(page));
  return Buffer.from(sha256(Buffer.concat([number, content]))).subarray(0, checkBytes);
}

/** One run that is open for reading. */
export class KeyRun {
  readonly span: KeyRunSpan;
  /** How many lines it covers. */
  readonly length: number;
  readonly #source: ByteSource;

  private constructor(source: ByteSource, span: KeyRunSpan) {
    this.#source = source;
    this.span = span;
    this.length = span.to - span.from;
  }

  /** Null when the header is damaged, or that of another generation or range. */
  static read(source: ByteSource, generation: string, named: { from: number; to: number }): KeyRun | null {
    const header = Buffer.alloc(headerBytes);
    if (!readFully(source, header, 0)) return null;
    const content = header.subarray(0, headerBytes - checkBytes);
    if (!header.subarray(headerBytes - checkBytes).equals(checkOf(-1, content))) return null;
    if (!header.subarray(0, 8).equals(magic) || header.toString('hex', 8, 24) !== generation) return null;
    const [from, to, end] = [24, 32, 40].map((at) => Number(header.readBigUInt64BE(at)));
    if (from !== named.from || to !== named.to || end === undefined) return null;
    return new KeyRun(source, { from, to, end });
  }

  /** Offsets of the lines whose key has `hash`, ascending; null when a page is damaged. */
  find(hash: Buffer): readonly number[] | null {
    const pageCount = Math.ceil(this.length / pageEntries);
    // Hashes are spread evenly, so that the right page is hardly ever more than one away.
    let page = Math.min(pageCount - 1, Math.floor((hash.readUInt32BE(0) / 2 ** 32) * pageCount));
    let entries = this.#page(page);
    while (entries !== null && page > 0 && hash.compare(entries, 0, hashBytes) <= 0) {
      page -= 1;
      entries = this.#page(page);
    }
    const found: number[] = [];
    for (; entries !== null; entries = this.#page(page)) {
      const isOver = collect(entries, hash, found);
      page += 1;
      if (isOver || page === pageCount) return found;
    }
    return null;
  }

  /** All entries; null when a page is damaged. */
  entries(): Buffer | null {
    const pages: Buffer[] = [];
    for (let page = 0; page * pageEntries < this.length; page += 1) {
      const entries = this.#page(page);
      if (entries === null) return null;
      pages.push(entries);
    }
    return Buffer.concat(pages);
  }

  #page(page: number): Buffer | null {
    const count = Math.min(pageEntries, this.length - page * pageEntries);
    const bytes = Buffer.alloc(count * entryBytes + checkBytes);
    if (!readFully(this.#source, bytes, headerBytes + page * pageBytes)) return null;
    const entries = bytes.subarray(0, count * entryBytes);
    return bytes.subarray(entries.length).equals(checkOf(page, entries)) ? entries : null;
  }
}

/** Adds what `entries` have of `hash`; whether later pages have nothing of it. */
function collect(entries: Buffer, hash: Buffer, found: number[]): boolean {
  for (let at = 0; at < entries.length; at += entryBytes) {
    const order = hash.compare(entries, at, at + hashBytes);
    if (order === 0) found.push(Number(entries.readBigUInt64BE(at + hashBytes)));
    else if (order < 0) return true;
  }
  return false;
}
