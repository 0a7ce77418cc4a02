import { TurnlogError } from '@turnlog/kernel';
import { logPaths } from '@turnlog/log';
import { type EngineProvider, freshnessOf, type LexicalIndex, type OpenEngine } from '@turnlog/search';
import { parseSessionId, type Store } from '@turnlog/store';
import { type Mirror, type MirrorOptions, openMirror } from './mirror.js';
import { mirrorPath } from './mirror-file.js';

/**
 * The engine `fts5` for searches over a store. SQLite is loaded when it is first asked, and never before. A mirror
 * that is missing is not made: it would have nothing to answer from, and another engine has.
 */
export function mirrorEngine(store: Store, options: MirrorOptions = {}): EngineProvider {
  return {
    name: 'fts5',
    async open(): Promise<OpenEngine> {
      // Where there is none, SQLite need not be loaded to know it.
      if (store.environment.fs.status(mirrorPath(store.root)) === null)
        throw unusable(remedied('there is no mirror'));
      const opened = await openMirror(store, options);
      if (opened.kind === 'off') throw unusable(opened.reason);
      const { state } = opened.mirror.index;
      if (state.kind !== 'unusable') return new MirrorEngine(store, opened.mirror);
      opened.mirror.close();
      throw unusable(remedied(state.reason));
    },
  };
}

class MirrorEngine implements OpenEngine {
  readonly #store: Store;
  readonly #mirror: Mirror;

  constructor(store: Store, mirror: Mirror) {
    this.#store = store;
    this.#mirror = mirror;
  }

  get index(): LexicalIndex {
    return this.#mirror.index;
  }

  get unindexedBytes(): number {
    return this.#mirror.index.unindexedBytes;
  }

  async catchUp(waitMs: number, signal?: AbortSignal): ReturnType<OpenEngine['catchUp']> {
    // Most of the time nothing has come, and then nobody has to be waited for.
    if (this.#isCurrent()) return { behind: { events: 0, bytes: 0, sessions: 0 }, failed: [] };
    const { failed, degraded } = await this.#mirror.catchUp({
      waitMs,
      ...(signal === undefined ? {} : { signal }),
    });
    const places = this.#mirror.index.places();
    const behind = freshnessOf(this.#store, (session) => places.get(session)?.offset ?? 0);
    // Sessions that failed are named by themselves.
    const reasons = failed.length > 0 ? [] : degraded;
    return { behind, failed, degraded: reasons.map((reason) => ({ name: 'fts5', reason })) };
  }

  /** Whether every file ends where it was taken in to, and none has gone. */
  #isCurrent(): boolean {
    const places = this.#mirror.index.places();
    const ids = this.#store.ids();
    const { fs } = this.#store.environment;
    return (
      ids.length === places.size &&
      ids.every((id) => {
        const place = places.get(id);
        const status = fs.status(logPaths(this.#store.sessionDirectory(parseSessionId(id))).events);
        return status?.size === place?.offset && `${status?.device}:${status?.inode}` === place?.file;
      })
    );
  }

  close(): void {
    this.#mirror.close();
  }
}

function remedied(reason: string): string {
  return `${reason}; turnlog rebuild --only mirror makes one`;
}

/** Another engine answers, and says why this one does not. */
function unusable(reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_NOT_FOUND', { details: { engine: 'fts5' }, message: reason });
}
