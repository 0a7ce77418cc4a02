import { parseTimestamp } from '@turnlog/events';
import { type LogReader, type LogRecord, MerkleFrontier, type TreeHead } from '@turnlog/log';
import { documentsOf, type EarlierItems, earlierItemsOf, type IndexedChunk } from '@turnlog/search';
import { ChunkRows, type PlacedChunk, placedChunks } from './chunk-rows.js';
import { cursorBehind, type MirrorCursor, treeBefore } from './mirror-cursor.js';
import { itemOf, RecordRows } from './record-rows.js';
import { foldSession, type SessionFold, SessionRows } from './session-rows.js';
import type { SettledGroup } from './settled-groups.js';
import { inTransaction, type SqliteDatabase } from './sqlite-port.js';
import { UsageRows } from './usage-rows.js';

/** How many documents are remembered whose tokens may have to be moved soon. */
const recentDocumentsMax = 1_024;

/** All statements that write to a mirror, over one connection. */
export class MirrorRows {
  readonly sessions: SessionRows;
  readonly records: RecordRows;
  readonly chunks: ChunkRows;
  readonly usage: UsageRows;
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.sessions = new SessionRows(database);
    this.records = new RecordRows(database);
    this.chunks = new ChunkRows(database);
    this.usage = new UsageRows(database);
  }

  /** What `work` writes counts as a whole, the sums included. */
  transaction(work: () => void): void {
    this.chunks.beginCounting();
    inTransaction(this.#database, () => {
      work();
      this.chunks.writeCounts();
    });
  }
}

/**
 * Takes the records of one session into the mirror, from its cursor on. Whoever calls it holds the transaction: what
 * is applied counts together with the cursor of `commit`.
 */
export class SessionIntake {
  readonly #rows: MirrorRows;
  readonly #reader: LogReader;
  readonly #tree: MerkleFrontier | null;
  readonly #recent = new Map<number, readonly PlacedChunk[]>();
  #fold: SessionFold;
  #cursor: MirrorCursor;

  constructor(rows: MirrorRows, reader: LogReader, cursor: MirrorCursor) {
    this.#rows = rows;
    this.#reader = reader;
    this.#cursor = cursor;
    this.#fold = rows.sessions.fold(reader.sessionId);
    const before = treeBefore(reader, cursor);
    this.#tree = before === null ? null : new MerkleFrontier(before);
  }

  get cursor(): MirrorCursor {
    return this.#cursor;
  }

  /** What the documents of new records have to know of those before. */
  get earlier(): EarlierItems {
    const { sessionId } = this.#reader;
    return earlierItemsOf(this.#reader, this.#cursor, (itemId) =>
      this.#rows.chunks.newestOf(sessionId, itemId),
    );
  }

  apply({ records, documents, damage, last }: SettledGroup): void {
    const { sessionId, generation } = this.#reader;
    for (const place of damage) this.#rows.records.addDamage(sessionId, place);
    const items = new Map<LogRecord, unknown>();
    for (const record of records) {
      const item = itemOf(record);
      items.set(record, item);
      this.#rows.records.add(sessionId, record, item, generation);
      if (record.type !== 'log.evicted') this.#tree?.add(record.leaf());
    }
    for (const { record, document, supersededSeq } of documents) {
      this.#fold = foldSession(this.#fold, record);
      this.#rows.usage.take(sessionId, record, this.#fold.model);
      if (supersededSeq !== null) this.#supersede(supersededSeq, record);
      const item = items.get(record) ?? null;
      if (item !== null) this.#rows.records.addPaths(sessionId, record.seq, item, this.#fold.place);
      if (document === null) continue;
      const chunks = placedChunks(document);
      for (const chunk of chunks) this.#rows.chunks.add(chunk);
      this.#remember(record.seq, chunks);
      const unindexedBytes = this.#fold.unindexedBytes + document.unindexedBytes;
      this.#fold = { ...this.#fold, unindexedBytes };
    }
    this.#fold = { ...this.#fold, records: this.#fold.records + records.length };
    const seq = records.at(-1)?.seq ?? this.#cursor.seq;
    this.#cursor = cursorBehind(this.#reader, last, seq, this.#head());
  }

  /** Puts down how far the session was taken in, to become true with the rows. */
  putDown(): void {
    this.#rows.sessions.putCursor(this.#reader.sessionId, this.#cursor);
    this.#rows.sessions.put(this.#reader, this.#fold);
  }

  #head(): TreeHead | null {
    return this.#tree?.head() ?? null;
  }

  #supersede(seq: number, { seq: by, ts }: LogRecord): void {
    const { sessionId } = this.#reader;
    const tsMs = ts === null ? null : parseTimestamp(ts);
    const chunks = this.#recent.get(seq) ?? this.#chunksAgain(seq);
    this.#rows.chunks.supersede(sessionId, seq, { seq: by, tsMs }, chunks);
    this.#rows.records.dropPaths(sessionId, seq);
    this.#recent.delete(seq);
  }

  /** The tokens of a record that was taken in before: the mirror itself cannot give them back. */
  #chunksAgain(seq: number): readonly IndexedChunk[] {
    const { sessionId: session } = this.#reader;
    for (const record of this.#reader.readRange(seq, seq, { archived: true })) {
      for (const { document } of documentsOf([record], { session })) {
        if (document !== null) return placedChunks(document);
      }
    }
    return [];
  }

  #remember(seq: number, chunks: readonly PlacedChunk[]): void {
    this.#recent.set(seq, chunks);
    if (this.#recent.size <= recentDocumentsMax) return;
    const [oldest] = this.#recent.keys();
    if (oldest !== undefined) this.#recent.delete(oldest);
  }
}
