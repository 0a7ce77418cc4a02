import { limits } from '@turnlog/kernel';
import type { ClosedTurn } from './lifecycle.js';
import type { ByteSource } from './line-framer.js';
import { readFully } from './scanner.js';
import { parseIndexLine } from './turn-index.js';

/** The part of `index/turns.jsonl` that the manifest vouches for. */
export interface IndexedTurns {
  readonly source: ByteSource;
  readonly bytes: number;
}

const lineFeed = 0x0a;
/** Several lines of an index fit into this. */
const probeBytes = 1_024;

/**
 * The closed turns of a log: those of its index, found by bisection so that finding one does not cost more the
 * more there are, then those that a scan has found behind them.
 */
export class TurnTable {
  readonly #indexed: IndexedTurns | null;
  readonly #scanned: readonly ClosedTurn[];

  constructor(indexed: IndexedTurns | null, scanned: readonly ClosedTurn[]) {
    this.#indexed = indexed;
    this.#scanned = scanned;
  }

  /** The last turn for which `holds`, which must hold for a first part of all turns; null when for none. */
  findLast(holds: (turn: ClosedTurn) => boolean): ClosedTurn | null {
    const first = this.#scanned[0];
    if (first !== undefined && holds(first)) return this.#findScanned(holds);
    return this.#indexed === null ? null : findIndexed(this.#indexed, holds);
  }

  /** The turns from `turn` number on, oldest first. */
  *from(turn: number): Iterable<ClosedTurn> {
    for (let next = turn; ; next += 1) {
      const found = this.findLast((candidate) => candidate.turn <= next);
      if (found?.turn !== next) return;
      yield found;
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

function findIndexed(indexed: IndexedTurns, holds: (turn: ClosedTurn) => boolean): ClosedTurn | null {
  // Turn lines that are still candidates start in [low, high); the header is none.
  let low = 0;
  let high = indexed.bytes;
  let best: ClosedTurn | null = null;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const probe = turnLineAt(indexed, middle, high);
    if (probe !== null && holds(probe.turn)) {
      best = probe.turn;
      low = probe.end;
    } else {
      high = middle;
    }
  }
  return best;
}

/** The first turn line that starts in [from, to) of the index; null when none does. */
function turnLineAt(
  indexed: IndexedTurns,
  from: number,
  to: number,
): { readonly turn: ClosedTurn; readonly end: number } | null {
  let start = from === 0 ? 0 : lineStartAt(indexed, from);
  while (start !== null && start < to) {
    const end = lineEndAt(indexed, start);
    if (end === null) return null;
    const line = readLineText(indexed, start, end);
    const parsed = line === null ? null : parseIndexLine(line);
    if (parsed?.kind === 'turn') return { turn: parsed.turn, end: end + 1 };
    start = end + 1;
  }
  return null;
}

/** The first start of a line at or behind `from`. */
function lineStartAt(indexed: IndexedTurns, from: number): number | null {
  const end = lineEndAt(indexed, from - 1);
  return end === null ? null : end + 1;
}

/** Position of the first 0x0A at or behind `from`; null when there is none. */
function lineEndAt(indexed: IndexedTurns, from: number): number | null {
  for (let at = from; at < indexed.bytes; at += probeBytes) {
    const block = new Uint8Array(Math.min(probeBytes, indexed.bytes - at));
    if (!readFully(indexed.source, block, at)) return null;
    const found = block.indexOf(lineFeed);
    if (found !== -1) return at + found;
  }
  return null;
}

function readLineText(indexed: IndexedTurns, start: number, end: number): string | null {
  if (end - start > limits.readBlockBytes) return null;
  const bytes = new Uint8Array(end - start);
  return readFully(indexed.source, bytes, start) ? new TextDecoder().decode(bytes) : null;
}
