import { join } from 'node:path';
import { type FileSystem, isTurnlogError, type SessionId } from '@turnlog/kernel';
import {
  isSessionId,
  Ledger,
  type LedgerRemoval,
  newestRemoval,
  type Store,
  trashEntryPath,
} from '@turnlog/store';
import { packDirectoryOf, packNames } from './session-files.js';
import type { Findings } from './verdict.js';
import { type VerifyRequest, verifyPack } from './verify-pack.js';

/** What a session or a copy is compared with, whoever asks; where it lies is found here. */
export type Comparison = Omit<VerifyRequest, 'directory' | 'sessionId' | 'packDirectory' | 'removalOf'>;

/**
 * Compares a session of a store with its pack, or with the one in `packSource`. A session that was removed is asked for
 * by its full id, and compared with the pack that it took along.
 *
 * @throws TURNLOG_NOT_FOUND, TURNLOG_AMBIGUOUS_ID; TURNLOG_IO.
 */
export async function verifySession(
  store: Store,
  reference: string,
  request: Comparison & { readonly packSource?: string },
): Promise<Findings> {
  const { fs } = store.environment;
  const { packSource, ...comparison } = request;
  const { sessionId, removal } = sessionOf(store, reference);
  const left = removal === null ? null : trashEntryPath(store.root, removal.trash);
  const source = packSource === undefined ? left : fs.resolve(packSource);
  return await verifyPack(fs, {
    ...comparison,
    directory: store.sessionDirectory(sessionId),
    sessionId,
    ...(removal === null ? {} : { removalOf: () => removal }),
    ...(source === null ? {} : { packDirectory: packIn(fs, source) }),
  });
}

/** Compares a copy of a session, which may lie anywhere, with the pack in it. */
export async function verifyCopy(fs: FileSystem, path: string, request: Comparison): Promise<Findings> {
  const directory = fs.resolve(path);
  return await verifyPack(fs, {
    ...request,
    directory,
    sessionId: null,
    packDirectory: packIn(fs, directory),
  });
}

/** A session that is there, or one of exactly this id that the ledger says was removed. */
function sessionOf(
  store: Store,
  reference: string,
): { readonly sessionId: SessionId; readonly removal: LedgerRemoval | null } {
  try {
    return { sessionId: store.resolve(reference), removal: null };
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_NOT_FOUND') || !isSessionId(reference)) throw error;
    const removal = newestRemoval(new Ledger(store.environment, store.root).facts(), reference);
    if (removal === null) throw error;
    return { sessionId: reference, removal };
  }
}

/** A pack lies in the directory itself where it was made for another place, else where a session has it. */
function packIn(fs: FileSystem, directory: string): string {
  const own = packDirectoryOf(directory);
  return fs.status(join(own, packNames.pack)) === null ? directory : own;
}
