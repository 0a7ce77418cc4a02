import { publish, writeAll } from '@turnlog/fs';
import { assert, type FileHandle, type FileSystem, type Ids } from '@turnlog/kernel';

const encoder = new TextEncoder();

/**
 * A derived file of lines that only grows while its log does: the turn index and the key index. One header,
 * then appended lines; never synced, because open checks it against the manifest. What it holds beyond its
 * trusted length is cut before the next line is added; a file that is not trusted is replaced.
 */
export class DerivedLines {
  readonly path: string;
  readonly #fs: FileSystem;
  readonly #ids: Ids;
  #file: FileHandle | null = null;
  /** Trusted bytes; null when the file must be replaced. */
  #length: number | null;
  /** Whether the file may hold more than its trusted bytes. */
  #mayBeLonger = true;

  constructor(fs: FileSystem, ids: Ids, path: string, trustedBytes: number | null) {
    this.#fs = fs;
    this.#ids = ids;
    this.path = path;
    this.#length = trustedBytes;
  }

  /** Whether the file has to be written anew before lines can be added. */
  get mustBeReplaced(): boolean {
    return this.#length === null;
  }

  /** Trusted bytes. */
  get length(): number {
    return this.#length ?? 0;
  }

  /** Replaces the file by `text`. */
  replace(text: string): void {
    this.close();
    const bytes = encoder.encode(text);
    publish(this.#fs, this.#ids, this.path, bytes, { durability: 'visible' });
    this.#length = bytes.length;
    this.#mayBeLonger = false;
  }

  /** Adds lines. When that fails the file is not trusted any more, unless it could be cut back. */
  append(text: string): void {
    if (text === '') return;
    const trusted = this.#length;
    assert(trusted !== null, 'a file that must be replaced takes no lines');
    const bytes = encoder.encode(text);
    this.#length = null;
    const file = this.#open();
    if (this.#mayBeLonger) this.#cut(file, trusted);
    try {
      writeAll(file, bytes);
    } catch (error) {
      this.#mayBeLonger = true;
      this.#length = trusted;
      throw error;
    }
    this.#length = trusted + bytes.length;
  }

  /** The file may have been changed by others: it is replaced before the next line is added. */
  distrust(): void {
    this.#length = null;
  }

  close(): void {
    // Let go of first: a descriptor is gone even when closing it reports a failure.
    const file = this.#file;
    this.#file = null;
    file?.close();
  }

  #open(): FileHandle {
    this.#file ??= this.#fs.open(this.path, 'append');
    return this.#file;
  }

  #cut(file: FileHandle, trusted: number): void {
    if (file.status().size > trusted) file.truncate(trusted);
    this.#mayBeLonger = false;
  }
}
