import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { SearchAnswer } from '@turnlog/search';
import { comparable, engines, SearchedStore, withSearchedStore } from './searched-store.js';

/** Which engine answers, and what it says of those that do not (SE-29). */

const query = { text: 'disk full', limit: 5, explain: true } as const;

/** A store with more than is indexed while somebody waits, all of it in each index; and what each engine answers. */
let filled: SearchedStore;
let whole: ReturnType<typeof comparable>;

beforeAll(async () => {
  filled = await SearchedStore.make();
  const filler = 'and other words that fill a line of some length '.repeat(44);
  for (const session of ['a', 'b']) {
    const texts = Array.from(
      { length: 260 },
      (_, at) => `disk ${at} ${at % 7 === 0 ? 'full' : ''} ${filler}`,
    );
    await filled.say(session, texts);
  }
  whole = comparable(await filled.ask({ ...query, engine: 'wink' }));
  for (const engine of engines) {
    const answer = await filled.ask({ ...query, engine });
    expect([told(answer), comparable(answer)]).toEqual([[engine, []], whole]);
  }
  expect(told(await filled.ask(query))).toEqual(['packed', []]);
  filled.restart();
});

afterAll(() => filled.remove());

type Told = readonly [engine: string, degraded: readonly string[]];

function told({ engine, degraded }: SearchAnswer): Told {
  return [engine, degraded.map(({ name, reason }) => `${name}: ${reason}`)];
}

const missing = 'packed: there was none, and it is being built';

function listedSegments(place: SearchedStore): readonly string[] {
  const list = readFileSync(place.path('search/segments.json'), 'utf8');
  return [...list.matchAll(/[0-9a-f]{16}\.seg/g)].map(([name]) => name);
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** Each leaves the packed index in a state in which it does not answer at once. */
const states: readonly {
  readonly name: string;
  readonly harm: (place: SearchedStore) => Promise<() => Promise<void>>;
  readonly reason: RegExp;
  /** Who answers when the mirror is gone as well, and who answers the next question. */
  readonly alone: string;
  readonly next: string;
}[] = [
  {
    name: 'gone',
    harm: async (place) => {
      rmSync(place.path('search'), { recursive: true });
      return async () => undefined;
    },
    reason: new RegExp(`^${missing}$`),
    alone: 'packed',
    next: 'packed',
  },
  {
    name: 'damaged',
    harm: async (place) => {
      for (const name of listedSegments(place)) flipByte(place.path(`search/${name}`), 16);
      return async () => undefined;
    },
    reason: /^packed: [0-9a-f]{16}\.seg: /,
    alone: 'packed',
    next: 'packed',
  },
  {
    name: 'damaged where a question is the first to read it',
    harm: async (place) => {
      for (const name of listedSegments(place)) flipByte(place.path(`search/${name}`), -1);
      return async () => undefined;
    },
    reason: /^packed: [0-9a-f]{16}\.seg: /,
    alone: 'packed',
    next: 'packed',
  },
  {
    name: 'being rebuilt by another process',
    harm: async (place) => {
      rmSync(place.path('search'), { recursive: true });
      mkdirSync(place.path('search/build.lock'), { recursive: true, mode: 0o700 });
      const { locks } = place.store.environment;
      const held = await locks.acquire(place.path('search/build.lock'), {
        mode: 'shared',
        waitMs: 0,
        onLost: () => undefined,
      });
      return async () => await held.release();
    },
    reason: new RegExp(`^${missing}$`),
    alone: 'packed',
    next: 'packed',
  },
  {
    name: 'in a place that cannot be written or read',
    harm: async (place) => {
      rmSync(place.path('search'), { recursive: true });
      symlinkSync(place.path('sessions'), place.path('search'));
      return async () => undefined;
    },
    reason: /^packed: .*not a directory/,
    alone: 'wink',
    next: 'fts5',
  },
];

test.each(states)(
  'Q-37 the packed index is $name: the same answer at once from the mirror, which says why; then $next again',
  async ({ harm, reason, next, alone }) => {
    await withSearchedStore(async (place) => {
      const release = await harm(place);
      place.restart();
      const first = await place.ask(query);
      expect(told(first)).toEqual(['fts5', [expect.stringMatching(reason)]]);
      expect({ ...comparable(first), degraded: [] }).toEqual(whole);
      await place.settled();
      const second = await place.ask(query);
      expect(second.engine).toBe(next);
      expect({ ...comparable(second), degraded: [] }).toEqual(whole);
      for (const engine of engines) {
        const forced = await place.ask({ ...query, engine });
        const isUsable = engine !== 'packed' || next === 'packed';
        expect(told(forced)).toEqual(isUsable ? [engine, []] : ['fts5', [expect.stringMatching(reason)]]);
        expect({ ...comparable(forced), degraded: [] }).toEqual(whole);
      }
      await release();
    }, filled);
    await withSearchedStore(async (place) => {
      const release = await harm(place);
      for (const suffix of ['', '-wal', '-shm'])
        rmSync(place.path(`mirror.sqlite${suffix}`), { force: true });
      place.restart();
      const answer = await place.ask(query);
      expect(answer.engine).toBe(alone);
      for (const { name } of answer.degraded) expect(['packed', 'fts5']).toContain(name);
      expect({ ...comparable(answer), degraded: [] }).toEqual(whole);
      const forced = await place.ask({ ...query, engine: 'fts5' });
      expect(told(forced)).toEqual([
        alone,
        expect.arrayContaining([expect.stringMatching(/^fts5: .*turnlog rebuild --only mirror/)]),
      ]);
      expect({ ...comparable(forced), degraded: [] }).toEqual(whole);
      await release();
    }, filled);
  },
  60_000,
);

test('Q-37 the packed index cannot be written: the mirror answers at once; then packed does from memory, and says so; alone too', async () => {
  const stays = /^packed: what is new stays in memory: /;
  await withSearchedStore(async (place) => {
    rmSync(place.path('search'), { recursive: true });
    mkdirSync(place.path('search'), { mode: 0o700 });
    writeFileSync(place.path('search/build.lock'), 'in the way of the lock', { mode: 0o600 });
    place.restart();
    const first = await place.ask(query);
    expect([told(first), { ...comparable(first), degraded: [] }]).toEqual([['fts5', [missing]], whole]);
    await place.settled();
    for (const engine of [undefined, 'packed'] as const) {
      const next = await place.ask({ ...query, ...(engine === undefined ? {} : { engine }) });
      expect(told(next)).toEqual(['packed', [expect.stringMatching(stays)]]);
      expect({ ...comparable(next), degraded: [] }).toEqual(whole);
    }
    for (const suffix of ['', '-wal', '-shm']) rmSync(place.path(`mirror.sqlite${suffix}`), { force: true });
    place.restart();
    const alone = await place.ask(query);
    expect(told(alone)).toEqual(['packed', [expect.stringMatching(stays)]]);
    expect({ ...comparable(alone), degraded: [] }).toEqual(whole);
  }, filled);
}, 60_000);
