import { type FileHandle, type FileSystem, RunningSha256 } from '@turnlog/kernel';
import { readFully } from '@turnlog/log';
import type { BlockCursor } from './block-cursor.js';
import { damagedFile } from './byte-codec.js';
import { type ChunkLens, type ChunkSource, rangeOfLog } from './chunk-source.js';
import { type ChunkColumns, ColumnSource } from './column-source.js';
import { Dictionary, type NumberedTerm } from './dictionary.js';
import { decodeLogs, type LogEntry } from './log-table.js';
import type { PageCache } from './page-cache.js';
import { ByteColumn, DoubleColumn, PagedFile, WordColumn } from './paged-file.js';
import { SegmentCursor } from './segment-cursor.js';
import {
  decodeHeader,
  decodeTrailer,
  type Place,
  pageCountOf,
  type SegmentHeader,
  trailerBytes,
} from './segment-format.js';
import { wholeOf } from './slices.js';
import { Tombstones } from './tombstones.js';

/** What the list of segments says of one. */
export interface SegmentClaim {
  readonly bytes: number;
  readonly digest: string;
  readonly tokenizer: string;
}

const decoder = new TextDecoder();

/** A segment that is open. Opening reads header, logs and dictionary; everything else is read by page when needed. */
export class SegmentReader extends ColumnSource implements ChunkSource {
  readonly path: string;
  readonly header: SegmentHeader;
  readonly logs: readonly LogEntry[];
  readonly order = 'ids';
  tombstones: Tombstones;
  readonly #file: PagedFile;
  readonly #dictionary: Dictionary;
  readonly #columns: Columns;
  #lens: ChunkLens | null = null;
  #times: Float64Array | null = null;
  readonly #logNumbers: ReadonlyMap<string, number>;

