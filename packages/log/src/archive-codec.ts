import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { limits, TurnlogError } from '@turnlog/kernel';
import { gunzipPieces, gzipMember } from './gzip.js';
import type { ByteSource } from './line-framer.js';
import { readFully } from './read-fully.js';

/** How archived prefixes are compressed: block by block, so that neither writing nor reading holds more than one. */
export interface ArchiveCodec {
  readonly name: 'gzip' | 'zstd';
  /** One block of the file, made without holding up the event loop; blocks stand one behind the other. */
  compress(block: Uint8Array): Promise<Uint8Array>;
  /** The content of a file of `fileBytes` bytes, in pieces. @throws TURNLOG_IO when it is damaged. */
  pieces(source: ByteSource, fileBytes: number): Iterable<Uint8Array>;
}

const gzipCodec: ArchiveCodec = {
  name: 'gzip',
  // What leaves a log is compressed while the log is written to: speed comes before the last few bytes.
  compress: (block) => gzipMember(block, 3),
  pieces: (source, fileBytes) => gunzipPieces(source, fileBytes),
};

type Compress = (bytes: Uint8Array, done: (error: Error | null, compressed: Buffer) => void) => void;
type Decompress = (bytes: Uint8Array) => Buffer;

/**
 * A file of zstd frames (RFC 8878). Before each stands a skippable frame of four bytes with the length of the one
 * that follows, so that a reader can go from frame to frame; other programs pass over it.
 *
 *     50 2a 4d 18   04 00 00 00   length (4, little-endian)   frame
 */
const skippableHead: readonly number[] = [0x50, 0x2a, 0x4d, 0x18, 0x04, 0x00, 0x00, 0x00];
const skippableBytes = 12;

/** The codec of that name. @throws TURNLOG_BAD_CONFIG when this version of Node.js does not have it. */
export function archiveCodec(name: 'gzip' | 'zstd'): ArchiveCodec {
  return name === 'gzip' ? gzipCodec : zstdCodec();
}

function zstdCodec(): ArchiveCodec {
  const compress: unknown = Reflect.get(zlib, 'zstdCompress');
  const decompress: unknown = Reflect.get(zlib, 'zstdDecompressSync');
  if (!isRoutine<Compress>(compress) || !isRoutine<Decompress>(decompress)) {
    throw new TurnlogError('TURNLOG_BAD_CONFIG', {
      details: { option: 'archive', value: 'zstd', rule: 'Node.js 22.15 or newer' },
      message: 'archives in zstd need Node.js 22.15 or newer; gzip opens everywhere',
    });
  }
  const compressLater = promisify<Uint8Array, Buffer>(compress);
  return {
    name: 'zstd',
    compress: async (block) => withLength(await compressLater(block)),
    pieces: (source, fileBytes) => framesIn(source, fileBytes, decompress),
  };
}

function isRoutine<Routine>(value: unknown): value is Routine {
  return typeof value === 'function';
}

function withLength(frame: Buffer): Uint8Array {
  const bytes = Buffer.alloc(skippableBytes + frame.length);
  bytes.set(skippableHead);
  bytes.writeUInt32LE(frame.length, skippableHead.length);
  frame.copy(bytes, skippableBytes);
  return bytes;
}

function* framesIn(source: ByteSource, fileBytes: number, decompress: Decompress): Iterable<Uint8Array> {
  for (let offset = 0; offset < fileBytes; ) {
    const head = readPiece(source, offset, skippableBytes);
    if (skippableHead.some((byte, at) => head[at] !== byte)) throw damaged(offset);
    const length = head.readUInt32LE(skippableHead.length);
    if (length > limits.gzipForeignBytesMax) throw damaged(offset);
    yield contentOf(readPiece(source, offset + skippableBytes, length), offset, decompress);
    offset += skippableBytes + length;
  }
}

function contentOf(frame: Buffer, offset: number, decompress: Decompress): Uint8Array {
  try {
    return decompress(frame);
  } catch (cause) {
    throw damaged(offset, cause);
  }
}

function readPiece(source: ByteSource, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (!readFully(source, bytes, offset)) throw damaged(offset);
  return bytes;
}

function damaged(offset: number, cause?: unknown): TurnlogError {
  const details = { step: 'unzstd', reason: 'damaged', offset };
  return new TurnlogError('TURNLOG_IO', cause === undefined ? { details } : { details, cause });
}
