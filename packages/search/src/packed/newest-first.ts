import { assert } from '@turnlog/kernel';
import type { ChunkKey } from '../chunk.js';
import { compareBytes } from '../chunk-id.js';
import { lazyOrder } from '../lazy-order.js';
import type { ChunkSource } from './chunk-source.js';
import { keyOf } from './query-table.js';

/**
 * Chunks of some sources that count now, the newest first, unknown times last, equal times by id. Of very many chunks
 * few are looked at, so times alone are read of all of them.
 */
export function* newestFirst(sources: readonly ChunkSource[]): Iterable<ChunkKey> {
  const places = new Places(sources);
  for (const place of lazyOrder(places.count, (left, right) => places.compare(left, right))) {
    yield places.key(place);
  }
}

class Places {
  readonly count: number;
  readonly #sources: readonly ChunkSource[];
  /** By place: the number of its source, its ordinal there, and its time, unknown ones before all others. */
  readonly #sourceNumbers: Uint16Array;
  readonly #ordinals: Uint32Array;
  readonly #times: Float64Array;
  /** By source and log: where the session stands in the order of ids. */
  readonly #ranks: readonly (readonly number[])[];

  constructor(sources: readonly ChunkSource[]) {
    const total = sources.reduce((sum, { chunkCount }) => sum + chunkCount, 0);
    this.#sources = sources;
    this.#sourceNumbers = new Uint16Array(total);
    this.#ordinals = new Uint32Array(total);
    this.#times = new Float64Array(total);
    let count = 0;
    for (const [number, source] of sources.entries()) {
      const { chunkCount, tombstones } = source;
      for (let ordinal = 0; ordinal < chunkCount; ordinal += 1) {
        if (tombstones.isDead(ordinal)) continue;
        const time = source.time(ordinal);
        this.#sourceNumbers[count] = number;
        this.#ordinals[count] = ordinal;
        this.#times[count] = Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
        count += 1;
      }
    }
    this.count = count;
    this.#ranks = ranksOf(sources);
  }

  key(place: number): ChunkKey {
    return keyOf(this.#sourceOf(place), this.#ordinals[place] ?? 0);
  }

  /** Negative when the chunk at `left` comes first. */
  compare(left: number, right: number): number {
    const [leftTime, rightTime] = [this.#times[left] ?? 0, this.#times[right] ?? 0];
    if (leftTime !== rightTime) return leftTime < rightTime ? 1 : -1;
    const [leftSource, rightSource] = [this.#sourceOf(left), this.#sourceOf(right)];
    const [leftOrdinal, rightOrdinal] = [this.#ordinals[left] ?? 0, this.#ordinals[right] ?? 0];
    return (
      this.#rankOf(left) - this.#rankOf(right) ||
      leftSource.seq(leftOrdinal) - rightSource.seq(rightOrdinal) ||
      leftSource.n(leftOrdinal) - rightSource.n(rightOrdinal)
    );
  }

  #rankOf(place: number): number {
    const log = this.#sourceOf(place).log(this.#ordinals[place] ?? 0);
    return this.#ranks[this.#sourceNumbers[place] ?? 0]?.[log] ?? 0;
  }

  #sourceOf(place: number): ChunkSource {
    const source = this.#sources[this.#sourceNumbers[place] ?? 0];
    assert(source !== undefined, 'a chunk comes from one of the sources');
    return source;
  }
}

function ranksOf(sources: readonly ChunkSource[]): readonly (readonly number[])[] {
  const sessions = new Set(sources.flatMap(({ logs }) => logs.map(({ session }) => session)));
  const ranks = new Map([...sessions].sort(compareBytes).map((session, rank) => [session, rank]));
  return sources.map(({ logs }) => logs.map(({ session }) => ranks.get(session) ?? 0));
}
