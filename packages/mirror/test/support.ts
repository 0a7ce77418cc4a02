import { join } from 'node:path';
import { createNodeFileSystem, type FilesystemKind } from '@turnlog/fs';
import { type Mirror, type MirrorOptions, openMirror } from '@turnlog/mirror';
import { noFilters, type QueryHelp, type QueryPlan, readQueryText } from '@turnlog/search';
import { openStore, type Store } from '@turnlog/store';
import { FakeClock, makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';

export const localDisk: FilesystemKind = { name: 'ext', reach: 'local' };

/** A store on a real disk, because SQLite works on no other. */
export class MirrorStore {
  readonly directory: TemporaryDirectory;
  readonly clock: FakeClock;
  readonly store: Store;
  readonly #mirrors: Mirror[] = [];

  private constructor(directory: TemporaryDirectory, clock: FakeClock, store: Store) {
    this.directory = directory;
    this.clock = clock;
    this.store = store;
  }

  static async make(): Promise<MirrorStore> {
    const directory = makeTemporaryDirectory();
    const clock = new FakeClock();
    const root = join(directory.path, 'store');
    const store = await openStore({ root, environment: { clock }, cwd: '/', env: {} });
    store.ensureSessionsDirectory();
    return new MirrorStore(directory, clock, store);
  }

  get root(): string {
    return this.store.root;
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** The mirror as a process of its own would open it. */
  async mirror(options: MirrorOptions = {}): Promise<Mirror> {
    const opened = await openMirror(this.store, { filesystemKind: () => localDisk, ...options });
    if (opened.kind === 'off') throw new Error(opened.reason);
    this.#mirrors.push(opened.mirror);
    return opened.mirror;
  }

  /** Appends in a writer of its own, a second apart. */
  async write(session: string, events: readonly object[]): Promise<void> {
    const log = await this.store.open(session);
    for (const event of events) {
      log.append(event as Parameters<typeof log.append>[0]);
      this.clock.advance(1_000);
    }
    await log.close();
  }

  remove(): void {
    for (const mirror of this.#mirrors) mirror.close();
    this.directory.remove();
  }
}

export const fs = createNodeFileSystem();

/** Runs `work` with a store that is removed afterwards. */
export async function withStore(work: (place: MirrorStore) => Promise<void>): Promise<void> {
  const place = await MirrorStore.make();
  try {
    await work(place);
  } finally {
    place.remove();
  }
}

export function message(id: string, text: string): object {
  return { type: 'item.completed', item: { id, type: 'agent_message', text } };
}

export function say(text: string, origin = 'prompt'): object {
  return { type: 'user.message', id: `u-${text.length}`, origin, content: [{ type: 'text', text }] };
}

/** A turn around some events. */
export function turn(...events: readonly object[]): readonly object[] {
  const usage = { input_tokens: 10, cached_input_tokens: 0, cache_creation_tokens: 0, output_tokens: 2 };
  return [{ type: 'turn.started' }, ...events, { type: 'turn.completed', usage }];
}

export const help: QueryHelp = { textVerdict: () => true, dayOf: () => '' };

/** What a text asks for, all of it counted. */
export function planOf(text: string, more: Partial<QueryPlan> = {}): QueryPlan {
  const { tokens, identifier } = readQueryText(text);
  return {
    terms: tokens.map(({ text: token, form }) => ({
      kind: form === 'prefix' ? 'prefix' : 'token',
      text: token,
    })),
    whole: identifier,
    required: [],
    excluded: [],
    filters: noFilters,
    asOf: null,
    nowMs: 0,
    minScore: 0,
    group: 'none',
    limit: 100,
    after: null,
    counting: 'exact',
    facets: 'none',
    ...more,
  };
}

/** The ids of what is found, best first. */
export function idsOf(mirror: Mirror, text: string): readonly string[] {
  return mirror.index.query(planOf(text), help).hits.map(({ session, seq }) => `${session}:${seq}`);
}
