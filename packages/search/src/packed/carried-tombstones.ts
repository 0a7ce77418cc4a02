import type { ChunkSource } from './chunk-source.js';
import type { MergeOrder } from './merge-order.js';
import type { SegmentReader } from './segment-reader.js';

/** How many tombstones are carried over before the work may pause. */
const sliceBurials = 8_192;

/**
 * Makes dead in a segment what is dead in the sources that it was written of. Tombstones come all the time: so they are
 * carried over in slices, and before the segment takes the place of the sources only those that came since.
 */
export class CarriedTombstones {
  readonly #sources: readonly ChunkSource[];
  /** Of each source how many of its burials were carried over. */
  readonly #carried: number[];
  /** Of each source how many of its logs did not count when the order of the segment was found. */
  readonly #voidCounts: readonly number[];

  /** Is made before the order of the segment is found. */
  constructor(sources: readonly ChunkSource[]) {
    this.#sources = sources;
    this.#carried = sources.map(() => 0);
    this.#voidCounts = sources.map(({ tombstones }) => tombstones.voidCount);
  }

  *carry(reader: SegmentReader, { places }: MergeOrder): Generator<void, void, void> {
    for (const [number, { tombstones }] of this.#sources.entries()) {
      const own = places[number];
      if (own === undefined) continue;
      for (let at = this.#carried[number] ?? 0; at < tombstones.burialCount; at += 1) {
        const ordinal = tombstones.burialAt(at);
        const place = own[ordinal] ?? -1;
        if (place !== -1) reader.tombstones.bury(place, reader.len(place), tombstones.supersederOf(ordinal));
        this.#carried[number] = at + 1;
        if (at % sliceBurials === sliceBurials - 1) yield;
      }
    }
    this.#carryVoidLogs(reader);
  }

  /** Logs that have ceased to count since. */
  #carryVoidLogs(reader: SegmentReader): void {
    const sources = this.#sources;
    if (sources.every(({ tombstones }, number) => tombstones.voidCount === this.#voidCounts[number])) return;
    for (const [log, { session }] of reader.logs.entries()) {
      const isVoid = sources.every((source) => source.logNumber(session) === -1);
      if (isVoid && !reader.tombstones.isVoid(log)) reader.tombstones.voidLog(log);
    }
  }
}
