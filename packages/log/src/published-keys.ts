import { dirname } from 'node:path';
import { assert, type FileHandle, type FileSystem, type Ids, limits } from '@turnlog/kernel';
import { DerivedLines } from './derived-lines.js';
import {
  encodeKeyHeader,
  encodeKeyLine,
  endOfKeyLines,
  type ListedKey,
  parseKeyLine,
  searchKeyLine,
} from './key-lines.js';
import { type KeyLine, KeyRuns } from './key-runs.js';
import { readFully, readUpTo } from './read-fully.js';
import { openIfThere } from './read-text.js';

export interface PublishedKeysOptions {
  readonly fs: FileSystem;
  readonly ids: Ids;
  readonly path: string;
  readonly sessionId: string;
  readonly generation: string;
  /** Keys that the file must list for the manifest to be right; null when the file is not to be believed. */
  readonly publishedCount: number | null;
  /** Lines that no run covers become a run when there are so many; by default `limits.keyRunLinesMin`. */
  readonly runLinesMin?: number;
}

/** The lines of the index that no run covers. */
interface Tail {
  /** The lines, behind the newline before them. */
  readonly bytes: Buffer;
  /** Offset of the first of them in the file. */
  readonly start: number;
}

/**
 * The published part of the key index: `index/keys.jsonl`, and the sorted runs by which one key is found in it without
 * reading all of it. So a handle that lives for one append pays the same for it however many keys its log has.
 */
export class PublishedKeys {
  readonly #options: PublishedKeysOptions;
  readonly #header: Buffer;
  readonly #runLinesMin: number;
  /** Lines to be believed; null when there are none and the file must be written anew. */
  #count: number | null;
  #lines: DerivedLines | null = null;
  #runs: KeyRuns | null = null;
  /** What was read of the file last; null before, and when it is older than the file. */
  #tail: Tail | null = null;

  constructor(options: PublishedKeysOptions) {
    this.#options = options;
    this.#count = options.publishedCount;
    this.#header = Buffer.from(encodeKeyHeader(options.sessionId, options.generation));
    this.#runLinesMin = options.runLinesMin ?? limits.keyRunLinesMin;
  }

  get count(): number | null {
    return this.#count;
  }

  /** The first line of `key`; null when there is none, `undefined` when the file is not what the manifest says. */
  search(key: string): ListedKey | null | undefined {
    const count = this.#count;
    if (count === null) return undefined;
    if (count === 0) return null;
    const tail = this.#readTail();
    const offsets = this.#canHaveRuns() ? this.#openRuns().find(key) : [];
    if (tail === null || offsets === null) return undefined;
    const listed = offsets.length === 0 ? null : this.#listedAt(offsets, key);
    return listed === null ? searchKeyLine(tail.bytes, key) : listed;
  }

