import { ByteWriter } from './byte-codec.js';
import { GrowingNumbers } from './growing-numbers.js';

/** Terms that share the beginning of the first of them. */
const groupTerms = 16;

/** How many bytes of terms are put together before the next block. */
const blockBytes = 65_536;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A term of a dictionary: its number, which is its place in the order of bytes. */
export interface NumberedTerm {
  readonly term: number;
  readonly text: string;
}

/** Puts terms together that come in the order of their bytes. */
export class DictionaryWriter {
  readonly #groups = new GrowingNumbers(Uint32Array);
  readonly #dfs = new GrowingNumbers(Uint32Array);
  readonly #places = new GrowingNumbers(Uint32Array);
  #before: Uint8Array = new Uint8Array(0);
  /** What was written, but for the newest: bytes that grow as one would be copied all at once, many of them. */
  readonly #blocks: Uint8Array[] = [];
  #blockBytes = 0;
  readonly #newest = new ByteWriter();

  get count(): number {
    return this.#dfs.length;
  }

  /** `place`: where its postings begin, counted from the start of all postings. */
  add(text: string, df: number, place: number): void {
    const bytes = encoder.encode(text);
    const newest = this.#newest;
    if (newest.length >= blockBytes) this.#endBlock();
    if (this.#dfs.length % groupTerms === 0) {
      this.#groups.push(this.#blockBytes + newest.length);
      newest.number(bytes.length);
      newest.bytes(bytes);
    } else {
      const shared = sharedLength(this.#before, bytes);
      newest.number(shared);
      newest.number(bytes.length - shared);
      newest.bytes(bytes.subarray(shared));
    }
    this.#before = bytes;
    this.#dfs.push(df);
    this.#places.push(place);
  }

  /** The numbers of each section, and the bytes of the terms, which belong one behind the other. */
  columns(): DictionaryColumns {
    this.#endBlock();
    return {
      groups: numbersIn(this.#groups),
      dfs: numbersIn(this.#dfs),
      places: numbersIn(this.#places),
      terms: this.#blocks,
    };
  }

  #endBlock(): void {
    const block = this.#newest.written().slice();
    this.#blocks.push(block);
    this.#blockBytes += block.length;
    this.#newest.clear();
  }
}

interface DictionaryColumns {
  readonly groups: Uint32Array;
  readonly dfs: Uint32Array;
  readonly places: Uint32Array;
  readonly terms: readonly Uint8Array[];
}

function numbersIn({ values, length }: GrowingNumbers<Uint32Array>): Uint32Array {
  return values.subarray(0, length);
}

function sharedLength(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) if (left[at] !== right[at]) return at;
  return length;
}

/** The terms of a segment, as they stand in its file. */
export class Dictionary {
  readonly #groups: Uint32Array;
  readonly #terms: Uint8Array;
  readonly #dfs: Uint32Array;
  readonly #places: Uint32Array;
  /** For looking up single terms. */
  readonly #finder: TermReader;

  constructor(groups: Uint32Array, terms: Uint8Array, dfs: Uint32Array, places: Uint32Array) {
    this.#groups = groups;
    this.#terms = terms;
    this.#dfs = dfs;
    this.#places = places;
    this.#finder = new TermReader(terms);
  }

  get count(): number {
    return this.#dfs.length;
  }

  /** Chunks that hold the term. */
  df(term: number): number {
    return this.#dfs[term] ?? 0;
  }

  /** Where its postings begin. */
  place(term: number): number {
    return this.#places[term] ?? 0;
  }

  /** The number of a term; -1 when the segment does not hold it. */
  find(text: string): number {
    const wanted = encoder.encode(text);
    const reader = this.#finder;
    const group = this.#groupOf(wanted, reader);
    if (group >= this.#groups.length) return -1;
    const end = Math.min((group + 1) * groupTerms, this.count);
    reader.begin(this.#groups[group] ?? 0, group * groupTerms);
    for (;;) {
      const order = compareArrays(reader.bytes, reader.length, wanted);
      if (order === 0) return reader.term;
      if (order > 0 || reader.term + 1 >= end) return -1;
      reader.next();
    }
  }

  /** All terms that begin with `prefix`, in the order of their bytes. */
  *startingWith(prefix: string): Iterable<NumberedTerm> {
    const wanted = encoder.encode(prefix);
    for (const reader of this.#walkFrom(wanted)) {
      if (startsWith(reader, wanted)) yield { term: reader.term, text: textOf(reader) };
      else if (compareArrays(reader.bytes, reader.length, wanted) > 0) return;
    }
  }

  /** All terms in the order of their bytes. */
  *all(): Iterable<NumberedTerm> {
    for (const reader of this.#walk(0)) yield { term: reader.term, text: textOf(reader) };
  }

  #walkFrom(wanted: Uint8Array): Iterable<TermReader> {
    return this.#walk(this.#groupOf(wanted, this.#finder));
  }

  /** The last group whose first term does not come after `wanted`. */
  #groupOf(wanted: Uint8Array, reader: TermReader): number {
    let [low, high] = [0, this.#groups.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      reader.begin(this.#groups[middle] ?? 0, middle * groupTerms);
      if (compareArrays(reader.bytes, reader.length, wanted) <= 0) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  *#walk(group: number): Iterable<TermReader> {
    const reader = new TermReader(this.#terms);
    for (let at = group; at < this.#groups.length; at += 1) {
      reader.begin(this.#groups[at] ?? 0, at * groupTerms);
      yield reader;
      const end = Math.min((at + 1) * groupTerms, this.count);
      while (reader.term + 1 < end) {
        reader.next();
        yield reader;
      }
    }
  }
}

/** Goes through the terms of a group. Its bytes are those of the present term until the next one is read. */
class TermReader {
  readonly #terms: Uint8Array;
  bytes: Uint8Array = new Uint8Array(512);
  length = 0;
  term = 0;
  #at = 0;

  constructor(terms: Uint8Array) {
    this.#terms = terms;
  }

  begin(place: number, term: number): void {
    this.#at = place;
    this.term = term;
    this.#take(0, this.#number());
  }

  next(): void {
    this.term += 1;
    const shared = this.#number();
    this.#take(shared, this.#number());
  }

  #take(shared: number, count: number): void {
    this.length = shared + count;
    if (this.length > this.bytes.length) {
      const grown = new Uint8Array(2 * this.length);
      grown.set(this.bytes);
      this.bytes = grown;
    }
    for (let at = 0; at < count; at += 1) this.bytes[shared + at] = this.#terms[this.#at + at] ?? 0;
    this.#at += count;
  }

  #number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#terms[this.#at] ?? 0;
      this.#at += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
}

function textOf({ bytes, length }: TermReader): string {
  return decoder.decode(bytes.subarray(0, length));
}

function startsWith({ bytes, length }: TermReader, prefix: Uint8Array): boolean {
  if (length < prefix.length) return false;
  for (let at = 0; at < prefix.length; at += 1) if (bytes[at] !== prefix[at]) return false;
  return true;
}

function compareArrays(left: Uint8Array, leftLength: number, right: Uint8Array): number {
  const length = Math.min(leftLength, right.length);
  for (let at = 0; at < length; at += 1) {
    const order = (left[at] ?? 0) - (right[at] ?? 0);
    if (order !== 0) return order;
  }
  return leftLength - right.length;
}
