import { type TimeZone, utc } from '@turnlog/kernel';
import { deleteSession } from '@turnlog/store';
import type { Encoder, EncoderProvider } from '../src/hybrid/encoder.js';
import { hashEncoder, hashEncoderProvider } from '../src/hybrid/hash-encoder.js';
import { cosine, wholeNumbers } from '../src/hybrid/vector-table.js';
import { purgePackedIndex } from '../src/packed/index-upkeep.js';
import { packedEngine } from '../src/packed/packed-engine.js';
import { Search } from '../src/search.js';
import type { SearchAnswer } from '../src/search-answer.js';
import type { Searcher, SearchRequest } from '../src/search-request.js';
import { winkEngine } from '../src/wink-engine.js';
import { PackedStore } from './packed-store.js';

const zone: TimeZone = utc;
const reader: Searcher = { zone, redact: (text) => text, resolveWorkspace: (path) => path };

/** Counts what is encoded. */
class CountingEncoder implements EncoderProvider {
  readonly name = 'counting';
  readonly encoded: string[] = [];

  async open(): ReturnType<EncoderProvider['open']> {
    const encode: Encoder['encode'] = async (segments) => {
      this.encoded.push(...segments);
      return await hashEncoder.encode(segments);
    };
    return { kind: 'ready', encoder: { ...hashEncoder, encode } };
  }
}

class HybridWorld {
  readonly world: PackedStore;
  readonly encoder = new CountingEncoder();

  constructor(world: PackedStore) {
    this.world = world;
  }

  static async make(texts: Readonly<Record<string, readonly string[]>>): Promise<HybridWorld> {
    const made = new HybridWorld(await PackedStore.open());
    for (const [session, said] of Object.entries(texts)) await made.say(session, said);
    return made;
  }

  async say(session: string, texts: readonly string[]): Promise<void> {
    const item = (text: string, at: number): object => ({
      id: `${texts.length}-${at}-${text}`,
      type: 'agent_message',
      text,
    });
    await this.world.append(
      session,
      texts.map((text, at) => ({ type: 'item.completed', item: item(text, at) })),
    );
  }

  /** As a process of its own. */
  async ask(
    request: SearchRequest,
    encoders: readonly EncoderProvider[] = [this.encoder],
  ): Promise<SearchAnswer> {
    const { store } = this.world;
    const search = new Search(store, [packedEngine(store), winkEngine(store)], encoders);
    try {
      return await search.search({ mode: 'hybrid', waitMs: 1e9, ...request }, reader);
    } finally {
      search.close();
    }
  }

  vectorFiles(): readonly string[] {
    return this.world.fs
      .list('/store/search')
      .map(({ name }) => name)
      .filter((name) => name.endsWith('.vec'));
  }
}

const idsOf = ({ hits }: SearchAnswer): readonly string[] => hits.map(({ id }) => id);
const namesOf = ({ degraded }: SearchAnswer): readonly string[] => degraded.map(({ name }) => name);

const notes = {
  a: ['the connection pool timed out', 'connections were pooled again', 'bread is baked'],
  b: ['pooling of connection objects', 'the timeout of the pool is 30 s', 'nothing to see'],
};

test('a hybrid search finds what shares no word with the query, and says which lists there are', async () => {
  const place = await HybridWorld.make(notes);
  const lexical = await place.ask({ text: 'pooled connections', mode: 'lexical' });
  const hybrid = await place.ask({ text: 'pooled connections' });
  expect(idsOf(lexical)).toEqual(['a:2']);
  expect(idsOf(hybrid)[0]).toBe('a:2');
  expect(idsOf(hybrid)).toEqual(expect.arrayContaining(['a:1', 'b:1']));
  expect(idsOf(hybrid)).not.toContain('b:3');
  expect([lexical.mode, hybrid.mode]).toEqual(['lexical', 'hybrid']);
  expect(namesOf(lexical)).toEqual([]);
  expect(namesOf(hybrid)).toEqual(['graph']);
  expect(hybrid.total).toEqual({ value: hybrid.hits.length, relation: 'eq' });
});

