import { checkDirectory, childPath } from '@turnlog/fs';
import { type DirectoryEntry, limits, TurnlogError } from '@turnlog/kernel';
import { type LogEnvironment, logNames } from '@turnlog/log';
import { sessionsPath, storeNames } from './layout.js';
import { hasSessions } from './root.js';
import { isSessionId, parseSessionId } from './session-id.js';
import { type SessionSummary, summarizeSession, unreadableSession } from './session-summary.js';

/** What keeps an entry of `sessions/` from being looked into although it is no session. */
function isForeign(entry: DirectoryEntry): boolean {
  // Names with a leading dot belong to operations under way and to desktops; a plain file is no session.
  return entry.name.startsWith('.') || entry.kind === 'file' || entry.kind === 'other';
}

/** The entries of `sessions/` in byte order: they decide which sessions there are, not what any file says. */
export function sessionEntries(env: LogEnvironment, root: string): readonly DirectoryEntry[] {
  if (!hasSessions(env.fs, root, env.ownership.uid)) return [];
  return env.fs.list(sessionsPath(root)).filter((entry) => !isForeign(entry));
}

/** The summary of one entry; null when there is nothing in it that could be lost, as while it is being made. */
export function summarizeEntry(
  env: LogEnvironment,
  root: string,
  entry: DirectoryEntry,
): SessionSummary | null {
  const directory = childPath(sessionsPath(root), entry.name);
  try {
    parseSessionId(entry.name);
    checkDirectory(env.fs, directory, env.ownership.uid);
  } catch (error) {
    return unreadableSession(entry.name, error);
  }
  const summary = summarizeSession(env, entry.name, directory);
  const isAbsent = summary.error?.code === 'TURNLOG_NOT_FOUND' && !holdsAnything(env, directory);
  return isAbsent ? null : summary;
}

/** Whether a directory without a log has files that a log leaves: then the log was lost. */
function holdsAnything(env: LogEnvironment, directory: string): boolean {
  const names: readonly string[] = [logNames.manifest, logNames.index, logNames.archive, logNames.derived];
  try {
    return env.fs.list(directory).some(({ name }) => names.includes(name));
  } catch (error) {
    // Removed while we looked: then it is not there.
    if (env.fs.status(directory) === null) return false;
    throw error;
  }
}

/**
 * Calls `visit` with the summary of each session of a store, one after the other: reading blocks, and calls in a row
 * cost less than calls of a thread pool. Between groups of them the event loop gets its turn. Only the names of the
 * directory are held. Nothing is created, locked or changed.
 */
export async function visitSessions(
  env: LogEnvironment,
  root: string,
  visit: (summary: SessionSummary) => void,
  signal?: AbortSignal,
): Promise<void> {
  for (const [position, entry] of sessionEntries(env, root).entries()) {
    if (signal?.aborted === true) return;
    const summary = summarizeEntry(env, root, entry);
    if (summary !== null) visit(summary);
    if (position % limits.listTurnSessionsMax === 0) await turnOfTheLoop();
  }
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** All summaries at once, for lookups that need what logs say. */
export function summarizeAll(env: LogEnvironment, root: string): readonly SessionSummary[] {
  const summaries = sessionEntries(env, root).map((entry) => summarizeEntry(env, root, entry));
  return summaries.filter((summary) => summary !== null);
}

/**
 * Refuses an id that differs from one of `names` only in case: on some systems it would be the same directory.
 *
 * @throws TURNLOG_ID_COLLISION; details: id, existing.
 */
export function checkCollision(names: readonly string[], id: string): void {
  if (names.includes(id)) return;
  const folded = id.toLowerCase();
  const existing = names.find((name) => name.toLowerCase() === folded);
  if (existing !== undefined) throw collision(id, existing);
}

/** Refuses the name of the ledger, in any case. @throws TURNLOG_ID_COLLISION */
export function checkLedgerName(id: string): void {
  if (id.toLowerCase() === storeNames.ledger) throw collision(id, storeNames.ledger);
}

function collision(id: string, existing: string): TurnlogError {
  return new TurnlogError('TURNLOG_ID_COLLISION', { details: { id, existing } });
}

/** The names of `sessions/` that are ids. */
export function sessionIds(env: LogEnvironment, root: string): readonly string[] {
  return sessionEntries(env, root)
    .map(({ name }) => name)
    .filter((name) => isSessionId(name));
}
