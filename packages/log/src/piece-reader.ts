import {
  judgeLine,
  type LinePiece,
  type Ordered,
  type OrderFlag,
  type OrderState,
  order,
  type RecordPiece,
} from '@turnlog/events';
import { type ByteSource, LineFramer } from './line-framer.js';
import type { LineSpan } from './log-state.js';
import { readFully } from './read-fully.js';

/** Flags that a record gets from its place in the log. */
export type PlaceFlag = OrderFlag | 'bom' | 'salvaged' | 'unterminated' | 'misplaced';

export interface PieceOptions {
  /** First byte to read, at the start of a line, and the end of what is read, exclusive. */
  readonly from: number;
  readonly to: number;
  /** What the records before say of seq and time. */
  readonly order: OrderState;
  /** The line before, to tell a repetition; null without one. */
  readonly previous: LineSpan | null;
  /** Whether no record stands before, so that a header may. */
  readonly isFirst: boolean;
  /** Lines passed before, for the numbering of lines. */
  readonly linesBefore?: number;
  readonly lineBytesMax?: number;
  readonly blockBytes?: number;
}

const byteOrderMark = [0xef, 0xbb, 0xbf] as const;
const noFlags: readonly PlaceFlag[] = [];

/**
 * Cuts a log into the pieces of its lines, judges each by the contract and numbers its records. Nothing is folded: this
 * is what everybody who reads a log goes through, whatever he makes of it. The fields describe the piece that `next`
 * returned until the next call.
 */
export class PieceReader {
  /** Position of the piece in the file, and behind it: its 0x0A goes with the last piece of a line. */
  offset = 0;
  end = 0;
  /** Physical line, from 1 on where the reading began at the start of the file. */
  line: number;
  /** Number and time of a record, what is odd about its place, and whether a record stood before it. */
  ordered: Ordered;
  isFirst = false;

  readonly #source: ByteSource;
  readonly #framer: LineFramer;
  /** Pieces of the present line that are still to be delivered. */
  #pieces: readonly LinePiece[] = [];
  #pieceAt = 0;
  #isBomPending = false;
  #isBeforeFirst: boolean;
  /** The record before. */
  #previousOffset: number;
  #previousLength: number;
  #present: RecordPiece | null = null;
  readonly #isRepeated = (): boolean => this.#isPrevious();

  constructor(source: ByteSource, options: PieceOptions) {
    const { from, to, previous, lineBytesMax, blockBytes } = options;
    this.#source = source;
    this.line = options.linesBefore ?? 0;
    this.ordered = { seq: 0, tsMs: null, flags: [], state: options.order };
    this.#isBeforeFirst = options.isFirst;
    this.#previousOffset = previous?.offset ?? 0;
    this.#previousLength = previous?.length ?? -1;
    this.#framer = new LineFramer(source, {
      from,
      to,
      ...(lineBytesMax === undefined ? {} : { lineBytesMax }),
      ...(blockBytes === undefined ? {} : { blockBytes }),
    });
  }

  /** What the pieces are cut from; the next call may overwrite it. */
  get bytes(): Uint8Array {
    return this.#framer.bytes;
  }

  /** Whether a 0x0A ends the line that the piece stands on. */
  get isLineEnded(): boolean {
    return this.#framer.isTerminated;
  }

  get lineSpan(): LineSpan {
    return { offset: this.#framer.offset, length: this.#framer.length };
  }

  /** The next record or damage in file order; null at the end. */
  next(): LinePiece | null {
    while (this.#pieceAt >= this.#pieces.length) {
      if (!this.#framer.next()) return null;
      this.line += 1;
      this.#judge();
    }
    const framer = this.#framer;
    const piece = this.#pieces[this.#pieceAt] as LinePiece;
    this.#pieceAt += 1;
    const isLast = this.#pieceAt >= this.#pieces.length;
    this.offset = framer.offset + (piece.start - framer.start);
    this.end = isLast ? framer.nextOffset : framer.offset + (piece.end - framer.start);
    if (piece.verdict === 'record') this.#number(piece);
    return piece;
  }

  /** What is odd about the place of the record that `next` has returned. */
  flags(piece: RecordPiece): readonly PlaceFlag[] {
    const orderFlags = this.ordered.flags;
    const isMisplaced = piece.record.type === 'log.evicted' && !this.isFirst;
    if (
      orderFlags.length === 0 &&
      !piece.isSalvaged &&
      !piece.isUnterminated &&
      !this.#isBomPending &&
      !isMisplaced
    ) {
      return noFlags;
    }
    const flags: PlaceFlag[] = [...orderFlags];
    if (this.#isBomPending) flags.unshift('bom');
    this.#isBomPending = false;
    if (piece.isSalvaged) flags.push('salvaged');
    if (piece.isUnterminated) flags.push('unterminated');
    if (isMisplaced) flags.push('misplaced');
    return flags;
  }

  #judge(): void {
    const framer = this.#framer;
    this.#pieceAt = 0;
    if (framer.isTooLong) {
      const kind = framer.isTerminated ? 'too-long' : 'torn-tail';
      // No bytes are kept of such a line: the piece carries its length only.
      this.#pieces = [{ verdict: 'damage', kind, start: framer.start, end: framer.start + framer.length }];
      return;
    }
    const start = framer.start + this.#bomLength();
    this.#pieces = judgeLine(framer.bytes, start, framer.end, {
      highestSeq: this.ordered.state.highestSeq,
      isTerminated: framer.isTerminated,
    });
  }

  #bomLength(): number {
    const { bytes, start, end, offset } = this.#framer;
    const isMarked =
      offset === 0 && end - start >= 3 && byteOrderMark.every((byte, at) => bytes[start + at] === byte);
    this.#isBomPending = isMarked;
    return isMarked ? byteOrderMark.length : 0;
  }

  #number(piece: RecordPiece): void {
    this.#present = piece;
    this.ordered = order(this.ordered.state, piece.record, this.#isRepeated);
    this.isFirst = this.#isBeforeFirst;
    this.#isBeforeFirst = false;
    this.#previousOffset = this.offset;
    this.#previousLength = piece.end - piece.start;
  }

  /** Whether the present bytes are those of the record directly before, read again from the file: this is rare. */
  #isPrevious(): boolean {
    const piece = this.#present;
    if (piece === null || this.#previousLength !== piece.end - piece.start) return false;
    const stored = new Uint8Array(this.#previousLength);
    if (!readFully(this.#source, stored, this.#previousOffset)) return false;
    return Buffer.compare(stored, this.bytes.subarray(piece.start, piece.end)) === 0;
  }
}
