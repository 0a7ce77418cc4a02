import { isTurnlogError, type SessionId, type TurnlogError } from '@turnlog/kernel';
import { mirrorNames, openMirror } from '@turnlog/mirror';
import { purgePackedIndex } from '@turnlog/search';
import { type Store, storeNames } from '@turnlog/store';
import { rebuildViews, viewPath, views } from '@turnlog/views';

/** What is derived from logs outside of them, and may still say what was redacted there. */
type Derived = 'views' | 'search' | 'mirror';

/** What became of one of them: `absent` where there was none. */
type PurgeOutcome = 'rebuilt' | 'purged' | 'removed' | 'absent' | 'failed';

export interface PurgeReport {
  readonly outcomes: Readonly<Record<Derived, PurgeOutcome>>;
  readonly failures: readonly { readonly what: Derived; readonly error: TurnlogError }[];
}

/**
 * Makes everything that is derived from sessions anew without what has left their logs: views, search index, SQLite
 * copy. A failure of one keeps no other from being done.
 */
export async function purgeDerived(store: Store, ids: readonly SessionId[]): Promise<PurgeReport> {
  const failures: { readonly what: Derived; readonly error: TurnlogError }[] = [];
  const trying = async (
    what: Derived,
    work: () => PurgeOutcome | Promise<PurgeOutcome>,
  ): Promise<PurgeOutcome> => {
    try {
      return await work();
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      failures.push({ what, error });
      return 'failed';
    }
  };
  const outcomes = {
    views: await trying('views', () => purgeViews(store, ids)),
    search: await trying('search', () => purgeSearch(store)),
    mirror: await trying('mirror', () => purgeMirror(store)),
  };
  return { outcomes, failures };
}

/** Those that are published are published anew: a pack that names one finds it in its place. */
function purgeViews(store: Store, ids: readonly SessionId[]): PurgeOutcome {
  let outcome: PurgeOutcome = 'absent';
  for (const id of ids) {
    const directory = store.sessionDirectory(id);
    const published = views.filter(
      ({ name }) => store.environment.fs.status(viewPath(directory, name)) !== null,
    );
    if (published.length === 0) continue;
    rebuildViews(store, id, 'publish', published);
    outcome = 'rebuilt';
  }
  return outcome;
}

async function purgeSearch(store: Store): Promise<PurgeOutcome> {
  if (store.environment.fs.status(`${store.root}/${storeNames.search}`) === null) return 'absent';
  await purgePackedIndex(store);
  return 'purged';
}

/** A database keeps what was deleted in its free pages: so it is built anew, or removed where there is no SQLite. */
async function purgeMirror(store: Store): Promise<PurgeOutcome> {
  const { fs } = store.environment;
  const path = `${store.root}/${mirrorNames.file}`;
  if (fs.status(path) === null) return 'absent';
  const opened = await openMirror(store);
  if (opened.kind === 'available') {
    const { mirror } = opened;
    try {
      const { isComplete } = await mirror.rebuild();
      if (isComplete) return 'rebuilt';
    } finally {
      mirror.close();
    }
  }
  for (const name of [path, `${path}-wal`, `${path}-shm`]) if (fs.status(name) !== null) fs.removeFile(name);
  fs.syncDirectory(store.root);
  return 'removed';
}
