import { limits } from '@turnlog/kernel';
import type { ClosedTurn } from './lifecycle.js';
import { type ByteSource, LineFramer } from './line-framer.js';
import { readFully } from './read-fully.js';
import { parseIndexLine } from './turn-index.js';

/** The part of `index/turns.jsonl` that the manifest vouches for. */
export interface IndexedTurns {
  readonly source: ByteSource;
  readonly bytes: number;
}

const lineFeed = 0x0a;
/** Several lines of an index fit into this. */
const probeBytes = 1_024;
/** Lines that are remembered between searches: several for each of the places that a search looks at. */
const rememberedLinesMax = 1_024;

/** A turn of the index, and where its line begins and ends (behind its 0x0A). */
interface IndexedTurn {
  readonly turn: ClosedTurn;
  readonly start: number;
  readonly end: number;
}

/**
 * The closed turns of a log: those of its index, found by bisection so that finding one does not cost more the
 * more there are, then those that a scan has found behind them.
 */
export class TurnTable {
  readonly #indexed: TurnIndexSearch | null;
  readonly #scanned: readonly ClosedTurn[];

  constructor(indexed: IndexedTurns | null, scanned: readonly ClosedTurn[]) {
    this.#indexed = indexed === null ? null : new TurnIndexSearch(indexed);
    this.#scanned = scanned;
  }

  /** The last turn for which `holds`, which must hold for a first part of all turns; null when for none. */
  findLast(holds: (turn: ClosedTurn) => boolean): ClosedTurn | null {
    const first = this.#scanned[0];
    if (first !== undefined && holds(first)) return this.#findScanned(holds);
    return this.#indexed?.findLast(holds)?.turn ?? null;
  }

  /** The turns from `turn` number on, oldest first. */
  *from(turn: number): Iterable<ClosedTurn> {
    if (this.#indexed !== null) yield* this.#indexed.from(turn);
    for (const scanned of this.#scanned) {
      if (scanned.turn >= turn) yield scanned;
    }
  }

  #findScanned(holds: (turn: ClosedTurn) => boolean): ClosedTurn | null {
    let low = 0;
    let high = this.#scanned.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (holds(this.#scanned[middle] as ClosedTurn)) low = middle;
      else high = middle;
    }
    return this.#scanned[low] ?? null;
  }
}

class TurnIndexSearch {
  readonly #indexed: IndexedTurns;
  /** Turn lines by the place from which they were looked for: searches of one index begin at the same places. */
  readonly #remembered = new Map<number, IndexedTurn | null>();

  constructor(indexed: IndexedTurns) {
    this.#indexed = indexed;
  }

  findLast(holds: (turn: ClosedTurn) => boolean): IndexedTurn | null {
    // Turn lines that are still candidates start in [low, high); the header is none.
    let low = 0;
    let high = this.#indexed.bytes;
    let best: IndexedTurn | null = null;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const probe = this.#turnLineFrom(middle);
      if (probe !== null && probe.start < high && holds(probe.turn)) {
        best = probe;
        low = probe.end;
      } else {
        high = middle;
      }
    }
    return best;
  }

  *from(turn: number): Iterable<ClosedTurn> {
    const before = this.findLast((candidate) => candidate.turn < turn);
    const { source, bytes } = this.#indexed;
    const framer = new LineFramer(source, { from: before?.end ?? 0, to: bytes });
    while (framer.next()) {
      const text = new TextDecoder().decode(framer.bytes.subarray(framer.start, framer.end));
      const line = parseIndexLine(text);
      if (line?.kind === 'turn') yield line.turn;
    }
  }

  /** The first turn line that starts at or behind `from`; null when none does. */
  #turnLineFrom(from: number): IndexedTurn | null {
    const known = this.#remembered.get(from);
    if (known !== undefined) return known;
    const found = this.#readTurnLineFrom(from);
    if (this.#remembered.size >= rememberedLinesMax) this.#remembered.clear();
    this.#remembered.set(from, found);
    return found;
  }

  #readTurnLineFrom(from: number): IndexedTurn | null {
    let start = from === 0 ? 0 : this.#lineEndFrom(from - 1) + 1;
    while (start > 0 || from === 0) {
      const end = this.#lineEndFrom(start);
      if (end === -1) return null;
      const parsed = parseIndexLine(this.#text(start, end));
      if (parsed?.kind === 'turn') return { turn: parsed.turn, start, end: end + 1 };
      start = end + 1;
    }
    return null;
  }

  /** Position of the first 0x0A at or behind `from`; -1 when there is none. */
  #lineEndFrom(from: number): number {
    const { source, bytes } = this.#indexed;
    for (let at = from; at < bytes; at += probeBytes) {
      const block = new Uint8Array(Math.min(probeBytes, bytes - at));
      if (!readFully(source, block, at)) return -1;
      const found = block.indexOf(lineFeed);
      if (found !== -1) return at + found;
    }
    return -1;
  }

  #text(start: number, end: number): string {
    if (end - start > limits.readBlockBytes) return '';
    const bytes = new Uint8Array(end - start);
    return readFully(this.#indexed.source, bytes, start) ? new TextDecoder().decode(bytes) : '';
  }
}
