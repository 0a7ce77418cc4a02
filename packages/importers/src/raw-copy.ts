import { type FileHandle, type RunningSha256, sha256Hex, TurnlogError } from '@turnlog/kernel';
import { readFully } from '@turnlog/log';
import type { AssetStore } from '@turnlog/store';
import type { Compress } from './gzip.js';
import { copyBytes } from './survey-log.js';

/** How long a part of a raw copy may be. */
const partBytesMax = 8_388_608;

/** How the bytes of a source are kept: as assets, or by their digests alone. */
export type RawMode = 'asset' | 'reference';

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
  readonly to: number;
  /** Takes all bytes in order. */
  readonly hash: RunningSha256;
  readonly assets: AssetStore;
  readonly compress: Compress;
}

/**
 * Copies `[from, to)` of a source in parts of at most 8 MiB, cut at line ends where there are any. Joined they are
 * the bytes of the source.
 */
export async function copyRaw(file: FileHandle, options: RawCopyOptions): Promise<readonly RawPart[]> {
  const { mode, from, to, hash, assets, compress } = options;
  const parts: RawPart[] = [];
  const buffer = new Uint8Array(Math.min(partBytesMax, to - from));
  for (let offset = from; offset < to; ) {
    const wanted = Math.min(buffer.length, to - offset);
    const block = readAll(file, buffer.subarray(0, wanted), offset);
    const part = offset + wanted === to ? block : block.subarray(0, cutOf(block));
    hash.update(part);
    const place = { offset, bytes: part.length, sha256: sha256Hex(part) };
    if (mode === 'asset') {
      const { sha256: asset } = assets.put(await compress(part));
      parts.push({ asset, ...place });
    } else {
      parts.push(place);
    }
    offset += part.length;
  }
  return parts;
}

function cutOf(block: Uint8Array): number {
  const lineEnd = block.lastIndexOf(0x0a);
  return lineEnd === -1 ? block.length : lineEnd + 1;
}

function readAll(file: FileHandle, into: Uint8Array, offset: number): Uint8Array {
  if (readFully(file, into, offset)) return into;
  const reason = 'the source became shorter';
  throw new TurnlogError('TURNLOG_IO', { details: { path: file.path, reason } });
}

/** Feeds `[from, to)` of a file to a digest; false when the file is shorter. */
export function hashPrefix(file: FileHandle, hash: RunningSha256, from: number, to: number): boolean {
  return copyBytes(file, from, to, (block) => hash.update(block));
}
