import { limits, sha256Hex } from '@turnlog/kernel';
import { type ByteSource, LineFramer } from '@turnlog/log';
import { isNestedTooDeep } from './json-text.js';
import { lineParts, type RefusalReason, skipBlanks } from './line-objects.js';
import { SourceObject } from './source-object.js';
import type { Lookahead } from './thread-format.js';

/** How far a decision may look ahead. */
const aheadRecordsMax = 1_024;
const aheadBytesMax = 8_388_608;

/** A place in a source: the next byte, and the number of the line that it stands in, from 1. */
export interface SourcePosition {
  readonly offset: number;
  readonly line: number;
}

/** One piece of a source. The pieces follow each other without gaps. */
export type SourcePiece = { readonly start: SourcePosition; readonly end: SourcePosition } & (
  | { readonly kind: 'object'; readonly object: SourceObject }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly sha256: string | null }
  | { readonly kind: 'framing' }
  /** Of a document: a value that is no record, by the name of its member. */
  | { readonly kind: 'kept'; readonly what: string }
);

export interface WindowOptions {
  readonly from: SourcePosition;
  /** Bytes behind it do not exist for this reader. */
  readonly to: number;
  /** Nothing will be added to the source: a cut last line is damage, and not something that waits. */
  readonly isFinal: boolean;
  readonly blockBytes?: number;
}

/**
 * Reads a source piece by piece, and ahead of the present piece as far as somebody looks. An object that no line
 * end follows is delivered as soon as it is whole; what else stands behind the last line end waits.
 */
export class RecordWindow implements Lookahead {
  readonly #framer: LineFramer;
  readonly #isFinal: boolean;
  /** Pieces that were read and not delivered. */
  #queue: SourcePiece[] = [];
  #head = 0;
  /** Bytes of the objects between the present piece and the end of the queue. */
  #aheadBytes = 0;
  #aheadObjects: SourceObject[] = [];
  #line: number;
  #isAtStart: boolean;
  #isExhausted = false;

  constructor(source: ByteSource, options: WindowOptions) {
    const { from, to, isFinal, blockBytes } = options;
    this.#framer = new LineFramer(source, {
      from: from.offset,
      to,
      ...(blockBytes === undefined ? {} : { blockBytes }),
    });
    this.#isFinal = isFinal;
    this.#line = from.line - 1;
    this.#isAtStart = from.offset === 0;
  }

  /** The next piece, or null when the rest, if any, is not whole yet. */
  next(): SourcePiece | null {
    while (this.#head >= this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
      if (!this.#readLine()) return null;
    }
    const piece = this.#queue[this.#head] ?? null;
    this.#head += 1;
    if (piece?.kind === 'object') {
      this.#aheadObjects.shift();
      this.#aheadBytes -= piece.object.length;
    }
    return piece;
  }

  peek(n: number): SourceObject | 'end' | 'later' | 'limit' {
    for (;;) {
      if (n > aheadRecordsMax) return 'limit';
      const found = this.#aheadObjects[n - 1];
      if (found !== undefined) return found;
      // What lies in between counts, and nothing is ever read farther than from an earlier record.
      if (this.#aheadBytes > aheadBytesMax) return 'limit';
      if (!this.#readLine()) return this.#isFinal ? 'end' : 'later';
    }
  }

  /** Reads one line into the queue; false when there is none. */
  #readLine(): boolean {
    if (this.#isExhausted) return false;
    const framer = this.#framer;
    if (!framer.next()) {
      this.#isExhausted = true;
      return false;
    }
    this.#line += 1;
    if (!framer.isTerminated) this.#isExhausted = true;
    const before = this.#queue.length;
    if (framer.isTooLong) this.#addTooLong();
    else this.#addLine(framer.bytes.slice(framer.start, framer.end));
    this.#isAtStart = false;
    return this.#queue.length > before;
  }

  #addTooLong(): void {
    const { offset, length, isTerminated } = this.#framer;
    if (!isTerminated && !this.#isFinal) return;
    const end = { offset: offset + length, line: this.#line };
    this.#queue.push({
      kind: 'refused',
      reason: 'too-long',
      sha256: null,
      start: { offset, line: this.#line },
      end,
    });
    this.#endLine(end.offset);
  }

  #addLine(line: Uint8Array): void {
    const hasMark = this.#isAtStart && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf;
    const from = skipBlanks(line, hasMark ? 3 : 0, line.length);
    let at = 0;
    const parts = partsOf(line, from, this.#line, this.#framer.offset);
    for (const part of parts) {
      // What stands behind the last line end and is no object may become one.
      const isCut = !this.#framer.isTerminated && part === parts.at(-1);
      if (part.kind === 'refused' && isCut && !this.#isFinal) return;
      this.#addFraming(at, part.start);
      this.#addPart(part, line, isCut);
      at = part.end;
    }
    if (this.#framer.isTerminated || this.#isFinal) {
      this.#addFraming(at, line.length);
      this.#endLine(this.#framer.offset + line.length);
    }
  }

  #addPart(part: LinePartWithObject, line: Uint8Array, isCut: boolean): void {
    const start = this.#place(part.start);
    const end = this.#place(part.end);
    if (part.kind === 'object') {
      this.#queue.push({ kind: 'object', object: part.object, start, end });
      this.#aheadObjects.push(part.object);
      this.#aheadBytes += part.object.length;
      return;
    }
    const sha256 = sha256Hex(line.subarray(part.start, part.end));
    this.#queue.push({
      kind: 'refused',
      reason: isCut && part.reason === 'bad-json' ? 'torn-tail' : part.reason,
      sha256,
      start,
      end,
    });
  }

  #place(inLine: number): SourcePosition {
    return { offset: this.#framer.offset + inLine, line: this.#line };
  }

  #addFraming(from: number, to: number): void {
    if (to > from) this.#queue.push({ kind: 'framing', start: this.#place(from), end: this.#place(to) });
  }

  #endLine(offset: number): void {
    if (!this.#framer.isTerminated) return;
    const start = { offset, line: this.#line };
    this.#queue.push({ kind: 'framing', start, end: { offset: offset + 1, line: this.#line + 1 } });
  }
}

type LinePartWithObject =
  | { readonly kind: 'object'; readonly object: SourceObject; readonly start: number; readonly end: number }
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason;
      readonly start: number;
      readonly end: number;
    };

/** The parts of a line. Nearly every line is one object, which is tried first. */
function partsOf(
  line: Uint8Array,
  from: number,
  number: number,
  offset: number,
): readonly LinePartWithObject[] {
  let end = line.length;
  while (end > from && isBlankByte(line[end - 1])) end -= 1;
  const whole = line[from] === 0x7b ? wholeObject(line, from, end, number, offset) : null;
  if (whole !== null) return [{ kind: 'object', object: whole, start: from, end }];
  return lineParts(line, from, end).map((part) => {
    if (part.kind === 'refused') return part;
    const object = new SourceObject(line, part, number, offset + part.start);
    return { kind: 'object', object, start: part.start, end: part.end };
  });
}

function isBlankByte(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function wholeObject(
  line: Uint8Array,
  start: number,
  end: number,
  number: number,
  offset: number,
): SourceObject | null {
  try {
    const object = new SourceObject(line, { start, end }, number, offset + start);
    return isNestedTooDeep(object.value, limits.readerNestingLevelsMax) ? null : object;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
