import { documentKinds, recordRoles } from '@turnlog/events';
import type { DraftFile } from '@turnlog/fs';
import { assert, RunningSha256 } from '@turnlog/kernel';
import { PostingBuffer } from './block-cursor.js';
import { ByteWriter } from './byte-codec.js';
import type { ChunkSource } from './chunk-source.js';
import { DictionaryWriter } from './dictionary.js';
import { GrowingNumbers } from './growing-numbers.js';
import { encodeLogs } from './log-table.js';
import type { MergeOrder } from './merge-order.js';
import { mergedTerms } from './merged-terms.js';
import { PostingsWriter } from './postings-writer.js';
import { bytesOf, piecesOf, ResidentPart } from './resident-part.js';
import { SectionFile } from './section-file.js';
import {
  encodeHeader,
  encodeTrailer,
  type PagedSection,
  type Place,
  pagedSections,
  placesOf,
  type ResidentSection,
  type SegmentHeader,
} from './segment-format.js';

/** How many postings, or chunks, are worked on before the work may pause. */
const slicePostings = 16_384;
const sliceChunks = 8_192;
/** A term costs as much as so many postings, however few it has. */
const termPostings = 24;

/** What the list of segments will say of a written one. */
export interface WrittenSegment {
  readonly bytes: number;
  readonly digest: string;
  readonly chunkCount: number;
}

/**
 * Writes chunks of some sources as one segment, in slices: it pauses at each `yield`, and whoever drives it goes on
 * when the event loop had its turn. The sources must not change their chunks meanwhile; tombstones may come.
 */
export function* writeSegment(
  draft: DraftFile,
  sources: readonly ChunkSource[],
  order: MergeOrder,
  tokenizer: string,
): Generator<void, WrittenSegment, void> {
  const writer = new SegmentWriter(draft, sources, order);
  yield* writer.lens();
  yield* writer.postings();
  yield* writer.columns();
  return yield* writer.finish(tokenizer);
}

class SegmentWriter {
  readonly #draft: DraftFile;
  readonly #sources: readonly ChunkSource[];
  readonly #order: MergeOrder;
  readonly #file: SectionFile;
  readonly #dictionary = new DictionaryWriter();
  readonly #places: Partial<Record<PagedSection, Place>> = {};
  readonly #lens: Uint32Array;
  #postingCount = 0;
  #tokenCount = 0;
  readonly #texts = new StringTable();
  readonly #pathList = new GrowingNumbers(Uint32Array);
  #contextCount = 0;

  constructor(draft: DraftFile, sources: readonly ChunkSource[], order: MergeOrder) {
    this.#draft = draft;
    this.#sources = sources;
    this.#order = order;
    this.#file = new SectionFile(draft);
    this.#lens = new Uint32Array(order.chunkCount);
  }

