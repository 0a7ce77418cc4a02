import { limits } from '@turnlog/kernel';
import { ByteReader, ByteWriter, damagedFile } from './byte-codec.js';

/**
 * A segment file. Numbers are little-endian; sections are aligned to 8 bytes; chunks stand in the order of their ids,
 * and a chunk is named by its place in it, its ordinal.
 *
 * ```
 * read by page, pages of 64 KiB counted from the start of the file
 *   postings   of each term blocks of 128: last ordinal, length, largest tf, smallest len, then (gap, tf)
 *   columns    log u32 · seq f64 · n u32 · turn u32 · ts f64 · len u32 · role u8 · kind u8 · tool u32 · paths u32
 *              · item u32, u32
 *   path list  u32 per path: its number among the strings
 *   strings    u32 per string: where it begins; then their bytes
 * read when it is opened, from `residentAt` to the end
 *   logs       what was taken in of each session, in the order of ids
 *   dictionary terms in byte order, front-coded in groups of 16; then per term df and the place of its postings
 *   header     format, tokenizer, counts, place of each section, 8 bytes of the SHA-256 of each page
 *   trailer    24 bytes: residentAt u64, length of the header u32, order mark u32, magic
 * ```
 *
 * The digest of a segment is SHA-256 from `residentAt` to the end. By the digests of the pages it answers for all.
 */
export const segmentFormat = 1;

export const trailerBytes = 24;

const magic: readonly number[] = [0x54, 0x4c, 0x53, 0x45, 0x47, 0x0d, 0x0a, 0x01];
const pageDigestBytes = 8;

/** Sections that are read by page, in their order. */
export const pagedSections = [
  'postings',
  'log',
  'seq',
  'n',
  'turn',
  'ts',
  'len',
  'role',
  'kind',
  'tool',
  'paths',
  'itemHigh',
  'itemLow',
  'pathList',
  'stringPlaces',
  'strings',
] as const;

export type PagedSection = (typeof pagedSections)[number];

const residentSections = ['logs', 'groups', 'terms', 'dfs', 'places'] as const;

export type ResidentSection = (typeof residentSections)[number];

/** Bytes `[start, end)` of the file. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

export interface SegmentHeader {
  readonly tokenizer: string;
  readonly chunkCount: number;
  readonly termCount: number;
  readonly postingCount: number;
  /** Σ len */
  readonly tokenCount: number;
  readonly stringCount: number;
  /** Chunks of kind context. */
  readonly contextCount: number;
  readonly paged: Readonly<Record<PagedSection, Place>>;
  readonly resident: Readonly<Record<ResidentSection, Place>>;
  /** Eight bytes for each page. */
  readonly pageDigests: Uint8Array;
}

export interface SegmentTrailer {
  readonly residentAt: number;
  readonly headerBytes: number;
}

export function pageCountOf(residentAt: number): number {
  return Math.ceil(residentAt / limits.searchPageBytes);
}

/** The place of each section, found by `placeOf`. */
export function placesOf<Name extends string>(
  names: readonly Name[],
  placeOf: (name: Name) => Place,
): Record<Name, Place> {
  const places: Partial<Record<Name, Place>> = {};
  for (const name of names) places[name] = placeOf(name);
  return completed(names, places);
}

function completed<Name extends string>(
  names: readonly Name[],
  places: Partial<Record<Name, Place>>,
): Record<Name, Place> {
  const isComplete = (value: Partial<Record<Name, Place>>): value is Record<Name, Place> =>
    names.every((name) => value[name] !== undefined);
  if (!isComplete(places)) throw damagedFile('', 'a section is missing');
  return places;
}

export function encodeHeader(header: SegmentHeader): Uint8Array {
  const out = new ByteWriter();
  out.number(segmentFormat);
  out.text(header.tokenizer);
  for (const count of countsOf(header)) out.number(count);
  for (const { start, end } of allPlaces(header)) {
    out.number(start);
    out.number(end);
  }
  out.number(header.pageDigests.length);
  out.bytes(header.pageDigests);
  return out.written();
}

function countsOf(header: SegmentHeader): readonly number[] {
  const { chunkCount, termCount, postingCount, tokenCount, stringCount, contextCount } = header;
  return [chunkCount, termCount, postingCount, tokenCount, stringCount, contextCount];
}

function allPlaces({ paged, resident }: SegmentHeader): readonly Place[] {
  return [...pagedSections.map((name) => paged[name]), ...residentSections.map((name) => resident[name])];
}

/** @throws TURNLOG_IO when it is of another format. */
export function decodeHeader(bytes: Uint8Array, path: string): SegmentHeader {
  const input = new ByteReader(bytes, path);
  if (input.number() !== segmentFormat) throw damagedFile(path, 'it is of another format');
  const tokenizer = input.text();
  const [chunkCount, termCount, postingCount] = [input.number(), input.number(), input.number()];
  const [tokenCount, stringCount, contextCount] = [input.number(), input.number(), input.number()];
  const readPlace = (): Place => ({ start: input.number(), end: input.number() });
  const paged = placesOf(pagedSections, readPlace);
  const resident = placesOf(residentSections, readPlace);
  const pageDigests = input.bytes(input.number());
  return {
    tokenizer,
    chunkCount,
    termCount,
    postingCount,
    tokenCount,
    stringCount,
    contextCount,
    paged,
    resident,
    pageDigests,
  };
}

export function encodeTrailer({ residentAt, headerBytes }: SegmentTrailer): Uint8Array {
  const bytes = new Uint8Array(trailerBytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, residentAt % 2 ** 32, true);
  view.setUint32(4, Math.floor(residentAt / 2 ** 32), true);
  view.setUint32(8, headerBytes, true);
  // Written as this machine orders bytes: one of the other kind finds a foreign file and makes its own.
  bytes.set(new Uint8Array(new Uint32Array([0x01020304]).buffer), 12);
  bytes.set(magic, 16);
  return bytes;
}

/** @throws TURNLOG_IO when these are no last bytes of a segment. */
export function decodeTrailer(bytes: Uint8Array, path: string, fileBytes: number): SegmentTrailer {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const order = new Uint32Array(bytes.slice(12, 16).buffer)[0];
  const isOurs = order === 0x01020304 && magic.every((byte, at) => bytes[16 + at] === byte);
  if (!isOurs) throw damagedFile(path, 'it is no segment, or of another machine');
  const residentAt = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  const headerBytes = view.getUint32(8, true);
  if (residentAt % 8 !== 0 || residentAt + headerBytes + trailerBytes > fileBytes) {
    throw damagedFile(path, 'it says that it is longer than it is');
  }
  return { residentAt, headerBytes };
}

/** Compares a page with its digest in the header. */
export function isPageRight(digests: Uint8Array, number: number, digest: Uint8Array): boolean {
  for (let at = 0; at < pageDigestBytes; at += 1) {
    if (digests[number * pageDigestBytes + at] !== digest[at]) return false;
  }
  return true;
}

/** The part of a page's SHA-256 that is kept. */
export function pageDigestOf(digest: Uint8Array): Uint8Array {
  return digest.subarray(0, pageDigestBytes);
}
