import { dirname, join } from 'node:path';
import { containedPath, DraftFile, ensurePrivateDirectory, type Ownership, writeAll } from '@turnlog/fs';
import { type FileHandle, type FileSystem, type Ids, limits } from '@turnlog/kernel';
import type { ByteSource } from '@turnlog/log';
import { unpackable } from './guarded-files.js';
import { invalidPack } from './pack.js';
import { entryPathFault } from './pack-path.js';

/**
 * A session, its blobs and its pack in one archive: the ustar format of POSIX.1-1988, which every `tar` unpacks, with
 * plain files and nothing else in it. Unpacked it is a store that holds the one session.
 *
 *     name (100)  mode (8)  uid (8)  gid (8)  size (12)  mtime (12)  sum (8)  type (1)  link (100)  magic (8)  … prefix (155)
 */

/** A file of a bundle. */
export interface BundledFile {
  readonly path: string;
  readonly bytes: number;
  readonly source: ByteSource;
}

const blockBytes = 512;
const nameBytes = 100;
const prefixBytes = 155;
/** The largest size that eleven octal digits hold. */
const sizeMax = 0o77777777777;

/**
 * Writes a bundle under a temporary name and gives it its own when all of it is on the disk.
 *
 * @throws TURNLOG_UNPACKABLE for a file that does not fit the format; TURNLOG_IO.
 */
export function writeBundle(fs: FileSystem, ids: Ids, path: string, files: Iterable<BundledFile>): void {
  const draft = new DraftFile(fs, ids, path);
  try {
    for (const file of files) {
      draft.write(headerOf(file));
      copy(draft, file);
      draft.write(new Uint8Array(paddingOf(file.bytes)));
    }
    draft.write(new Uint8Array(2 * blockBytes));
    draft.publish();
  } catch (error) {
    draft.discard();
    throw error;
  }
}

function copy(draft: DraftFile, { path, bytes, source }: BundledFile): void {
  const block = new Uint8Array(Math.min(limits.hashBlockBytes, Math.max(bytes, 1)));
  for (let offset = 0; offset < bytes; ) {
    const count = source.read(block.subarray(0, Math.min(block.length, bytes - offset)), offset);
    if (count === 0) throw unpackable(path, 'it became shorter while it was read');
    draft.write(block.subarray(0, count));
    offset += count;
  }
}

function paddingOf(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes;
}

function headerOf({ path, bytes }: BundledFile): Uint8Array {
  const place = splitName(path);
  if (place === null || bytes > sizeMax) throw unpackable(path, 'it does not fit into a tar file');
  const header = Buffer.alloc(blockBytes);
  header.write(place.name, 0);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124);
  // The same session gives the same bundle: when it was made stands in the pack.
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257, 'latin1');
  header.write(place.prefix, 345);
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** The parts of a path that fit into the two fields of a header; null when it is too long. */
function splitName(path: string): { readonly prefix: string; readonly name: string } | null {
  if (Buffer.byteLength(path) <= nameBytes) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= prefixBytes && Buffer.byteLength(name) <= nameBytes)
      return { prefix, name };
  }
  return null;
}

function sumOf(header: Uint8Array): number {
  return header.reduce((sum, byte) => sum + byte, 0);
}

interface FoundFile {
  readonly path: string;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Unpacks a bundle into `target`, a directory that is empty. All of it is looked through before anything is written.
 *
 * @throws TURNLOG_INVALID_PACK for a path that leads elsewhere, a link, or anything that is no plain file; TURNLOG_IO.
 */
export function unpackBundle(
  { fs, ownership }: { readonly fs: FileSystem; readonly ownership: Ownership },
  path: string,
  target: string,
): readonly string[] {
  const file = fs.open(path, 'read');
  try {
    const found = listBundle(file);
    const root = fs.resolve(target);
    if (fs.list(root).length > 0) throw invalidPack('', `the directory is not empty: ${target}`);
    for (const entry of found) writeEntry({ fs, ownership }, root, file, entry);
    return found.map((entry) => entry.path);
  } finally {
    file.close();
  }
}

function listBundle(file: FileHandle): readonly FoundFile[] {
  const { size } = file.status();
  const found: FoundFile[] = [];
  const seen = new Set<string>();
  const header = Buffer.alloc(blockBytes);
  for (let offset = 0; ; ) {
    if (file.read(header, offset) !== blockBytes) throw invalidPack('bundle', 'it ends in the middle');
    if (header.every((byte) => byte === 0)) return found;
    const entry = parseHeader(header, offset + blockBytes);
    if (seen.has(entry.path)) throw invalidPack('bundle', 'a path is there twice');
    if (found.length >= limits.packEntriesMax || entry.offset + entry.bytes > size) {
      throw invalidPack('bundle', 'it is not as long as it says');
    }
    seen.add(entry.path);
    found.push(entry);
    offset = entry.offset + entry.bytes + paddingOf(entry.bytes);
  }
}

function parseHeader(header: Buffer, offset: number): FoundFile {
  const sum = Number.parseInt(textIn(header, 148, 8), 8);
  const blank = Buffer.from(header);
  blank.fill(' ', 148, 156);
  if (sum !== sumOf(blank)) throw invalidPack('bundle', 'a header is damaged');
  const prefix = textIn(header, 345, prefixBytes);
  const path = prefix === '' ? textIn(header, 0, nameBytes) : `${prefix}/${textIn(header, 0, nameBytes)}`;
  const fault = entryPathFault(path);
  if (fault !== null) throw invalidPack('bundle', fault);
  const type = header[156];
  if (type !== 0x30 && type !== 0) throw invalidPack('bundle', 'it holds something that is no plain file');
  const size = textIn(header, 124, 12).trim();
  if (!/^[0-7]{1,11}$/.test(size)) throw invalidPack('bundle', 'a size cannot be read');
  return { path, offset, bytes: Number.parseInt(size, 8) };
}

function textIn(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
}

function writeEntry(
  { fs, ownership }: { readonly fs: FileSystem; readonly ownership: Ownership },
  root: string,
  file: FileHandle,
  entry: FoundFile,
): void {
  const names = entry.path.split('/');
  for (const at of names.slice(0, -1).keys()) {
    ensurePrivateDirectory(fs, containedPath(root, ...names.slice(0, at + 1)), ownership);
  }
  const out = fs.open(containedPath(root, ...names), 'create');
  try {
    const block = new Uint8Array(Math.min(limits.hashBlockBytes, Math.max(entry.bytes, 1)));
    for (let done = 0; done < entry.bytes; ) {
      const count = file.read(
        block.subarray(0, Math.min(block.length, entry.bytes - done)),
        entry.offset + done,
      );
      if (count === 0) throw invalidPack('bundle', 'it ends in the middle');
      writeAll(out, block.subarray(0, count));
      done += count;
    }
    out.sync();
  } finally {
    out.close();
  }
  fs.syncDirectory(dirname(join(root, entry.path)));
}

/** Bytes in memory as a source. */
export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    read: (into, offset) => {
      const part = bytes.subarray(offset, offset + into.length);
      into.set(part);
      return part.length;
    },
  };
}
