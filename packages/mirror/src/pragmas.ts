import type { FilesystemKind } from '@turnlog/fs';
import type { SqliteDatabase, SqliteMode } from './sqlite-port.js';

/**
 * - `wal`: readers and a writer at once, through memory that they share.
 * - `truncate`: a journal, and one process at a time, where memory is not shared or locks cannot be relied on.
 */
export type JournalMode = 'wal' | 'truncate';

/** Only what is known to be local gets a write-ahead log (SE-46). */
export function journalModeFor({ reach }: FilesystemKind): JournalMode {
  return reach === 'local' ? 'wal' : 'truncate';
}

/** After so many pages a commit moves them into the database. */
export const walPagesMax = 1_000;
/** What a write-ahead log is cut to once its pages have been moved, and what `doctor` reports. */
export const walBytesMax = 67_108_864;

/** Every pragma, at every open: `synchronous` for one is not what it seems on the connection that changes the mode. */
export function setPragmas(database: SqliteDatabase, mode: SqliteMode, journal: JournalMode): void {
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec('PRAGMA trusted_schema = OFF');
  database.exec('PRAGMA temp_store = MEMORY');
  database.exec('PRAGMA foreign_keys = ON');
  if (mode === 'read-only') return;
  if (journal === 'truncate') database.exec('PRAGMA locking_mode = EXCLUSIVE');
  setJournalMode(database, journal);
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec(`PRAGMA wal_autocheckpoint = ${walPagesMax}`);
  database.exec(`PRAGMA journal_size_limit = ${walBytesMax}`);
}

/** SQLite answers with the mode that it could set, and does not fail. */
function setJournalMode(database: SqliteDatabase, journal: JournalMode): void {
  const answer = database
    .prepare<{ readonly journal_mode: string }>(`PRAGMA journal_mode = ${journal.toUpperCase()}`)
    .get();
  if (answer?.journal_mode !== journal) {
    throw new JournalModeRefused(journal, answer?.journal_mode ?? 'none');
  }
}

/** The file system takes neither kind of journal. */
export class JournalModeRefused extends Error {
  readonly code = 'SQLITE_CANTOPEN';

  constructor(wanted: JournalMode, got: string) {
    super(`the journal mode is ${got}, not ${wanted}`);
  }
}
