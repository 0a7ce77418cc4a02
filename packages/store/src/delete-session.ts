import { isTurnlogError, type SessionId, TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { sessionIds } from './catalog.js';
import { sessionPath } from './layout.js';
import { Ledger } from './ledger.js';
import { existingSession, type Pin, pinOf } from './pins.js';
import { removeSession } from './removal.js';
import { parseSessionId } from './session-id.js';
import { readSessionState } from './session-state.js';
import type { Store } from './store.js';

export interface DeletedSession {
  readonly trash: string;
  readonly events: number;
  readonly bytes: number;
}

/** What deleting a session would do. */
export interface DeletionPlan {
  readonly id: SessionId;
  readonly events: number;
  readonly turns: number;
  readonly bytes: number;
  /** Sessions that were forked from it: they stay, and what they share with it is missing then. */
  readonly forks: readonly string[];
}

/** Looks at a session that is to be deleted and changes nothing. Errors as `deleteSession`. */
export function planDeletion(store: Store, id: string): DeletionPlan {
  const { environment: env, root } = store;
  const { sessionId, directory } = existingSession(store, id);
  const pin = pinOf(env, directory, sessionId, new Ledger(env, root).facts());
  if (pin !== null) throw pinned(pin);
  if (isLive(env, directory)) throw held(env, directory);
  const { events, turns, bytes } = readSessionState(env.fs, directory, sessionId, 'none');
  return { id: sessionId, events, turns, bytes, forks: forksOf(env, root, sessionId) };
}

/** The sessions that say they were forked from `id`. */
function forksOf(env: LogEnvironment, root: string, id: SessionId): readonly string[] {
  return sessionIds(env, root).filter((name) => name !== id && parentOf(env, root, name) === id);
}

/** The session that another says it was forked from; one that cannot be read says nothing. */
export function parentOf(env: LogEnvironment, root: string, name: string): string | null {
  const id = parseSessionId(name);
  try {
    return readSessionState(env.fs, sessionPath(root, id), id, 'none').forkedFrom;
  } catch (error) {
    if (isTurnlogError(error)) return null;
    throw error;
  }
}

/** A lock that a dead process left is nobody's; whose owner cannot be judged, lives. */
export function isLive(env: LogEnvironment, directory: string): boolean {
  const holder = env.locks.inspect(directory);
  return holder !== null && holder.state !== 'dead';
}

function held(env: LogEnvironment, directory: string): TurnlogError {
  const { pid = null, host = null, since = null } = env.locks.inspect(directory) ?? {};
  return new TurnlogError('TURNLOG_LOCKED', { details: { path: directory, pid, host, since } });
}

/**
 * Moves a session to the trash because somebody says so, whatever its age and state.
 *
 * @throws TURNLOG_PINNED with the reason, while it is pinned; TURNLOG_NOT_FOUND, and others as `removeSession`.
 */
export async function deleteSession(store: Store, id: string): Promise<DeletedSession> {
  const { environment, root } = store;
  const { sessionId, directory } = existingSession(store, id);
  const outcome = await removeSession<never>(environment, root, {
    sessionId,
    reason: 'manual',
    judge: (_state, facts) => {
      const pin = pinOf(environment, directory, sessionId, facts);
      if (pin === null) return null;
      throw pinned(pin);
    },
  });
  if (outcome.kind !== 'removed') return outcome.why;
  const { trash, state } = outcome;
  return { trash, events: state.events, bytes: state.bytes };
}

export function pinned({ sessionId, reason }: Pin): TurnlogError {
  const words = reason === null || reason === '' ? '' : `: ${reason}`;
  return new TurnlogError('TURNLOG_PINNED', {
    details: { sessionId, reason },
    message: `${sessionId} is pinned${words}`,
  });
}
