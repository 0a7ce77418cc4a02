import { type FileHandle, type RunningSha256, sha256Hex, TurnlogError } from '@turnlog/kernel';
import { gunzip, gzip, readFully } from '@turnlog/log';
import type { AssetStore } from '@turnlog/store';
import { copyBytes } from './survey-log.js';

/** How long a part of a raw copy may be. */
const partBytesMax = 8_388_608;

/** How the bytes of a source are kept: as assets, or by their digests alone. */
export type RawMode = 'asset' | 'reference';

/** Makes a gzip file of bytes; the same bytes always give the same file. */
export type Compress = (bytes: Uint8Array) => Promise<Uint8Array>;

/** Sources are much longer than what is kept of them either way, and an import should not wait for the last percent. */
export const compressFast: Compress = (bytes) => gzip(bytes, 1);

/** The bytes of a part, from what its asset holds. */
export function partFrom(asset: Uint8Array): Promise<Uint8Array> {
  return gunzip(asset, partBytesMax);
}

/** A part of a raw copy, as `run.imported` lists it. */
export interface RawPart {
  /** The blob that holds it, compressed; absent when only the digest is kept. */
  readonly asset?: string;
  readonly offset: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface RawCopyOptions {
  readonly mode: RawMode;
  readonly from: number;
  readonly assets: AssetStore;
  readonly compress: Compress;
}

/** A part that is being compressed. */
interface PartAhead {
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Where the source was thought to end. */
  readonly expectedTo: number;
  readonly compressed: Promise<{ readonly file: Uint8Array | null } | { readonly error: unknown }>;
}

/**
 * Copies a source from a position on, in parts of at most 8 MiB, cut at line ends where there are any. Joined they
 * are the bytes of the source. One part is compressed beside the fold that reads the source; it is stored when it is
 * certain that the copy goes on behind it.
 */
export class RawCopy {
  readonly #file: FileHandle;
  readonly #options: RawCopyOptions;
  readonly #parts: RawPart[] = [];
  /** Behind the parts that are stored. */
  #offset: number;
  #buffer: Uint8Array = new Uint8Array(0);
  #ahead: PartAhead | null = null;

  constructor(file: FileHandle, options: RawCopyOptions) {
    this.#file = file;
    this.#options = options;
    this.#offset = options.from;
  }

  /** Goes on while the source is read, which has come to `position` and probably ends at `expectedTo`. */
  async advance(position: number, expectedTo: number): Promise<void> {
    // Digests alone are made as fast later.
    if (this.#options.mode === 'reference') return;
    while (this.#ahead !== null && this.#offset + partBytesMax < position) await this.#store(this.#ahead);
    if (this.#offset < expectedTo) this.#ahead ??= this.#begin(expectedTo);
  }

  /** The parts up to `to`; `hash` takes all of their bytes in order. */
  async finish(to: number, hash: RunningSha256): Promise<readonly RawPart[]> {
    while (this.#offset < to) {
      if (this.#ahead !== null && !isPartOf(this.#ahead, to)) await this.abandon();
      await this.#store(this.#ahead ?? this.#begin(to));
    }
    await this.abandon();
    if (!hashPrefix(this.#file, hash, this.#options.from, to)) throw becameShorter(this.#file);
    return this.#parts;
  }

  /** Waits for what goes on beside, and drops it. */
  async abandon(): Promise<void> {
    await this.#ahead?.compressed;
    this.#ahead = null;
  }

  #begin(expectedTo: number): PartAhead {
    const offset = this.#offset;
    const wanted = Math.min(partBytesMax, expectedTo - offset);
    if (this.#buffer.length < wanted) this.#buffer = new Uint8Array(wanted);
    const block = readAll(this.#file, this.#buffer.subarray(0, wanted), offset);
    const bytes = offset + wanted === expectedTo ? block : block.subarray(0, cutOf(block));
    const { mode, compress } = this.#options;
    // Nobody waits for it yet, so that a failure is a result until somebody does.
    const compressed =
      mode === 'reference'
        ? Promise.resolve({ file: null })
        : compress(bytes).then(
            (file) => ({ file }),
            (error: unknown) => ({ error }),
          );
    return { offset, bytes, expectedTo, compressed };
  }

  async #store(part: PartAhead): Promise<void> {
    const { offset, bytes } = part;
    const result = await part.compressed;
    if ('error' in result) throw result.error;
    const place = { offset, bytes: bytes.length, sha256: sha256Hex(bytes) };
    if (result.file === null) this.#parts.push(place);
    else this.#parts.push({ asset: this.#options.assets.put(result.file).sha256, ...place });
    this.#offset += bytes.length;
    this.#ahead = null;
  }
}

/** Whether a part is the same when the source ends at `to`: only the last one goes up to the end. */
function isPartOf({ offset, expectedTo }: PartAhead, to: number): boolean {
  return to === expectedTo || (offset + partBytesMax < to && offset + partBytesMax < expectedTo);
}

/** Copies `[from, to)` of a source that nobody reads meanwhile. */
export function copyRaw(
  file: FileHandle,
  options: RawCopyOptions & { readonly to: number; readonly hash: RunningSha256 },
): Promise<readonly RawPart[]> {
  return new RawCopy(file, options).finish(options.to, options.hash);
}

function cutOf(block: Uint8Array): number {
  const lineEnd = block.lastIndexOf(0x0a);
  return lineEnd === -1 ? block.length : lineEnd + 1;
}

function becameShorter({ path }: FileHandle): TurnlogError {
  return new TurnlogError('TURNLOG_IO', { details: { path, reason: 'the source became shorter' } });
}

function readAll(file: FileHandle, into: Uint8Array, offset: number): Uint8Array {
  if (readFully(file, into, offset)) return into;
  throw becameShorter(file);
}

/** Feeds `[from, to)` of a file to a digest; false when the file is shorter. */
export function hashPrefix(file: FileHandle, hash: RunningSha256, from: number, to: number): boolean {
  return copyBytes(file, from, to, (block) => hash.update(block));
}
