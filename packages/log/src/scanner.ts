import {
  type DamageKind,
  judgeLine,
  type LinePiece,
  type OrderFlag,
  order,
  type PeekedRecord,
  parseEvent,
  type RecordPiece,
} from '@turnlog/events';
import { turnOfLast } from './lifecycle.js';
import { type ByteSource, LineFramer } from './line-framer.js';
import { foldDamage, foldRecord, isBeforeFirstRecord } from './log-fold.js';
import { emptyLogState, type LineSpan, type LogState } from './log-state.js';
import { recordLeaf } from './record-leaf.js';

/** Flags that a record gets from its place in the log. */
export type PlaceFlag = OrderFlag | 'bom' | 'salvaged' | 'unterminated' | 'misplaced';

/**
 * One record as it stands in the file. Its bytes are a view that the next call may overwrite; they are looked at
 * only by those who want them.
 */
export class ScannedRecord {
  readonly verdict = 'record';
  readonly offset: number;
  readonly length: number;
  /** Position behind the record, and behind its 0x0A where it has one. */
  readonly end: number;
  readonly seq: number;
  /** Milliseconds since the epoch; null when unknown. */
  readonly tsMs: number | null;
  /** The turn it belongs to; null outside turns. */
  readonly turn: number | null;
  readonly flags: readonly PlaceFlag[];
  /** Its members. */
  readonly record: Omit<PeekedRecord, 'eventStart' | 'eventEnd'>;
  /** Physical line of the file, from 1 on, when the scan began at the start of the file. */
  readonly line: number;
  /** Whether a 0x0A ends the line that it stands on. */
  readonly isLineEnded: boolean;
  readonly #buffer: Uint8Array;
  readonly #piece: RecordPiece;

  constructor(buffer: Uint8Array, piece: RecordPiece, place: RecordPlace) {
    this.offset = place.offset;
    this.length = piece.end - piece.start;
    this.end = place.end;
    this.seq = place.seq;
    this.tsMs = place.tsMs;
    this.turn = place.turn;
    this.flags = place.flags;
    this.record = piece.record;
    this.line = place.line;
    this.isLineEnded = place.isLineEnded;
    this.#buffer = buffer;
    this.#piece = piece;
  }

  /** The record without its 0x0A. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(this.#piece.start, this.#piece.end);
  }

  /** The event's value; null when it is nested too deep to be built. */
  readEvent(): ReturnType<typeof parseEvent> {
    return parseEvent(this.#buffer, this.#piece.record.eventStart, this.#piece.record.eventEnd);
  }

  /** Where the event object begins and ends within `bytes`. */
  get eventStart(): number {
    return this.#piece.record.eventStart - this.#piece.start;
  }

  get eventEnd(): number {
    return this.#piece.record.eventEnd - this.#piece.start;
  }
}

interface RecordPlace {
  readonly offset: number;
  readonly end: number;
  readonly seq: number;
  readonly tsMs: number | null;
  readonly turn: number | null;
  readonly flags: readonly PlaceFlag[];
  readonly line: number;
  readonly isLineEnded: boolean;
}

/** Bytes that hold no record: one line, or one part of a line. */
export interface ScannedDamage {
  readonly verdict: 'damage';
  readonly kind: DamageKind;
  readonly offset: number;
  readonly length: number;
  readonly end: number;
  readonly line: number;
  readonly isLineEnded: boolean;
}

export type Scanned = ScannedRecord | ScannedDamage;

export interface ScanOptions {
  /** What is known of the bytes before; the scan begins at its length. */
  readonly state?: LogState;
  /** End of what is read, exclusive. */
  readonly to: number;
  /** Lines passed before, for the numbering of lines. */
  readonly linesBefore?: number;
  readonly lineBytesMax?: number;
  readonly blockBytes?: number;
}

const byteOrderMark = [0xef, 0xbb, 0xbf] as const;

/**
 * The one reader of a log: lines from the framer, verdicts from the contract, state from the fold. Load, tail,
 * range, follow, import and open all read through it, so they agree on every byte.
 */
export class Scanner {
  /** What is known after the last piece that `next` returned. */
  state: LogState;

  readonly #framer: LineFramer;
  readonly #source: ByteSource;
  #line: number;
  /** Pieces of the present line that are still to be delivered. */
  #pieces: readonly LinePiece[] = [];
  #pieceAt = 0;
  #isBomPending = false;
  /** The record before, to tell a repetition. */
  #previousOffset: number;
  #previousLength: number;

