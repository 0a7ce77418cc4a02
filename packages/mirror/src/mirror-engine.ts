import { TurnlogError } from '@turnlog/kernel';
import { type EngineProvider, freshnessOf, type LexicalIndex, type OpenEngine } from '@turnlog/search';
import type { Store } from '@turnlog/store';
import { type Mirror, type MirrorOptions, openMirror } from './mirror.js';

/** The engine `fts5` for searches over a store. SQLite is loaded when it is first asked, and never before. */
export function mirrorEngine(store: Store, options: MirrorOptions = {}): EngineProvider {
  return {
    name: 'fts5',
    async open(): Promise<OpenEngine> {
      const opened = await openMirror(store, options);
      if (opened.kind === 'off') throw unusable(opened.reason);
      const engine = new MirrorEngine(store, opened.mirror);
      await engine.begin();
      return engine;
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

  /** A mirror that is missing is made, empty, so that there is one to ask. */
  async begin(): Promise<void> {
    const { degraded, needsRebuild } = await this.#mirror.catchUp({ waitMs: 0 });
    if (!needsRebuild && this.#mirror.index.state.kind !== 'unusable') return;
    this.#mirror.close();
    throw unusable(degraded[0] ?? 'the mirror cannot be used');
  }

  async catchUp(waitMs: number): ReturnType<OpenEngine['catchUp']> {
    const { failed } = await this.#mirror.catchUp({ waitMs });
    const behind = freshnessOf(this.#store, (session) => this.#mirror.index.offsetOf(session));
    return { behind, failed };
  }

  close(): void {
    this.#mirror.close();
  }
}

/** Another engine answers, and says why this one does not. */
function unusable(reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_NOT_FOUND', { details: { engine: 'fts5' }, message: reason });
}
