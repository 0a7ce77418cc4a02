import { compareBytes } from '../chunk-id.js';
import { type ChunkSource, ordinalsOfLog } from './chunk-source.js';
import { type LogEntry, nothingTaken, uniteSpans } from './log-table.js';

/** Which chunks of some sources make a new segment, in the order of their ids. */
export interface MergeOrder {
  readonly chunkCount: number;
  /** For each new ordinal the number of its source, and its ordinal there. */
  readonly sources: Uint8Array;
  readonly ordinals: Uint32Array;
  /** For each source: new ordinals by old ones; -1 for chunks that are left out. */
  readonly places: readonly Int32Array[];
  readonly logs: readonly LogEntry[];
  /** For each new chunk the number of its log. */
  readonly logNumbers: Uint32Array;
}

/** How many chunks are put in order before the work may pause. */
const sliceChunks = 8_192;

/** Chunks that are gone are left out, and so are logs that do not count any more. Pauses as `writeSegment` does. */
export function* mergeOrder(sources: readonly ChunkSource[]): Generator<void, MergeOrder, void> {
  const total = sources.reduce((sum, { chunkCount }) => sum + chunkCount, 0);
  const grouped: (readonly number[][] | null)[] = [];
  for (const source of sources) grouped.push(source.order === 'ids' ? null : yield* ordinalsByLog(source));
  const order = new GrowingOrder(sources, grouped, total);
  for (const session of sessionsOf(sources)) yield* order.addSession(session);
  return order.finish();
}

function sessionsOf(sources: readonly ChunkSource[]): readonly string[] {
  const sessions = new Set<string>();
  for (const { logs, tombstones } of sources) {
    for (const [log, { session }] of logs.entries()) if (!tombstones.isVoid(log)) sessions.add(session);
  }
  return [...sessions].sort(compareBytes);
}

class GrowingOrder {
  readonly #sources: readonly ChunkSource[];
  readonly #grouped: readonly (readonly number[][] | null)[];
  readonly #sourceNumbers: Uint8Array;
  readonly #ordinals: Uint32Array;
  readonly #logNumbers: Uint32Array;
  readonly #places: readonly Int32Array[];
  readonly #logs: LogEntry[] = [];
  #count = 0;

  /** `grouped`: for sources that are not in the order of ids the ordinals of each log in that order. */
  constructor(
    sources: readonly ChunkSource[],
    grouped: readonly (readonly number[][] | null)[],
    total: number,
  ) {
    this.#sources = sources;
    this.#grouped = grouped;
    this.#sourceNumbers = new Uint8Array(total);
    this.#ordinals = new Uint32Array(total);
    this.#logNumbers = new Uint32Array(total);
    this.#places = sources.map(({ chunkCount }) => new Int32Array(chunkCount).fill(-1));
  }

  *addSession(session: string): Generator<void, void, void> {
    const entries: LogEntry[] = [];
    const queues: Queue[] = [];
    for (const [number, source] of this.#sources.entries()) {
      const log = source.logNumber(session);
      const entry = source.logs[log];
      if (entry === undefined) continue;
      entries.push(entry);
      const held = this.#grouped[number]?.[log] ?? ordinalsOfLog(source, log);
      queues.push(new Queue(source, number, held));
    }
    const firstOrdinal = this.#count;
    for (let next = firstOf(queues); next !== null; next = firstOf(queues)) {
      this.#add(next.number, next.ordinal);
      next.advance();
      if (this.#count % sliceChunks === 0) yield;
    }
    this.#logs.push({ ...uniteLogs(entries), firstOrdinal });
  }

  finish(): MergeOrder {
    const length = this.#count;
    return {
      chunkCount: length,
      sources: this.#sourceNumbers.subarray(0, length),
      ordinals: this.#ordinals.subarray(0, length),
      places: this.#places,
      logs: this.#logs,
      logNumbers: this.#logNumbers.subarray(0, length),
    };
  }

  #add(source: number, ordinal: number): void {
    const at = this.#count;
    this.#sourceNumbers[at] = source;
    this.#ordinals[at] = ordinal;
    this.#logNumbers[at] = this.#logs.length;
    const places = this.#places[source];
    if (places !== undefined) places[ordinal] = at;
    this.#count += 1;
  }
}

/** The chunks of a log in one source, those that are gone passed over. */
class Queue {
  readonly number: number;
  ordinal = -1;
  seq = 0;
  n = 0;
  readonly #source: ChunkSource;
  readonly #ordinals: Iterator<number>;

  constructor(source: ChunkSource, number: number, ordinals: Iterable<number>) {
    this.number = number;
    this.#source = source;
    this.#ordinals = ordinals[Symbol.iterator]();
    this.advance();
  }

  get isEmpty(): boolean {
    return this.ordinal === -1;
  }

  advance(): void {
    for (;;) {
      const step = this.#ordinals.next();
      this.ordinal = step.done === true ? -1 : step.value;
      if (this.ordinal === -1) return;
      if (this.#source.tombstones.isGone(this.ordinal)) continue;
      this.seq = this.#source.seq(this.ordinal);
      this.n = this.#source.n(this.ordinal);
      return;
    }
  }
}

function firstOf(queues: readonly Queue[]): Queue | null {
  let first: Queue | null = null;
  for (const queue of queues) {
    if (queue.isEmpty) continue;
    if (first === null || queue.seq < first.seq || (queue.seq === first.seq && queue.n < first.n)) {
      first = queue;
    }
  }
  return first;
}

/** Of a source whose chunks stand as they came: those of each log in the order of ids. */
function* ordinalsByLog(source: ChunkSource): Generator<void, number[][], void> {
  const lists: number[][] = source.logs.map(() => []);
  for (let ordinal = 0; ordinal < source.chunkCount; ordinal += 1) {
    lists[source.log(ordinal)]?.push(ordinal);
    if (ordinal % sliceChunks === sliceChunks - 1) yield;
  }
  const compare = (left: number, right: number): number =>
    source.seq(left) - source.seq(right) || source.n(left) - source.n(right) || left - right;
  for (const list of lists) {
    // Most logs came in their order.
    if (list.some((ordinal, at) => at > 0 && compare(list[at - 1] ?? 0, ordinal) > 0)) list.sort(compare);
    if (list.length >= sliceChunks) yield;
  }
  return lists;
}

/** What several sources know of one log: all that was taken in, and how far the newest of them came. */
export function uniteLogs(entries: readonly LogEntry[]): Omit<LogEntry, 'firstOrdinal'> {
  let newest = entries[0];
  for (const entry of entries)
    if (newest === undefined || entry.taken.seq >= newest.taken.seq) newest = entry;
  const { session = '', workspaces = [], agent = 'primary' } = newest ?? {};
  const taken = newest?.taken ?? nothingTaken;
  return {
    session,
    taken,
    spans: uniteSpans(entries.flatMap(({ spans }) => spans)),
    workspaces,
    agent,
    unindexedBytes: entries.reduce((sum, { unindexedBytes }) => sum + unindexedBytes, 0),
  };
}
