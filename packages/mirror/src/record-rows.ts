import { ownMember, ownText, parseTimestamp } from '@turnlog/events';
import type { LogRecord, ScannedDamage } from '@turnlog/log';
import { pathRefsOf, pathTouchesOf, type WorkingPlace } from '@turnlog/search';
import type { SqliteDatabase, SqliteStatement } from './sqlite-port.js';

/** Where a record lies now: in which rewrite of the log, in its file or in an archive. */
interface Place {
  readonly generation: string | null;
  readonly archive: string | null;
  readonly offset: number;
  readonly length: number;
}

/** Writes where records and damaged places are, and which paths they touch. */
export class RecordRows {
  readonly #insert: SqliteStatement<never>;
  readonly #positions: SqliteStatement<{ readonly n: number }>;
  readonly #move: SqliteStatement<never>;
  readonly #typeOf: SqliteStatement<{ readonly type: string }>;
  readonly #damage: SqliteStatement<never>;
  readonly #dropDamage: SqliteStatement<never>;
  readonly #path: SqliteStatement<never>;
  readonly #dropPaths: SqliteStatement<never>;

  constructor(database: SqliteDatabase) {
    this.#insert =
      database.prepare(`INSERT INTO record (session, seq, pos, type, item_id, item_type, turn, ts,
      generation, archive, offset, length, flags) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#positions = database.prepare('SELECT count(*) AS n FROM record WHERE session = ? AND seq = ?');
    this.#move = database.prepare(`UPDATE record SET generation = ?, archive = ?, offset = ?, length = ?
      WHERE session = ? AND seq = ? AND pos = ?`);
    this.#typeOf = database.prepare('SELECT type FROM record WHERE session = ? AND seq = ? AND pos = ?');
    this.#damage = database.prepare(
      'INSERT OR REPLACE INTO damage (session, offset, length, kind) VALUES (?, ?, ?, ?)',
    );
    this.#dropDamage = database.prepare('DELETE FROM damage WHERE session = ?');
    this.#path = database.prepare(`INSERT OR IGNORE INTO path_ref (path, session, seq, i, absolute, op, basis,
      old_start, old_lines, new_start, new_lines) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#dropPaths = database.prepare('DELETE FROM path_ref WHERE session = ? AND seq = ?');
  }

  /** `item`: of a record about one. Records that repeat a seq are told apart by their position among these. */
  add(session: string, record: LogRecord, item: unknown, generation: string | null): void {
    const { seq, type, turn, ts, archive, offset, length, flags } = record;
    const pos = this.#positions.get(session, seq)?.n ?? 0;
    const tsMs = ts === null ? null : parseTimestamp(ts);
    const [itemId, itemType] = [ownText(item, 'id'), ownText(item, 'type')];
    const place = [generation, archive, offset, length] as const;
    this.#insert.run(session, seq, pos, type, itemId, itemType, turn, tsMs, ...place, flags.join(' '));
  }

  /** The type under which a record was taken in; null when it was not. */
  typeOf(session: string, seq: number, pos: number): string | null {
    return this.#typeOf.get(session, seq, pos)?.type ?? null;
  }

  move(session: string, seq: number, pos: number, place: Place): void {
    this.#move.run(place.generation, place.archive, place.offset, place.length, session, seq, pos);
  }

  addDamage(session: string, { offset, length, kind }: ScannedDamage): void {
    this.#damage.run(session, offset, length, kind);
  }

  dropDamage(session: string): void {
    this.#dropDamage.run(session);
  }

  addPaths(session: string, seq: number, item: unknown, place: WorkingPlace): void {
    for (const [i, ref] of pathRefsOf(pathTouchesOf(item, place)).entries()) {
      const { path, absolute, op, basis, oldRange, newRange } = ref;
      const before = [oldRange?.start ?? null, oldRange?.count ?? null] as const;
      const after = [newRange?.start ?? null, newRange?.count ?? null] as const;
      this.#path.run(path, session, seq, i, absolute, op, basis, ...before, ...after);
    }
  }

  dropPaths(session: string, seq: number): void {
    this.#dropPaths.run(session, seq);
  }
}

/** The item of a record about one; null for any other. */
export function itemOf(record: LogRecord): unknown {
  return record.type.startsWith('item.') ? ownMember(record.readEvent(), 'item') : null;
}
