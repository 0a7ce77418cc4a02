import { join } from 'node:path';
import { isTurnlogError } from '@turnlog/kernel';
import { packedIndexDamage } from '@turnlog/search';
import { type Finding, type Store, storeNames } from '@turnlog/store';

/** What is wrong with the search index of a store. Damage is no more than a notice: the next search mends it. */
export function searchFindings(store: Store): readonly Finding[] {
  const path = join(store.root, storeNames.search);
  const base = { kind: 'search-damaged', sessionId: null, path, repair: null } as const;
  try {
    return packedIndexDamage(store).map((reason) => ({
      ...base,
      weight: 'notice',
      message: `${reason}; the next search reads again what is lost, and turnlog rebuild --only search all of it`,
    }));
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_UNSAFE_PATH')) throw error;
    return [{ ...base, weight: 'fault', message: `the search index cannot be used: ${error.message}` }];
  }
}
