/** The part of SQLite that the mirror uses, so that tests can let any of it fail. */
export type SqlValue = string | number | bigint | null;

/** A prepared statement; `Row` is what its columns are, by name. */
export interface SqliteStatement<Row> {
  run(...values: SqlValue[]): { readonly lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  iterate(...values: SqlValue[]): IterableIterator<Row>;
}

export interface SqliteDatabase {
  prepare<Row>(sql: string): SqliteStatement<Row>;
  exec(sql: string): void;
  close(): void;
}

/** `read-only` changes nothing in the database; SQLite may still make the two files that go with it. */
export type SqliteMode = 'read-write' | 'read-only';

export interface SqliteLibrary {
  /** Opens a database file that exists. */
  open(path: string, mode: SqliteMode): SqliteDatabase;
}

/** better-sqlite3, loaded when first asked for. Rejects when it is not installed, or was built for another Node. */
export async function loadSqlite(): Promise<SqliteLibrary> {
  const { default: Database } = await import('better-sqlite3');
  // The native part is loaded by the first database.
  new Database(':memory:').close();
  return {
    open(path: string, mode: SqliteMode): SqliteDatabase {
      const database = new Database(path, { readonly: mode === 'read-only', fileMustExist: true });
      return {
        prepare: <Row>(sql: string): SqliteStatement<Row> => database.prepare<SqlValue[], Row>(sql),
        exec: (sql: string): void => {
          database.exec(sql);
        },
        close: (): void => {
          database.close();
        },
      };
    },
  };
}

/** The code of an error of SQLite, as in `SQLITE_BUSY`; null for any other. */
export function sqliteCodeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' && error.code.startsWith('SQLITE_') ? error.code : null;
}

/** What SQLite says of a file that holds no sound database. */
export function isCorruption(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code !== null && /^SQLITE_(?:CORRUPT|NOTADB)/.test(code);
}

/** Runs `work` as one transaction: all of it counts when it returns, and nothing when it throws. */
export function inTransaction<Result>(database: SqliteDatabase, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** SQLite takes a transaction back by itself after some failures; then there is none, which is what is wanted. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch (error) {
    if (sqliteCodeOf(error) === null) throw error;
  }
}
