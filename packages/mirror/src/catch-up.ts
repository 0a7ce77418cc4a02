import { isTurnlogError, type TurnlogError } from '@turnlog/kernel';
import { logPaths } from '@turnlog/log';
import { parseSessionId, type Store } from '@turnlog/store';
import { MirrorRows } from './apply-records.js';
import { type Contradicted, SessionFollower } from './follow-session.js';
import type { SqliteDatabase } from './sqlite-port.js';

/** A session that could not be read; what was taken in of it stays. */
export interface FailedSession {
  readonly session: string;
  readonly error: TurnlogError;
}

export interface CatchUpReport {
  /** Whether all that there was to read was read. */
  readonly isComplete: boolean;
  readonly failed: readonly FailedSession[];
}

/** What catching up needs to know of its caller. */
export interface CatchUpLimits {
  /** Asked after every transaction. */
  readonly isOver: () => boolean;
  /** Sessions that are to be left alone for now, because they failed a moment ago. */
  readonly isResting?: (session: string) => boolean;
  /** What to do with rows that contradict a log which nobody has rewritten; by default it is read again. */
  readonly contradicted?: Contradicted;
}

/**
 * Brings the mirror behind `database` up to the logs of a store, session by session. A session that fails stops no
 * other. Nothing is lost when it ends early: the next call goes on behind the last transaction.
 *
 * @throws what SQLite throws
 */
export async function catchUpStore(
  database: SqliteDatabase,
  store: Store,
  limits: CatchUpLimits,
): Promise<CatchUpReport> {
  const rows = new MirrorRows(database);
  const failed: FailedSession[] = [];
  const ids = store.ids();
  dropRemoved(rows, ids);
  let isComplete = true;
  for (const id of ids) {
    if (limits.isOver()) return { isComplete: false, failed };
    if (limits.isResting?.(id) === true || !isChanged(rows, store, id)) continue;
    // Appends and answers of the same process go on between two sessions, and two transactions.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      isComplete = (await catchUpSession(rows, store, id, limits)) && isComplete;
    } catch (error) {
      // Removed since the names were read: the next call drops it.
      if (isTurnlogError(error, 'TURNLOG_NOT_FOUND')) continue;
      failed.push(failureOf(id, error));
    }
  }
  return { isComplete, failed };
}

async function catchUpSession(
  rows: MirrorRows,
  store: Store,
  id: string,
  limits: CatchUpLimits,
): Promise<boolean> {
  const reader = store.read(id, { unreadable: 'show' });
  try {
    for (const _ of new SessionFollower(rows, reader, limits.contradicted).steps()) {
      await new Promise((resolve) => setImmediate(resolve));
      if (limits.isOver()) return false;
    }
    return true;
  } finally {
    reader.close();
  }
}

/** A file of the same identity that ends where the cursor stands has nothing new; any other is looked at. */
function isChanged(rows: MirrorRows, store: Store, id: string): boolean {
  const cursor = rows.sessions.cursor(id);
  if (cursor === null || cursor.lastLine === null) return true;
  const { fs } = store.environment;
  const status = fs.status(logPaths(store.sessionDirectory(parseSessionId(id))).events);
  return status?.size !== cursor.offset || `${status.device}:${status.inode}` !== cursor.file;
}

/** Sessions that are not in the store any more leave the mirror. */
function dropRemoved(rows: MirrorRows, ids: readonly string[]): void {
  const present = new Set(ids);
  for (const known of rows.sessions.ids()) {
    if (!present.has(known)) rows.transaction(() => rows.sessions.drop(known));
  }
}

function failureOf(session: string, error: unknown): FailedSession {
  if (isTurnlogError(error)) return { session, error };
  throw error;
}
