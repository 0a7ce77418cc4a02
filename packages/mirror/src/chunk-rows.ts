import type { IndexedChunk, KnownItem, SearchDocument } from '@turnlog/search';
import { chunksOf, countTokens } from '@turnlog/search';
import { ftsText } from './fts-token.js';
import type { SqliteDatabase, SqliteStatement } from './sqlite-port.js';

/** A chunk, and where its text lies in that of its document, in bytes. */
export interface PlacedChunk extends IndexedChunk {
  readonly textOffset: number;
  readonly textLength: number;
}

/** The chunks of a document, as an index takes them. */
export function placedChunks(document: SearchDocument): readonly PlacedChunk[] {
  const { text, unindexedBytes: _, itemId, ...fields } = document;
  let textOffset = 0;
  return chunksOf(text).map((part, n) => {
    const textLength = Buffer.byteLength(part);
    const chunk = { fields: { ...fields, n }, ...countTokens(part), itemId, textOffset, textLength };
    textOffset += textLength;
    return chunk;
  });
}

interface RowOfChunk {
  readonly rowid: number;
  readonly n: number;
  readonly len: number;
}

/** Writes chunks and their tokens, and keeps the sums over those that count. */
export class ChunkRows {
  readonly #insert: SqliteStatement<never>;
  readonly #liveOf: SqliteStatement<RowOfChunk>;
  readonly #supersede: SqliteStatement<never>;
  readonly #index: SqliteStatement<never>;
  readonly #unindex: SqliteStatement<never>;
  readonly #indexSuperseded: SqliteStatement<never>;
  readonly #newest: SqliteStatement<{
    readonly seq: number;
    readonly kind: string;
    readonly tool: string | null;
  }>;
  readonly #count: SqliteStatement<never>;
  #chunkCount = 0;
  #tokenCount = 0;

  constructor(database: SqliteDatabase) {
    this.#insert =
      database.prepare(`INSERT INTO chunk (session, seq, n, turn, ts, role, kind, tool, paths, item_id,
      len, text_offset, text_length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#liveOf = database.prepare(
      'SELECT rowid, n, len FROM chunk WHERE session = ? AND seq = ? AND superseded_by IS NULL ORDER BY n',
    );
    this.#supersede = database.prepare(
      'UPDATE chunk SET superseded_by = ?, superseded_ts = ? WHERE rowid = ?',
    );
    this.#index = database.prepare('INSERT INTO chunk_fts (rowid, t) VALUES (?, ?)');
    this.#unindex = database.prepare('DELETE FROM chunk_fts WHERE rowid = ?');
    this.#indexSuperseded = database.prepare('INSERT INTO superseded_fts (rowid, t) VALUES (?, ?)');
    this.#newest = database.prepare(`SELECT seq, kind, tool FROM chunk WHERE session = ? AND item_id = ?
      AND superseded_by IS NULL ORDER BY seq DESC, n LIMIT 1`);
    this.#count = database.prepare(`UPDATE meta SET value = CAST(CAST(value AS INTEGER) + CASE name
      WHEN 'chunk_count' THEN CAST(? AS INTEGER) ELSE CAST(? AS INTEGER) END AS TEXT) WHERE name IN ('chunk_count', 'token_count')`);
  }

  add(chunk: PlacedChunk): void {
    const { fields, len, terms, itemId, textOffset, textLength } = chunk;
    const { session, seq, n, turn, tsMs, role, kind, tool, paths } = fields;
    const listed = JSON.stringify(paths);
    const { lastInsertRowid: rowid } = this.#insert.run(
      session,
      seq,
      n,
      turn,
      tsMs,
      role,
      kind,
      tool,
      listed,
      itemId,
      len,
      textOffset,
      textLength,
    );
    this.#index.run(rowid, ftsText(terms));
    this.#chunkCount += 1;
    this.#tokenCount += len;
  }

  /**
   * The chunks of a record count for the past only. Their tokens move, and have to be given for that: `chunks` are all
   * of the record's.
   */
  supersede(
    session: string,
    seq: number,
    by: { seq: number; tsMs: number | null },
    chunks: readonly IndexedChunk[],
  ): void {
    for (const { rowid, n, len } of this.#liveOf.all(session, seq)) {
      this.#supersede.run(by.seq, by.tsMs, rowid);
      this.#unindex.run(rowid);
      this.#indexSuperseded.run(rowid, ftsText(chunks[n]?.terms ?? new Map()));
      this.#chunkCount -= 1;
      this.#tokenCount -= len;
    }
  }

  /** The newest chunk of an item that nothing has superseded. */
  newestOf(session: string, itemId: string): KnownItem | null {
    const row = this.#newest.get(session, itemId);
    return row === undefined ? null : { seq: row.seq, tool: row.kind === 'tool_call' ? row.tool : null };
  }

  /** Begins to count what a transaction changes; what one that failed has counted is forgotten. */
  beginCounting(): void {
    this.#chunkCount = 0;
    this.#tokenCount = 0;
  }

  /** Adds what was counted to the sums, as the last step of the transaction. */
  writeCounts(): void {
    if (this.#chunkCount !== 0 || this.#tokenCount !== 0) this.#count.run(this.#chunkCount, this.#tokenCount);
    this.beginCounting();
  }
}
