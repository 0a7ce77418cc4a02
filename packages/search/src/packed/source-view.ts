import { presenceAt } from '../as-of.js';
import type { AsOf } from '../query-plan.js';
import { PostingBuffer } from './block-cursor.js';
import type { ChunkSource } from './chunk-source.js';
import type { SourceFacts } from './source-facts.js';

/** By ordinal: whether a chunk belongs to the state that is asked. */
export const presences = { absent: 0, there: 1, unknownTime: 2 } as const;

/**
 * A source in the state that is asked: which of its chunks count, and its part of the statistics. The blocks of
 * postings and the dictionary know all chunks; those that do not count are taken off here.
 */
export class SourceView {
  readonly source: ChunkSource;
  readonly facts: SourceFacts;
  /** Null when all chunks count. */
  readonly presence: Uint8Array | null;
  readonly chunkCount: number;
  readonly tokenCount: number;
  /** Whether there are chunks of which nobody knows whether they belonged to that state. */
  readonly hasUnknownTimes: boolean;
  /** Of the tombstones that it was made from. */
  readonly version: number;
  readonly #uncounted: Uint32Array;
  readonly #dfs = new Map<number, TermCounts>();

  private constructor(source: ChunkSource, facts: SourceFacts, presence: Uint8Array | null) {
    this.source = source;
    this.facts = facts;
    this.version = source.tombstones.version;
    this.presence = presence;
    const uncounted: number[] = [];
    let tokenCount = source.tokenCount;
    let hasUnknownTimes = false;
    for (let ordinal = 0; presence !== null && ordinal < presence.length; ordinal += 1) {
      if (presence[ordinal] === presences.there) continue;
      hasUnknownTimes ||= presence[ordinal] === presences.unknownTime;
      uncounted.push(ordinal);
      tokenCount -= source.len(ordinal);
    }
    this.hasUnknownTimes = hasUnknownTimes;
    this.#uncounted = Uint32Array.from(uncounted);
    this.chunkCount = source.chunkCount - uncounted.length;
    this.tokenCount = tokenCount;
  }

  /** As it is now. */
  static now(source: ChunkSource, facts: SourceFacts): SourceView {
    const { tombstones, chunkCount } = source;
    if (tombstones.deadCount === 0) return new SourceView(source, facts, null);
    const presence = new Uint8Array(chunkCount);
    for (let ordinal = 0; ordinal < chunkCount; ordinal += 1) {
      presence[ordinal] = tombstones.isDead(ordinal) ? presences.absent : presences.there;
    }
    return new SourceView(source, facts, presence);
  }

  /** As it was then. */
  static at(source: ChunkSource, facts: SourceFacts, asOf: AsOf): SourceView {
    const { tombstones, chunkCount } = source;
    const presence = new Uint8Array(chunkCount);
    const named = asOf.session === null ? -1 : source.logNumber(asOf.session.id);
    for (let ordinal = 0; ordinal < chunkCount; ordinal += 1) {
      const isPlain = !tombstones.isDead(ordinal) && source.log(ordinal) !== named;
      presence[ordinal] = isPlain ? plainPlace(source.time(ordinal), asOf) : placeOf(source, ordinal, asOf);
    }
    return new SourceView(source, facts, presence);
  }

  /** Bytes of the arrays that it holds. */
  get byteLength(): number {
    return (this.presence?.byteLength ?? 0) + this.#uncounted.byteLength;
  }

  /** Chunks that count and hold a term of the source. */
  df(term: number): number {
    if (term === -1) return 0;
    return this.presence === null ? this.source.df(term) : this.#countsOf(term, this.presence).there;
  }

  /** Whether any chunk that counts, or of which nobody knows whether it does, holds the term. */
  isHeld(term: number): boolean {
    if (term === -1) return false;
    if (this.presence === null) return true;
    const { there, unknownTime } = this.#countsOf(term, this.presence);
    return there + unknownTime > 0;
  }

  #countsOf(term: number, presence: Uint8Array): TermCounts {
    const known = this.#dfs.get(term);
    if (known !== undefined) return known;
    const counts = this.#count(term, presence);
    this.#dfs.set(term, counts);
    return counts;
  }

  /** Only blocks that may hold a chunk that does not count are read. */
  #count(term: number, presence: Uint8Array): TermCounts {
    const uncounted = this.#uncounted;
    const counts = { there: 0, unknownTime: 0 };
    const block = new PostingBuffer();
    let at = 0;
    for (const cursor = this.source.cursor(term); cursor.count > 0; cursor.next()) {
      while (at < uncounted.length && (uncounted[at] ?? 0) <= cursor.previousLast) at += 1;
      const isWhole = at === uncounted.length || (uncounted[at] ?? 0) > cursor.last;
      if (isWhole) {
        counts.there += cursor.count;
        continue;
      }
      block.read(cursor, 0);
      countPresent(block.ordinals, cursor.count, presence, counts);
    }
    return counts;
  }
}

/** Of a chunk that nothing has superseded, of a session that does not name the moment: most are such. */
function plainPlace(time: number, asOf: AsOf): number {
  if (Number.isNaN(time)) return presences.unknownTime;
  return time <= asOf.tsMs ? presences.there : presences.absent;
}

function placeOf(source: ChunkSource, ordinal: number, asOf: AsOf): number {
  const { tombstones, logs } = source;
  if (tombstones.isGone(ordinal)) return presences.absent;
  const time = source.time(ordinal);
  const record = { seq: source.seq(ordinal), tsMs: Number.isNaN(time) ? null : time };
  const session = logs[source.log(ordinal)]?.session ?? '';
  const place = presenceAt(asOf, session, record, tombstones.supersederOf(ordinal));
  if (place === 'there') return presences.there;
  return place === 'unknown-time' ? presences.unknownTime : presences.absent;
}

function countPresent(
  ordinals: Uint32Array,
  count: number,
  presence: Uint8Array,
  counts: { there: number; unknownTime: number },
): void {
  for (let posting = 0; posting < count; posting += 1) {
    const place = presence[ordinals[posting] ?? 0];
    if (place === presences.there) counts.there += 1;
    else if (place === presences.unknownTime) counts.unknownTime += 1;
  }
}

interface TermCounts {
  readonly there: number;
  readonly unknownTime: number;
}