  /** All lines; null when the file is not what the manifest says. */
  readAll(): readonly ListedKey[] | null {
    if (this.#count === null) return null;
    if (this.#count === 0) return [];
    const bytes = this.#read(this.#header.length, this.#count);
    if (bytes === null) return null;
    const keys: ListedKey[] = [];
    for (const line of bytes.toString('utf8').split('\n').slice(1, -1)) {
      const listed = parseKeyLine(line);
      if (listed === null) return null;
      keys.push(listed);
    }
    return keys;
  }

  /** Whether the file has to be written anew before lines can be added. */
  get mustBeReplaced(): boolean {
    return this.#openLines().mustBeReplaced;
  }

  /** @throws TURNLOG_IO; the file is as before then, but for runs. */
  append(due: readonly ListedKey[]): void {
    const lines = this.#openLines();
    const count = this.#count;
    assert(count !== null, 'a file that must be replaced takes no lines');
    const runs = this.#openRuns();
    runs.removeStale();
    if (count - (runs.covered?.count ?? 0) >= this.#runLinesMin) this.#extendRuns(runs);
    this.#tail = null;
    lines.append(due.map(encodeKeyLine).join(''));
    this.#count = count + due.length;
  }

  /** Writes the file anew. */
  replace(all: readonly ListedKey[]): void {
    const lines = this.#openLines();
    this.#tail = null;
    this.#openRuns().removeAll();
    lines.replace(this.#header.toString() + all.map(encodeKeyLine).join(''));
    this.#count = all.length;
  }

  /** Others may have written the file. */
  distrust(): void {
    this.#openLines().distrust();
    this.#count = null;
    this.#tail = null;
  }

  close(): void {
    try {
      this.#runs?.close();
    } finally {
      this.#lines?.close();
    }
  }

  #canHaveRuns(): boolean {
    return this.#runs !== null || (this.#count ?? 0) >= this.#runLinesMin;
  }

  #openRuns(): KeyRuns {
    const { fs, ids, path, generation } = this.#options;
    this.#runs ??= KeyRuns.open({ fs, ids, directory: dirname(path), generation }, this.#count ?? 0);
    return this.#runs;
  }

  #openLines(): DerivedLines {
    if (this.#lines === null) {
      const { fs, ids, path } = this.#options;
      const tail = this.#count === null || this.#count === 0 ? null : this.#readTail();
      const length = tail === null ? null : tail.start - 1 + tail.bytes.length;
      this.#lines = new DerivedLines(fs, ids, path, length);
    }
    return this.#lines;
  }

  #readTail(): Tail | null {
    if (this.#tail !== null) return this.#tail;
    const covered = this.#canHaveRuns() ? this.#openRuns().covered : null;
    const start = covered?.end ?? this.#header.length;
    const bytes = this.#read(start, (this.#count ?? 0) - (covered?.count ?? 0));
    this.#tail = bytes === null ? null : { bytes, start };
    return this.#tail;
  }

  /** The newline before `start` and `count` lines from there on; null when they are not there. */
  #read(start: number, count: number): Buffer | null {
    return this.#withFile((file) => {
      const { size } = file.status();
      const header = Buffer.alloc(this.#header.length);
      if (size < start || !readFully(file, header, 0) || !header.equals(this.#header)) return null;
      const bytes = Buffer.alloc(size - start + 1);
      if (!readFully(file, bytes, start - 1) || bytes[0] !== lineFeed) return null;
      const end = endOfKeyLines(bytes, 1, count);
      return end === null ? null : bytes.subarray(0, end);
    });
  }

  /** The first of the lines at `offsets` that is one of `key`; `undefined` when one of them is no line of ours. */
  #listedAt(offsets: readonly number[], key: string): ListedKey | null | undefined {
    return this.#withFile((file) => {
      const bytes = Buffer.alloc(keyLineBytesMax);
      for (const offset of offsets) {
        const read = bytes.subarray(0, readUpTo(file, bytes, offset));
        const end = read.indexOf(lineFeed);
        const listed = end === -1 ? null : parseKeyLine(read.toString('utf8', 0, end));
        if (listed === null) return undefined;
        if (listed.key === key) return listed;
      }
      return null;
    });
  }

  #withFile<Result>(use: (file: FileHandle) => Result): Result | null {
    const file = openIfThere(this.#options.fs, this.#options.path);
    if (file === null) return null;
    try {
      return use(file);
    } finally {
      file.close();
    }
  }

  #extendRuns(runs: KeyRuns): void {
    const tail = this.#readTail();
    const lines = tail === null ? null : parsedLines(tail);
    if (tail !== null && lines !== null) runs.extend(lines, tail.start - 1 + tail.bytes.length);
  }
}

const lineFeed = 0x0a;
/** A key of the longest kind, every byte of it escaped, with seq and digest. */
const keyLineBytesMax = 6 * limits.keyBytesMax + 128;

/** The keys of a tail with the places of their lines; null when one is no line of ours. */
function parsedLines({ bytes, start }: Tail): readonly KeyLine[] | null {
  const lines: KeyLine[] = [];
  for (let at = 1; at < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, at);
    const listed = parseKeyLine(bytes.toString('utf8', at, end));
    if (listed === null) return null;
    lines.push({ key: listed.key, offset: start - 1 + at });
    at = end + 1;
  }
  return lines;
}