  constructor(source: ByteSource, options: ScanOptions) {
    this.#source = source;
    this.state = options.state ?? emptyLogState;
    this.#line = options.linesBefore ?? 0;
    this.#previousOffset = this.state.tail?.offset ?? 0;
    this.#previousLength = this.state.tail?.length ?? -1;
    this.#framer = new LineFramer(source, {
      from: this.state.length,
      to: options.to,
      ...(options.lineBytesMax === undefined ? {} : { lineBytesMax: options.lineBytesMax }),
      ...(options.blockBytes === undefined ? {} : { blockBytes: options.blockBytes }),
    });
  }

  /** The next record or damage in file order; null at the end. */
  next(): Scanned | null {
    while (this.#pieceAt >= this.#pieces.length) {
      if (!this.#framer.next()) return null;
      this.#line += 1;
      this.#judge();
    }
    const piece = this.#pieces[this.#pieceAt] as LinePiece;
    this.#pieceAt += 1;
    return piece.verdict === 'record'
      ? this.#record(piece)
      : this.#damage(piece.kind, piece.start, piece.end);
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
      highestSeq: this.state.order.highestSeq,
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

  #lineSpan(): LineSpan {
    return { offset: this.#framer.offset, length: this.#framer.length };
  }

  /** Position behind a piece that ends at `end` in the buffer: the 0x0A goes with the last piece of a line. */
  #endOffset(end: number): number {
    const isLast = this.#pieceAt >= this.#pieces.length;
    return isLast ? this.#framer.nextOffset : this.#framer.offset + (end - this.#framer.start);
  }

  #record(piece: RecordPiece): ScannedRecord {
    const framer = this.#framer;
    const { bytes } = framer;
    const { record } = piece;
    const offset = framer.offset + (piece.start - framer.start);
    const end = this.#endOffset(piece.end);
    const isFirst = isBeforeFirstRecord(this.state);
    const ordered = order(this.state.order, record, () =>
      this.#isPrevious(bytes.subarray(piece.start, piece.end)),
    );
    const readEvent = (): unknown => parseEvent(bytes, record.eventStart, record.eventEnd);
    this.state = foldRecord(this.state, {
      type: record.type,
      kind: record.kind,
      hasKey: record.key !== null,
      start: offset,
      end,
      line: this.#lineSpan(),
      ordered,
      readEvent,
      leaf: () => recordLeaf(record.type, bytes, piece.start, piece.end, readEvent),
    });
    this.#previousOffset = offset;
    this.#previousLength = piece.end - piece.start;
    const { seq, tsMs } = ordered;
    return new ScannedRecord(bytes, piece, {
      offset,
      end,
      seq,
      tsMs,
      turn: turnOfLast(this.state.lifecycle, end),
      flags: this.#flags(piece, ordered.flags, isFirst),
      line: this.#line,
      isLineEnded: framer.isTerminated,
    });
  }

  #flags(piece: RecordPiece, orderFlags: readonly OrderFlag[], isFirst: boolean): readonly PlaceFlag[] {
    const isMisplaced = piece.record.type === 'log.evicted' && !isFirst;
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

  /** Whether `bytes` are those of the record directly before, read again from the file: this is rare. */
  #isPrevious(bytes: Uint8Array): boolean {
    if (this.#previousLength !== bytes.length) return false;
    const stored = new Uint8Array(bytes.length);
    return readFully(this.#source, stored, this.#previousOffset) && Buffer.compare(stored, bytes) === 0;
  }

  #damage(kind: DamageKind, start: number, end: number): ScannedDamage {
    const framer = this.#framer;
    const damage = {
      kind,
      offset: framer.offset + (start - framer.start),
      length: end - start,
      end: framer.isTooLong ? framer.nextOffset : this.#endOffset(end),
      line: this.#lineSpan(),
    };
    this.state = foldDamage(this.state, damage);
    return { ...damage, verdict: 'damage', line: this.#line, isLineEnded: framer.isTerminated };
  }
}

const noFlags: readonly PlaceFlag[] = [];

/** Fills `into` from `offset` on; false when the source ends before. */
export function readFully(source: ByteSource, into: Uint8Array, offset: number): boolean {
  return readUpTo(source, into, offset) === into.length;
}

/** Reads into `into` from `offset` on until it is full or the source ends; returns how many bytes came. */
export function readUpTo(source: ByteSource, into: Uint8Array, offset: number): number {
  let filled = 0;
  while (filled < into.length) {
    const count = source.read(filled === 0 ? into : into.subarray(filled), offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}
