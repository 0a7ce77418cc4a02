import { join } from 'node:path';
import { checkDirectory, ensurePrivateDirectory } from '@turnlog/fs';
import { type FileSystem, isTurnlogError, TurnlogError } from '@turnlog/kernel';
import { type LogEnvironment, logPaths, Scanner } from '@turnlog/log';
import { isMembers, type Members } from './source-object.js';

/** Where imported sessions go. */
export interface ImportTarget {
  readonly environment: LogEnvironment;
  /** Absolute path of `<root>/sessions`; created when it is missing. */
  readonly sessionsDirectory: string;
  /** How long to wait for a session that somebody else writes to, in milliseconds; by default not at all. */
  readonly lockWaitMs?: number;
}

/** A session that is being built beside the others, under a name that is no session's. */
export interface Building {
  readonly directory: string;
  /** Gives the place up for the move, which must follow at once. */
  release(): Promise<void>;
  /** Removes what was built. */
  discard(): Promise<void>;
}

const buildingForm = /^\.import-[0-9a-f]{16}$/;

/** How deep a directory that is being built is nested: its index lies one below. */
const buildingLevelsMax = 3;

/**
 * Makes a directory `.import-<16 hex>` and holds its lock, so that others can tell it from one that a crash left.
 * Left ones are removed.
 */
export async function startBuilding(target: ImportTarget): Promise<Building> {
  const { fs, ids, locks, ownership } = target.environment;
  ensurePrivateDirectory(fs, target.sessionsDirectory, ownership);
  await removeLeftBuildings(target);
  const directory = join(target.sessionsDirectory, `.import-${ids.randomHex(8)}`);
  fs.makeDirectory(directory);
  const lock = await locks.acquire(directory, { mode: 'owned', waitMs: 0, onLost: () => undefined });
  let isHeld = true;
  const release = async (): Promise<void> => {
    if (isHeld) await lock.release();
    isHeld = false;
  };
  return {
    directory,
    release,
    discard: async () => {
      await release();
      removeTree(fs, directory, 0);
    },
  };
}

/**
 * Removes what killed imports left. A directory whose lock can be had belongs to nobody; it is renamed first, so
 * that an import which is just about to move it either has done so or finds it gone.
 */
async function removeLeftBuildings({ environment, sessionsDirectory }: ImportTarget): Promise<void> {
  const { fs, ids, locks } = environment;
  for (const { name, kind } of fs.list(sessionsDirectory)) {
    if (kind !== 'directory' || !buildingForm.test(name)) continue;
    const directory = join(sessionsDirectory, name);
    const holder = locks.inspect(directory);
    if (holder !== null && holder.state !== 'dead') continue;
    const claimed = join(sessionsDirectory, `.import-${ids.randomHex(8)}`);
    try {
      fs.rename(directory, claimed);
    } catch (error) {
      if (!isTurnlogError(error, 'TURNLOG_IO')) throw error;
      continue;
    }
    removeTree(fs, claimed, 0);
  }
}

function removeTree(fs: FileSystem, directory: string, level: number): void {
  if (level > buildingLevelsMax) {
    throw new TurnlogError('TURNLOG_UNSAFE_PATH', { details: { path: directory } });
  }
  if (fs.status(directory) === null) return;
  for (const { name, kind } of fs.list(directory)) {
    const path = join(directory, name);
    if (kind === 'directory') removeTree(fs, path, level + 1);
    else fs.removeFile(path);
  }
  fs.removeDirectory(directory);
}

/** Moves a finished session to its name and makes that durable. */
export function moveIntoPlace(target: ImportTarget, building: Building, sessionId: string): void {
  const { fs } = target.environment;
  const directory = join(target.sessionsDirectory, sessionId);
  if (fs.status(directory) !== null) {
    throw new TurnlogError('TURNLOG_ID_COLLISION', { details: { sessionId, path: directory } });
  }
  fs.rename(building.directory, directory);
  fs.syncDirectory(target.sessionsDirectory);
}

/** The names in the sessions directory, in lower case: ids that differ only in case are not told apart. */
export function takenNames({ environment, sessionsDirectory }: ImportTarget): ReadonlySet<string> {
  const { fs } = environment;
  if (fs.status(sessionsDirectory) === null) return new Set();
  checkDirectory(fs, sessionsDirectory, environment.ownership.uid);
  return new Set(fs.list(sessionsDirectory).map(({ name }) => name.toLowerCase()));
}

/** The first record of a session's log as a value; null when there is no such session, or no record in front. */
export function firstEventOf(target: ImportTarget, sessionId: string): unknown {
  const { fs } = target.environment;
  const directory = join(target.sessionsDirectory, sessionId);
  if (fs.status(directory)?.kind !== 'directory') return null;
  const { events } = logPaths(directory);
  if (fs.status(events)?.kind !== 'file') return null;
  const file = fs.open(events, 'read');
  try {
    const piece = new Scanner(file, { to: file.status().size }).next();
    if (piece?.verdict !== 'record') return null;
    const { eventStart, eventEnd } = piece;
    return JSON.parse(new TextDecoder().decode(piece.bytes.subarray(eventStart, eventEnd)));
  } finally {
    file.close();
  }
}

/** The `source` of a log that was taken over from an agent; null for any other first record. */
export function importedSource(event: unknown, kind: string): Members | null {
  if (!isMembers(event) || event['type'] !== 'log.imported') return null;
  const { source } = event;
  return isMembers(source) && source['kind'] === kind ? source : null;
}
