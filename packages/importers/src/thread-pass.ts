import { type FileHandle, sha256Text } from '@turnlog/kernel';
import type { DigestSet } from './digest-set.js';
import { writeJson } from './json-text.js';
import { LedgerBook } from './ledger.js';
import { openWindow, type PieceWindow } from './open-window.js';
import { importKey } from './record-emitter.js';
import { childFile, type RecordPlaces } from './record-places.js';
import type { SourcePiece, SourcePosition } from './record-window.js';
import { isMembers, type Members } from './source-object.js';
import type { MappedEvent, Refusal } from './stream-types.js';
import { digestOf } from './survey-log.js';
import { ThreadEvents } from './thread-events.js';
import type { ThreadFormat, ThreadMapper } from './thread-format.js';

/** Refusals listed; further ones are counted only. */
const refusalsListedMax = 1_000;
/** After so many bytes others get a turn: the locks of this process are kept alive in between. */
const breathBytes = 1_048_576;

export interface ThreadPassOptions {
  readonly file: FileHandle;
  readonly format: ThreadFormat;
  readonly mapper: ThreadMapper;
  readonly places: RecordPlaces;
  /** Where the pass begins, and the bytes that there are. */
  readonly from: SourcePosition;
  readonly size: number;
  /** Places at which the file was final once; the last is `size` when it is so now. */
  readonly finalAt: readonly number[];
  /** Bytes before it were counted by an earlier pass. */
  readonly countedTo: number;
  /** What `run.source` says; null when the log has it. */
  readonly runSource: object | null;
  /** The same for the sessions of sub-agents whose records stand in this file; null when nobody reads them. */
  readonly childSource: object | null;
  /** Name of the file, as in "f1". */
  readonly name: string;
  readonly newestMs: number | null;
  readonly answers: DigestSet;
  readonly onAsset: (bytes: Uint8Array) => void;
  readonly onEvent: (event: MappedEvent) => void;
  readonly onChildEvents: (childSessionId: string, events: readonly MappedEvent[]) => Promise<void>;
  /** Told the position from time to time; the pass goes on when it is done. */
  readonly onBreath: (offset: number) => Promise<void>;
  /** Ends the pass behind the record in hand, though never before it has come a little further. */
  readonly signal: AbortSignal | null;
}

/** Folds one file, from a position on, through the mapper of its thread. */
export class ThreadPass {
  readonly book: LedgerBook = new LedgerBook();
  readonly refused: Refusal[] = [];
  refusedCount = 0;
  /** Behind the last piece that was taken. */
  position: SourcePosition;
  /** Ended by its signal, and not because there was nothing more to take. */
  isStopped = false;
  /** The first `run.started` that was emitted. */
  runStarted: Members | null = null;
  readonly #options: ThreadPassOptions;
  readonly #events: ThreadEvents;
  #childEvents = new Map<string, MappedEvent[]>();
  #isSourceWritten: boolean;
  #breathAt: number;

