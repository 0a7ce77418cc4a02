import { renameReplacing } from '@turnlog/fs';
import { TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import { type CatchUpLimits, type CatchUpReport, catchUpStore } from './catch-up.js';
import {
  companionSuffixes,
  createDatabase,
  fileStatus,
  type MirrorPlace,
  newMirrorPattern,
  openDatabase,
  removeDatabase,
  removeIfThere,
  walBytesOf,
} from './mirror-file.js';
import { walBytesMax } from './pragmas.js';
import { type SqliteDatabase, sqliteCodeOf } from './sqlite-port.js';

/** A name for a file that is no mirror yet, beside it. */
export function newMirrorPath({ env, path }: MirrorPlace): string {
  return `${path}.new-${env.ids.randomHex(8)}`;
}

/** Removes what rebuilds left that were cut short. Whoever calls it holds the lock, so none is under way. */
export function removeLeftOvers({ env, root }: MirrorPlace): void {
  for (const { name } of env.fs.list(root)) {
    if (newMirrorPattern.test(name)) removeIfThere(env, `${root}/${name}`);
  }
}

/**
 * Makes a mirror of everything that the logs of a store say at `path`, which must be free. It has no name that anybody
 * looks for, so nothing of it has to be durable before it is whole.
 */
export async function buildMirror(
  place: MirrorPlace,
  store: Store,
  path: string,
  limits: CatchUpLimits,
): Promise<CatchUpReport> {
  createDatabase(place, path);
  return await inDatabase(place, path, async (database) => {
    database.exec('PRAGMA synchronous = OFF');
    return await catchUpStore(database, store, limits);
  });
}

/** Opens a database for writing, and moves everything into its one file before it is closed. */
export async function inDatabase<Result>(
  place: MirrorPlace,
  path: string,
  work: (database: SqliteDatabase) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(place, path, 'read-write');
  try {
    const result = await work(database);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return result;
  } finally {
    database.close();
  }
}

/** @throws TURNLOG_IO when SQLite finds the database wrong */
export function checkIntegrity(place: MirrorPlace, path: string): void {
  const database = openDatabase(place, path, 'read-only');
  try {
    const answer = database.prepare<{ readonly integrity_check: string }>('PRAGMA integrity_check(1)').get();
    if (answer?.integrity_check === 'ok') return;
    const details = {
      operation: 'integrity_check',
      path,
      errno: null,
      found: answer?.integrity_check ?? null,
    };
    throw new TurnlogError('TURNLOG_IO', { details, message: `the new mirror is not sound: ${path}` });
  } finally {
    database.close();
  }
}

/**
 * Gives a whole new mirror its name. Whoever reads the old one goes on with it until it opens the new one. The caller
 * holds the lock.
 *
 * Nothing of the old write-ahead log may stand beside the new file, which would take it for its own. It is emptied
 * first, so that the old file is whole without it whenever this is cut short; where it cannot be emptied the old file
 * goes first.
 */
export function swapIn(place: MirrorPlace, newPath: string): void {
  const { env, root, path } = place;
  const file = env.fs.open(newPath, 'append');
  try {
    file.sync();
  } finally {
    file.close();
  }
  emptyWal(place);
  if (walBytesOf(place) > 0) removeIfThere(env, path);
  for (const suffix of companionSuffixes) removeIfThere(env, `${path}${suffix}`);
  renameReplacing(env.fs, newPath, path);
  env.fs.syncDirectory(root);
  // A database that was closed leaves nothing beside itself.
  for (const suffix of companionSuffixes) removeIfThere(env, `${newPath}${suffix}`);
}

function emptyWal(place: MirrorPlace): void {
  const { env, path } = place;
  const walBytes = walBytesOf(place);
  // One that is far too long would be read whole, for a file that is about to go.
  if (fileStatus(env, path) === null || walBytes === 0 || walBytes > walBytesMax) return;
  try {
    const database = openDatabase(place, path, 'read-write');
    try {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
    }
  } catch (error) {
    // A mirror that is broken is what is being replaced.
    if (sqliteCodeOf(error) === null) throw error;
  }
}

/** Puts an empty mirror in the place of none. The caller holds the lock. */
export function createMirrorFile(place: MirrorPlace): void {
  const newPath = newMirrorPath(place);
  try {
    createDatabase(place, newPath);
    swapIn(place, newPath);
  } finally {
    removeDatabase(place, newPath);
  }
}

/** Builds, checks and swaps. The old mirror stays when anything fails. The caller holds the lock. */
export async function rebuildMirror(
  place: MirrorPlace,
  store: Store,
  limits: CatchUpLimits,
): Promise<CatchUpReport> {
  removeLeftOvers(place);
  const newPath = newMirrorPath(place);
  try {
    const report = await buildMirror(place, store, newPath, limits);
    if (!report.isComplete) return report;
    checkIntegrity(place, newPath);
    swapIn(place, newPath);
    return report;
  } finally {
    removeDatabase(place, newPath);
  }
}
