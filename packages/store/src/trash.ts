import { bytesBelow, checkDirectory, removeChildDirectory } from '@turnlog/fs';
import { type DirectoryEntry, TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { checkCollision } from './catalog.js';
import { sessionsPath, trashEntryPath, trashPath } from './layout.js';
import { Ledger } from './ledger.js';
import { type LedgerFacts, type LedgerRemoval, removalKey } from './ledger-facts.js';
import { moveLocked, whileLocked } from './move-session.js';
import { hasSessions } from './root.js';
import { generationOf, readSessionState, removedEvent } from './session-state.js';
import type { Store } from './store.js';
import { isPurgeName, parseTrashName, purgeName, type TrashName } from './trash-name.js';

/** A removed session. */
export interface TrashEntry extends TrashName {
  /** What the ledger says of it; null while it says nothing. */
  readonly removal: LedgerRemoval | null;
}

export interface Trash {
  /** The oldest first. */
  readonly entries: readonly TrashEntry[];
  /** Names of what a crash kept from being purged to its end. */
  readonly leftOvers: readonly string[];
}

const noTrash: Trash = { entries: [], leftOvers: [] };

/** What lies in the trash. Anything else than directories with names of ours is left alone and not listed. */
export function readTrash(env: LogEnvironment, root: string, facts: LedgerFacts): Trash {
  const path = trashPath(root);
  if (env.fs.status(path) === null) return noTrash;
  checkDirectory(env.fs, path, env.ownership.uid);
  const directories = env.fs.list(path).filter(isDirectory);
  const entries = directories
    .map(({ name }) => parseTrashName(name))
    .filter((named) => named !== null)
    .map((named): TrashEntry => ({ ...named, removal: facts.removals.get(named.name) ?? null }));
  entries.sort((left, right) => left.removedMs - right.removedMs || (left.name < right.name ? -1 : 1));
  const leftOvers = directories.map(({ name }) => name).filter(isPurgeName);
  return { entries, leftOvers };
}

function isDirectory({ kind }: DirectoryEntry): boolean {
  return kind === 'directory';
}

/** Those that have been in the trash for longer than `trashMs`; all of them with `everything`. Pure. */
export function duePurges(
  entries: readonly TrashEntry[],
  trashMs: number | null | 'everything',
  nowMs: number,
): readonly TrashEntry[] {
  if (trashMs === 'everything') return entries;
  return trashMs === null ? [] : entries.filter(({ removedMs }) => nowMs - removedMs > trashMs);
}

/** Tells the ledger of a removal that it does not know, as where somebody moved the directory by hand. */
export async function recordRemoval(env: LogEnvironment, root: string, entry: TrashName): Promise<void> {
  const ledger = new Ledger(env, root);
  const facts = ledger.facts();
  if (facts.removals.has(entry.name)) return;
  const state = readSessionState(env.fs, trashEntryPath(root, entry.name), entry.sessionId, 'hashed');
  const key = removalKey(facts, entry.sessionId, generationOf(state));
  await ledger.append(removedEvent(entry.sessionId, state, 'manual', entry.name), { key });
}

/**
 * Makes a removed session a session again, by moving it back: the ledger is told first, so a crash in between is
 * finished by the next run.
 *
 * @param how `look` checks whether it can be done, and changes nothing.
 * @returns its id.
 * @throws TURNLOG_NOT_FOUND when nothing of that name lies in the trash; TURNLOG_ID_COLLISION when the id is taken;
 *   TURNLOG_LOCKED when somebody is at it; TURNLOG_UNSAFE_PATH, IO.
 */
export async function restoreSession(
  store: Store,
  name: string,
  how: 'move' | 'look' = 'move',
): Promise<string> {
  const { environment: env, root } = store;
  const entry = existingEntry(env, root, name);
  const { sessionId } = entry;
  checkFree(env, root, entry);
  if (how === 'look') return sessionId;
  store.ensureSessionsDirectory();
  return await whileLocked(env, trashEntryPath(root, name), async (lock) => {
    existingEntry(env, root, name);
    checkFree(env, root, entry);
    await recordRemoval(env, root, entry);
    const ledger = new Ledger(env, root);
    if (ledger.facts().removals.get(name)?.fate !== 'restored') {
      await ledger.append({ type: 'log.restored', session_id: sessionId, trash: name });
    }
    const from = { parent: trashPath(root), name };
    moveLocked(env, lock, from, { parent: sessionsPath(root), name: sessionId });
    return sessionId;
  });
}

function existingEntry(env: LogEnvironment, root: string, name: string): TrashName {
  const named = parseTrashName(name);
  if (named !== null && env.fs.status(trashPath(root)) !== null) {
    checkDirectory(env.fs, trashPath(root), env.ownership.uid);
    if (env.fs.status(trashEntryPath(root, name)) !== null) {
      checkDirectory(env.fs, trashEntryPath(root, name), env.ownership.uid);
      return named;
    }
  }
  throw new TurnlogError('TURNLOG_NOT_FOUND', {
    details: { trash: name.slice(0, 200) },
    message: 'nothing of that name lies in the trash; `turnlog sessions --trash` lists what does',
  });
}

/** Whether a session of that id, in any case, stands in the way. Whatever has the name does. */
function checkFree(env: LogEnvironment, root: string, { sessionId }: TrashName): void {
  if (!hasSessions(env.fs, root, env.ownership.uid)) return;
  const names = env.fs.list(sessionsPath(root)).map(({ name }) => name);
  checkCollision(names, sessionId);
  if (!names.includes(sessionId)) return;
  throw new TurnlogError('TURNLOG_ID_COLLISION', {
    details: { id: sessionId, existing: sessionId },
    message: `there is a session ${sessionId} already; it must be removed first`,
  });
}

/**
 * Deletes a removed session for good: the ledger is told, the directory gets a name that only purging uses, and then
 * it is emptied. A crash in between is finished by the next run, and nobody finds half a session to restore.
 *
 * @returns how many bytes its files had; null when it was gone already.
 */
export async function purgeSession(
  env: LogEnvironment,
  root: string,
  entry: TrashName,
): Promise<number | null> {
  const { fs, ids, ownership } = env;
  const { name, sessionId } = entry;
  const parent = trashPath(root);
  const path = trashEntryPath(root, name);
  if (fs.status(path) === null) return null;
  checkDirectory(fs, path, ownership.uid);
  const purge = purgeName(ids.randomHex(8));
  const bytes = bytesBelow(fs, path);
  await whileLocked(env, path, async (lock) => {
    await recordRemoval(env, root, entry);
    const ledger = new Ledger(env, root);
    if (ledger.facts().removals.get(name)?.fate !== 'purged') {
      await ledger.append({ type: 'log.purged', session_id: sessionId, trash: name, bytes });
    }
    moveLocked(env, lock, { parent, name }, { parent, name: purge });
  });
  removeLeftOver(env, root, purge);
  return bytes;
}

/** Empties what was being purged when somebody was stopped. */
export function removeLeftOver({ fs, ownership }: LogEnvironment, root: string, name: string): void {
  removeChildDirectory(fs, trashPath(root), name, ownership.uid);
  fs.syncDirectory(trashPath(root));
}
