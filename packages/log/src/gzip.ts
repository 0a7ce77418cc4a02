import { promisify } from 'node:util';
import { gunzip as gunzipBytes, gunzipSync, gzip as gzipBytes, gzipSync } from 'node:zlib';
import { limits, TurnlogError } from '@turnlog/kernel';
import type { ByteSource } from './line-framer.js';

/**
 * Compressed bytes are gzip files (RFC 1952), which every runtime and every system can open.
 *
 * A file that is written in pieces has one member for each `limits.gzipMemberBytes` of content. The header of such a
 * member has an extra field `TL`, four bytes, little-endian: the length of the whole member. By it a reader goes from
 * member to member and never holds more than one; other programs pass over the field.
 *
 *     1f 8b 08 04  mtime 0 (4)  xfl  ff   08 00  'T' 'L' 04 00  length (4)   deflate data   crc32 (4)  length mod 2^32 (4)
 */

/** What a gzip file of content that cannot be compressed has more than that, and more. */
const roomBytes = 1_024;

const plainHeadBytes = 10;
const extraFieldBytes = 10;
const headBytes = plainHeadBytes + extraFieldBytes;
const flagsAt = 3;
const systemAt = 9;
const lengthAt = 16;
const hasExtra = 0x04;
/** The same bytes give the same file on every system. */
const unknownSystem = 0xff;
const extraHead: readonly number[] = [0x08, 0x00, 0x54, 0x4c, 0x04, 0x00];

const gzipBeside = promisify<Uint8Array, { readonly level: number; readonly chunkSize: number }, Buffer>(
  gzipBytes,
);
const gunzipLater = promisify<Uint8Array, { readonly maxOutputLength: number }, Buffer>(gunzipBytes);

/** How hard to try: 1 is the fastest, 9 gives the fewest bytes. */
export type GzipLevel = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** With room for all of the file the work is done in one go; else each piece would wait for the event loop. */
function gzipLater(bytes: Uint8Array, level: GzipLevel): Promise<Buffer> {
  return gzipBeside(bytes, { level, chunkSize: bytes.length + (bytes.length >> 8) + roomBytes });
}

/** One gzip file of all of `bytes`, made without holding up the event loop. */
export async function gzip(bytes: Uint8Array, level: GzipLevel): Promise<Uint8Array> {
  const file = await gzipLater(bytes, level);
  file[systemAt] = unknownSystem;
  return file;
}

/**
 * The content of a gzip file, at most `bytesMax` bytes, without holding up the event loop.
 *
 * @throws TURNLOG_IO; details: step `gunzip`, reason `damaged`, `cut` or `too-long`.
 */
export async function gunzip(file: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  try {
    return await gunzipLater(file, { maxOutputLength: bytesMax });
  } catch (error) {
    throw unreadable(error, 0);
  }
}

/** Writes a gzip file in pieces. Blocks; holds one member's content. */
export class GzipWriter {
  readonly #take: (piece: Uint8Array) => void;
  readonly #level: GzipLevel;
  readonly #held = new Uint8Array(limits.gzipMemberBytes);
  #filled = 0;
  #hasMember = false;

  /** `take` is given the file piece by piece; what it throws comes out of `write` and `end`. */
  constructor(take: (piece: Uint8Array) => void, level: GzipLevel) {
    this.#take = take;
    this.#level = level;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + this.#held.length - this.#filled);
      this.#held.set(piece, this.#filled);
      this.#filled += piece.length;
      at += piece.length;
      if (this.#filled === this.#held.length) this.#writeMember();
    }
  }

  /** Writes what is left. A file without content has one empty member. */
  end(): void {
    if (this.#filled > 0 || !this.#hasMember) this.#writeMember();
  }

  #writeMember(): void {
    const plain = gzipSync(this.#held.subarray(0, this.#filled), { level: this.#level });
    this.#filled = 0;
    this.#hasMember = true;
    this.#take(memberOf(plain));
  }
}

/** One member of a file that is written in pieces, made without holding up the event loop. */
export async function gzipMember(content: Uint8Array, level: GzipLevel): Promise<Uint8Array> {
  return memberOf(await gzipLater(content, level));
}

/** A member that says how long it is, from one as zlib makes it. */
function memberOf(plain: Buffer): Uint8Array {
  const member = Buffer.alloc(plain.length + extraFieldBytes);
  plain.copy(member, 0, 0, plainHeadBytes);
  member[flagsAt] = hasExtra;
  member[systemAt] = unknownSystem;
  member.set(extraHead, plainHeadBytes);
  member.writeUInt32LE(member.length, lengthAt);
  plain.copy(member, headBytes, plainHeadBytes);
  return member;
}

/**
 * The content of a gzip file of `fileBytes` bytes, in pieces. Blocks. A file of ours is held one member at a time;
 * of one that somebody else has made, all that follows its first foreign member is one piece.
 *
 * @throws TURNLOG_IO; details: step `gunzip`, offset in the file, reason `damaged`, `cut`, or `too-long` for a piece
 *   of more than `limits.gzipForeignBytesMax`.
 */
export function* gunzipPieces(source: ByteSource, fileBytes: number): Iterable<Uint8Array> {
  for (let offset = 0; offset < fileBytes; ) {
    const head = readPiece(source, offset, Math.min(headBytes, fileBytes - offset));
    const stated = memberBytesIn(head);
    const length = stated ?? fileBytes - offset;
    if (length > fileBytes - offset) throw gunzipFailure('cut', offset);
    if (length > limits.gzipForeignBytesMax) throw gunzipFailure('too-long', offset);
    const member = readPiece(source, offset, length);
    yield contentOf(member, offset);
    offset += length;
  }
}

/** The length that a member of ours states; null for another's. */
function memberBytesIn(head: Uint8Array): number | null {
  const isOurs =
    head.length === headBytes &&
    head[0] === 0x1f &&
    head[1] === 0x8b &&
    head[flagsAt] === hasExtra &&
    extraHead.every((byte, at) => head[plainHeadBytes + at] === byte);
  if (!isOurs) return null;
  const stated = Buffer.from(head.buffer, head.byteOffset, head.length).readUInt32LE(lengthAt);
  return Math.max(stated, headBytes);
}

function readPiece(source: ByteSource, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length; ) {
    const count = source.read(bytes.subarray(filled), offset + filled);
    if (count === 0) throw gunzipFailure('cut', offset);
    filled += count;
  }
  return bytes;
}

function contentOf(member: Uint8Array, offset: number): Uint8Array {
  try {
    return gunzipSync(member, { maxOutputLength: limits.gzipForeignBytesMax });
  } catch (error) {
    throw unreadable(error, offset);
  }
}

type GunzipFault = 'damaged' | 'cut' | 'too-long';

function gunzipFailure(reason: GunzipFault, offset: number, cause?: unknown): TurnlogError {
  const details = { step: 'gunzip', reason, offset };
  return new TurnlogError('TURNLOG_IO', cause === undefined ? { details } : { details, cause });
}

const faults: ReadonlyMap<unknown, GunzipFault> = new Map([
  ['Z_BUF_ERROR', 'cut'],
  ['Z_DATA_ERROR', 'damaged'],
  ['ERR_BUFFER_TOO_LARGE', 'too-long'],
]);

/** What is no fault of the input, as a lack of memory, stays what it is. */
function unreadable(error: unknown, offset: number): unknown {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  const reason = faults.get(code);
  return reason === undefined ? error : gunzipFailure(reason, offset, error);
}