test('the vector list is that of comparing every chunk by itself, and shares are those of the ranks', async () => {
  const place = await HybridWorld.make(notes);
  const text = 'timeouts of pools';
  const { hits } = await place.ask({ text, explain: true, limit: 100 });
  const [query] = (await hashEncoder.encode([text])).map((vector) =>
    wholeNumbers(vector ?? new Float32Array(512)),
  );
  const alike: { readonly id: string; readonly similarity: number }[] = [];
  for (const [session, texts] of Object.entries(notes)) {
    for (const [at, said] of texts.entries()) {
      const [vector] = await hashEncoder.encode([said]);
      const similarity = cosine(query ?? new Int8Array(), wholeNumbers(vector ?? new Float32Array(512)));
      if (similarity >= hashEncoder.floor) alike.push({ id: `${session}:${at + 1}`, similarity });
    }
  }
  alike.sort((left, right) => right.similarity - left.similarity || (left.id < right.id ? -1 : 1));
  expect(alike.length).toBeGreaterThan(2);
  for (const [at, { id }] of alike.entries()) {
    const found = hits.find((hit) => hit.id === id)?.explain;
    expect(found?.lists?.vector).toEqual({ rank: at + 1, share: 1 / (61 + at) });
  }
  for (const { score, explain } of hits) {
    const shares = Object.values(explain?.lists ?? {}).map(({ share }) => share);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(score, 12);
    expect(explain?.fused).toBe(score);
  }
});

test('filters come before the cut: one chunk that they let through is found behind 80 that are more alike', async () => {
  const place = await HybridWorld.make({
    crowd: Array.from({ length: 80 }, (_, at) => `pooled connection ${at % 2}`),
    wanted: ['a text about pooling of connections and other matters'],
  });
  const text = 'pool connection';
  const answer = await place.ask({ text, filters: new Map([['session', ['wanted']]]), limit: 5 });
  expect(idsOf(answer)).toEqual(['wanted:1']);
  const without = await place.ask({ text, syntax: 'query', filters: new Map() });
  expect(idsOf(without).every((id) => id.startsWith('crowd'))).toBe(true);
  const excluding = await place.ask({ text: 'pool connection -pooled', syntax: 'query' });
  expect(idsOf(excluding)).toEqual(['wanted:1']);
});

test('without vectors the list is named, and the order is the lexical one', async () => {
  const place = await HybridWorld.make(notes);
  const absent: EncoderProvider = {
    name: 'elsewhere',
    open: async () => ({ kind: 'absent', reason: 'it is not installed' }),
  };
  const failing: EncoderProvider = {
    name: 'failing',
    open: async () => ({
      kind: 'ready',
      encoder: { ...hashEncoder, encode: () => Promise.reject(new RangeError('out of memory')) },
    }),
  };
  const cases: readonly (readonly [readonly EncoderProvider[], readonly string[]])[] = [
    [[], ['vector', 'graph']],
    [[absent], ['elsewhere', 'vector', 'graph']],
    [[failing], ['vector', 'graph']],
  ];
  for (const text of ['the pool', 'connection timeout', 'of the pooling 30', 'bread']) {
    const lexical = await place.ask({ text, mode: 'lexical' });
    expect(lexical.hits.length).toBeGreaterThan(0);
    for (const [encoders, names] of cases) {
      const hybrid = await place.ask({ text }, encoders);
      expect(idsOf(hybrid)).toEqual(idsOf(lexical));
      expect(namesOf(hybrid)).toEqual(names);
    }
  }
  const named = await place.ask({ text: 'pool' }, [failing]);
  expect(named.degraded.find(({ name }) => name === 'vector')?.reason).toContain('out of memory');
  // Another encoder answers where the first one is not there; that one is named all the same.
  const other = await place.ask({ text: 'pooled connections' }, [absent, hashEncoderProvider]);
  expect(namesOf(other)).toEqual(['elsewhere', 'graph']);
});

test('a past state has no vectors: the list is named, and the answer is the lexical one', async () => {
  const place = await HybridWorld.make(notes);
  const lexical = await place.ask({ text: 'connection pool', asOf: 'b:1', mode: 'lexical' });
  const hybrid = await place.ask({ text: 'connection pool', asOf: 'b:1' });
  expect(idsOf(hybrid)).toEqual(idsOf(lexical));
  expect(namesOf(hybrid)).toEqual(['vector', 'graph']);
});

