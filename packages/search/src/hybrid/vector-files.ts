import { dirname, join } from 'node:path';
import { ensurePrivateDirectory, listIfThere, publish, removeFileIfThere } from '@turnlog/fs';
import { isTurnlogError, limits } from '@turnlog/kernel';
import { type LogEnvironment, readBytesIfThere } from '@turnlog/log';
import { storeNames } from '@turnlog/store';
import type { ChunkKey } from '../chunk.js';
import { formatChunkId } from '../chunk-id.js';
import { planMerge } from '../packed/merge-plan.js';
import { isDamage } from '../packed/segment-set.js';
import { decodeVectorFile, encodeVectorFile, type VectorFile } from './vector-file.js';
import type { VectorEntry } from './vector-table.js';

const vectorName = /^[0-9a-f]{16}\.vec$/;

export interface FoundVectorFile extends VectorFile {
  readonly path: string;
}

/** The files of vectors of a store. They are read whole, and only where a search asks for vectors. */
export class VectorFiles {
  readonly #environment: LogEnvironment;
  readonly #directory: string;

  constructor(environment: LogEnvironment, root: string) {
    this.#environment = environment;
    this.#directory = join(root, storeNames.search);
  }

  /** The names of the files there are: others, other vectors. */
  names(): readonly string[] {
    const names = listIfThere(this.#environment.fs, this.#directory).map(({ name }) => name);
    return names.filter((name) => vectorName.test(name));
  }

  /** What can be read of them, and which are damaged. */
  read(): { readonly files: readonly FoundVectorFile[]; readonly damaged: readonly string[] } {
    const files: FoundVectorFile[] = [];
    const damaged: string[] = [];
    for (const name of this.names()) {
      const path = join(this.#directory, name);
      try {
        const bytes = readBytesIfThere(this.#environment.fs, path, limits.vectorFileBytesMax);
        // Another process has joined it with others meanwhile: what it held is in one of those, or is encoded anew.
        if (bytes === null && this.#environment.fs.status(path) === null) continue;
        if (bytes === null) damaged.push(path);
        else files.push({ path, ...decodeVectorFile(bytes, path) });
      } catch (error) {
        if (!isDamage(error)) throw error;
        damaged.push(path);
      }
    }
    return { files, damaged };
  }

  /**
   * Writes vectors that are in no file yet, joined with those of small files of the same encoder; what `isKept` refuses
   * is left out of what is written. Damaged files go, and those of other versions of the encoder, which nobody reads
   * any more. `isCurrent` is asked under the lock, which a purge takes as well:
   * what left the corpus since it was encoded is not written.
   *
   * @returns `busy` when another process writes the index; nothing has changed then.
   * @throws TURNLOG_IO when the file could not be written.
   */
  async write(
    added: VectorFile,
    isKept: (key: ChunkKey) => boolean,
    isCurrent: (entry: VectorEntry) => boolean,
  ): Promise<'written' | 'busy'> {
    return await this.#locked(() => {
      const { files, damaged } = this.read();
      const ours = files.filter(({ encoder }) => encoder === added.encoder);
      const joined = filesToJoin(ours, added.entries.length, isKept);
      const entries = new Map<string, VectorEntry>();
      for (const entry of [...joined.flatMap((file) => file.entries), ...added.entries.filter(isCurrent)]) {
        if (isKept(entry.key)) entries.set(formatChunkId(entry.key), entry);
      }
      this.#publish({ ...added, entries: [...entries.values()] });
      const former = files.filter(({ encoder }) => isOtherVersion(encoder, added.encoder));
      for (const { path } of [...joined, ...former]) this.#remove(path);
      for (const path of damaged) this.#remove(path);
    });
  }

  /** Leaves nothing of chunks that `isKept` refuses in any file, whichever encoder made it. */
  async purge(isKept: (key: ChunkKey) => boolean): Promise<'written' | 'busy'> {
    return await this.#locked(() => {
      const { files, damaged } = this.read();
      for (const { path, ...file } of files) {
        const entries = file.entries.filter(({ key }) => isKept(key));
        if (entries.length === file.entries.length) continue;
        this.#publish({ ...file, entries });
        this.#remove(path);
      }
      for (const path of damaged) this.#remove(path);
      // What must be gone stays gone, also after a crash.
      this.#environment.fs.syncDirectory(this.#directory);
    });
  }

  #publish(file: VectorFile): void {
    if (file.entries.length === 0) return;
    const { fs, ids } = this.#environment;
    const path = join(this.#directory, `${ids.randomHex(8)}.vec`);
    publish(fs, ids, path, encodeVectorFile(file), { durability: 'visible' });
  }

  #remove(path: string): void {
    removeFileIfThere(this.#environment.fs, path);
  }

  /** Under the lock of those who write below `search/`: whoever holds it clears temp files away. */
  async #locked(work: () => void): Promise<'written' | 'busy'> {
    const { fs, ownership, locks } = this.#environment;
    const lockDirectory = join(this.#directory, 'build.lock');
    for (const path of [this.#directory, lockDirectory]) {
      if (ensurePrivateDirectory(fs, path, ownership) === 'created') fs.syncDirectory(dirname(path));
    }
    try {
      const lock = await locks.acquire(lockDirectory, { mode: 'shared', waitMs: 0, onLost: () => undefined });
      try {
        work();
        return 'written';
      } finally {
        await lock.release();
      }
    } catch (error) {
      if (isTurnlogError(error, 'TURNLOG_LOCKED')) return 'busy';
      throw error;
    }
  }
}

/** Whether two ids are those of one encoder, whose vectors cannot be compared. */
function isOtherVersion(id: string, other: string): boolean {
  return id !== other && id.split('/')[0] === other.split('/')[0];
}

/** By size, as segments are joined. */
function filesToJoin(
  files: readonly FoundVectorFile[],
  addedCount: number,
  isKept: (key: ChunkKey) => boolean,
): readonly FoundVectorFile[] {
  const candidates = files.map(({ entries }) => ({
    chunkCount: entries.length,
    goneCount: entries.filter(({ key }) => !isKept(key)).length,
  }));
  const places = new Set(planMerge(candidates, addedCount));
  return files.filter((_file, place) => places.has(place));
}
