import { assert } from '@turnlog/kernel';
import { type Kind, kinds, type Role, roles } from '../chunk.js';
import { compareBytes } from '../chunk-id.js';
import type { IndexedChunk } from '../indexed-chunk.js';
import type { ChunkSource } from './chunk-source.js';
import type { NumberedTerm } from './dictionary.js';
import { GrowingNumbers } from './growing-numbers.js';
import { itemHash } from './item-hash.js';
import { type LogEntry, nothingTaken } from './log-table.js';
import { BlockCursor, blockPostings } from './postings.js';
import { Tombstones } from './tombstones.js';

/** More chunks than a tail ever has: what is buried in it has a place from the start. */
const chunksMax = 131_072;

/** A posting is its ordinal, and in the lower bits its tf: together a number that needs no memory of its own. */
const tfBits = 14;
const tfLimit = 2 ** tfBits;

/**
 * Chunks that are in no segment yet, in the order in which they came. It only grows: what does not count any more has
 * a tombstone, as in a segment.
 */
export class LiveTail implements ChunkSource {
  readonly order = 'arrival';
  readonly tombstones: Tombstones = new Tombstones(chunksMax);
  readonly #logs: LogEntry[] = [];
  readonly #logNumbers = new Map<string, number>();
  readonly #columns = {
    log: new GrowingNumbers(Uint32Array),
    seq: new GrowingNumbers(Float64Array),
    n: new GrowingNumbers(Uint32Array),
    turn: new GrowingNumbers(Uint32Array),
    time: new GrowingNumbers(Float64Array),
    len: new GrowingNumbers(Uint32Array),
    role: new GrowingNumbers(Uint8Array),
    kind: new GrowingNumbers(Uint8Array),
    tool: new GrowingNumbers(Uint32Array),
    itemHigh: new GrowingNumbers(Uint32Array),
    itemLow: new GrowingNumbers(Uint32Array),
  };
  /** By log and seq the first chunk of a record. */
  readonly #records = new Map<number, Map<number, number>>();
  readonly #paths: (readonly string[])[] = [];
  readonly #tools = new Map<string, number>();
  readonly #toolTexts: string[] = [];
  readonly #terms = new Map<string, number>();
  readonly #termTexts: string[] = [];
  /** Of each term its postings in the order of ordinals, each as one number. */
  readonly #postings: number[][] = [];
  #sorted: readonly NumberedTerm[] | null = null;
  #tokenCount = 0;
  #hasContext = false;

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

  /** Notes how far a log was taken in, and what is known of its session. */
  noteLog(entry: Omit<LogEntry, 'firstOrdinal'>): void {
    const number = this.#logNumber(entry.session);
    this.#logs[number] = { ...entry, firstOrdinal: 0 };
  }

  /** Takes a chunk of a log that was noted; returns its ordinal. */
  add({ fields, len, terms, itemId }: IndexedChunk): number {
    const ordinal = this.chunkCount;
    assert(ordinal < chunksMax, 'a tail is sealed before it is full');
    const columns = this.#columns;
    const hash = itemHash(itemId);
    const log = this.#logNumber(fields.session);
    this.#noteRecord(log, fields.seq, ordinal);
    columns.log.push(log);
    columns.seq.push(fields.seq);
    columns.n.push(fields.n);
    columns.turn.push((fields.turn ?? -1) + 1);
    columns.time.push(fields.tsMs ?? Number.NaN);
    columns.len.push(len);
    columns.role.push(roles.indexOf(fields.role));
    columns.kind.push(kinds.indexOf(fields.kind));
    columns.tool.push(fields.tool === null ? 0 : this.#toolNumberOf(fields.tool));
    columns.itemHigh.push(hash.high);
    columns.itemLow.push(hash.low);
    this.#paths.push(fields.paths);
    this.#tokenCount += len;
    this.#hasContext ||= fields.kind === 'context';
    terms.forEach((tf, text) => {
      this.#addPosting(text, ordinal, tf);
    });
    return ordinal;
  }

  logNumber(session: string): number {
    const number = this.#logNumbers.get(session) ?? -1;
    return number !== -1 && this.tombstones.isVoid(number) ? -1 : number;
  }

  firstOfRecord(log: number, seq: number): number {
    return this.#records.get(log)?.get(seq) ?? -1;
  }

  log(ordinal: number): number {
    return this.#columns.log.at(ordinal);
  }

  seq(ordinal: number): number {
    return this.#columns.seq.at(ordinal);
  }

  n(ordinal: number): number {
    return this.#columns.n.at(ordinal);
  }

  turn(ordinal: number): number | null {
    const turn = this.#columns.turn.at(ordinal);
    return turn === 0 ? null : turn - 1;
  }

  time(ordinal: number): number {
    return this.#columns.time.at(ordinal);
  }

  len(ordinal: number): number {
    return this.#columns.len.at(ordinal);
  }

  role(ordinal: number): Role {
    return roles[this.#columns.role.at(ordinal)] ?? 'unknown';
  }

  kind(ordinal: number): Kind {
    return kinds[this.#columns.kind.at(ordinal)] ?? 'unknown';
  }

  toolNumber(ordinal: number): number {
    return this.#columns.tool.at(ordinal);
  }

  toolText(number: number): string {
    return this.#toolTexts[number - 1] ?? '';
  }

  paths(ordinal: number): readonly string[] {
    return this.#paths[ordinal] ?? [];
  }

  itemHigh(ordinal: number): number {
    return this.#columns.itemHigh.at(ordinal);
  }

  itemLow(ordinal: number): number {
    return this.#columns.itemLow.at(ordinal);
  }

  findTerm(text: string): number {
    return this.#terms.get(text) ?? -1;
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

  allTerms(): Iterable<NumberedTerm> {
    return this.#sortedTerms();
  }

  df(term: number): number {
    return this.#postings[term]?.length ?? 0;
  }

  cursor(term: number): BlockCursor {
    return new TailCursor(this.#postings[term] ?? []);
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

  #addPosting(text: string, ordinal: number, tf: number): void {
    assert(tf < tfLimit, 'no chunk is so long that it holds a token this often');
    const posting = ordinal * tfLimit + tf;
    const known = this.#terms.get(text);
    if (known !== undefined) {
      this.#postings[known]?.push(posting);
      return;
    }
    this.#terms.set(text, this.#termTexts.length);
    this.#termTexts.push(text);
    this.#postings.push([posting]);
    this.#sorted = null;
  }

  #sortedTerms(): readonly NumberedTerm[] {
    this.#sorted ??= sortTerms(this.#termTexts);
    return this.#sorted;
  }
}

function emptyLog(session: string): LogEntry {
  const lists = { spans: [], workspaces: [] };
  return { session, taken: nothingTaken, ...lists, firstOrdinal: 0, agent: 'primary', unindexedBytes: 0 };
}

/** Units of UTF-16 from here on are not in the order of bytes. */
const firstSurrogate = /[\ud800-\uffff]/;

function sortTerms(texts: readonly string[]): readonly NumberedTerm[] {
  const numbers = new Map(texts.map((text, term) => [text, term]));
  const isPlain = !texts.some((text) => firstSurrogate.test(text));
  // The order that needs no function is many times faster, and the same but for these.
  const sorted = isPlain ? [...texts].sort() : [...texts].sort(compareBytes);
  return sorted.map((text) => ({ text, term: numbers.get(text) ?? -1 }));
}

/** Goes through the postings of a term. Its blocks say nothing of what they hold: all of a tail is looked at. */
class TailCursor extends BlockCursor {
  readonly #postings: readonly number[];
  #at = 0;

  constructor(postings: readonly number[]) {
    super();
    this.#postings = postings;
    this.tfMax = Number.POSITIVE_INFINITY;
    this.next();
  }

  next(): void {
    const count = Math.min(blockPostings, this.#postings.length - this.#at);
    if (count <= 0) {
      this.end();
      return;
    }
    const { ordinals, tfs } = this;
    this.previousLast = this.last;
    for (let at = 0; at < count; at += 1) {
      const posting = this.#postings[this.#at + at] ?? 0;
      ordinals[at] = posting >>> tfBits;
      tfs[at] = posting & (tfLimit - 1);
    }
    this.#at += count;
    this.used = 0;
    this.count = count;
    this.last = ordinals[count - 1] ?? 0;
  }

  decode(): void {
    // Everything is there already.
  }
}
