import { type DamageKind, type PeekedRecord, parseEvent, type RecordPiece } from '@turnlog/events';
import { turnOfLast } from './lifecycle.js';
import type { ByteSource } from './line-framer.js';
import { foldDamage, foldRecord, isBeforeFirstRecord } from './log-fold.js';
import { emptyLogState, type LogState } from './log-state.js';
import { PieceReader, type PlaceFlag } from './piece-reader.js';
import { recordLeaf } from './record-leaf.js';

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
    const { eventStart, eventEnd, nestingLevels } = this.#piece.record;
    return parseEvent(this.#buffer, eventStart, eventEnd, nestingLevels);
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

/**
 * The one reader of a log: lines from the framer, verdicts from the contract, state from the fold. Load, tail,
 * range, follow, import and open all read through it, so they agree on every byte.
 */
export class Scanner {
  /** What is known after the last piece that `next` returned. */
  state: LogState;

  readonly #pieces: PieceReader;

  constructor(source: ByteSource, options: ScanOptions) {
    const { state = emptyLogState, ...rest } = options;
    this.state = state;
    this.#pieces = new PieceReader(source, {
      ...rest,
      from: state.length,
      order: state.order,
      previous: state.tail,
      isFirst: isBeforeFirstRecord(state),
    });
  }

  /** The next record or damage in file order; null at the end. */
  next(): Scanned | null {
    const piece = this.#pieces.next();
    if (piece === null) return null;
    return piece.verdict === 'record'
      ? this.#record(piece)
      : this.#damage(piece.kind, piece.end - piece.start);
  }

  #record(piece: RecordPiece): ScannedRecord {
    const pieces = this.#pieces;
    const { bytes, offset, end, ordered } = pieces;
    const { record } = piece;
    const readEvent = (): unknown =>
      parseEvent(bytes, record.eventStart, record.eventEnd, record.nestingLevels);
    this.state = foldRecord(this.state, {
      type: record.type,
      kind: record.kind,
      hasKey: record.key !== null,
      start: offset,
      end,
      line: pieces.lineSpan,
      ordered,
      readEvent,
      leaf: () => recordLeaf(record.type, bytes, piece.start, piece.end, readEvent),
    });
    const { seq, tsMs } = ordered;
    return new ScannedRecord(bytes, piece, {
      offset,
      end,
      seq,
      tsMs,
      turn: turnOfLast(this.state.lifecycle, end),
      flags: pieces.flags(piece),
      line: pieces.line,
      isLineEnded: pieces.isLineEnded,
    });
  }

  #damage(kind: DamageKind, length: number): ScannedDamage {
    const { offset, end, lineSpan, line, isLineEnded } = this.#pieces;
    this.state = foldDamage(this.state, { kind, offset, length, end, line: lineSpan });
    return { verdict: 'damage', kind, offset, length, end, line, isLineEnded };
  }
}
