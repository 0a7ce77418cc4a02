import { ownMember, ownText } from '@turnlog/events';
import type { LogReader, LogRecord } from '@turnlog/log';
import { sessionInfoOf, type WorkingPlace } from '@turnlog/search';
import type { MirrorCursor } from './mirror-cursor.js';
import type { SqliteDatabase, SqliteStatement } from './sqlite-port.js';
import { isTreeHead } from './tree-head.js';

/** What the records of a session say on the way, and what later ones are read by. */
export interface SessionFold {
  readonly parent: string | null;
  /** The model at work, as far as the log says. */
  readonly model: string | null;
  readonly place: WorkingPlace;
  readonly records: number;
  readonly unindexedBytes: number;
}

export const emptyFold: SessionFold = {
  parent: null,
  model: null,
  place: { directory: null, workspace: null },
  records: 0,
  unindexedBytes: 0,
};

/** The fold after one more record that has an effect. */
export function foldSession(fold: SessionFold, record: LogRecord): SessionFold {
  switch (record.type) {
    case 'run.started': {
      const event = record.readEvent();
      return {
        ...fold,
        parent: fold.parent ?? ownText(ownMember(event, 'parent'), 'session'),
        model: ownText(event, 'model') ?? fold.model,
        place: {
          directory: ownText(event, 'cwd') ?? fold.place.directory,
          workspace: ownText(event, 'workspace') ?? fold.place.workspace,
        },
      };
    }
    case 'run.changed': {
      const event = record.readEvent();
      const isModel = ownText(event, 'field') === 'model';
      return isModel ? { ...fold, model: ownText(event, 'value') ?? fold.model } : fold;
    }
    case 'journal.set': {
      const model = ownText(ownMember(record.readEvent(), 'model'), 'reference');
      return model === null ? fold : { ...fold, model };
    }
    default:
      return fold;
  }
}

interface FoldRow {
  readonly parent: string | null;
  readonly model: string | null;
  readonly workspace: string | null;
  readonly cwd: string | null;
  readonly records: number;
  readonly unindexed_bytes: number;
}

interface CursorRow {
  readonly generation: string | null;
  readonly offset: number;
  readonly seq: number;
  readonly last_line_offset: number | null;
  readonly last_line_sha256: string | null;
  readonly tree: string | null;
  readonly file: string;
}

/** Writes how far each session was taken in, and what is known of it as a whole. */
export class SessionRows {
  readonly #putSession: SqliteStatement<never>;
  readonly #fold: SqliteStatement<FoldRow>;
  readonly #putCursor: SqliteStatement<never>;
  readonly #cursor: SqliteStatement<CursorRow>;
  readonly #ids: SqliteStatement<{ readonly log: string }>;
  readonly #drops: readonly SqliteStatement<never>[];
  readonly #revise: SqliteStatement<never>;
  readonly #uncount: SqliteStatement<never>;

  constructor(database: SqliteDatabase) {
    this.#putSession =
      database.prepare(`INSERT OR REPLACE INTO session (id, workspaces, workspace, cwd, title, agent,
      parent, model, status, created, last_ts, records, turns, first_seq, last_seq, unindexed_bytes)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#fold = database.prepare(
      'SELECT parent, model, workspace, cwd, records, unindexed_bytes FROM session WHERE id = ?',
    );
    this.#putCursor =
      database.prepare(`INSERT OR REPLACE INTO cursor (log, generation, offset, seq, last_line_offset,
      last_line_sha256, tree, file) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#revise = database.prepare(
      "UPDATE meta SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE name = 'revision'",
    );
    this.#cursor = database.prepare('SELECT * FROM cursor WHERE log = ?');
    this.#ids = database.prepare('SELECT log FROM cursor ORDER BY log');
    this.#uncount = database.prepare(`UPDATE meta SET value = CAST(CAST(value AS INTEGER) - coalesce((
      SELECT CASE meta.name WHEN 'chunk_count' THEN count(*) ELSE sum(len) END FROM chunk
      WHERE session = ? AND superseded_by IS NULL), 0) AS TEXT) WHERE name IN ('chunk_count', 'token_count')`);
    this.#drops = [
      'DELETE FROM chunk_fts WHERE rowid IN (SELECT rowid FROM chunk WHERE session = ? AND superseded_by IS NULL)',
      `DELETE FROM superseded_fts WHERE rowid IN (
        SELECT rowid FROM chunk WHERE session = ? AND superseded_by IS NOT NULL)`,
      'DELETE FROM chunk WHERE session = ?',
      'DELETE FROM path_ref WHERE session = ?',
      'DELETE FROM usage WHERE session = ?',
      'DELETE FROM damage WHERE session = ?',
      'DELETE FROM record WHERE session = ?',
      'DELETE FROM cursor WHERE log = ?',
      'DELETE FROM session WHERE id = ?',
    ].map((sql) => database.prepare<never>(sql));
  }

  /** The sessions that were taken in, by id. */
  ids(): readonly string[] {
    return this.#ids.all().map(({ log }) => log);
  }

  cursor(session: string): MirrorCursor | null {
    const row = this.#cursor.get(session);
    if (row === undefined) return null;
    const { generation, offset, seq, last_line_offset: at, last_line_sha256: sha256, file } = row;
    const tree: unknown = row.tree === null ? null : JSON.parse(row.tree);
    return {
      generation,
      offset,
      seq,
      lastLine: at === null || sha256 === null ? null : { offset: at, sha256 },
      tree: isTreeHead(tree) ? tree : null,
      file,
    };
  }

  putCursor(session: string, { generation, offset, seq, lastLine, tree, file }: MirrorCursor): void {
    const head = tree === null ? null : JSON.stringify(tree);
    const line = [lastLine?.offset ?? null, lastLine?.sha256 ?? null] as const;
    this.#putCursor.run(session, generation, offset, seq, ...line, head, file);
    this.#revise.run();
  }

  fold(session: string): SessionFold {
    const row = this.#fold.get(session);
    if (row === undefined) return emptyFold;
    return {
      parent: row.parent,
      model: row.model,
      place: { directory: row.cwd, workspace: row.workspace },
      records: row.records,
      unindexedBytes: row.unindexed_bytes,
    };
  }

  put(reader: LogReader, fold: SessionFold): void {
    const { sessionId, state } = reader;
    const { workspaces, agent } = sessionInfoOf(reader);
    const { lifecycle, facts } = state;
    this.#putSession.run(
      sessionId,
      JSON.stringify(workspaces),
      fold.place.workspace,
      fold.place.directory,
      facts.title ?? null,
      agent,
      fold.parent,
      fold.model,
      lifecycle.status,
      state.firstTsMs,
      state.newestTsMs,
      fold.records,
      lifecycle.open?.turn ?? lifecycle.turnCount,
      reader.firstReadableSeq,
      state.order.highestSeq,
      fold.unindexedBytes,
    );
  }

  /** Everything of a session leaves. */
  drop(session: string): void {
    this.#uncount.run(session);
    for (const statement of this.#drops) statement.run(session);
    this.#revise.run();
  }
}
