import { join } from 'node:path';
import { ensurePrivateDirectory } from '@turnlog/fs';
import { isTurnlogError } from '@turnlog/kernel';
import { Ledger, type Store, storeNames } from '@turnlog/store';
import {
  type PackedPlace,
  type PackOptions,
  type PackReport,
  packLedgerless,
  packSession,
} from './build-pack.js';
import { isGone } from './leaf-roots.js';
import type { PackedSession } from './pack.js';
import type { Findings } from './verdict.js';
import { type SessionRoots, type VerifyRequest, verifyPack } from './verify-pack.js';

/**
 * The pack of a whole store is that of its ledger with the last root of every session in it: one signature over it
 * vouches for all of them.
 */

/** A pack, and the sessions that could not be read and so are not in it. */
export interface StorePackReport extends PackReport {
  readonly unread: readonly string[];
}

function ledgerPlace(store: Store): PackedPlace {
  return { directory: join(store.root, storeNames.ledger), sessionId: storeNames.ledger };
}

/** @throws as `packSession` */
export async function packStore(
  store: Store,
  options: Omit<PackOptions, 'sessions' | 'bundle'> = {},
): Promise<StorePackReport> {
  const sessions: PackedSession[] = [];
  const unread: string[] = [];
  for (const { id } of await store.list({ sort: 'id' })) {
    const found = lastRoot(store, id);
    if (found === null) unread.push(id);
    else if (found.size > 0) sessions.push(found);
  }
  const { environment } = store;
  const ledger = new Ledger(environment, store.root).reader();
  const isEmpty = ledger === null || ledger.state.lifecycle.eventCount === 0;
  ledger?.close();
  const place = ledgerPlace(store);
  if (!isEmpty) return { ...(await packSession(environment, place, { ...options, sessions })), unread };
  // A store whose ledger says nothing so far has sessions all the same.
  store.ensureSessionsDirectory();
  ensurePrivateDirectory(environment.fs, place.directory, environment.ownership);
  return { ...(await packLedgerless(environment, place, { ...options, sessions })), unread };
}

/** Null for a session that cannot be read: it is told, and hides no other. */
function lastRoot(store: Store, id: string): PackedSession | null {
  try {
    const reader = store.read(id, { tree: 'hashed' });
    try {
      const { size, root } = reader.tree ?? reader.root(0);
      return { sessionId: id, size, root };
    } finally {
      reader.close();
    }
  } catch (error) {
    if (isTurnlogError(error)) return null;
    throw error;
  }
}

/** Compares a store with its pack: the ledger, and each session up to the root that it had. */
export async function verifyStore(
  store: Store,
  request: Omit<VerifyRequest, 'directory' | 'sessionId' | 'sessionRoot'>,
): Promise<Findings> {
  const { directory, sessionId } = ledgerPlace(store);
  return await verifyPack(store.environment.fs, {
    ...request,
    directory,
    sessionId,
    sessionRoot: rootsIn(store),
  });
}

function rootsIn(store: Store): SessionRoots {
  return (id, size) => {
    try {
      const reader = store.read(id);
      try {
        return reader.root(size);
      } finally {
        reader.close();
      }
    } catch (error) {
      if (isGone(error)) return 'unproven';
      if (!isTurnlogError(error, 'TURNLOG_NOT_FOUND')) throw error;
      return error.details['available'] === undefined ? 'missing' : 'shorter';
    }
  };
}
