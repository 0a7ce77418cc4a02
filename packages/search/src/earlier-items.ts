import { ownMember, ownText } from '@turnlog/events';
import { effectiveRecords, type LogReader, type LogRecord } from '@turnlog/log';
import { itemsIn } from './documents.js';
import type { EarlierItem, EarlierItems, ItemChain, KnownItem } from './item-chain.js';

/** Where a reading goes on: behind the last record that was taken in. */
export interface ReadingPlace {
  readonly seq: number;
  /** In the file; 0 when nothing of it was taken in. */
  readonly offset: number;
}

/**
 * What a reading from the first record on would know of the items before `place`. An index knows which documents count
 * (`newest`); what it does not know, such as snapshots without text, is looked up in the log, from that document on.
 */
export function earlierItemsOf(
  reader: LogReader,
  place: ReadingPlace,
  newest: (itemId: string) => KnownItem | null,
): EarlierItems {
  return new EarlierInLog(reader, place, newest);
}

class EarlierInLog implements EarlierItems {
  readonly #reader: LogReader;
  readonly #place: ReadingPlace;
  readonly #newest: (itemId: string) => KnownItem | null;
  /** Of each item its last start or completion among the records from `#marksFrom` to the place. */
  #marks: ReadonlyMap<string, Mark> = new Map();
  #marksFrom = Number.POSITIVE_INFINITY;
  #whole: ItemChain | null = null;

  constructor(reader: LogReader, place: ReadingPlace, newest: (itemId: string) => KnownItem | null) {
    this.#reader = reader;
    this.#place = place;
    this.#newest = newest;
  }

  find(itemId: string): EarlierItem {
    const known = this.#newest(itemId);
    if (known === null) return { seq: null, tool: null, isCompleted: () => this.#inAll(itemId) };
    const mark = this.#lastMark(itemId, known.seq);
    const isCompleted = (): boolean => mark?.isCompleted ?? this.#inAll(itemId);
    // A start behind a document that still counts has begun another item, which has said nothing yet.
    const isBegunAnew = (mark?.lastStart ?? 0) > known.seq;
    return isBegunAnew ? { seq: null, tool: null, isCompleted } : { ...known, isCompleted };
  }

  #lastMark(itemId: string, from: number): Mark | undefined {
    if (from < this.#marksFrom) {
      this.#marks = marksIn(this.#recordsBefore(from));
      this.#marksFrom = from;
    }
    return this.#marks.get(itemId);
  }

  /** Reads all that came before, once: an item that was only updated since may have been completed anywhere in it. */
  #inAll(itemId: string): boolean {
    this.#whole ??= itemsIn(this.#recordsBefore(0), this.#reader.sessionId);
    return this.#whole.isCompleted(itemId);
  }

  *#recordsBefore(from: number): Iterable<LogRecord> {
    const reader = this.#reader;
    const isOrdered = reader.state.unorderedCount === 0;
    const to = isOrdered ? this.#place.seq : Number.MAX_SAFE_INTEGER;
    const records =
      from <= reader.firstReadableSeq ? reader.history() : reader.readRange(from, to, { archived: true });
    for (const record of records) {
      if (isBefore(record, this.#place)) yield record;
      else if (isOrdered) return;
    }
  }
}

function isBefore({ archive, seq, offset }: LogRecord, place: ReadingPlace): boolean {
  return archive === null ? offset < place.offset : seq <= place.seq;
}

interface Mark {
  /** Seq of its last start there; 0 without one. */
  readonly lastStart: number;
  /** Whether its last start or completion is a completion. */
  readonly isCompleted: boolean;
}

function marksIn(records: Iterable<LogRecord>): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const { record } of effectiveRecords(records)) {
    const isCompleted = record.type === 'item.completed';
    if (!isCompleted && record.type !== 'item.started') continue;
    const itemId = namedItemOf(record);
    if (itemId === null) continue;
    const lastStart = isCompleted ? (marks.get(itemId)?.lastStart ?? 0) : record.seq;
    marks.set(itemId, { lastStart, isCompleted });
  }
  return marks;
}

function namedItemOf(record: LogRecord): string | null {
  const item = ownMember(record.readEvent(), 'item');
  return ownText(item, 'type') === null ? null : ownText(item, 'id');
}
