import { join } from 'node:path';
import { containedPath } from '@turnlog/fs';
import type { SessionId } from '@turnlog/kernel';

/** The names directly below the root of a store. They stand here and nowhere else. */
export const storeNames = {
  /** One directory per session. */
  sessions: 'sessions',
  /** The store-wide log; no session may have its name. */
  ledger: 'ledger',
  /** Blobs, named by their digests. */
  assets: 'assets',
  /** Removed sessions, until they are purged. */
  trash: 'trash',
  /** Files of the search index; all of them are derived. */
  search: 'search',
  /** The key of the marks that stand for redacted secrets. */
  redactionKey: 'redaction.key',
} as const;

/** Name of the directory that holds a store inside of a project. */
export const projectStoreName = '.turnlog';

/**
 * The longest path below the root, in bytes: a session of the longest id in the trash, with the time and the
 * random part that its name gets there, and the longest name inside of a session.
 */
export const longestPathBelowRootBytes: number = 'trash/'.length + 128 + 26 + '/derived/'.length + 40;

export function sessionsPath(root: string): string {
  return join(root, storeNames.sessions);
}

export function sessionPath(root: string, id: SessionId): string {
  return containedPath(sessionsPath(root), id);
}

/** Directory of the store-wide log. */
export function ledgerPath(root: string): string {
  return join(root, storeNames.ledger);
}

export function trashPath(root: string): string {
  return join(root, storeNames.trash);
}

export function trashEntryPath(root: string, name: string): string {
  return containedPath(trashPath(root), name);
}