  *lens(): Generator<void, void, void> {
    yield* this.#fill(this.#lens, (source, ordinal) => {
      const len = source.len(ordinal);
      this.#tokenCount += len;
      return len;
    });
  }

  *postings(): Generator<void, void, void> {
    const writer = new PostingsWriter((bytes) => this.#file.write(bytes));
    const gathered = new GatheredPostings(this.#sources, this.#order);
    const lens = this.#lens;
    let work = 0;
    for (const { text, terms } of mergedTerms(this.#sources.map((source) => source.allTerms()))) {
      for (gathered.begin(); gathered.take(terms); ) yield;
      const count = gathered.finish();
      work += count + termPostings;
      if (work >= slicePostings) {
        work = 0;
        yield;
      }
      if (count === 0) continue;
      let from = writer.add(gathered, 0, count, lens);
      for (; from < count; from = writer.add(gathered, from, count, lens)) yield;
      const { place } = writer;
      assert(place < 2 ** 32, 'the postings of a segment take no more than 4 GiB');
      this.#dictionary.add(text, count, place);
    }
    this.#postingCount = writer.postingCount;
    this.#places.postings = this.#file.endSection(0);
  }

  *columns(): Generator<void, void, void> {
    const { chunkCount } = this.#order;
    const [words, doubles] = [new Uint32Array(chunkCount), new Float64Array(chunkCount)];
    const bytes = new Uint8Array(chunkCount);
    yield* this.#column('log', this.#order.logNumbers);
    yield* this.#filled('seq', doubles, (source, ordinal) => source.seq(ordinal));
    yield* this.#filled('n', words, (source, ordinal) => source.n(ordinal));
    yield* this.#filled('turn', words, (source, ordinal) => (source.turn(ordinal) ?? -1) + 1);
    yield* this.#filled('ts', doubles, (source, ordinal) => source.time(ordinal));
    yield* this.#column('len', this.#lens);
    yield* this.#filled('role', bytes, (source, ordinal) => recordRoles.indexOf(source.role(ordinal)));
    yield* this.#filled('kind', bytes, (source, ordinal) => {
      const kind = source.kind(ordinal);
      if (kind === 'context') this.#contextCount += 1;
      return documentKinds.indexOf(kind);
    });
    yield* this.#toolsAndPaths();
    yield* this.#filled('itemHigh', words, (source, ordinal) => source.itemHigh(ordinal));
    yield* this.#filled('itemLow', words, (source, ordinal) => source.itemLow(ordinal));
    yield* this.#strings();
  }

  *finish(tokenizer: string): Generator<void, WrittenSegment, void> {
    const pageDigests = this.#file.finish();
    const residentAt = this.#file.length;
    const tail = new ResidentPart(residentAt);
    const { groups, dfs, places, terms } = this.#dictionary.columns();
    const logs = yield* encodeLogs(this.#order.logs);
    const sections = { logs: [logs], groups: [groups], terms, dfs: [dfs], places: [places] };
    const resident = placesOf(['logs', 'groups', 'terms', 'dfs', 'places'], (name: ResidentSection) =>
      tail.section(sections[name]),
    );
    const header = encodeHeader(this.#header(tokenizer, resident, pageDigests));
    tail.add(header);
    tail.add(encodeTrailer({ residentAt, headerBytes: header.length }));
    const digest = new RunningSha256();
    for (const piece of tail.pieces()) {
      digest.update(piece);
      this.#draft.write(piece);
      yield;
    }
    return {
      bytes: tail.end,
      digest: digest.digestHex(),
      chunkCount: this.#order.chunkCount,
    };
  }

  #header(tokenizer: string, resident: SegmentHeader['resident'], pageDigests: Uint8Array): SegmentHeader {
    return {
      tokenizer,
      chunkCount: this.#order.chunkCount,
      termCount: this.#dictionary.count,
      postingCount: this.#postingCount,
      tokenCount: this.#tokenCount,
      stringCount: this.#texts.places.length - 1,
      contextCount: this.#contextCount,
      paged: placesOf(pagedSections, (name) => this.#places[name] ?? { start: 0, end: 0 }),
      resident,
      pageDigests,
    };
  }

  *#toolsAndPaths(): Generator<void, void, void> {
    const { chunkCount } = this.#order;
    const tools = new Uint32Array(chunkCount);
    const paths = new Uint32Array(chunkCount + 1);
    for (let from = 0; from < chunkCount; from += sliceChunks) {
      const to = Math.min(from + sliceChunks, chunkCount);
      for (let at = from; at < to; at += 1) this.#toolAndPaths(at, tools, paths);
      if (to < chunkCount) yield;
    }
    yield* this.#column('tool', tools);
    yield* this.#column('paths', paths);
  }

  #toolAndPaths(at: number, tools: Uint32Array, paths: Uint32Array): void {
    const source = this.#sourceOf(at);
    const ordinal = this.#order.ordinals[at] ?? 0;
    const tool = source.toolNumber(ordinal);
    tools[at] = tool === 0 ? 0 : this.#texts.numberOf(source.toolText(tool)) + 1;
    for (const path of source.paths(ordinal)) this.#pathList.push(this.#texts.numberOf(path));
    paths[at + 1] = this.#pathList.length;
  }

  *#strings(): Generator<void, void, void> {
    const { places, bytes } = this.#texts;
    yield* this.#column('pathList', this.#pathList.values.subarray(0, this.#pathList.length));
    yield* this.#column('stringPlaces', places.values.subarray(0, places.length));
    yield* this.#column('strings', bytes.written());
  }

  /** Fills `values` and writes them; they may be filled again afterwards. */
  *#filled(
    name: PagedSection,
    values: Uint8Array | Uint32Array | Float64Array,
    pick: (source: ChunkSource, ordinal: number) => number,
  ): Generator<void, void, void> {
    yield* this.#fill(values, pick);
    yield* this.#column(name, values);
  }

  *#fill(
    values: Uint8Array | Uint32Array | Float64Array,
    pick: (source: ChunkSource, ordinal: number) => number,
  ): Generator<void, void, void> {
    for (let from = 0; from < values.length; from += sliceChunks) {
      const to = Math.min(from + sliceChunks, values.length);
      this.#fillSlice(values, from, to, pick);
      if (to < values.length) yield;
    }
  }

  #fillSlice(
    values: Uint8Array | Uint32Array | Float64Array,
    from: number,
    to: number,
    pick: (source: ChunkSource, ordinal: number) => number,
  ): void {
    const { ordinals } = this.#order;
    for (let at = from; at < to; at += 1) values[at] = pick(this.#sourceOf(at), ordinals[at] ?? 0);
  }

  *#column(name: PagedSection, values: Uint8Array | Uint32Array | Float64Array): Generator<void, void, void> {
    const start = this.#file.length;
    for (const piece of piecesOf(bytesOf(values))) {
      this.#file.write(piece);
      yield;
    }
    this.#places[name] = this.#file.endSection(start);
  }

  #sourceOf(at: number): ChunkSource {
    const source = this.#sources[this.#order.sources[at] ?? 0];
    assert(source !== undefined, 'a chunk comes from one of the sources');
    return source;
  }
}

