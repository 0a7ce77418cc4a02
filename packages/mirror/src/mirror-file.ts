import { join } from 'node:path';
import { type FilesystemKind, openOwnFile, removeFileIfThere } from '@turnlog/fs';
import { type FileStatus, TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { tokenizerName } from '@turnlog/search';
import { journalModeFor, setPragmas } from './pragmas.js';
import { mirrorFormat, schemaSql } from './schema.js';
import { inTransaction, type SqliteDatabase, type SqliteLibrary, type SqliteMode } from './sqlite-port.js';

/** The names directly below the root that belong to the mirror. They stand here and nowhere else. */
export const mirrorNames = {
  /** The database; beside it `-wal` and `-shm`, or `-journal`. */
  file: 'mirror.sqlite',
  /** Directory of the lock that whoever writes to the mirror holds. */
  lock: 'mirror.lock',
} as const;

/** What a rebuild is written into before it gets the name. */
export const newMirrorPattern: RegExp = /^mirror\.sqlite\.new-[0-9a-f]{16}(?:-wal|-shm|-journal)?$/;

/** What SQLite keeps beside a database of that path. */
export const companionSuffixes = ['-wal', '-shm', '-journal'] as const;

/** Where the mirror of a store lies, and what it lies on. */
export interface MirrorPlace {
  readonly env: LogEnvironment;
  readonly root: string;
  readonly path: string;
  readonly sqlite: SqliteLibrary;
  readonly filesystem: FilesystemKind;
}

export function mirrorPath(root: string): string {
  return join(root, mirrorNames.file);
}

/** Device and inode of what has the name now; null when nothing does. @throws TURNLOG_UNSAFE_PATH for no file */
export function identityOf({ env, path }: MirrorPlace): string | null {
  const status = fileStatus(env, path);
  return status === null ? null : `${status.device}:${status.inode}`;
}

/** The status of a file of ours; null when nothing is there. @throws TURNLOG_UNSAFE_PATH for anything else */
export function fileStatus({ fs, ownership }: LogEnvironment, path: string): FileStatus | null {
  const status = fs.status(path);
  if (status === null) return null;
  const reason =
    status.kind !== 'file'
      ? 'it is not a regular file'
      : ownership.uid !== null && status.uid !== ownership.uid
        ? 'it belongs to another user'
        : null;
  if (reason === null) return status;
  throw new TurnlogError('TURNLOG_UNSAFE_PATH', { details: { path, reason }, message: `refused: ${reason}` });
}

/** Bytes of the write-ahead log beside the mirror. */
export function walBytesOf({ env, path }: MirrorPlace): number {
  return fileStatus(env, `${path}-wal`)?.size ?? 0;
}

/** Opens a database with every pragma set; what SQLite keeps beside it is looked at first, as it is. */
export function openDatabase(place: MirrorPlace, path: string, mode: SqliteMode): SqliteDatabase {
  for (const suffix of ['', ...companionSuffixes]) fileStatus(place.env, `${path}${suffix}`);
  const database = place.sqlite.open(path, mode);
  try {
    setPragmas(database, mode, journalModeFor(place.filesystem));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Makes a new database with empty tables at `path`, which must be free. SQLite would make the file itself, with a mode
 * by the umask; what it makes later has the mode of the database.
 */
export function createDatabase(place: MirrorPlace, path: string): void {
  place.env.fs.open(path, 'create').close();
  const database = openDatabase(place, path, 'read-write');
  try {
    inTransaction(database, () => {
      database.exec(schemaSql);
      const put = database.prepare<never>('INSERT INTO meta (name, value) VALUES (?, ?)');
      for (const [name, value] of Object.entries(firstMeta(place.env))) put.run(name, value);
    });
  } finally {
    database.close();
  }
}

function firstMeta(env: LogEnvironment): Readonly<Record<string, string>> {
  return {
    format: String(mirrorFormat),
    tokenizer: tokenizerName,
    generation: env.ids.randomHex(16),
    built_from: 'logs',
    chunk_count: '0',
    token_count: '0',
    revision: '0',
  };
}

/** Whether a database says that it is of this format and of this tokenizer. */
export function isOfThisFormat(database: SqliteDatabase): boolean {
  const tables = database
    .prepare<{ readonly n: number }>(
      "SELECT count(*) AS n FROM sqlite_schema WHERE type = 'table' AND name = 'meta'",
    )
    .get();
  if ((tables?.n ?? 0) === 0) return false;
  return (
    metaValue(database, 'format') === String(mirrorFormat) &&
    metaValue(database, 'tokenizer') === tokenizerName
  );
}

export function metaValue(database: SqliteDatabase, name: string): string | null {
  const row = database.prepare<{ readonly value: string }>('SELECT value FROM meta WHERE name = ?').get(name);
  return row?.value ?? null;
}

/** Removes a file and what SQLite kept beside it; what is not there is as good as removed. */
export function removeDatabase({ env }: MirrorPlace, path: string): void {
  for (const suffix of ['', ...companionSuffixes]) removeIfThere(env, `${path}${suffix}`);
}

export function removeIfThere({ fs }: LogEnvironment, path: string): void {
  removeFileIfThere(fs, path);
}

/** Brings files of a mirror that an earlier version, or somebody else, left open to others to 0600. */
export function tightenMirror(place: MirrorPlace): void {
  for (const suffix of ['', ...companionSuffixes]) {
    const path = `${place.path}${suffix}`;
    if (fileStatus(place.env, path) !== null)
      openOwnFile(place.env.fs, path, 'append', place.env.ownership).close();
  }
}
