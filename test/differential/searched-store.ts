import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type TimeZone, utc } from '@turnlog/kernel';
import type { EventInput } from '@turnlog/log';
import { mirrorEngine, openMirror } from '@turnlog/mirror';
import {
  openSearch,
  type Search,
  type SearchAnswer,
  type Searcher,
  type SearchRequest,
} from '@turnlog/search';
import { openStore, type Store } from '@turnlog/store';
import { FakeClock, makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';

export const engines = ['packed', 'fts5', 'wink'] as const;

const utcZone: TimeZone = utc;

export const reader: Searcher = {
  zone: utcZone,
  redact: (text) => text,
  resolveWorkspace: (path) => path,
};

/** A store on a real disk that all engines search. */
export class SearchedStore {
  readonly clock = new FakeClock();
  readonly store: Store;
  readonly #directory: TemporaryDirectory;
  #search: Search;

  private constructor(directory: TemporaryDirectory, store: Store, clock: FakeClock) {
    this.#directory = directory;
    this.store = store;
    this.clock = clock;
    this.#search = this.#open();
  }

  /** With all files of another one, or with none. */
  static async make(from: SearchedStore | null = null): Promise<SearchedStore> {
    const directory = makeTemporaryDirectory();
    const clock = new FakeClock();
    const root = join(directory.path, 'store');
    if (from !== null) cpSync(from.store.root, root, { recursive: true });
    const store = await openStore({ root, environment: { clock }, cwd: '/', env: {} });
    store.ensureSessionsDirectory();
    const place = new SearchedStore(directory, store, clock);
    if (from === null) await place.#makeMirror();
    return place;
  }

  /** A search makes none, for it has other engines until there is one. */
  async #makeMirror(): Promise<void> {
    const opened = await openMirror(this.store);
    if (opened.kind === 'off') throw new Error(`no mirror here: ${opened.reason}`);
    await opened.mirror.rebuild();
    opened.mirror.close();
  }

  path(name: string): string {
    return join(this.store.root, name);
  }

  /** As a process that begins anew: only what lies on the disk is left. */
  restart(): void {
    this.#search.close();
    this.#search = this.#open();
  }

  /** Appends texts as messages of the agent, of a time that nobody knows unless one is given. */
  async say(session: string, texts: readonly string[], tsMs: number | null = null): Promise<void> {
    const log = await this.store.open(session);
    for (const text of texts) {
      const item = { id: `i${log.lastSeq + 1}`, type: 'agent_message', text };
      log.append({ type: 'item.completed', item }, { tsMs });
    }
    await log.close();
  }

  async append(session: string, events: readonly EventInput[]): Promise<void> {
    const log = await this.store.open(session);
    for (const event of events) log.append(event);
    await log.close();
  }

  ask(request: SearchRequest): Promise<SearchAnswer> {
    return this.#search.search({ waitMs: 60_000, ...request }, reader);
  }

  /** The answer that all engines give, without what tells them apart. */
  async answer(request: SearchRequest): Promise<ComparableAnswer> {
    const answers = new Map<string, ComparableAnswer>();
    for (const engine of engines) {
      const found = await this.ask({ ...request, engine });
      expect([found.engine, found.degraded]).toEqual([engine, []]);
      answers.set(engine, comparable(found));
    }
    const [first, ...others] = answers.values();
    for (const other of others) expect(other).toEqual(first);
    if (first === undefined) throw new Error('no engine answered');
    return first;
  }

  /** Resolves when nothing is built any more behind an answer. */
  settled(): Promise<void> {
    return this.#search.settled();
  }

  remove(): void {
    this.#search.close();
    this.#directory.remove();
  }

  #open(): Search {
    return openSearch(this.store, [mirrorEngine(this.store)]);
  }
}

export type ComparableAnswer = Omit<SearchAnswer, 'engine' | 'took_ms' | 'index' | 'next_cursor'> & {
  readonly has_more: boolean;
};

export function comparable(answer: SearchAnswer): ComparableAnswer {
  const { engine: _engine, took_ms: _tookMs, index: _index, next_cursor: nextCursor, ...same } = answer;
  return { ...same, has_more: nextCursor !== null };
}

export function idsOf(answer: Pick<SearchAnswer, 'hits'>): readonly string[] {
  return answer.hits.map(({ id }) => id);
}

/** Runs `work` with a store that is removed afterwards. */
export async function withSearchedStore(
  work: (place: SearchedStore) => Promise<void>,
  from: SearchedStore | null = null,
): Promise<void> {
  const place = await SearchedStore.make(from);
  try {
    await work(place);
  } finally {
    place.remove();
  }
}
