import { sha256 } from '@turnlog/kernel';
import { ByteReader, ByteWriter, damagedFile } from '../packed/byte-codec.js';
import type { VectorEntry } from './vector-table.js';

/**
 * `<16 hex>.vec` below `search/`: vectors of one encoder, in a file that never changes. Derived: what is wrong with it
 * is left aside, and its chunks are encoded anew.
 *
 * ```
 * text     "turnlog-vectors", with its length before it, as all texts
 * number   format: 1; numbers are LEB128
 * text     id of the encoder · number  dims · number  how many chunks
 * chunks   text session · number seq · number n · text hash of the text · number how many vectors
 * vectors  of all chunks in their order, dims bytes each, signed
 * 32 bytes SHA-256 of everything before
 * ```
 */
export interface VectorFile {
  readonly encoder: string;
  readonly dims: number;
  readonly entries: readonly VectorEntry[];
}

const magic = 'turnlog-vectors';
const format = 1;
const digestBytes = 32;

export function encodeVectorFile({ encoder, dims, entries }: VectorFile): Uint8Array {
  const writer = new ByteWriter();
  writer.text(magic);
  writer.number(format);
  writer.text(encoder);
  writer.number(dims);
  writer.number(entries.length);
  for (const { key, textHash, vectors } of entries) {
    writer.text(key.session);
    writer.number(key.seq);
    writer.number(key.n);
    writer.text(textHash);
    writer.number(vectors.length);
  }
  for (const { vectors } of entries) {
    for (const vector of vectors) writer.bytes(new Uint8Array(vector.buffer, vector.byteOffset, dims));
  }
  writer.bytes(sha256(writer.written()));
  return writer.written();
}

/** @throws TURNLOG_IO when the bytes are not those of such a file. */
export function decodeVectorFile(bytes: Uint8Array, path: string): VectorFile {
  const end = Math.max(0, bytes.length - digestBytes);
  if (!Buffer.from(sha256(bytes.subarray(0, end))).equals(bytes.subarray(end))) {
    throw damagedFile(path, 'it is not what was written');
  }
  const reader = new ByteReader(bytes.subarray(0, end), path);
  if (reader.text() !== magic || reader.number() !== format)
    throw damagedFile(path, 'it is of another format');
  const encoder = reader.text();
  const dims = reader.number();
  const heads: { readonly entry: Omit<VectorEntry, 'vectors'>; readonly count: number }[] = [];
  for (let left = reader.number(); left > 0; left -= 1) {
    const key = { session: reader.text(), seq: reader.number(), n: reader.number() };
    heads.push({ entry: { key, textHash: reader.text() }, count: reader.number() });
  }
  const entries = heads.map(({ entry, count }) => ({
    ...entry,
    vectors: Array.from({ length: count }, () => signed(reader.bytes(dims))),
  }));
  return { encoder, dims, entries };
}

function signed(bytes: Uint8Array): Int8Array {
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}
