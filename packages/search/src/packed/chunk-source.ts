import type { Kind, Role } from '../chunk.js';
import type { BlockCursor } from './block-cursor.js';
import type { NumberedTerm } from './dictionary.js';
import type { LogEntry } from './log-table.js';
import type { Tombstones } from './tombstones.js';

/**
 * Some chunks of the corpus, each named by its ordinal: a segment, or those that are not in one yet. Queries and
 * merges see nothing else.
 */
export interface ChunkSource {
  readonly chunkCount: number;
  /** Σ len, dead ones included. */
  readonly tokenCount: number;
  /** Whether any chunk is of kind context. */
  readonly hasContext: boolean;
  readonly logs: readonly LogEntry[];
  readonly tombstones: Tombstones;
  /** Whether ordinals are in the order of ids, so that each log has a range of them. */
  readonly order: 'ids' | 'arrival';

  /** Number of the log of a session; -1 where nothing of it is held, or what is held does not count any more. */
  logNumber(session: string): number;
  /** The first chunk of a record, those of its others follow; -1 where the source has none of it. */
  firstOfRecord(log: number, seq: number): number;
  /** Number of the log that a chunk belongs to. */
  log(ordinal: number): number;
  seq(ordinal: number): number;
  n(ordinal: number): number;
  turn(ordinal: number): number | null;
  /** Milliseconds since the epoch; not a number when unknown. */
  time(ordinal: number): number;
  /** The time of every chunk, for those who need those of many. Behind the last one numbers mean nothing. */
  times(): Float64Array;
  len(ordinal: number): number;
  /** The len of every chunk, for those who need those of many. */
  lens(): ChunkLens;
  role(ordinal: number): Role;
  kind(ordinal: number): Kind;
  /** Number of its tool, from 1; 0 for none. */
  toolNumber(ordinal: number): number;
  toolText(number: number): string;
  paths(ordinal: number): readonly string[];
  /** The two halves of the hash of its item's id; 0 and 0 for what is said once. */
  itemHigh(ordinal: number): number;
  itemLow(ordinal: number): number;

  /** Number of a term; -1 when no chunk holds it. */
  findTerm(text: string): number;
  /** Terms with that beginning, in the order of their bytes. */
  termsFrom(prefix: string): Iterable<NumberedTerm>;
  /** All terms in the order of their bytes. */
  allTerms(): Iterable<NumberedTerm>;
  /** Chunks that hold a term, dead ones included. */
  df(term: number): number;
  cursor(term: number): BlockCursor;
  /** Writes all postings of a term, ordinals rising, from `at` on; there are `df` of them. */
  readPostings(term: number, ordinals: Uint32Array, tfs: Uint32Array, at: number): void;
}

/** Lens by ordinal, and the largest of them. Behind the last ordinal there may be more numbers, which mean nothing. */
export interface ChunkLens {
  readonly values: Uint32Array;
  readonly max: number;
}

/** The ordinals of a log of a source that is in the order of ids: `[from, to)`. */
export function rangeOfLog(source: ChunkSource, log: number): readonly [from: number, to: number] {
  const from = source.logs[log]?.firstOrdinal ?? source.chunkCount;
  return [from, source.logs[log + 1]?.firstOrdinal ?? source.chunkCount];
}

/** The ordinals of a log, rising. */
export function* ordinalsOfLog(source: ChunkSource, log: number): Iterable<number> {
  const isRange = source.order === 'ids';
  const [from, to] = isRange ? rangeOfLog(source, log) : [0, source.chunkCount];
  for (let ordinal = from; ordinal < to; ordinal += 1) {
    if (isRange || source.log(ordinal) === log) yield ordinal;
  }
}

/** The chunks of a record. */
export function* ordinalsOfRecord(source: ChunkSource, log: number, seq: number): Iterable<number> {
  const first = source.firstOfRecord(log, seq);
  for (let ordinal = first; ordinal !== -1 && ordinal < source.chunkCount; ordinal += 1) {
    if (source.seq(ordinal) !== seq || source.log(ordinal) !== log) return;
    yield ordinal;
  }
}