/** Each text once. */
class StringTable {
  readonly bytes: ByteWriter = new ByteWriter();
  readonly places: GrowingNumbers<Uint32Array> = new GrowingNumbers(Uint32Array);
  readonly #numbers = new Map<string, number>();
  readonly #encoder = new TextEncoder();

  constructor() {
    this.places.push(0);
  }

  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    this.bytes.bytes(this.#encoder.encode(text));
    this.places.push(this.bytes.length);
    return number;
  }
}

/** Larger than any tf: ordinal and tf of a posting are sorted as one number. */
const tfScale = 1_048_576;

/** Collects the postings of a term from all sources under their new ordinals. */
class GatheredPostings {
  readonly #sources: readonly ChunkSource[];
  readonly #places: readonly Int32Array[];
  /** Of each source by how much all of its ordinals rise; null where some of its chunks are left out or moved apart. */
  readonly #shifts: readonly (number | null)[];
  readonly #buffer = new PostingBuffer();
  /** The source that comes next. */
  #next = 0;
  #count = 0;
  #isRising = true;

  constructor(sources: readonly ChunkSource[], { places }: MergeOrder) {
    this.#sources = sources;
    this.#places = places;
    this.#shifts = places.map(shiftOf);
  }

  get ordinals(): Uint32Array {
    return this.#buffer.ordinals;
  }

  get tfs(): Uint32Array {
    return this.#buffer.tfs;
  }

  /** Begins with a term. */
  begin(): void {
    this.#next = 0;
    this.#count = 0;
    this.#isRising = true;
  }

  /** Takes the postings of a term, given its number in each source; true when the work may pause, and is to go on. */
  take(terms: readonly number[]): boolean {
    while (this.#next < terms.length) {
      const number = this.#next;
      const [source, places, term = -1] = [this.#sources[number], this.#places[number], terms[number]];
      this.#next += 1;
      if (term === -1 || source === undefined || places === undefined) continue;
      this.#takeFrom(source, term, places, this.#shifts[number] ?? null);
      if (this.#count >= slicePostings) return this.#next < terms.length;
    }
    return false;
  }

  /** Returns how many there are, ordinals rising; chunks that were left out have none. */
  finish(): number {
    if (!this.#isRising) this.#sort();
    return this.#count;
  }

  #takeFrom(source: ChunkSource, term: number, places: Int32Array, shift: number | null): void {
    const from = this.#count;
    const end = from + source.df(term);
    this.#buffer.reserve(end);
    const { ordinals, tfs } = this.#buffer;
    source.readPostings(term, ordinals, tfs, from);
    const last = from === 0 ? -1 : (ordinals[from - 1] ?? 0);
    if (shift === null) {
      this.#place(end, last, places);
      return;
    }
    if (shift > 0) for (let at = from; at < end; at += 1) ordinals[at] = (ordinals[at] ?? 0) + shift;
    if ((ordinals[from] ?? 0) < last && end > from) this.#isRising = false;
    this.#count = end;
  }

  /** Gives the postings up to `end` their new ordinals one by one. */
  #place(end: number, before: number, places: Int32Array): void {
    const { ordinals, tfs } = this.#buffer;
    let count = this.#count;
    let last = before;
    for (let at = count; at < end; at += 1) {
      const ordinal = places[ordinals[at] ?? 0] ?? -1;
      if (ordinal === -1) continue;
      if (ordinal < last) this.#isRising = false;
      last = ordinal;
      ordinals[count] = ordinal;
      tfs[count] = tfs[at] ?? 0;
      count += 1;
    }
    this.#count = count;
  }

  #sort(): void {
    const { ordinals, tfs } = this.#buffer;
    const pairs = new Float64Array(this.#count);
    for (let at = 0; at < pairs.length; at += 1) {
      pairs[at] = (ordinals[at] ?? 0) * tfScale + (tfs[at] ?? 0);
    }
    pairs.sort();
    for (let at = 0; at < pairs.length; at += 1) {
      const pair = pairs[at] ?? 0;
      ordinals[at] = Math.floor(pair / tfScale);
      tfs[at] = pair % tfScale;
    }
  }
}

/** By how much ordinals rise, when it is the same for all. */
function shiftOf(places: Int32Array): number | null {
  const shift = places[0] ?? 0;
  if (shift < 0) return null;
  for (let ordinal = 0; ordinal < places.length; ordinal += 1) {
    if (places[ordinal] !== ordinal + shift) return null;
  }
  return shift;
}
