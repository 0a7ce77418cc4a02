import { isTurnlogError, limits, RunningSha256, sha256Hex } from '@turnlog/kernel';
import { type ByteSource, gunzip, readFully } from '@turnlog/log';

/**
 * Changes that programs make to files on the way, told by undoing them: if that gives the packed bytes, nobody edited
 * the records, and the file can be brought back. It is a mismatch all the same.
 */

/** What was packed. */
export interface PackedContent {
  readonly bytes: number;
  readonly sha256: string;
}

/** Whether the file must end where the packed bytes end, or may have grown since. */
export type Extent = 'whole' | 'beginning';

type Undo = (block: Uint8Array, isFirst: boolean) => Iterable<Uint8Array>;

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const marker = Buffer.of(0xef, 0xbb, 0xbf);

/** The name of the change; null when it is none of those that are known. */
export async function transformOf(
  source: ByteSource,
  length: number,
  packed: PackedContent,
  extent: Extent,
): Promise<string | null> {
  for (const [name, undo] of undoings()) {
    if (isSame(undone(source, length, undo), packed, extent)) return name;
  }
  return (await isCompressed(source, length, packed)) ? 'gzip' : null;
}

/** Larger files are not unpacked: what somebody put in the place of a log decides nothing about our memory. */
async function isCompressed(source: ByteSource, length: number, packed: PackedContent): Promise<boolean> {
  if (length < gzipMagic.length || Math.max(length, packed.bytes) > limits.packBytesMax) return false;
  const file = new Uint8Array(length);
  if (!readFully(source, file, 0) || !gzipMagic.equals(file.subarray(0, gzipMagic.length))) return false;
  try {
    return sha256Hex(await gunzip(file, packed.bytes)) === packed.sha256;
  } catch (error) {
    if (isTurnlogError(error, 'TURNLOG_IO')) return false;
    throw error;
  }
}

const gzipMagic = Buffer.of(0x1f, 0x8b);

/** Each keeps what it must know between two blocks. */
function undoings(): readonly (readonly [name: string, undo: Undo])[] {
  return [
    ['crlf', withoutReturns()],
    ['lf', withReturns()],
    ['bom', withoutMarker],
    ['bom-crlf', chain(withoutMarker, withoutReturns())],
    ['no-final-newline', withFinalNewline()],
    ['final-newline', withoutFinalNewline()],
  ];
}

const endOfInput = new Uint8Array(0);

function* undone(source: ByteSource, length: number, undo: Undo): Iterable<Uint8Array> {
  const block = new Uint8Array(Math.min(limits.hashBlockBytes, Math.max(length, 1)));
  for (let offset = 0; offset < length; ) {
    const count = source.read(block.subarray(0, Math.min(block.length, length - offset)), offset);
    if (count === 0) break;
    yield* undo(block.subarray(0, count), offset === 0);
    offset += count;
  }
  yield* undo(endOfInput, false);
}

function isSame(pieces: Iterable<Uint8Array>, { bytes, sha256 }: PackedContent, extent: Extent): boolean {
  const digest = new RunningSha256();
  let seen = 0;
  for (const piece of pieces) {
    const part = piece.subarray(0, bytes - seen);
    digest.update(part);
    seen += part.length;
    if (part.length === piece.length) continue;
    if (extent === 'whole') return false;
    break;
  }
  return seen === bytes && digest.digestHex() === sha256;
}

function withoutReturns(): Undo {
  let isReturnHeld = false;
  return function* (block) {
    const out = Buffer.alloc(block.length + 1);
    let length = 0;
    for (const byte of block) {
      if (isReturnHeld && byte !== lineFeed) length = out.writeUInt8(carriageReturn, length);
      isReturnHeld = byte === carriageReturn;
      if (!isReturnHeld) length = out.writeUInt8(byte, length);
    }
    yield out.subarray(0, length);
  };
}

function withReturns(): Undo {
  return function* (block) {
    const out = Buffer.alloc(2 * block.length);
    let length = 0;
    for (const byte of block) {
      if (byte === lineFeed) length = out.writeUInt8(carriageReturn, length);
      length = out.writeUInt8(byte, length);
    }
    yield out.subarray(0, length);
  };
}

function* withoutMarker(block: Uint8Array, isFirst: boolean): Iterable<Uint8Array> {
  yield isFirst && marker.equals(block.subarray(0, marker.length)) ? block.subarray(marker.length) : block;
}

function chain(first: Undo, second: Undo): Undo {
  return function* (block, isFirst) {
    for (const piece of first(block, isFirst)) yield* second(piece, isFirst);
  };
}

function withFinalNewline(): Undo {
  return function* (block) {
    yield block.length === 0 ? Buffer.of(lineFeed) : block;
  };
}

function withoutFinalNewline(): Undo {
  let isHeld = false;
  return function* (block) {
    if (block.length === 0) return;
    if (isHeld) yield Buffer.of(lineFeed);
    isHeld = block.at(-1) === lineFeed;
    yield isHeld ? block.subarray(0, -1) : block;
  };
}
