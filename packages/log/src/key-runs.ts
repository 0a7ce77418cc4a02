import { join } from 'node:path';
import { listIfThere, removeFileIfThere } from '@turnlog/fs';
import type { FileHandle, FileSystem, Ids } from '@turnlog/kernel';
import {
  encodeEntries,
  entryCount,
  KeyRun,
  keyHash,
  keyRunName,
  keyRunNamed,
  mergeEntries,
  writeKeyRun,
} from './key-run.js';
import { openIfThere } from './read-text.js';

export interface KeyRunsOptions {
  readonly fs: FileSystem;
  readonly ids: Ids;
  /** Where the runs lie: beside the key index. */
  readonly directory: string;
  readonly generation: string;
}

/** A line of the key index, as a run wants it. */
export interface KeyLine {
  readonly key: string;
  readonly offset: number;
}

interface OpenRun {
  readonly run: KeyRun;
  readonly file: FileHandle;
  readonly name: string;
}

/**
 * The runs that together cover the first lines of a key index, each beginning where the one before ends. A new one
 * swallows those before it that are less than twice as long, so that there are few and each line is written into one
 * a number of times that grows with the logarithm of the lines.
 */
export class KeyRuns {
  readonly #options: KeyRunsOptions;
  #runs: OpenRun[] = [];
  /** Runs that may say what is not so. */
  #stale: string[] = [];
  /** Runs whose lines a longer one covers too. */
  #spare: string[] = [];

  private constructor(options: KeyRunsOptions) {
    this.#options = options;
  }

  /**
   * Opens the runs of an index whose first `lineCount` lines are to be believed. A run that covers more is of lines
   * that a crash took back.
   */
  static open(options: KeyRunsOptions, lineCount: number): KeyRuns {
    const runs = new KeyRuns(options);
    try {
      runs.#choose(lineCount);
      return runs;
    } catch (error) {
      runs.close();
      throw error;
    }
  }

  /** Lines of the index that the runs cover, and the offset behind them; null when they cover none. */
  get covered(): { readonly count: number; readonly end: number } | null {
    const last = this.#runs.at(-1)?.run.span;
    return last === undefined ? null : { count: last.to, end: last.end };
  }

  /**
   * Offsets of the lines that may be those of `key`, ascending. Null when a run turns out to be damaged; it is counted
   * out then, with all behind it.
   */
  find(key: string): readonly number[] | null {
    const hash = keyHash(key);
    const found: number[] = [];
    for (const [index, { run }] of this.#runs.entries()) {
      const offsets = run.find(hash);
      if (offsets === null) {
        this.#countOut(index);
        return null;
      }
      found.push(...offsets);
    }
    return found;
  }

  /**
   * Removes what may say what is not so. Durably, because after a power cut it must not come back and speak for lines
   * that are written from now on.
   */
  removeStale(): void {
    if (this.#stale.length === 0) return;
    const { fs, directory } = this.#options;
    for (const name of this.#stale) this.#remove(name);
    fs.syncDirectory(directory);
    this.#stale = [];
  }

  /** The index is written anew. */
  removeAll(): void {
    this.#countOut(0);
    this.#stale.push(...this.#spare.splice(0));
    this.removeStale();
  }

  /** Covers `lines`, which follow those that are covered and end at `end`. */
  extend(lines: readonly KeyLine[], end: number): void {
    const { fs, ids, directory, generation } = this.#options;
    let entries = encodeEntries(lines);
    let kept = this.#runs.length;
    for (const { run } of this.#runs.toReversed()) {
      if (run.length >= 2 * entryCount(entries)) break;
      kept -= 1;
      const own = run.entries();
      if (own === null) {
        this.#countOut(kept);
        return;
      }
      entries = mergeEntries(own, entries);
    }
    const to = (this.covered?.count ?? 0) + lines.length;
    const span = { from: to - entryCount(entries), to, end };
    const name = keyRunName(span);
    writeKeyRun(fs, ids, join(directory, name), generation, span, entries);
    for (const swallowed of this.#runs.splice(kept)) {
      this.#spare.push(swallowed.name);
      swallowed.file.close();
    }
    this.#openRun(name, span);
    for (const spare of this.#spare.splice(0)) this.#remove(spare);
  }

  close(): void {
    for (const { file } of this.#runs.splice(0)) file.close();
  }

  /** Of runs that begin where the one before ends the longest is the one that swallowed the others. */
  #choose(lineCount: number): void {
    // Of those that begin at the same line the longest comes first, so that one pass chooses.
    for (const run of this.#names().toSorted((left, right) => left.from - right.from || right.to - left.to)) {
      if (run.to > lineCount) this.#stale.push(run.name);
      else if (run.from !== (this.covered?.count ?? 0)) this.#spare.push(run.name);
      else if (!this.#openRun(run.name, run)) this.#stale.push(run.name);
    }
  }

  #names(): { readonly name: string; readonly from: number; readonly to: number }[] {
    const { fs, directory } = this.#options;
    return listIfThere(fs, directory).flatMap(({ name }) => {
      const said = keyRunNamed(name);
      return said === null ? [] : [{ name, ...said }];
    });
  }

  /** False when it is not what its name says. */
  #openRun(name: string, named: { readonly from: number; readonly to: number }): boolean {
    const { fs, directory, generation } = this.#options;
    const file = openIfThere(fs, join(directory, name));
    if (file === null) return false;
    let run: KeyRun | null = null;
    try {
      run = KeyRun.read(file, generation, named);
    } finally {
      if (run === null) file.close();
    }
    if (run !== null) this.#runs.push({ run, file, name });
    return run !== null;
  }

  #countOut(from: number): void {
    for (const { file, name } of this.#runs.splice(from)) {
      this.#stale.push(name);
      file.close();
    }
  }

  #remove(name: string): void {
    const { fs, directory } = this.#options;
    removeFileIfThere(fs, join(directory, name));
  }
}
