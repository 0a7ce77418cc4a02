import { documentKinds, recordRoles } from '@turnlog/events';
import { assert } from '@turnlog/kernel';
import type { ChunkFields } from '../chunk.js';
import { compareBytes } from '../chunk-id.js';
import type { IndexedChunk } from '../indexed-chunk.js';
import type { BlockCursor } from './block-cursor.js';
import { inByteOrder } from './byte-order.js';
import type { ChunkLens, ChunkSource } from './chunk-source.js';
import { ColumnSource } from './column-source.js';
import type { NumberedTerm } from './dictionary.js';
import { GrowingNumbers } from './growing-numbers.js';
import { itemHash } from './item-hash.js';
import { type LogEntry, nothingTaken } from './log-table.js';
import { tailOrdinalsMax } from './posting-run.js';
import { TailPostings } from './tail-postings.js';
import { Tombstones } from './tombstones.js';

/** More chunks than a tail ever has: what is buried in it has a place from the start. */
const chunksMax = 131_072;

/** Most chunks name none: one list serves them all. */
const noPaths: readonly string[] = [];

/** A chunk whose tokens are not counted yet. */
export interface TextChunk extends Pick<IndexedChunk, 'fields' | 'itemId'> {
  readonly text: string;
}

/**
 * Chunks that are in no segment yet, in the order in which they came. It only grows: what does not count any more has
 * a tombstone, as in a segment.
 */
export class LiveTail extends ColumnSource implements ChunkSource {
  readonly order = 'arrival';
  readonly tombstones: Tombstones = new Tombstones(chunksMax);
  readonly #logs: LogEntry[] = [];
  readonly #logNumbers = new Map<string, number>();
  readonly #columns: TailColumns;
  /** By log and seq the first chunk of a record. */
  readonly #records = new Map<number, Map<number, number>>();
  readonly #paths: (readonly string[])[] = [];
  readonly #tools = new Map<string, number>();
  readonly #toolTexts: string[] = [];
  readonly #postings = new TailPostings();
  #sorted: readonly NumberedTerm[] | null = null;
  #tokenCount = 0;
  #lenMax = 0;
  #hasContext = false;

  constructor() {
    const columns = newColumns();
    super(columns);
    this.#columns = columns;
    assert(chunksMax <= tailOrdinalsMax, 'postings have room for the ordinals of a tail');
  }

  get chunkCount(): number {
    return this.#columns.len.length;
  }

  get hasContext(): boolean {
    return this.#hasContext;
  }

  get tokenCount(): number {
    return this.#tokenCount;
  }

  get logs(): readonly LogEntry[] {
    return this.#logs;
  }

