import { compareBytes } from '../chunk-id.js';
import { type ChunkSource, rangeOfLog } from './chunk-source.js';
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
      queues.push(new Queue(source, number, log, this.#grouped[number]?.[log] ?? null));
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
  /** The ordinals of the log; null where it has all of a range. */
  readonly #ordinals: readonly number[] | null;
  #next: number;
  readonly #end: number;

  constructor(source: ChunkSource, number: number, log: number, ordinals: readonly number[] | null) {
    this.number = number;
    this.#source = source;
    this.#ordinals = ordinals;
    [this.#next, this.#end] = ordinals === null ? rangeOfLog(source, log) : [0, ordinals.length];
    this.advance();
  }

  get isEmpty(): boolean {
    return this.ordinal === -1;
  }

  advance(): void {
    this.ordinal = -1;
    while (this.#next < this.#end) {
      const ordinal = this.#ordinals === null ? this.#next : (this.#ordinals[this.#next] ?? 0);
      this.#next += 1;
      if (this.#source.tombstones.isGone(ordinal)) continue;
      this.ordinal = ordinal;
      this.seq = this.#source.seq(ordinal);
      this.n = this.#source.n(ordinal);
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
  for (let from = 0; from < source.chunkCount; from += sliceChunks) {
    const to = Math.min(from + sliceChunks, source.chunkCount);
    addToLists(source, from, to, lists);
    if (to < source.chunkCount) yield;
  }
  for (const list of lists) {
    putInOrder(source, list);
    if (list.length >= sliceChunks) yield;
  }
  return lists;
}

function addToLists(source: ChunkSource, from: number, to: number, lists: readonly number[][]): void {
  for (let ordinal = from; ordinal < to; ordinal += 1) lists[source.log(ordinal)]?.push(ordinal);
}

function putInOrder(source: ChunkSource, ordinals: number[]): void {
  const compare = (left: number, right: number): number =>
    source.seq(left) - source.seq(right) || source.n(left) - source.n(right) || left - right;
  // Most logs came in their order.
  const isInOrder = ordinals.every((ordinal, at) => at === 0 || compare(ordinals[at - 1] ?? 0, ordinal) < 0);
  if (!isInOrder) ordinals.sort(compare);
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
