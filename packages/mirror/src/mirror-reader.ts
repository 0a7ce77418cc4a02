import { TurnlogError } from '@turnlog/kernel';
import { identityOf, isOfThisFormat, type MirrorPlace, openDatabase, walBytesOf } from './mirror-file.js';
import { walBytesMax } from './pragmas.js';
import { isCorruption, type SqliteDatabase, sqliteCodeOf } from './sqlite-port.js';

interface OpenReader<Statements> {
  readonly database: SqliteDatabase;
  readonly statements: Statements;
  /** Of the file that was opened. */
  readonly identity: string;
}

/** How often a reading begins anew because the mirror was replaced under it. */
const reopeningsMax = 3;

/**
 * A connection that reads. The mirror may be replaced at any time: then what was read is thrown away and read again
 * from the new file, so that every answer is of one generation.
 */
export class MirrorReader<Statements> {
  readonly #place: MirrorPlace;
  readonly #prepare: (database: SqliteDatabase) => Statements;
  #open: OpenReader<Statements> | null = null;

  /** `prepare` makes the statements, once for each file that is opened. */
  constructor(place: MirrorPlace, prepare: (database: SqliteDatabase) => Statements) {
    this.#place = place;
    this.#prepare = prepare;
  }

  /**
   * What `work` finds, in one read transaction that ends with it; `work` must not wait for anything.
   *
   * @throws TURNLOG_NOT_FOUND when there is no mirror of this format, or none that opens in no time; TURNLOG_IO, with `sqlite` its code, when SQLite
   *   cannot read it, also from a file opened anew.
   */
  read<Result>(work: (statements: Statements) => Result): Result {
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === reopeningsMax;
      try {
        const { database, statements, identity } = this.#opened();
        const result = inReadTransaction(database, () => work(statements));
        if (isLast || identityOf(this.#place) === identity) return result;
      } catch (error) {
        const code = sqliteCodeOf(error);
        if (code === null) throw error;
        if (isLast || !isWorthReopening(error)) throw readFailed(this.#place, code, error);
      }
      this.close();
    }
  }

  close(): void {
    const open = this.#open;
    this.#open = null;
    open?.database.close();
  }

  #opened(): OpenReader<Statements> {
    if (this.#open !== null) return this.#open;
    const identity = identityOf(this.#place);
    if (identity === null) throw noMirror(this.#place, 'there is no mirror');
    const walBytes = walBytesOf(this.#place);
    // Opening it would read all of that first.
    if (walBytes > walBytesMax) throw noMirror(this.#place, `its write-ahead log has ${walBytes} bytes`);
    const database = openDatabase(this.#place, this.#place.path, 'read-only');
    try {
      if (!isOfThisFormat(database)) throw noMirror(this.#place, 'the mirror is of another format');
      this.#open = { database, statements: this.#prepare(database), identity };
      return this.#open;
    } catch (error) {
      database.close();
      throw error;
    }
  }
}

/** A file that was replaced, or is being replaced, may be read after all. */
function isWorthReopening(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return isCorruption(error) || code?.startsWith('SQLITE_IOERR') === true || code === 'SQLITE_CANTOPEN';
}

function inReadTransaction<Result>(database: SqliteDatabase, work: () => Result): Result {
  database.exec('BEGIN');
  try {
    return work();
  } finally {
    database.exec('ROLLBACK');
  }
}

function noMirror({ path }: MirrorPlace, reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_NOT_FOUND', { details: { path }, message: reason });
}

export function readFailed({ path, filesystem }: MirrorPlace, sqlite: string, cause: unknown): TurnlogError {
  return new TurnlogError('TURNLOG_IO', {
    details: { operation: 'mirror', path, errno: null, sqlite, filesystem: filesystem.name },
    cause,
    message: `the mirror cannot be used (${sqlite}, on ${filesystem.name}): ${path}`,
  });
}