  /** Bytes of the arrays of numbers that it holds. */
  get residentBytes(): number {
    const columns = Object.values(this.#columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
    return columns + this.#postings.byteLength;
  }

  /** Notes how far a log was taken in, and what is known of its session. */
  noteLog(entry: Omit<LogEntry, 'firstOrdinal'>): void {
    const number = this.#logNumber(entry.session);
    this.#logs[number] = { ...entry, firstOrdinal: 0 };
  }

  /** Takes a chunk of a log that was noted. */
  add(chunk: TextChunk | IndexedChunk): void {
    const ordinal = this.chunkCount;
    assert(ordinal < chunksMax, 'a tail is sealed before it is full');
    this.#addFields(ordinal, chunk.fields, chunk.itemId);
    const isCounted = 'terms' in chunk;
    const len = isCounted ? chunk.len : this.#postings.addText(ordinal, chunk.text);
    if (isCounted) this.#postings.addCounts(ordinal, chunk.terms);
    this.#columns.len.push(len);
    this.#tokenCount += len;
    this.#lenMax = Math.max(this.#lenMax, len);
  }

  /** Sorts what is to be read of it, so that a reader need not wait for that. Pauses as `writeSegment` does. */
  *sort(): Generator<void, void, void> {
    yield* this.#postings.sort();
  }

  /** Lets go of what only makes taking chunks faster. */
  forgetWords(): void {
    this.#postings.terms.forget();
  }

  logNumber(session: string): number {
    const number = this.#logNumbers.get(session) ?? -1;
    return number !== -1 && this.tombstones.isVoid(number) ? -1 : number;
  }

  firstOfRecord(log: number, seq: number): number {
    return this.#records.get(log)?.get(seq) ?? -1;
  }

  len(ordinal: number): number {
    return this.#columns.len.at(ordinal);
  }

  times(): Float64Array {
    return this.#columns.ts.values;
  }

  lens(): ChunkLens {
    return { values: this.#columns.len.values, max: this.#lenMax };
  }

  toolText(number: number): string {
    return this.#toolTexts[number - 1] ?? '';
  }

  paths(ordinal: number): readonly string[] {
    return this.#paths[ordinal] ?? [];
  }

  findTerm(text: string): number {
    return this.#postings.terms.find(text);
  }

  *termsFrom(prefix: string): Iterable<NumberedTerm> {
    const terms = this.#sortedTerms();
    let [low, high] = [0, terms.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareBytes(terms[middle]?.text ?? '', prefix) < 0) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < terms.length; at += 1) {
      const term = terms[at];
      if (term === undefined || !term.text.startsWith(prefix)) return;
      yield term;
    }
  }

  *allTerms(): Iterable<NumberedTerm> {
    const { terms } = this.#postings;
    for (const text of inByteOrder(terms.texts)) yield { text, term: terms.find(text) };
  }

  df(term: number): number {
    return this.#postings.df(term);
  }

  cursor(term: number): BlockCursor {
    return this.#postings.cursor(term);
  }

  readPostings(term: number, ordinals: Uint32Array, tfs: Uint32Array, at: number): void {
    this.#postings.read(term, ordinals, tfs, at);
  }

  #addFields(ordinal: number, fields: ChunkFields, itemId: string | null): void {
    const columns = this.#columns;
    const hash = itemHash(itemId);
    const log = this.#logNumber(fields.session);
    this.#noteRecord(log, fields.seq, ordinal);
    columns.log.push(log);
    columns.seq.push(fields.seq);
    columns.n.push(fields.n);
    columns.turn.push((fields.turn ?? -1) + 1);
    columns.ts.push(fields.tsMs ?? Number.NaN);
    columns.role.push(recordRoles.indexOf(fields.role));
    columns.kind.push(documentKinds.indexOf(fields.kind));
    columns.tool.push(fields.tool === null ? 0 : this.#toolNumberOf(fields.tool));
    columns.itemHigh.push(hash.high);
    columns.itemLow.push(hash.low);
    this.#paths.push(fields.paths.length === 0 ? noPaths : fields.paths);
    this.#hasContext ||= fields.kind === 'context';
  }

  #logNumber(session: string): number {
    const known = this.#logNumbers.get(session);
    if (known !== undefined && !this.tombstones.isVoid(known)) return known;
    const number = this.#logs.length;
    this.#logNumbers.set(session, number);
    this.#logs.push(emptyLog(session));
    return number;
  }

  #noteRecord(log: number, seq: number, ordinal: number): void {
    const records = this.#records.get(log) ?? new Map<number, number>();
    this.#records.set(log, records);
    const isNext = ordinal > 0 && this.seq(ordinal - 1) === seq && this.log(ordinal - 1) === log;
    if (!isNext) records.set(seq, ordinal);
  }

  #toolNumberOf(tool: string): number {
    const known = this.#tools.get(tool);
    if (known !== undefined) return known;
    this.#toolTexts.push(tool);
    this.#tools.set(tool, this.#toolTexts.length);
    return this.#toolTexts.length;
  }

  #sortedTerms(): readonly NumberedTerm[] {
    if (this.#sorted?.length !== this.#postings.terms.count) this.#sorted = [...this.allTerms()];
    return this.#sorted;
  }
}

type TailColumns = ReturnType<typeof newColumns>;

function newColumns(): {
  readonly log: GrowingNumbers<Uint32Array>;
  readonly seq: GrowingNumbers<Float64Array>;
  readonly n: GrowingNumbers<Uint32Array>;
  readonly turn: GrowingNumbers<Uint32Array>;
  readonly ts: GrowingNumbers<Float64Array>;
  readonly len: GrowingNumbers<Uint32Array>;
  readonly role: GrowingNumbers<Uint8Array>;
  readonly kind: GrowingNumbers<Uint8Array>;
  readonly tool: GrowingNumbers<Uint32Array>;
  readonly itemHigh: GrowingNumbers<Uint32Array>;
  readonly itemLow: GrowingNumbers<Uint32Array>;
} {
  return {
    log: new GrowingNumbers(Uint32Array),
    seq: new GrowingNumbers(Float64Array),
    n: new GrowingNumbers(Uint32Array),
    turn: new GrowingNumbers(Uint32Array),
    ts: new GrowingNumbers(Float64Array),
    len: new GrowingNumbers(Uint32Array),
    role: new GrowingNumbers(Uint8Array),
    kind: new GrowingNumbers(Uint8Array),
    tool: new GrowingNumbers(Uint32Array),
    itemHigh: new GrowingNumbers(Uint32Array),
    itemLow: new GrowingNumbers(Uint32Array),
  };
}

function emptyLog(session: string): LogEntry {
  const lists = { spans: [], workspaces: [] };
  return { session, taken: nothingTaken, ...lists, firstOrdinal: 0, agent: 'primary', unindexedBytes: 0 };
}
