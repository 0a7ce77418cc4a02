import { type FileSystem, type Ids, sha256Hex } from '@turnlog/kernel';
import { isCount, isSha256Hex, isText, readMembers } from './checked-json.js';
import { DerivedLines } from './derived-lines.js';
import { readBytesIfThere } from './read-text.js';

/**
 * Idempotency keys: which record first used a key, so that a retried append is not stored twice.
 *
 * The format of `index/keys.jsonl`: a header, then one line per record with a key, in the order of the log.
 *
 *     {"turnlog":"keys","v":1,"session_id":"s-7","generation":"<32 hex>"}
 *     {"k":"submit-7f3a","s":44,"h":"<SHA-256 of the event's bytes>"}
 */

/** One use of a key. */
export interface UsedKey {
  readonly key: string;
  readonly seq: number;
  /** SHA-256 of the bytes of the event. */
  readonly eventSha256: string;
  /** Position in the log behind the record. */
  readonly end: number;
}

/** The use of `key` by the record whose event is bytes[start, end) and that ends at `logEnd` in the log. */
export function usedKey(key: string, seq: number, eventBytes: Uint8Array, logEnd: number): UsedKey {
  return { key, seq, eventSha256: sha256Hex(eventBytes), end: logEnd };
}

function encodeHeader(sessionId: string, generation: string): string {
  return `${JSON.stringify({ turnlog: 'keys', v: 1, session_id: sessionId, generation })}\n`;
}

function encodeKey(used: UsedKey): string {
  return `{"k":${JSON.stringify(used.key)},"s":${used.seq},"h":"${used.eventSha256}"}\n`;
}

function parseKey(text: string): UsedKey | null {
  const found = readMembers(text);
  if (found === null) return null;
  const { k: key, s: seq, h: eventSha256 } = found;
  return isText(key) && isCount(seq) && isSha256Hex(eventSha256) ? { key, seq, eventSha256, end: 0 } : null;
}

const lineFeed = 0x0a;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/**
 * The header and the first `count` lines in `bytes`; null when they are not all there. That they are lines of ours is
 * only looked at: parsing thousands of them for one key would make each short-lived handle the slower the more keys
 * its log has.
 */
function publishedPart(bytes: Uint8Array, header: string, count: number): Buffer | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.subarray(0, header.length).equals(Buffer.from(header))) return null;
  let at = header.length;
  for (let line = 0; line < count; line += 1) {
    const end = buffer.indexOf(lineFeed, at);
    // The last line must have its newline too: the next one is added behind it.
    if (end === -1 || buffer[at] !== openingBrace || buffer[end - 1] !== closingBrace) return null;
    at = end + 1;
  }
  const part = buffer.subarray(0, at);
  // What a power cut leaves of blocks that were never written.
  return part.includes(0) ? null : part;
}

/** The first line of `key`; null when there is none, `undefined` when it is no line of ours. */
function searchKey(published: Buffer, key: string): UsedKey | null | undefined {
  const found = published.indexOf(`\n{"k":${JSON.stringify(key)},"s":`);
  if (found === -1) return null;
  const line = published.toString('utf8', found + 1, published.indexOf(lineFeed, found + 1));
  return parseKey(line) ?? undefined;
}

/** How many keys a handle looks for in the file before it loads them all. */
const searchesMax = 2;

export interface KeyIndexOptions {
  readonly fs: FileSystem;
  readonly ids: Ids;
  readonly path: string;
  readonly sessionId: string;
  readonly generation: string;
  /**
   * Keys that the file must list for the manifest to be right; null when the file is not to be believed. Then the
   * whole log was read, and all of its keys are noted before anything else is asked.
   */
  readonly publishedCount: number | null;
  /** Finds all keys of the log by reading it; called when neither file nor memory has them. */
  readonly scanKeys: () => readonly UsedKey[];
}

/**
 * The keys of one log. Nothing is read before the first keyed append, so that opening a log does not cost more the
 * more keys it holds; the first ones are looked for in the file as it is, for many handles append only once; a handle
 * that goes on loads them all.
 */
export class KeyIndex {
  readonly #options: KeyIndexOptions;
  /** First use by key; null before it is loaded. */
  #first: Map<string, UsedKey> | null = null;
  #searches = 0;
  #pending: UsedKey[] = [];
  #file: DerivedLines | null = null;
  /** How much of the file was found to be right, until it is opened for appending. */
  #foundBytes: number | null = null;
  /** Keys that the file lists; null when it is not to be believed. */
  #publishedCount: number | null;
  /** Whether no key of the log is missing among the pending ones. */
  #arePendingAll: boolean;

