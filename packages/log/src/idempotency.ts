import { sha256Hex } from '@turnlog/kernel';
import type { ListedKey } from './key-lines.js';
import { PublishedKeys, type PublishedKeysOptions } from './published-keys.js';

/*
 * Idempotency keys: which record first used a key, so that a retried append is not stored twice.
 */

/** One use of a key. */
export interface UsedKey extends ListedKey {
  /** Position in the log behind the record; 0 when the record is not new. */
  readonly end: number;
}

/** The use of `key` by the record whose event is bytes[start, end) and that ends at `logEnd` in the log. */
export function usedKey(key: string, seq: number, eventBytes: Uint8Array, logEnd: number): UsedKey {
  return { key, seq, eventSha256: sha256Hex(eventBytes), end: logEnd };
}

/** How many keys a handle looks for in the file before it loads them all, and for how many listed keys it is one more. */
const searchesMin = 2;
const listedPerSearch = 256;

export interface KeyIndexOptions extends PublishedKeysOptions {
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
 * more keys it holds; the first ones are looked for in the files, for many handles append only once; a handle that
 * goes on loads them all.
 */
export class KeyIndex {
  readonly #scanKeys: () => readonly UsedKey[];
  readonly #published: PublishedKeys;
  /** First use by key; null before it is loaded. */
  #first: Map<string, UsedKey> | null = null;
  #searches = 0;
  #pending: UsedKey[] = [];
  /** Whether no key of the log is missing among the pending ones. */
  #arePendingAll: boolean;

  constructor(options: KeyIndexOptions) {
    this.#scanKeys = options.scanKeys;
    this.#published = new PublishedKeys(options);
    this.#arePendingAll = options.publishedCount === null;
  }

  /** Notes a record that was read back; its place in the log is behind all that are published. */
  noteScanned(used: UsedKey): void {
    this.#pending.push(used);
  }

  /** The first record of the kept log that used `key`, or null. */
  find(key: string): UsedKey | null {
    const found = this.#isSearched() ? this.#search(key) : undefined;
    return found === undefined ? (this.#load().get(key) ?? null) : found;
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
    const due = this.#pending.slice(0, count);
    if (this.#published.mustBeReplaced) this.#replace(due, length);
    else this.#published.append(due);
    this.#pending = this.#pending.slice(count);
    this.#arePendingAll = false;
  }

  /** Others may have written the file: it is replaced at the next publish that has keys. */
  distrust(): void {
    this.#published.distrust();
    this.#arePendingAll = false;
  }

  close(): void {
    this.#published.close();
  }

  #replace(due: readonly UsedKey[], length: number): void {
    const areDueAll = this.#published.count === 0 || this.#arePendingAll;
    this.#published.replace(areDueAll ? due : this.#scanKeys().filter((used) => used.end <= length));
  }

  #isSearched(): boolean {
    if (this.#first !== null) return false;
    return this.#searches < searchesMin + (this.#published.count ?? 0) / listedPerSearch;
  }

  /** `undefined` when it takes loading them. */
  #search(key: string): UsedKey | null | undefined {
    this.#searches += 1;
    if (this.#arePendingAll) return undefined;
    const found = this.#published.search(key);
    if (found === null) return this.#pending.find((used) => used.key === key) ?? null;
    return found === undefined ? undefined : { ...found, end: 0 };
  }

  #load(): Map<string, UsedKey> {
    if (this.#first !== null) return this.#first;
    const first = new Map<string, UsedKey>();
    for (const used of this.#known()) {
      if (!first.has(used.key)) first.set(used.key, used);
    }
    this.#first = first;
    return first;
  }

  #known(): readonly UsedKey[] {
    if (this.#arePendingAll) return this.#pending;
    const published = this.#published.readAll();
    if (published === null) return this.#scanKeys();
    return [...published.map((listed) => ({ ...listed, end: 0 })), ...this.#pending];
  }
}
