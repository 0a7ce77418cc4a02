import { join } from 'node:path';
import {
  assert,
  errnoOf,
  type FileHandle,
  type FileSystem,
  limits,
  RunningSha256,
  sha256Hex,
  TurnlogError,
} from '@turnlog/kernel';
import { removeFileIfThere } from './if-there.js';
import { temporaryNamePattern } from './publish.js';

/**
 * The format of a derived document: one JSON object on one line. Its last member is the seal, which says how long
 * the object without it is, in bytes, and their SHA-256, so that a file that was cut short or changed is known as
 * such, whatever became of it:
 *
 *     {"objective":"…","turnlog":{…},"turnlog_seal":{"length":1234,"sha256":"<64 hex>"}}
 */

const encoder = new TextEncoder();
const sealForm = /^,"turnlog_seal":\{"length":(\d{1,16}),"sha256":"([0-9a-f]{64})"\}\}\n$/;
const sealBytesMax = 160;

/** What stands where a derived document is expected. */
export type DerivedFile =
  | { readonly kind: 'absent' }
  /** It was cut short, changed, or made by somebody else: as good as absent. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'document'; readonly text: string };

/**
 * Publishes a document, the text of one JSON object that has members, in one step; then reads it back, because a
 * full disk may have cut it short in silence.
 *
 * @throws TURNLOG_IO when it could not be written whole: readers find no document then, and make their own;
 *   TURNLOG_RECORD_TOO_LARGE when it is longer than a derived file may be.
 */
export function publishDerived(fs: FileSystem, path: string, document: string): void {
  assert(document.startsWith('{"') && document.endsWith('}'), 'a derived document is an object with members');
  const content = encoder.encode(document);
  const seal = `,"turnlog_seal":{"length":${content.length},"sha256":"${sha256Hex(content)}"}}\n`;
  const bytes = new Uint8Array(content.length - 1 + seal.length);
  if (bytes.length > limits.derivedFileBytesMax) {
    const details = { path, bytes: bytes.length, bytesMax: limits.derivedFileBytesMax };
    throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', { details });
  }
  bytes.set(content.subarray(0, -1));
  bytes.set(encoder.encode(seal), content.length - 1);
  fs.replaceDerived(path, bytes);
  if (readDerived(fs, path).kind === 'document') return;
  const details = {
    operation: 'replaceDerived',
    path,
    errno: null,
    byteCount: bytes.length,
    outcome: 'none',
  };
  throw new TurnlogError('TURNLOG_IO', { details, message: `the file is not whole after writing: ${path}` });
}

/**
 * Reads a derived document and checks it against its seal.
 *
 * @throws TURNLOG_UNSAFE_PATH when something else than a regular file has the name; TURNLOG_IO.
 */
export function readDerived(fs: FileSystem, path: string): DerivedFile {
  let file: FileHandle;
  try {
    file = fs.open(path, 'read');
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return { kind: 'absent' };
    throw error;
  }
  try {
    const bytes = readWhole(file);
    const text = bytes === null ? null : unsealed(bytes);
    return text === null ? { kind: 'wrong' } : { kind: 'document', text };
  } finally {
    file.close();
  }
}

/** Null for a file that is too long to be one of ours. */
function readWhole(file: FileHandle): Uint8Array | null {
  const { size } = file.status();
  if (size > limits.derivedFileBytesMax) return null;
  const bytes = new Uint8Array(size);
  for (let filled = 0; filled < size; ) {
    const count = file.read(bytes.subarray(filled), filled);
    if (count === 0) return null;
    filled += count;
  }
  return bytes;
}

const closingBrace = encoder.encode('}');

function unsealed(bytes: Uint8Array): string | null {
  const from = Math.max(bytes.length - sealBytesMax, 0);
  const end = Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.length - from).toString('latin1');
  const at = end.lastIndexOf(',"turnlog_seal":');
  const found = at < 0 ? null : sealForm.exec(end.slice(at));
  if (found === null) return null;
  const content = bytes.subarray(0, from + at);
  const hash = new RunningSha256();
  hash.update(content);
  hash.update(closingBrace);
  const isWhole = Number(found[1]) === content.length + 1 && found[2] === hash.digestHex();
  return isWhole ? `${new TextDecoder().decode(content)}}` : null;
}

/** What the library calls its temp files: the name of the target, a dot and digits. */
const leftoverForm = /^[a-z0-9-]+\.json\.\d{1,10}$/;

/** Removes what interrupted replacements left in a directory of derived files, when it is old enough. */
export function removeDerivedLeftovers(fs: FileSystem, directory: string, nowMs: number): void {
  if (fs.status(directory)?.kind !== 'directory') return;
  for (const { name, kind } of fs.list(directory)) {
    if (kind !== 'file' || !(leftoverForm.test(name) || temporaryNamePattern.test(name))) continue;
    const path = join(directory, name);
    const status = fs.status(path);
    if (status !== null && nowMs - status.modifiedMs > limits.derivedLeftoverKeepMs)
      removeFileIfThere(fs, path);
  }
}
