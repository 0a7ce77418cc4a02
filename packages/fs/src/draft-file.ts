import { dirname } from 'node:path';
import { errnoOf, type FileHandle, type FileSystem, type Ids, isTurnlogError } from '@turnlog/kernel';
import { renameReplacing, temporaryPathBeside } from './publish.js';
import { writeAll } from './write-all.js';

/**
 * A file that is written piece by piece under a temporary name and gets its own only when it is whole. Whoever
 * begins one ends it: with `publish`, or with `discard` when anything fails before.
 */
export class DraftFile {
  /** Where it will stand. */
  readonly path: string;
  /** Its temporary name, beside that place. */
  readonly temporaryPath: string;
  readonly #fs: FileSystem;
  readonly #file: FileHandle;
  #length = 0;
  #isClosed = false;

  constructor(fs: FileSystem, ids: Ids, path: string) {
    this.path = path;
    this.temporaryPath = temporaryPathBeside(ids, path);
    this.#fs = fs;
    this.#file = fs.open(this.temporaryPath, 'create');
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** @throws TURNLOG_IO; the draft is good for nothing but `discard` then. */
  write(bytes: Uint8Array): void {
    writeAll(this.#file, bytes);
    this.#length += bytes.length;
  }

  /** Reads back what was written, until the draft is closed. */
  read(into: Uint8Array, offset: number): number {
    return this.#file.read(into, offset);
  }

  /** Makes the content durable, while the name is still the temporary one. */
  sync(): void {
    this.#file.sync();
  }

  /** Gives the descriptor back; some systems rename no open file. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#file.close();
  }

  /** Gives the file its name, replacing what stands there. `sync` must have been called. */
  rename(): void {
    this.close();
    renameReplacing(this.#fs, this.temporaryPath, this.path);
  }

  /** Content and name are durable when it returns. */
  publish(): void {
    this.sync();
    this.rename();
    this.#fs.syncDirectory(dirname(this.path));
  }

  /**
   * Removes the draft. What led here is what is to be told, so that a temp file which cannot be removed is left to
   * the next writer's open.
   */
  discard(): void {
    for (const step of [() => this.close(), () => this.#fs.removeFile(this.temporaryPath)]) {
      try {
        step();
      } catch (error) {
        if (!isTurnlogError(error) || errnoOf(error) === null) throw error;
      }
    }
  }
}
