import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyOrder, judgeLine, type LinePiece, type OrderState, order } from '../src/index.js';

const repoRoot = join(__dirname, '..', '..', '..');

/** Where the documents and files that come with the project lie; absent in a plain checkout. */
export const sharedRoot: string = join(repoRoot, '..', 'shared');
export const hasShared: boolean = existsSync(join(sharedRoot, 'fixtures', 'wire'));

export function goldenBytes(name: string): Uint8Array {
  return readFileSync(join(repoRoot, 'test', 'golden', 'wire', name));
}

export function sharedBytes(...path: readonly string[]): Uint8Array {
  return readFileSync(join(sharedRoot, ...path));
}

/** Parsed expectations of a test, taken as what the test says they are. */
export function jsonOf<T>(bytes: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}

export interface Line {
  readonly start: number;
  readonly end: number;
  readonly isTerminated: boolean;
}

/** The lines of a file, cut at 0x0A, a byte-order mark at its start left aside. */
export function linesOf(bytes: Uint8Array): readonly Line[] {
  const lines: Line[] = [];
  let start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (start < bytes.length) {
    const found = bytes.indexOf(0x0a, start);
    const end = found < 0 ? bytes.length : found;
    lines.push({ start, end, isTerminated: found >= 0 });
    start = end + 1;
  }
  return lines;
}

export interface ReadPiece {
  readonly line: number;
  readonly piece: LinePiece;
  readonly seq: number | null;
  readonly tsMs: number | null;
  readonly flags: readonly string[];
  readonly isFirstRecord: boolean;
}

/** Reads a whole file the obvious way. */
export function readFileOf(bytes: Uint8Array): {
  readonly pieces: readonly ReadPiece[];
  readonly state: OrderState;
} {
  const pieces: ReadPiece[] = [];
  let state = emptyOrder;
  let previous: Uint8Array = new Uint8Array(0);
  for (const [index, { start, end, isTerminated }] of linesOf(bytes).entries()) {
    for (const piece of judgeLine(bytes, start, end, { highestSeq: state.highestSeq, isTerminated })) {
      if (piece.verdict === 'damage') {
        pieces.push({ line: index + 1, piece, seq: null, tsMs: null, flags: [], isFirstRecord: false });
        continue;
      }
      const own = bytes.subarray(piece.start, piece.end);
      const isFirstRecord = state.recordCount === 0;
      const ordered = order(state, piece.record, () => Buffer.compare(own, previous) === 0);
      const flags = [
        ...(piece.isSalvaged ? ['salvaged'] : []),
        ...(piece.isUnterminated ? ['unterminated'] : []),
        ...ordered.flags,
      ];
      pieces.push({ line: index + 1, piece, seq: ordered.seq, tsMs: ordered.tsMs, flags, isFirstRecord });
      state = ordered.state;
      previous = own;
    }
  }
  return { pieces, state };
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A line of ours around the text of an event. */
export function lineOf(event: string, seq = 1): string {
  return `{"schema_version":"0.18.0","seq":${seq},"ts":"2026-10-05T08:30:00.125Z","event":${event}}`;
}