  constructor(options: ThreadPassOptions) {
    const { format, newestMs, onAsset } = options;
    this.#options = options;
    this.position = options.from;
    this.#breathAt = options.from.offset + breathBytes;
    this.#isSourceWritten = options.runSource === null;
    this.#events = new ThreadEvents({
      format: format.name,
      newestMs,
      onAsset,
      onEvent: (event, child) => this.#emitted(event, child),
    });
  }

  get newestMs(): number | null {
    return this.#events.newestMs;
  }

  async run(): Promise<void> {
    const { finalAt, size } = this.#options;
    for (const stop of finalAt) {
      await this.#fold(stop, true);
      if (this.isStopped || this.position.offset < stop) return;
      this.#options.mapper.finish(this.#events);
      await this.#passOnChildEvents();
    }
    if (finalAt.at(-1) !== size) await this.#fold(size, false);
  }

  /** Writes `run.source` where nothing else has led to it. */
  writeSource(): void {
    const { runSource, format, name } = this.#options;
    if (this.#isSourceWritten || runSource === null) return;
    this.#isSourceWritten = true;
    const key = importKey(format.name, `source\0${name}`, 0);
    this.#options.onEvent({ event: { raw: writeJson(runSource) }, key, tsMs: this.newestMs });
  }

  async #fold(to: number, isFinal: boolean): Promise<void> {
    const window = openWindow(this.#options.format, this.#options.file, { from: this.position, to, isFinal });
    for (let piece = window.next(); piece !== null; piece = window.next()) {
      if (!this.#take(piece, window)) return;
      this.position = piece.end;
      if (this.#childEvents.size > 0) await this.#passOnChildEvents();
      if (piece.end.offset < this.#breathAt) continue;
      await this.#breathe();
      this.isStopped = this.#options.signal?.aborted === true;
      if (this.isStopped) return;
    }
  }

  async #breathe(): Promise<void> {
    this.#breathAt = this.position.offset + breathBytes;
    await this.#options.onBreath(this.position.offset);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** False when the piece has to wait. */
  #take(piece: SourcePiece, window: PieceWindow): boolean {
    const length = piece.end.offset - piece.start.offset;
    const isCounted = piece.start.offset < this.#options.countedTo;
    if (piece.kind === 'framing') {
      if (!isCounted) this.book.addFraming(length);
      return true;
    }
    if (piece.kind === 'kept') {
      if (!isCounted) this.book.add('kept', piece.what, length);
      return true;
    }
    if (piece.kind === 'refused') {
      if (!isCounted) this.#refuse(piece, piece.reason, piece.sha256);
      return true;
    }
    const { object } = piece;
    const { mapper, places } = this.#options;
    const place = places.placeOf(object);
    const mapping = mapper.take({ object, place }, window, this.#events);
    if (mapping === 'wait') return false;
    places.note(object, place);
    if (isCounted) return true;
    if (mapping.place === 'refused') this.#refuse(piece, mapping.kind, place.sha256);
    else this.book.add(mapping.place, mapping.kind, length);
    return true;
  }

  #refuse(piece: SourcePiece, reason: string, sha256Text: string | null): void {
    const { offset, line } = piece.start;
    const length = piece.end.offset - offset;
    this.book.add('refused', reason, length);
    this.refusedCount += 1;
    if (this.refused.length >= refusalsListedMax) return;
    const digest = sha256Text ?? digestOf(this.#options.file, offset, offset + length) ?? '';
    this.refused.push({ line, reason, offset, length, sha256: digest });
  }

  #emitted(event: MappedEvent, child: string | null): void {
    const { event: input } = event;
    const raw = 'raw' in input ? input.raw : '';
    if (child !== null) {
      this.#emittedToChild(event, child, raw.startsWith('{"type":"run.started"'));
      return;
    }
    const isStart = raw.startsWith('{"type":"thread.started"') || raw.startsWith('{"type":"run.started"');
    if (!isStart) this.writeSource();
    if (raw.startsWith('{"type":"run.answer"')) this.#noteAnswer(raw);
    this.#options.onEvent(event);
    if (raw.startsWith('{"type":"run.started"')) this.#noteRun(raw);
  }

  /** A sub-agent's session names the file too, behind its own `run.started`. */
  #emittedToChild(event: MappedEvent, child: string, isStart: boolean): void {
    const { childSource, format, name } = this.#options;
    const events = this.#childEvents.get(child) ?? [];
    this.#childEvents.set(child, events);
    events.push(event);
    if (!isStart || childSource === null) return;
    const key = importKey(format.name, `source\0${childFile(name)}`, 0);
    events.push({ event: { raw: writeJson(childSource) }, key, tsMs: event.tsMs ?? null });
  }

  #noteRun(raw: string): void {
    const event: unknown = JSON.parse(raw);
    if (isMembers(event)) this.runStarted ??= event;
    this.writeSource();
  }

  #noteAnswer(raw: string): void {
    const id = answerForm.exec(raw)?.[1];
    if (id !== undefined) this.#options.answers.add(answerDigest(String(JSON.parse(`"${id}"`))));
  }

  async #passOnChildEvents(): Promise<void> {
    const children = this.#childEvents;
    this.#childEvents = new Map();
    for (const [childSessionId, events] of children) {
      await this.#options.onChildEvents(childSessionId, events);
    }
  }
}

const answerForm = /^\{"type":"run\.answer","answer_id":"((?:[^"\\]|\\.)*)"/;

/** What an answer is known by in the sets of a session. */
export function answerDigest(answerId: string): string {
  return sha256Text(answerId, 'hex');
}