  private constructor(
    path: string,
    file: PagedFile,
    header: SegmentHeader,
    resident: Resident,
    logs: readonly LogEntry[],
  ) {
    const columns = columnsOf(file, header);
    super(columns);
    this.path = path;
    this.header = header;
    this.#file = file;
    this.#columns = columns;
    this.logs = logs;
    this.#dictionary = new Dictionary(
      resident.words(header.resident.groups),
      resident.bytes(header.resident.terms),
      resident.words(header.resident.dfs),
      resident.words(header.resident.places),
    );
    this.#logNumbers = new Map(this.logs.map(({ session }, log) => [session, log]));
    this.tombstones = new Tombstones(header.chunkCount);
  }

  /**
   * @throws TURNLOG_IO when there is no such file (ENOENT), when it is not what the list says, or of another format
   *   or tokenizer.
   */
  static open(fs: FileSystem, path: string, claim: SegmentClaim, cache: PageCache): SegmentReader {
    return wholeOf(SegmentReader.opening(fs, path, claim, cache));
  }

  /** As `open`, with pauses: what is read at once may be many megabytes. */
  static *opening(
    fs: FileSystem,
    path: string,
    claim: SegmentClaim,
    cache: PageCache,
  ): Generator<void, SegmentReader, void> {
    const file = fs.open(path, 'read');
    let isOpen = false;
    try {
      const reader = yield* SegmentReader.#read(file, claim, cache);
      isOpen = true;
      return reader;
    } finally {
      // Also when nobody goes on behind a pause.
      if (!isOpen) file.close();
    }
  }

  static *#read(
    file: FileHandle,
    claim: SegmentClaim,
    cache: PageCache,
  ): Generator<void, SegmentReader, void> {
    const { path } = file;
    if (file.status().size !== claim.bytes || claim.bytes < trailerBytes) {
      throw damagedFile(path, 'it is not as long as the list says');
    }
    const trailer = decodeTrailer(read(file, claim.bytes - trailerBytes, claim.bytes), path, claim.bytes);
    const { bytes, digest } = yield* readHashed(file, trailer.residentAt, claim.bytes);
    const resident = new Resident(bytes, trailer.residentAt, path);
    if (digest !== claim.digest) throw damagedFile(path, 'it is not what the list says');
    const headerEnd = claim.bytes - trailerBytes;
    const headerPlace = { start: headerEnd - trailer.headerBytes, end: headerEnd };
    const header = decodeHeader(resident.bytes(headerPlace), path);
    if (header.tokenizer !== claim.tokenizer) throw damagedFile(path, 'it was made with another tokenizer');
    if (header.pageDigests.length !== pageCountOf(trailer.residentAt) * 8) {
      throw damagedFile(path, 'its pages are not those of its header');
    }
    const pages = new PagedFile(file, cache, trailer.residentAt, header.pageDigests);
    const logs = yield* decodeLogs(resident.bytes(header.resident.logs), path);
    return new SegmentReader(path, pages, header, resident, logs);
  }

  close(): void {
    this.#file.close();
  }

  get chunkCount(): number {
    return this.header.chunkCount;
  }

  get hasContext(): boolean {
    return this.header.contextCount > 0;
  }

  get tokenCount(): number {
    return this.header.tokenCount;
  }

  logNumber(session: string): number {
    const log = this.#logNumbers.get(session) ?? -1;
    return log !== -1 && this.tombstones.isVoid(log) ? -1 : log;
  }

  firstOfRecord(log: number, seq: number): number {
    const [from, to] = rangeOfLog(this, log);
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.seq(middle) < seq) low = middle + 1;
      else high = middle;
    }
    return low < to && this.seq(low) === seq ? low : -1;
  }

  len(ordinal: number): number {
    return this.#columns.len.at(ordinal);
  }

  override time(ordinal: number): number {
    return this.#times?.[ordinal] ?? super.time(ordinal);
  }

  times(): Float64Array {
    this.#times ??= this.#columns.ts.copied(this.chunkCount);
    return this.#times;
  }

  lens(): ChunkLens {
    this.#lens ??= this.#readLens();
    return this.#lens;
  }

  toolText(number: number): string {
    return this.#string(number - 1);
  }

  paths(ordinal: number): readonly string[] {
    const [from, to] = [this.#columns.paths.at(ordinal), this.#columns.paths.at(ordinal + 1)];
    const paths: string[] = [];
    for (let at = from; at < to; at += 1) paths.push(this.#string(this.#columns.pathList.at(at)));
    return paths;
  }

  findTerm(text: string): number {
    return this.#dictionary.find(text);
  }

  termsFrom(prefix: string): Iterable<NumberedTerm> {
    return this.#dictionary.startingWith(prefix);
  }

  allTerms(): Iterable<NumberedTerm> {
    return this.#dictionary.all();
  }

  df(term: number): number {
    return this.#dictionary.df(term);
  }

  cursor(term: number): BlockCursor {
    return new SegmentCursor(this.#file, this.#dictionary.place(term), this.#dictionary.df(term));
  }

  readPostings(term: number, ordinals: Uint32Array, tfs: Uint32Array, at: number): void {
    let to = at;
    for (const cursor = this.cursor(term); cursor.count > 0; cursor.next()) {
      cursor.read(ordinals, tfs, to);
      to += cursor.count;
    }
  }

  /** Bytes that are held for as long as it is open: what was read at once, and lens and times once asked for. */
  get residentBytes(): number {
    const { resident } = this.header;
    const read = Object.values(resident).reduce((sum, { start, end }) => sum + end - start, 0);
    return read + (this.#lens?.values.byteLength ?? 0) + (this.#times?.byteLength ?? 0);
  }

  #readLens(): ChunkLens {
    const values = this.#columns.len.copied(this.chunkCount);
    let max = 0;
    for (let ordinal = 0; ordinal < values.length; ordinal += 1) max = Math.max(max, values[ordinal] ?? 0);
    return { values, max };
  }

  #string(number: number): string {
    const { stringPlaces } = this.#columns;
    const { start } = this.header.paged.strings;
    const from = start + stringPlaces.at(number);
    return decoder.decode(this.#file.slice(from, start + stringPlaces.at(number + 1)));
  }
}

/** The part of the file that is read at once. */
class Resident {
  readonly all: Uint8Array;
  readonly #from: number;
  readonly #path: string;

  constructor(all: Uint8Array, from: number, path: string) {
    this.all = all;
    this.#from = from;
    this.#path = path;
  }

  bytes({ start, end }: Place): Uint8Array {
    const [from, to] = [start - this.#from, end - this.#from];
    if (from < 0 || to < from || to > this.all.length)
      throw damagedFile(this.#path, 'a section lies outside');
    return this.all.subarray(from, to);
  }

  words(place: Place): Uint32Array {
    const bytes = this.bytes(place);
    if (bytes.length % 4 !== 0 || bytes.byteOffset % 4 !== 0) {
      throw damagedFile(this.#path, 'a section is not aligned');
    }
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  }
}

/** How much is read and hashed before the work may pause. */
const sliceBytes = 262_144;

function* readHashed(
  file: FileHandle,
  from: number,
  to: number,
): Generator<void, { readonly bytes: Uint8Array; readonly digest: string }, void> {
  const bytes = new Uint8Array(new ArrayBuffer(to - from));
  const digest = new RunningSha256();
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    const piece = bytes.subarray(at, at + sliceBytes);
    if (!readFully(file, piece, from + at)) throw damagedFile(file.path, 'it is cut short');
    digest.update(piece);
    yield;
  }
  return { bytes, digest: digest.digestHex() };
}

function read(file: FileHandle, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(new ArrayBuffer(to - from));
  if (!readFully(file, bytes, from)) throw damagedFile(file.path, 'it is cut short');
  return bytes;
}

interface Columns extends ChunkColumns {
  readonly ts: DoubleColumn;
  readonly len: WordColumn;
  readonly paths: WordColumn;
  readonly pathList: WordColumn;
  readonly stringPlaces: WordColumn;
}

function columnsOf(file: PagedFile, { paged }: SegmentHeader): Columns {
  return {
    log: new WordColumn(file, paged.log),
    seq: new DoubleColumn(file, paged.seq),
    n: new WordColumn(file, paged.n),
    turn: new WordColumn(file, paged.turn),
    ts: new DoubleColumn(file, paged.ts),
    len: new WordColumn(file, paged.len),
    role: new ByteColumn(file, paged.role),
    kind: new ByteColumn(file, paged.kind),
    tool: new WordColumn(file, paged.tool),
    paths: new WordColumn(file, paged.paths),
    itemHigh: new WordColumn(file, paged.itemHigh),
    itemLow: new WordColumn(file, paged.itemLow),
    pathList: new WordColumn(file, paged.pathList),
    stringPlaces: new WordColumn(file, paged.stringPlaces),
  };
}
