import type { LogReader, LogRecord } from '@turnlog/log';
import type { SearchDocument, SessionInfo } from '../chunk.js';
import { chunksOf } from '../chunker.js';
import { documentsOf, type RecordDocument, sessionInfoOf } from '../documents.js';
import { earlierItemsOf } from '../earlier-items.js';
import { noEarlierItems } from '../item-chain.js';
import { leanOnEarlier } from '../leaning-items.js';
import type { TextChunk } from './live-tail.js';
import { fillsLine, placeOf, takenBehind } from './log-place.js';
import { gapsIn, nothingTaken, type SeqSpan, type TakenIn } from './log-table.js';
import type { PackedIndex } from './packed-index.js';
import type { SessionEntry } from './session-table.js';

/** Records that are taken in before the work may pause; so much text counts as one. */
const sliceRecords = 64;
const sliceUnits = 4_096;

/** Takes into an index what it lacks of one session, in pieces; the cursor of the session moves with each of them. */
export class SessionReading {
  readonly #index: PackedIndex;
  readonly #reader: LogReader;
  readonly #session: string;
  readonly #info: SessionInfo;

  constructor(index: PackedIndex, reader: LogReader) {
    this.#index = index;
    this.#reader = reader;
    this.#session = reader.sessionId;
    this.#info = sessionInfoOf(reader);
  }

  /** Pauses behind each piece. */
  *run(): Generator<void, void, void> {
    this.#meet();
    const entry = this.#index.sessionEntry(this.#session);
    yield* this.#takeNew(entry?.taken ?? null);
  }

  /** What a rewrite of the log means for what the index holds of it. */
  #meet(): void {
    const [index, reader, session] = [this.#index, this.#reader, this.#session];
    const entry = index.sessionEntry(session);
    const place = placeOf(reader, entry?.taken ?? null);
    // What lies between may have taken the place of other things: so a session of which some was lost is read anew.
    if (place.kind === 'other' || isSomeLost(entry)) index.removeSession(session);
    if (place.kind !== 'rewritten' || index.sessionEntry(session) === null) return;
    // A record that is redacted takes the place of nothing any more: what it had superseded counts again. And what was
    // dropped may have decided what counts of the rest.
    if (this.#isAnyRedacted() || (reader.firstReadableSeq > 1 && leanOnEarlier(reader.history()))) {
      index.removeSession(session);
      return;
    }
    index.removeBefore(session, reader.firstReadableSeq);
    this.#note({ taken: place.taken, span: null, unindexedBytes: 0 });
  }

  #isAnyRedacted(): boolean {
    for (const { type } of this.#reader.history()) if (type === 'log.redacted') return true;
    return false;
  }

  *#takeNew(before: TakenIn | null): Generator<void, void, void> {
    let from = (before?.seq ?? 0) + 1;
    let [count, unindexedBytes] = [0, 0];
    // What is known behind a record costs a digest of it: so it is found out only of those that pieces end with.
    let last: LogRecord | null = null;
    for (const document of this.#documentsBehind(before)) {
      const { record, isSettled } = document;
      if (isBehind(record, before)) unindexedBytes += this.#take(document);
      count += 1 + (document.document?.text.length ?? 0) / sliceUnits;
      if (!isSettled || record.archive !== null || !fillsLine(record)) continue;
      last = record;
      if (count < sliceRecords) continue;
      this.#noteBehind(last, from, unindexedBytes);
      from = last.seq + 1;
      [count, unindexedBytes, last] = [0, 0, null];
      yield;
    }
    if (last !== null) this.#noteBehind(last, from, unindexedBytes);
    this.#noteEnd();
  }

  /** At the end of a log it is known what all of it is. A session of which nothing can be read yet is known as well. */
  #noteEnd(): void {
    const { generation, length, tree } = this.#reader;
    const { taken = null } = this.#index.sessionEntry(this.#session) ?? {};
    const isAtEnd = taken !== null && taken.offset === length && taken.tree === null;
    if (isAtEnd && taken.seq > 0) this.#note({ taken: { ...taken, tree }, span: null, unindexedBytes: 0 });
    if (taken === null) this.#note({ taken: { ...nothingTaken, generation }, span: null, unindexedBytes: 0 });
  }

  /** Where seqs do not rise, those of all records: which comes behind is seen one by one. */
  #documentsBehind(before: TakenIn | null): Iterable<RecordDocument> {
    const [index, reader, session] = [this.#index, this.#reader, this.#session];
    const from = (before?.seq ?? 0) + 1;
    if (before === null || from <= reader.firstReadableSeq || reader.state.unorderedCount > 0) {
      return documentsOf(reader.history(), { session, earlier: noEarlierItems });
    }
    const earlier = earlierItemsOf(reader, before, (itemId) => index.findItem(session, itemId));
    const records = reader.readRange(from, Number.MAX_SAFE_INTEGER, { archived: true });
    return documentsOf(records, { session, earlier });
  }

  /** Returns the bytes of its text that are too far inside to be indexed. */
  #take({ record, document, supersededSeq }: RecordDocument): number {
    const [index, session] = [this.#index, this.#session];
    const { seq, tsMs } = record;
    if (supersededSeq !== null) index.supersede(session, supersededSeq, { seq, tsMs });
    if (document === null) return 0;
    for (const chunk of chunksIn(document)) index.add(chunk);
    return document.unindexedBytes;
  }

  #noteBehind(record: LogRecord, from: number, unindexedBytes: number): void {
    const taken = takenBehind(record, this.#reader.generation);
    this.#note({ taken, span: { from, to: taken.seq }, unindexedBytes });
  }

  #note(step: { taken: TakenIn; span: SeqSpan | null; unindexedBytes: number }): void {
    this.#index.noteTaken(this.#session, { ...step, info: this.#info });
  }
}

/** Whether a record comes behind what was taken in. */
function isBehind(record: LogRecord, before: TakenIn | null): boolean {
  if (before === null) return true;
  return record.archive === null ? record.offset >= before.offset : record.seq > before.seq;
}

/** Whether the index has lost some of what it had taken in of a session, because a segment of it was damaged. */
export function isSomeLost(entry: SessionEntry | null): boolean {
  return entry !== null && gapsIn(entry.spans, 1, entry.taken.seq).length > 0;
}

/** The chunks of a document. */
export function chunksIn(document: SearchDocument): readonly TextChunk[] {
  const { session, seq, turn, tsMs, role, kind, tool, paths, itemId } = document;
  return chunksOf(document.text).map((text, n) => ({
    fields: { session, seq, n, turn, tsMs, role, kind, tool, paths },
    itemId,
    text,
  }));
}
