import { join } from 'node:path';
import { checkDirectory, publish, removeFileIfThere } from '@turnlog/fs';
import { isTurnlogError, limits, type SessionId, TurnlogError } from '@turnlog/kernel';
import { type LogEnvironment, logNames, readTextIfThere } from '@turnlog/log';
import { sessionEntries } from './catalog.js';
import { Ledger } from './ledger.js';
import type { LedgerFacts } from './ledger-facts.js';
import { isSessionId, parseSessionId } from './session-id.js';
import type { Store } from './store.js';

/**
 * A pinned session is not removed. The pin stands in the ledger and, derived from it, in the session's `pin.json`:
 * `{"v":1,"reason":"…","pinned_at":"…"}`. Either protects, so losing one of them unpins nothing.
 */
export interface Pin {
  readonly sessionId: SessionId;
  /** Null where only a file stands that cannot be read as a pin: it protects all the same. */
  readonly reason: string | null;
  readonly pinnedAt: string | null;
}

/**
 * The pin of the session in `directory`; null when it has none.
 *
 * @throws TURNLOG_UNSAFE_PATH when something else than a file of ours has the name of the pin.
 */
export function pinOf(
  env: Pick<LogEnvironment, 'fs'>,
  directory: string,
  sessionId: SessionId,
  facts: LedgerFacts,
): Pin | null {
  const inFile = readPin(env, directory, sessionId);
  const inLedger = facts.pins.get(sessionId);
  if (inLedger === undefined) return inFile;
  return { sessionId, reason: inLedger.reason, pinnedAt: inLedger.pinnedAt };
}

function readPin({ fs }: Pick<LogEnvironment, 'fs'>, directory: string, sessionId: SessionId): Pin | null {
  const path = join(directory, logNames.pin);
  if (fs.status(path) === null) return null;
  const text = readTextIfThere(fs, path, limits.smallFileBytesMax);
  const { reason = null, pinned_at: pinnedAt = null } = text === null ? {} : membersOf(text);
  return { sessionId, reason: textOf(reason), pinnedAt: textOf(pinnedAt) };
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch (error) {
    // A crash may have left the file empty; that it is there is what counts.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * Pins a session, also one that is being written. A pin of another reason is replaced.
 *
 * @returns whether anything had to be done.
 * @throws TURNLOG_INVALID_SESSION_ID, NOT_FOUND, UNSAFE_PATH, LOCKED (the ledger), IO.
 */
export async function pinSession(store: Store, id: string, reason: string): Promise<boolean> {
  const { environment, root } = store;
  const { sessionId, directory } = existingSession(store, id);
  const ledger = new Ledger(environment, root);
  // Looked at before anything is written: what is no pin of ours is refused.
  const inFile = readPin(environment, directory, sessionId);
  const isInLedger = ledger.facts().pins.get(sessionId)?.reason === reason;
  if (!isInLedger) await ledger.append({ type: 'log.pinned', session_id: sessionId, reason });
  const pinnedAt = ledger.facts().pins.get(sessionId)?.pinnedAt ?? null;
  if (inFile?.reason === reason && inFile.pinnedAt === pinnedAt) return !isInLedger;
  const text = `${JSON.stringify({ v: 1, reason, pinned_at: pinnedAt })}\n`;
  const { fs, ids } = environment;
  publish(fs, ids, join(directory, logNames.pin), Buffer.from(text), { durability: 'visible' });
  return true;
}

/** Takes the pin away, in the ledger and in the session. Returns whether there was one; errors as `pinSession`. */
export async function unpinSession(store: Store, id: string): Promise<boolean> {
  const { environment, root } = store;
  const { sessionId, directory } = existingSession(store, id);
  const ledger = new Ledger(environment, root);
  const hasFile = readPin(environment, directory, sessionId) !== null;
  const isInLedger = ledger.facts().pins.has(sessionId);
  if (isInLedger) await ledger.append({ type: 'log.unpinned', session_id: sessionId });
  if (hasFile) removePin(environment, directory);
  return isInLedger || hasFile;
}

function removePin({ fs }: LogEnvironment, directory: string): void {
  removeFileIfThere(fs, join(directory, logNames.pin));
  fs.syncDirectory(directory);
}

/** The pins of all sessions there are, by id; one whose directory is gone is none, whatever the ledger says. */
export function listPins(store: Store): ReadonlyMap<string, Pin> {
  const { environment, root } = store;
  const pins = new Map<string, Pin>();
  const entries = sessionEntries(environment, root);
  if (entries.length === 0) return pins;
  const facts = new Ledger(environment, root).facts();
  for (const { name, kind } of entries) {
    if (kind !== 'directory' || !isSessionId(name)) continue;
    const pin = listedPin(store, name, facts);
    if (pin !== null) pins.set(name, pin);
  }
  return pins;
}

/** What has the name of a pin and is none must not hide the pins of others. */
function listedPin(store: Store, id: SessionId, facts: LedgerFacts): Pin | null {
  try {
    return pinOf(store.environment, store.sessionDirectory(id), id, facts);
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_UNSAFE_PATH')) throw error;
    const inLedger = facts.pins.get(id);
    return inLedger === undefined ? null : { ...inLedger, sessionId: id };
  }
}

/** The directory of a session that is there; nothing of it is read. */
export function existingSession(
  store: Store,
  id: string,
): { readonly sessionId: SessionId; readonly directory: string } {
  const sessionId = parseSessionId(id);
  if (!store.has(sessionId)) {
    throw new TurnlogError('TURNLOG_NOT_FOUND', {
      details: { sessionId },
      message: `there is no session ${sessionId}`,
    });
  }
  const directory = store.sessionDirectory(sessionId);
  checkDirectory(store.environment.fs, directory, store.environment.ownership.uid);
  return { sessionId, directory };
}