test('a budget that is over ends a hybrid search with what there is by then', async () => {
  const place = await HybridWorld.make(notes);
  const { partial, total, degraded } = await place.ask({ text: 'pool', budgetMs: 0 });
  expect([partial, total.relation]).toEqual([true, 'gte']);
  expect(degraded.map(({ name }) => name)).toEqual(expect.arrayContaining(['vector', 'graph']));
  expect((await place.ask({ text: 'pool', budgetMs: 1e9 })).partial).toBe(false);
});

test.each([7, 1])('pages of %i are one list, and a cursor belongs to its mode', async (limit) => {
  // Two chunks change places between the lists: their sums are equal, and the score of the words decides.
  const tied = {
    a: ['pool of connections and pools', 'pool', 'a pool of a connection', 'pools connection'],
    b: ['connections in the pool of connections and pooled again', 'connection pools of pools'],
  };
  const crowd = {
    a: Array.from({ length: 20 }, (_, at) => `the pool ${at % 3} of connections`),
    b: Array.from({ length: 20 }, (_, at) => `pooled connection ${at}`),
  };
  const place = await HybridWorld.make(limit === 1 ? tied : crowd);
  const whole = await place.ask({ text: 'pool connections', limit: 100 });
  expect(whole.hits.length).toBe(limit === 1 ? 6 : 40);
  const scores = whole.hits.map(({ score }) => score);
  if (limit === 1) expect(new Set(scores).size).toBeLessThan(scores.length);
  const paged: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: SearchAnswer = await place.ask({
      text: 'pool connections',
      limit,
      ...(cursor === '' ? {} : { cursor }),
    });
    expect(page.drift).toBe(false);
    paged.push(...idsOf(page));
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(idsOf(whole));
  const { next_cursor: cursor } = await place.ask({ text: 'pool connections', limit });
  await expect(
    place.ask({ text: 'pool connections', mode: 'lexical', cursor: cursor ?? '' }),
  ).rejects.toMatchObject({ code: 'TURNLOG_CURSOR_MISMATCH' });
});

test('sessions, facets, least score and limit 0 are of what was fused', async () => {
  const place = await HybridWorld.make(notes);
  const all = await place.ask({ text: 'connection pool', limit: 100 });
  const grouped = await place.ask({ text: 'connection pool', group: 'session' });
  expect(grouped.hits.map(({ session }) => session).sort()).toEqual(['a', 'b']);
  expect(grouped.hits[0]?.id).toBe(all.hits[0]?.id);
  const counted = grouped.hits.reduce((sum, hit) => sum + (hit.hits_in_session ?? 0), 0);
  expect(counted).toBe(all.total.value);
  const counts = await place.ask({ text: 'connection pool', limit: 0, facets: true });
  expect([counts.hits.length, counts.total.value]).toEqual([0, all.total.value]);
  expect(counts.facets?.session.reduce((sum, { count }) => sum + count, 0)).toBe(all.total.value);
  const least = all.hits[1]?.score ?? 0;
  const best = await place.ask({ text: 'connection pool', minScore: least });
  expect(idsOf(best)).toEqual(all.hits.filter(({ score }) => score >= least).map(({ id }) => id));
});

test('a query without a token is answered as without vectors', async () => {
  const place = await HybridWorld.make({ a: ['x => y', 'z'] });
  expect(await place.ask({ text: '=>' })).toMatchObject({
    mode: 'substring',
    total: { value: 1 },
    degraded: [],
  });
  expect(await place.ask({ text: ' ' })).toMatchObject({ mode: 'lexical', reason: 'no-searchable-term' });
});

