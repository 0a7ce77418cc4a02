import { dirname, join } from 'node:path';
import {
  containedPath,
  ensurePrivateDirectory,
  publish,
  temporaryNamePattern,
  temporaryPathBeside,
  writeAll,
} from '@turnlog/fs';
import {
  errnoOf,
  type FileHandle,
  isTurnlogError,
  limits,
  RunningSha256,
  sha256Hex,
  TurnlogError,
} from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { storeNames } from './layout.js';

/**
 * Blobs named by their digests: `<root>/assets/<aa>/<sha256>`, `aa` being the first two digits. A name is there
 * only when all its bytes are durable, and they never change.
 */

const digestForm = /^[0-9a-f]{64}$/;

/** What names a blob. */
export interface StoredAsset {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/** The part of the machine that blobs need. */
export type AssetEnvironment = Pick<LogEnvironment, 'fs' | 'ids' | 'ownership'>;

/** The blobs of one store. Nothing is created before the first `put`. */
export class AssetStore {
  readonly #environment: AssetEnvironment;
  readonly #root: string;

  /** `root` is the absolute path of an existing root. */
  constructor(environment: AssetEnvironment, root: string) {
    this.#environment = environment;
    this.#root = root;
  }

  /**
   * Stores bytes and makes them durable. A blob that is there is read again, and kept.
   *
   * @throws TURNLOG_ASSET_DAMAGED when other bytes stand under this digest; TURNLOG_UNSAFE_PATH, TURNLOG_IO.
   */
  put(bytes: Uint8Array): StoredAsset {
    const sha256 = sha256Hex(bytes);
    if (!this.#isThere(sha256)) {
      const { fs, ids } = this.#environment;
      publish(fs, ids, this.#placeFor(sha256), bytes, { durability: 'durable' });
    }
    return { sha256, bytes: bytes.length };
  }

  /** As `put`, for bytes that come in pieces; no more than one piece is held. */
  putPieces(pieces: Iterable<Uint8Array>): StoredAsset {
    const { fs, ids } = this.#environment;
    const temporary = temporaryPathBeside(ids, containedPath(this.#directory(null), 'blob'));
    try {
      const asset = this.#writePieces(temporary, pieces);
      if (this.#isThere(asset.sha256)) {
        fs.removeFile(temporary);
        return asset;
      }
      const path = this.#placeFor(asset.sha256);
      fs.rename(temporary, path);
      fs.syncDirectory(this.#directory(asset.sha256));
      return asset;
    } catch (error) {
      this.#removeTemporary(temporary);
      throw error;
    }
  }

  /** Whether a blob of this name is there. Its bytes are not read. */
  has(sha256: string): boolean {
    return this.#environment.fs.status(this.#path(sha256))?.kind === 'file';
  }

  /**
   * The bytes of a blob, checked against its name.
   *
   * @throws TURNLOG_ASSET_MISSING; TURNLOG_ASSET_DAMAGED; TURNLOG_UNSAFE_PATH, TURNLOG_IO.
   */
  read(sha256: string): Uint8Array {
    const file = this.#open(sha256);
    try {
      const bytes = new Uint8Array(file.status().size);
      let filled = 0;
      for (let count = -1; count !== 0 && filled < bytes.length; filled += count) {
        count = file.read(bytes.subarray(filled), filled);
      }
      if (filled === bytes.length && sha256Hex(bytes) === sha256) return bytes;
      throw damaged(sha256, file.path);
    } finally {
      file.close();
    }
  }

  /**
   * Removes a blob, durably; whoever calls it has seen that nothing names it any more. One that is not there is as good
   * as removed.
   */
  remove(sha256: string): void {
    const { fs } = this.#environment;
    const path = this.#path(sha256);
    if (fs.status(path) === null) return;
    fs.removeFile(path);
    fs.syncDirectory(dirname(path));
  }

  #open(sha256: string): FileHandle {
    const path = this.#path(sha256);
    try {
      return this.#environment.fs.open(path, 'read');
    } catch (cause) {
      if (errnoOf(cause) !== 'ENOENT') throw cause;
      throw new TurnlogError('TURNLOG_ASSET_MISSING', { details: { sha256, path }, cause });
    }
  }

  #isThere(sha256: string): boolean {
    if (!this.has(sha256)) return false;
    const file = this.#open(sha256);
    try {
      const hash = new RunningSha256();
      const block = new Uint8Array(limits.readBlockBytes);
      for (let offset = 0; ; ) {
        const count = file.read(block, offset);
        if (count === 0) break;
        hash.update(block.subarray(0, count));
        offset += count;
      }
      if (hash.digestHex() !== sha256) throw damaged(sha256, file.path);
      return true;
    } finally {
      file.close();
    }
  }

  #writePieces(path: string, pieces: Iterable<Uint8Array>): StoredAsset {
    const hash = new RunningSha256();
    let bytes = 0;
    const file = this.#environment.fs.open(path, 'create');
    try {
      for (const piece of pieces) {
        hash.update(piece);
        writeAll(file, piece);
        bytes += piece.length;
      }
      file.sync();
    } finally {
      file.close();
    }
    return { sha256: hash.digestHex(), bytes };
  }

  #removeTemporary(path: string): void {
    try {
      this.#environment.fs.removeFile(path);
    } catch (error) {
      // What led here is told; a temp file that stays is removed with the unnamed blobs.
      if (!isTurnlogError(error, 'TURNLOG_IO')) throw error;
    }
  }

  #path(sha256: string): string {
    if (!digestForm.test(sha256)) {
      throw new TurnlogError('TURNLOG_ASSET_MISSING', { details: { sha256: sha256.slice(0, 200) } });
    }
    return containedPath(this.#root, storeNames.assets, sha256.slice(0, 2), sha256);
  }

  #placeFor(sha256: string): string {
    this.#directory(sha256);
    return this.#path(sha256);
  }

  /** The directory of a digest, or that of all of them; made, durably, when it is missing. */
  #directory(sha256: string | null): string {
    const { fs, ownership } = this.#environment;
    const all = containedPath(this.#root, storeNames.assets);
    if (ensurePrivateDirectory(fs, all, ownership) === 'created') fs.syncDirectory(this.#root);
    if (sha256 === null) return all;
    const directory = containedPath(all, sha256.slice(0, 2));
    if (ensurePrivateDirectory(fs, directory, ownership) === 'created') fs.syncDirectory(all);
    return directory;
  }
}

function damaged(sha256: string, path: string): TurnlogError {
  return new TurnlogError('TURNLOG_ASSET_DAMAGED', { details: { sha256, path } });
}

/**
 * Temp files of blobs that a crash left: those that nobody has written to for an hour, for any process may write one at
 * any time. Nothing is changed.
 *
 * @throws TURNLOG_IO
 */
export function leftOverBlobs(
  { fs, clock }: Pick<LogEnvironment, 'fs' | 'clock'>,
  root: string,
): readonly string[] {
  const assets = join(root, storeNames.assets);
  if (fs.status(assets)?.kind !== 'directory') return [];
  const isOld = (path: string): boolean => {
    const status = fs.status(path);
    return status !== null && clock.now() - status.modifiedMs > limits.blobWritingMsMax;
  };
  const temporaryIn = (directory: string): readonly string[] =>
    fs
      .list(directory)
      .filter(({ name, kind }) => kind === 'file' && temporaryNamePattern.test(name))
      .map(({ name }) => join(directory, name))
      .filter(isOld);
  const below = fs.list(assets).filter(({ kind }) => kind === 'directory');
  return [assets, ...below.map(({ name }) => join(assets, name))].flatMap(temporaryIn);
}
