import { isTurnlogError } from '@turnlog/kernel';
import {
  answerFromPostings,
  type ChunkFields,
  type ChunkKey,
  type IndexAnswer,
  type IndexState,
  type LexicalIndex,
  type QueryHelp,
  type QueryPlan,
  type SessionInfo,
} from '@turnlog/search';
import { type ChunkRow, chunkColumns, FtsPostings, FtsStatements, fieldsOf } from './fts-postings.js';
import { type MirrorPlace, metaValue } from './mirror-file.js';
import { MirrorReader } from './mirror-reader.js';

interface WalkedRow extends ChunkKey {
  readonly ts: number | null;
}

/** How many chunks one read transaction gives to whoever walks over all of them. */
const walkedChunks = 256;

/** The engine that the mirror is: full-text search by SQLite, which finds chunks, and does not score them. */
export class FtsIndex implements LexicalIndex {
  readonly name = 'fts5';
  readonly #reader: MirrorReader<FtsStatements>;

  constructor(place: MirrorPlace) {
    this.#reader = new MirrorReader(place, (database) => new FtsStatements(database));
  }

  get state(): IndexState {
    try {
      this.#reader.read(({ database }) => metaValue(database, 'format'));
      return { kind: 'ready' };
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      return { kind: 'unusable', reason: error.message };
    }
  }

  get revision(): string {
    return this.#reader.read(
      ({ database }) => `fts5:${metaValue(database, 'generation')}:${metaValue(database, 'revision')}`,
    );
  }

  /** @throws TURNLOG_NOT_FOUND, TURNLOG_IO: another engine is to answer then */
  query(plan: QueryPlan, help: QueryHelp): IndexAnswer {
    return this.#reader.read((statements) =>
      answerFromPostings(plan, help, new FtsPostings(statements, plan, help.isOver)),
    );
  }

  /** Bytes of text that lie too far inside of records to be indexed. */
  get unindexedBytes(): number {
    const sql = 'SELECT coalesce(sum(unindexed_bytes), 0) AS n FROM session';
    return this.#reader.read(({ database }) => database.prepare<{ readonly n: number }>(sql).get()?.n ?? 0);
  }

  /** How far each session was taken in: up to which byte of which file. */
  places(): ReadonlyMap<string, { readonly offset: number; readonly file: string }> {
    const sql = 'SELECT log, offset, file FROM cursor ORDER BY log';
    const rows = this.#reader.read(({ database }) =>
      database.prepare<{ readonly log: string; readonly offset: number; readonly file: string }>(sql).all(),
    );
    return new Map(rows.map(({ log, offset, file }) => [log, { offset, file }]));
  }

  fieldsOf({ session, seq, n }: ChunkKey): ChunkFields | null {
    return this.#reader.read(({ database }) => {
      const row = database
        .prepare<ChunkRow>(`SELECT ${chunkColumns} FROM chunk WHERE session = ? AND seq = ? AND n = ?`)
        .get(session, seq, n);
      return row === undefined ? null : fieldsOf(row);
    });
  }

  sessionInfo(session: string): SessionInfo | null {
    return this.#reader.read((statements) => statements.session(session));
  }

  *newestFirst(): Iterable<ChunkKey> {
    yield* this.#walk('ts IS NOT NULL', '(ts < ? OR (ts = ? AND (session, seq, n) > (?, ?, ?)))');
    yield* this.#walk('ts IS NULL', '(ts IS ? AND ts IS ? AND (session, seq, n) > (?, ?, ?))');
  }

  close(): void {
    this.#reader.close();
  }

  /** Goes on behind the last key, so that nothing is held open between two of them. */
  *#walk(which: string, behind: string): Iterable<ChunkKey> {
    const order = `ORDER BY ts DESC, session, seq, n LIMIT ${walkedChunks}`;
    const base = `SELECT session, seq, n, ts FROM chunk WHERE superseded_by IS NULL AND ${which}`;
    let last: WalkedRow | null = null;
    for (;;) {
      const from = last;
      const rows: readonly WalkedRow[] = this.#reader.read(({ database }) =>
        from === null
          ? database.prepare<WalkedRow>(`${base} ${order}`).all()
          : database
              .prepare<WalkedRow>(`${base} AND ${behind} ${order}`)
              .all(from.ts, from.ts, from.session, from.seq, from.n),
      );
      for (const { session, seq, n } of rows) yield { session, seq, n };
      last = rows.at(-1) ?? null;
      if (rows.length < walkedChunks) return;
    }
  }
}
