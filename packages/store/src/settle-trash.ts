import { sessionIds } from './catalog.js';
import { trashEntryPath } from './layout.js';
import { Ledger } from './ledger.js';
import { isHeldByOthers } from './move-session.js';
import type { Store } from './store.js';
import {
  purgeSession,
  readTrash,
  recordRemoval,
  removeLeftOver,
  restoreSession,
  type Trash,
} from './trash.js';

/** Something in the trash that an earlier run left unfinished, or that the ledger does not know. */
export type SettlingStep =
  /** The ledger is to be told of a removal. */
  | { readonly kind: 'record'; readonly name: string }
  /** The ledger says that it was restored. */
  | { readonly kind: 'restore'; readonly name: string }
  /** The ledger says that it was purged, or a part of it is left. */
  | { readonly kind: 'purge'; readonly name: string };

/**
 * What is to be done so that trash and ledger say the same. Pure. A session whose id is taken by now stays in the
 * trash, whatever the ledger says.
 */
export function planSettling(trash: Trash, sessions: readonly string[]): readonly SettlingStep[] {
  const taken = new Set(sessions.map((id) => id.toLowerCase()));
  const steps = trash.entries.flatMap(({ name, sessionId, removal }): readonly SettlingStep[] => {
    if (removal === null) return [{ kind: 'record', name }];
    if (removal.fate === 'purged') return [{ kind: 'purge', name }];
    const isOpen = removal.fate === 'restored' && !taken.has(sessionId.toLowerCase());
    return isOpen ? [{ kind: 'restore', name }] : [];
  });
  return [...steps, ...trash.leftOvers.map((name): SettlingStep => ({ kind: 'purge', name }))];
}

/** What there is to settle in a store. Nothing is changed. */
export function findSettling(store: Store, trash: Trash): readonly SettlingStep[] {
  return planSettling(trash, sessionIds(store.environment, store.root));
}

/** Makes one step; one that somebody else has made, or is making, is passed over. */
export async function settle(store: Store, { kind, name }: SettlingStep): Promise<void> {
  const { environment: env, root } = store;
  const trash = readTrash(env, root, new Ledger(env, root).facts());
  const entry = trash.entries.find((candidate) => candidate.name === name);
  try {
    if (entry === undefined) {
      if (kind === 'purge' && trash.leftOvers.includes(name)) removeLeftOver(env, root, name);
    } else if (kind === 'record') await recordRemoval(env, root, entry);
    else if (kind === 'purge') await purgeSession(env, root, entry);
    else await restoreSession(store, name);
  } catch (error) {
    if (entry === undefined || !isHeldByOthers(error, trashEntryPath(root, name))) throw error;
  }
}
