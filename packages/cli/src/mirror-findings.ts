import { mirrorNames, openMirror } from '@turnlog/mirror';
import type { Finding, Store } from '@turnlog/store';

/**
 * What is wrong with the SQLite copy of a store, which `turnlog rebuild --only mirror` makes anew. Nothing where there
 * is none, or no SQLite to look at it with.
 */
export async function mirrorFindings(store: Store): Promise<readonly Finding[]> {
  if (store.environment.fs.status(`${store.root}/${mirrorNames.file}`) === null) return [];
  const opened = await openMirror(store);
  if (opened.kind === 'off') return [];
  const { mirror } = opened;
  const { state, reason, walBytes, isWalTooLong } = mirror.health();
  const base = { sessionId: null, path: mirror.path, repair: null, weight: 'fault' } as const;
  const remedy = 'turnlog rebuild --only mirror makes it anew';
  mirror.close();
  if (state === 'broken')
    return [{ ...base, kind: 'mirror-broken', message: `the mirror cannot be used: ${reason}; ${remedy}` }];
  if (!isWalTooLong) return [];
  return [{ ...base, kind: 'mirror-wal', message: `its write-ahead log has ${walBytes} bytes; ${remedy}` }];
}