describe('vectors on the disk', () => {
  test('those of another version of the encoder go, those of other encoders stay', async () => {
    const place = await HybridWorld.make(notes);
    const versionOf = (id: string): EncoderProvider => ({
      name: id,
      open: async () => ({ kind: 'ready', encoder: { ...hashEncoder, id } }),
    });
    await place.ask({ text: 'pool' }, [versionOf('one/1')]);
    await place.ask({ text: 'pool' }, [versionOf('other/1')]);
    const first = place.vectorFiles();
    expect(first).toHaveLength(2);
    await place.ask({ text: 'pool' }, [versionOf('one/2')]);
    expect(place.vectorFiles()).toHaveLength(2);
    expect(place.vectorFiles().filter((name) => first.includes(name))).toHaveLength(1);
    // What stayed is what the other encoder made: nothing has to be encoded again.
    const before = place.vectorFiles();
    await place.ask({ text: 'pool' }, [versionOf('other/1')]);
    expect(place.vectorFiles()).toEqual(before);
  });

  test('each text is encoded once, whoever asks, and newer snapshots take the place of older ones', async () => {
    const place = await HybridWorld.make(notes);
    const first = await place.ask({ text: 'connection pool' });
    expect(place.encoder.encoded).toHaveLength(7);
    await place.ask({ text: 'connection pool' });
    expect(place.encoder.encoded).toHaveLength(8);
    await place.say('c', ['a pool of connections']);
    const then = await place.ask({ text: 'connection pool' });
    expect(place.encoder.encoded.slice(8).sort()).toEqual(['a pool of connections', 'connection pool']);
    expect(idsOf(then)).toContain('c:1');
    expect(idsOf(first)).not.toContain('c:1');
    expect(place.world.fs.status('/store/search')?.mode).toBe(0o700);
    for (const name of place.vectorFiles()) {
      expect(place.world.fs.status(`/store/search/${name}`)?.mode).toBe(0o600);
    }
  });

  test('small files are joined: their number does not grow with the searches', async () => {
    const place = await HybridWorld.make({ a: ['pool 0'] });
    for (let round = 1; round <= 40; round += 1) {
      await place.say('a', [`pool ${round}`]);
      await place.ask({ text: 'pool' });
      expect(place.vectorFiles().length).toBeLessThanOrEqual(12);
    }
    expect(place.encoder.encoded.filter((text) => text !== 'pool')).toHaveLength(41);
  });

  test('a long work is written down on the way: what fails behind that loses nothing of it', async () => {
    const place = await HybridWorld.make({ a: Array.from({ length: 1_100 }, (_, at) => `pool ${at}`) });
    const { encoder } = place;
    const failing: EncoderProvider = {
      name: 'failing',
      open: async () => {
        const opened = await encoder.open();
        if (opened.kind === 'absent') return opened;
        const encode: Encoder['encode'] = async (segments) => {
          if (encoder.encoded.length >= 1_050) throw new RangeError('out of memory');
          return await opened.encoder.encode(segments);
        };
        return { kind: 'ready', encoder: { ...opened.encoder, encode } };
      },
    };
    expect(namesOf(await place.ask({ text: 'pool' }, [failing]))).toContain('vector');
    const before = encoder.encoded.length;
    await place.ask({ text: 'pool' });
    expect(encoder.encoded.length - before).toBe(1_100 - 1_024 + 1);
  });

  test('damaged and deleted files change no answer', async () => {
    const place = await HybridWorld.make(notes);
    const right = idsOf(await place.ask({ text: 'connection pool' }));
    const [name = ''] = place.vectorFiles();
    const path = `/store/search/${name}`;
    const bytes = place.world.fs.contentOf(path).slice();
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
    place.world.fs.removeFile(path);
    place.world.fs.plantFile(path, bytes);
    const answer = await place.ask({ text: 'connection pool' });
    expect(idsOf(answer)).toEqual(right);
    expect(namesOf(answer)).toEqual(['hash-512/1', 'graph']);
    expect(place.vectorFiles()).not.toContain(name);
    for (const left of place.vectorFiles()) place.world.fs.removeFile(`/store/search/${left}`);
    expect(idsOf(await place.ask({ text: 'connection pool' }))).toEqual(right);
  });

  test('a search that may not wait encodes some of the newest, says what lacks, and the next goes on', async () => {
    const place = await HybridWorld.make({ a: Array.from({ length: 40 }, (_, at) => `pool ${at}`) });
    await place.ask({ text: 'pool', mode: 'lexical' });
    const reasons: (string | undefined)[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { degraded } = await place.ask({ text: 'pool', waitMs: 0 });
      reasons.push(degraded.find(({ name }) => name === 'vector')?.reason);
    }
    expect(reasons[0]).toMatch(/^24 of 40 chunks are not encoded yet/);
    expect(reasons[1]).toMatch(/^8 of 40 /);
    expect(reasons[2]).toBeUndefined();
  });

  test('while another process writes the index vectors stay in memory, and are written later', async () => {
    const place = await HybridWorld.make(notes);
    await place.ask({ text: 'pool', mode: 'lexical' });
    const { fs, machine, store } = place.world;
    const search = new Search(store, [packedEngine(store), winkEngine(store)], [place.encoder]);
    const ask = async (): Promise<SearchAnswer> =>
      await search.search({ text: 'pool', mode: 'hybrid', waitMs: 1e9 }, reader);
    for (const path of ['/store/search', '/store/search/build.lock']) {
      if (fs.status(path) === null) fs.makeDirectory(path);
    }
    const lock = await machine.locks.acquire('/store/search/build.lock', {
      mode: 'shared',
      waitMs: 0,
      onLost: () => undefined,
    });
    const first = await ask();
    expect([first.hits.length > 0, place.vectorFiles()]).toEqual([true, []]);
    await lock.release();
    const then = await ask();
    expect(idsOf(then)).toEqual(idsOf(first));
    expect(place.vectorFiles()).toHaveLength(1);
    expect(place.encoder.encoded.filter((text) => text === notes.a[0])).toHaveLength(1);
    search.close();
  });

  test('what leaves the corpus leaves the files', async () => {
    const place = await HybridWorld.make({ ...notes, gone: ['the pool of secrets'] });
    await place.ask({ text: 'pool' });
    const { store, fs } = place.world;
    await deleteSession(store, 'gone');
    expect(bytesOf(place)).toContain('gone');
    await purgePackedIndex(store);
    expect(bytesOf(place)).not.toContain('gone');
    const before = place.encoder.encoded.length;
    expect(idsOf(await place.ask({ text: 'pool' }))).not.toContain('gone:1');
    // What stays need not be encoded again.
    expect(place.encoder.encoded.slice(before)).toEqual(['pool']);
    // A damaged file may hold anything.
    fs.plantFile('/store/search/0123456789abcdef.vec', Buffer.from('gone'));
    await purgePackedIndex(store);
    expect(bytesOf(place)).not.toContain('gone');
  });

  test('what leaves the corpus while it is being encoded is not written', async () => {
    const place = await HybridWorld.make({ ...notes, gone: ['the pool of secrets'] });
    await place.ask({ text: 'pool', mode: 'lexical' });
    const { store } = place.world;
    let isPurged = false;
    const slow: EncoderProvider = {
      name: 'slow',
      open: async () => {
        const encode: Encoder['encode'] = async (segments) => {
          if (!isPurged) {
            isPurged = true;
            await deleteSession(store, 'gone');
            await purgePackedIndex(store);
          }
          return await hashEncoder.encode(segments);
        };
        return { kind: 'ready', encoder: { ...hashEncoder, encode } };
      },
    };
    await place.ask({ text: 'pool' }, [slow]);
    expect(isPurged).toBe(true);
    expect(place.vectorFiles()).toHaveLength(1);
    expect(bytesOf(place)).not.toContain('gone');
    expect(bytesOf(place)).toContain('hash-512/1');
  });

  test('another text under an id that was used before is encoded anew', async () => {
    const place = await HybridWorld.make({ a: ['bread is baked'], b: ['pooled connections'] });
    await place.ask({ text: 'baking' });
    const { store } = place.world;
    await deleteSession(store, 'a');
    await place.say('a', ['baked bread is eaten']);
    const { hits } = await place.ask({ text: 'baking bread', explain: true });
    expect(hits[0]?.id).toBe('a:1');
    expect(place.encoder.encoded).toContain('baked bread is eaten');
  });
});

function bytesOf(place: HybridWorld): string {
  return place
    .vectorFiles()
    .map((name) => Buffer.from(place.world.fs.contentOf(`/store/search/${name}`)).toString('latin1'))
    .join('\n');
}
