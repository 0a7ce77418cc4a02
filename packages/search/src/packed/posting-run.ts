/** A posting is its ordinal, and in the lower bits its tf. */
const tfBits = 14;
export const tfMask: number = 2 ** tfBits - 1;

/** No ordinal of a posting is as large. */
export const tailOrdinalsMax: number = 2 ** (32 - tfBits);

/** How many tokens are sorted before the work may pause. */
const sliceTokens = 65_536;

/** The terms of chunks that came one after the other, one for each token; of each chunk where they end. */
export interface TokenList {
  readonly terms: Uint32Array;
  readonly ends: Uint32Array;
  /** No term is as large. */
  readonly termCount: number;
}

/** The postings of the chunks `[from, to)` of a tail, sorted by term. */
export class PostingRun {
  readonly from: number;
  readonly to: number;
  /** By term where its postings begin and end, side by side. */
  readonly #places: Uint32Array;
  readonly #postings: Uint32Array;

  private constructor(from: number, to: number, places: Uint32Array, postings: Uint32Array) {
    this.from = from;
    this.to = to;
    this.#places = places;
    this.#postings = postings;
  }

  /** Sorts by counting. Pauses as `writeSegment` does; the list may grow meanwhile. */
  static *sort(
    { terms, ends, termCount }: TokenList,
    from: number,
    to: number,
  ): Generator<void, PostingRun, void> {
    const start = from === 0 ? 0 : (ends[from - 1] ?? 0);
    const end = to === 0 ? 0 : (ends[to - 1] ?? 0);
    const places = new Uint32Array(2 * termCount);
    for (let at = start; at < end; at += sliceTokens) {
      countTerms(terms, at, Math.min(at + sliceTokens, end), places);
      if (at + sliceTokens < end) yield;
    }
    beginTerms(places);
    const postings = new Uint32Array(end - start);
    const run = new PostingRun(from, to, places, postings);
    for (let ordinal = from; ordinal < to; ) {
      ordinal = run.#add({ terms, ends }, ordinal);
      if (ordinal < to) yield;
    }
    return run;
  }

  /** Adds the postings of chunks from one on, of as many as may be added before a pause; returns the next one. */
  #add({ terms, ends }: Pick<TokenList, 'terms' | 'ends'>, from: number): number {
    let ordinal = from;
    let start = ordinal === 0 ? 0 : (ends[ordinal - 1] ?? 0);
    for (const pausingAt = start + sliceTokens; ordinal < this.to && start < pausingAt; ordinal += 1) {
      const end = ends[ordinal] ?? 0;
      addPostings(terms, start, end, ordinal, this.#places, this.#postings);
      start = end;
    }
    return ordinal;
  }

  df(term: number): number {
    return (this.#places[2 * term + 1] ?? 0) - (this.#places[2 * term] ?? 0);
  }

  /** Writes the postings of a term, ordinals rising, from `at` on; returns where they end. */
  read(term: number, ordinals: Uint32Array, tfs: Uint32Array, at: number): number {
    const postings = this.#postings;
    const end = this.#places[2 * term + 1] ?? 0;
    let to = at;
    for (let from = this.#places[2 * term] ?? 0; from < end; from += 1) {
      const posting = postings[from] ?? 0;
      ordinals[to] = posting >>> tfBits;
      tfs[to] = posting & tfMask;
      to += 1;
    }
    return to;
  }

  /** Bytes of the arrays that it holds. */
  get byteLength(): number {
    return this.#places.byteLength + this.#postings.byteLength;
  }
}

function countTerms(terms: Uint32Array, from: number, to: number, places: Uint32Array): void {
  for (let at = from; at < to; at += 1) {
    const end = 2 * (terms[at] ?? 0) + 1;
    places[end] = (places[end] ?? 0) + 1;
  }
}

/** From how often each term occurs to where its postings begin; none has any yet. */
function beginTerms(places: Uint32Array): void {
  let start = 0;
  for (let at = 0; at < places.length; at += 2) {
    const count = places[at + 1] ?? 0;
    places[at] = start;
    places[at + 1] = start;
    start += count;
  }
}

/** The tokens `[from, to)` are those of a chunk: of a term that it holds more than once there is one posting. */
function addPostings(
  terms: Uint32Array,
  from: number,
  to: number,
  ordinal: number,
  places: Uint32Array,
  postings: Uint32Array,
): void {
  const posting = ordinal * (tfMask + 1) + 1;
  for (let at = from; at < to; at += 1) {
    const place = 2 * (terms[at] ?? 0);
    const end = places[place + 1] ?? 0;
    const before = end > (places[place] ?? 0) ? (postings[end - 1] ?? 0) : 0;
    if (before !== 0 && before >>> tfBits === ordinal) {
      postings[end - 1] = before + 1;
      continue;
    }
    postings[end] = posting;
    places[place + 1] = end + 1;
  }
}
