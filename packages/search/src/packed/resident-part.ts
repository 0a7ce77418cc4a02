import type { Place } from './segment-format.js';

/** How many bytes are written at once. */
const pieceBytes = 262_144;

/** No more at once than the work may do before it pauses. */
export function* piecesOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** The part of a segment that is read at once, behind the pages: many megabytes, put together of parts without copying. */
export class ResidentPart {
  /** Where in the file it ends by now. */
  end: number;
  readonly #parts: Uint8Array[] = [];

  constructor(start: number) {
    this.end = start;
  }

  add(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.end += bytes.length;
  }

  section(parts: readonly (Uint8Array | Uint32Array)[]): Place {
    this.add(new Uint8Array((8 - (this.end % 8)) % 8));
    const start = this.end;
    for (const part of parts) this.add(bytesOf(part));
    return { start, end: this.end };
  }

  *pieces(): Iterable<Uint8Array> {
    for (const part of this.#parts) yield* piecesOf(part);
  }
}

export function bytesOf(values: Uint8Array | Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
