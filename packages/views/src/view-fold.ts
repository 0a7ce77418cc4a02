import { type JsonObject, logicalDigest } from '@turnlog/kernel';
import {
  type EffectiveRecord,
  type LogCursor,
  type LogReader,
  type LogRecord,
  startCursor,
} from '@turnlog/log';
import type { View, ViewRecord } from './view.js';
import { cursorBehind, fillsLine, isCursorThere } from './view-cursor.js';
import { digestedValue, encodeViewDocument, parseViewDocument } from './view-document.js';

/** Why a view is folded from the start, or that it is not. */
export type FoldStart =
  /** It went on from what was published. */
  | 'resumed'
  /** Nothing is published, or not by this version. */
  | 'unpublished'
  /** What is published is not whole. */
  | 'wrong'
  /** The log is not, or cannot be told to be, what was read for it. */
  | 'moved';

/** A view on its way through a log, whatever its state is. */
export interface RunningFold {
  readonly name: string;
  readonly start: FoldStart;
  /** Where to go on reading; the start cursor reads everything. */
  readonly from: LogCursor;
  take(effective: EffectiveRecord<LogRecord>, seen: ViewRecord): void;
  /** Logical digest of the state behind the last record that a cursor can stand behind, and what it is made of. */
  digest(): string;
  digested(): JsonObject;
  /** How far the document reaches. */
  cursor(): LogCursor;
  document(): string;
}

/**
 * One view of one session. Two points are kept: behind the last record, for answers, and behind the last record
 * that a cursor can stand behind, for what is published. They differ in the middle of a line that lacks its 0x0A.
 */
export class ViewFold<State> implements RunningFold {
  readonly name: string;
  readonly start: FoldStart;
  readonly from: LogCursor;
  readonly #view: View<State>;
  readonly #sessionId: string;
  readonly #generation: string | null;
  #state: State;
  #settled: State;
  #settledRecord: LogRecord | null = null;

  private constructor(
    view: View<State>,
    reader: LogReader,
    start: FoldStart,
    point: { readonly state: State; readonly cursor: LogCursor } | null,
  ) {
    this.name = view.name;
    this.start = start;
    this.#view = view;
    this.#sessionId = reader.sessionId;
    this.#generation = reader.generation;
    this.from = point?.cursor ?? { ...startCursor, generation: reader.generation };
    this.#state = point === null ? view.initial(reader.sessionId) : point.state;
    this.#settled = this.#state;
  }

  /** From the first record on. */
  static fromStart<State>(
    view: View<State>,
    reader: LogReader,
    why: FoldStart = 'unpublished',
  ): ViewFold<State> {
    return new ViewFold(view, reader, why, null);
  }

  /** From what a document says on, where the log still holds what was read for it. */
  static resume<State>(view: View<State>, reader: LogReader, document: string): ViewFold<State> {
    const point = parseViewDocument(view, reader.sessionId, document);
    if (point === null) return ViewFold.fromStart(view, reader);
    if (!isCursorThere(reader, point.cursor)) return ViewFold.fromStart(view, reader, 'moved');
    return new ViewFold(view, reader, 'resumed', point);
  }

  /** The state behind the last record, also one that no 0x0A ends yet. */
  get state(): State {
    return this.#state;
  }

  take({ record, isSettled }: EffectiveRecord<LogRecord>, seen: ViewRecord): void {
    const isBefore = record.archive !== null || record.offset < this.from.offset;
    if (isBefore && this.from.offset > 0) return;
    this.#state = this.#view.evolve(this.#state, seen);
    if (!isSettled || !fillsLine(record)) return;
    this.#settled = this.#state;
    this.#settledRecord = record;
  }

  digest(): string {
    return logicalDigest(this.digested());
  }

  digested(): JsonObject {
    return digestedValue(this.#view, this.#settled);
  }

  cursor(): LogCursor {
    return this.#settledRecord === null ? this.from : cursorBehind(this.#settledRecord, this.#generation);
  }

  document(): string {
    return encodeViewDocument(this.#view, this.#sessionId, { state: this.#settled, cursor: this.cursor() });
  }
}