  constructor(options: KeyIndexOptions) {
    this.#options = options;
    this.#publishedCount = options.publishedCount;
    this.#arePendingAll = options.publishedCount === null;
  }

  /** Notes a record that was read back; its place in the log is behind all that are published. */
  noteScanned(used: UsedKey): void {
    this.#pending.push(used);
  }

  /** The first record of the kept log that used `key`, or null. */
  find(key: string): UsedKey | null {
    const searched = this.#first === null && this.#searches < searchesMax ? this.#search(key) : undefined;
    return searched === undefined ? (this.#load().get(key) ?? null) : searched;
  }

  /** The first use of each key of the kept log, in no order that counts. */
  all(): Iterable<UsedKey> {
    return this.#load().values();
  }

  /** Notes a new record; `find` must have said that its key is new. */
  add(used: UsedKey): void {
    this.#first?.set(used.key, used);
    this.#pending.push(used);
  }

  mark(): number {
    return this.#pending.length;
  }

  /** Takes back what was added since `mark`. */
  cutTo(mark: number): void {
    for (const used of this.#pending.slice(mark)) this.#first?.delete(used.key);
    this.#pending.length = mark;
  }

  /** Appends to the file what describes the first `length` bytes of the log. */
  publish(length: number): void {
    let count = 0;
    while (count < this.#pending.length && (this.#pending[count] as UsedKey).end <= length) count += 1;
    if (count === 0) return;
    const file = this.#trustedFile();
    const due = this.#pending.slice(0, count);
    if (file.mustBeReplaced) {
      this.#publishedCount = this.#replace(file, due, length);
    } else {
      file.append(due.map(encodeKey).join(''));
      this.#publishedCount = (this.#publishedCount ?? 0) + count;
    }
    this.#pending = this.#pending.slice(count);
    this.#arePendingAll = false;
  }

  /** Others may have written the file: it is replaced at the next publish that has keys. */
  distrust(): void {
    this.#trustedFile().distrust();
    this.#publishedCount = null;
    this.#arePendingAll = false;
  }

  close(): void {
    this.#file?.close();
  }

  /** Writes the file anew; returns how many keys it lists. */
  #replace(file: DerivedLines, due: readonly UsedKey[], length: number): number {
    const areDueAll = this.#publishedCount === 0 || this.#arePendingAll;
    const all = areDueAll ? due : this.#options.scanKeys().filter((used) => used.end <= length);
    const { sessionId, generation } = this.#options;
    file.replace(encodeHeader(sessionId, generation) + all.map(encodeKey).join(''));
    return all.length;
  }

  /** `undefined` when it takes loading them. */
  #search(key: string): UsedKey | null | undefined {
    this.#searches += 1;
    if (this.#arePendingAll) return undefined;
    const published = this.#readPublished();
    if (published === null) return undefined;
    this.#foundBytes = published.length;
    const found = searchKey(published, key);
    return found === null ? (this.#pending.find((used) => used.key === key) ?? null) : found;
  }

  #load(): Map<string, UsedKey> {
    if (this.#first !== null) return this.#first;
    const first = new Map<string, UsedKey>();
    for (const used of this.#known(this.#parsePublished())) {
      if (!first.has(used.key)) first.set(used.key, used);
    }
    this.#first = first;
    return first;
  }

  #known(published: readonly UsedKey[] | null): readonly UsedKey[] {
    if (this.#arePendingAll) return this.#pending;
    return published === null ? this.#options.scanKeys() : [...published, ...this.#pending];
  }

  #trustedFile(): DerivedLines {
    if (this.#file === null) {
      const { fs, ids, path } = this.#options;
      const bytes = this.#foundBytes ?? this.#readPublished()?.length ?? 0;
      this.#file = new DerivedLines(fs, ids, path, bytes === 0 ? null : bytes);
    }
    return this.#file;
  }

  /** The published keys; null when the file is not what the manifest says. */
  #parsePublished(): readonly UsedKey[] | null {
    const published = this.#readPublished();
    if (published === null) return null;
    const keys: UsedKey[] = [];
    for (const line of published.toString('utf8').split('\n').slice(1, -1)) {
      const used = parseKey(line);
      if (used === null) return null;
      keys.push(used);
    }
    return keys;
  }

  /** The published part of the file; null when it is not what the manifest says. No keys need no file. */
  #readPublished(): Buffer | null {
    const { fs, path, sessionId, generation } = this.#options;
    const publishedCount = this.#publishedCount;
    if (publishedCount === null) return null;
    if (publishedCount === 0) return Buffer.alloc(0);
    const bytes = readBytesIfThere(fs, path, Number.POSITIVE_INFINITY);
    if (bytes === null) return null;
    return publishedPart(bytes, encodeHeader(sessionId, generation), publishedCount);
  }
}
