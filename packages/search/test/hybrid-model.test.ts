import dns from 'node:dns';
import net from 'node:net';
import { utc } from '@turnlog/kernel';
import type { EncoderProvider } from '../src/hybrid/encoder.js';
import { energeticEncoderProvider } from '../src/hybrid/energetic-encoder.js';
import { hashEncoderProvider } from '../src/hybrid/hash-encoder.js';
import { cosine, wholeNumbers } from '../src/hybrid/vector-table.js';
import { packedEngine } from '../src/packed/packed-engine.js';
import { Search } from '../src/search.js';
import type { SearchAnswer } from '../src/search-answer.js';
import { PackedStore } from './packed-store.js';

/** Loaded once for all tests. */
const opened = energeticEncoderProvider.open();
const model: EncoderProvider = { name: energeticEncoderProvider.name, open: () => opened };

const texts = [
  'the database link ran out of time while waiting for the pool',
  'the cat sat on the warm window sill all afternoon',
  'we bake bread at two hundred degrees for half an hour',
  'データベース接続がタイムアウトした',
  'connection refused',
];

async function storeOf(said: readonly string[]): Promise<PackedStore> {
  const world = await PackedStore.open();
  const items = said.map((text, at) => ({ id: `i${at}`, type: 'agent_message', text }));
  await world.append(
    's',
    items.map((item) => ({ type: 'item.completed', item })),
  );
  return world;
}

async function ask(
  world: PackedStore,
  text: string,
  mode: 'lexical' | 'hybrid',
  encoders: readonly EncoderProvider[],
): Promise<SearchAnswer> {
  const search = new Search(world.store, [packedEngine(world.store)], encoders);
  try {
    const reader = { zone: utc, redact: (shown: string) => shown, resolveWorkspace: (path: string) => path };
    return await search.search({ text, mode, waitMs: 1e9 }, reader);
  } finally {
    search.close();
  }
}

const idsOf = ({ hits }: SearchAnswer): readonly string[] => hits.map(({ id }) => id);
const namesOf = ({ degraded }: SearchAnswer): readonly string[] => degraded.map(({ name }) => name);

/** Runs `work` where every way to the network is closed, and counts who tries one. */
async function withoutNetwork(work: () => Promise<void>): Promise<number> {
  let tries = 0;
  const refuse = (): never => {
    tries += 1;
    throw new Error('no network here');
  };
  const spies = [
    jest.spyOn(net.Socket.prototype, 'connect').mockImplementation(refuse),
    jest.spyOn(dns, 'lookup').mockImplementation(refuse),
    jest.spyOn(globalThis, 'fetch').mockImplementation(refuse),
  ];
  try {
    await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return tries;
}

test('Q-30: where the vector list is missing it is named and the order is the lexical one; no socket is tried', async () => {
  const world = await storeOf(texts);
  const tries = await withoutNetwork(async () => {
    for (const text of ['connection pool', 'the time', 'refused', 'bread for the cat']) {
      const lexical = await ask(world, text, 'lexical', []);
      const missing = await ask(world, text, 'hybrid', []);
      expect(lexical.hits.length).toBeGreaterThan(0);
      expect(idsOf(missing)).toEqual(idsOf(lexical));
      expect(namesOf(missing)).toContain('vector');
      // The whole way, with the model where it is installed.
      await ask(world, text, 'hybrid', [model, hashEncoderProvider]);
    }
  });
  expect(tries).toBe(0);
  const counted = await withoutNetwork(async () => {
    expect(() => net.connect(9, '127.0.0.1')).toThrow('no network here');
  });
  expect(counted).toBe(1);
});

test('with the model a query finds what it means, without it the other encoder answers and it is named', async () => {
  const found = await opened;
  const world = await storeOf(texts);
  const both = [model, hashEncoderProvider];
  const answer = await ask(world, 'SQL server session expired', 'hybrid', both);
  if (found.kind === 'absent') {
    expect(namesOf(answer)).toEqual(['energetic-en-512', 'graph']);
    return;
  }
  expect(namesOf(answer)).toEqual(['graph']);
  expect(idsOf(answer)[0]).toBe('s:1');
  expect(found.encoder.id).toBe('energetic-en-512/2/b5eaca706b04');
});

test('another script than the model knows is for the other encoder', async () => {
  const world = await storeOf(texts);
  const both = [model, hashEncoderProvider];
  const answer = await ask(world, 'データベースのタイムアウト', 'hybrid', both);
  expect(idsOf(answer)[0]).toBe('s:4');
  expect(namesOf(answer)).not.toContain('vector');
});

test('a text longer than the model reads is encoded in segments, and its end is found', async () => {
  const found = await opened;
  if (found.kind === 'absent') {
    expect(found.reason).toContain('not installed');
    return;
  }
  const { encoder } = found;
  const text = `${'The weather was fine and the road was long. '.repeat(40)}The invoice was paid twice.`;
  const segments = encoder.segments(text);
  expect(segments.length).toBeGreaterThan(2);
  expect(segments.join(' ')).toBe(text);
  const vectors = await encoder.encode(segments);
  for (const vector of vectors) expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 3);
  expect(encoder.segments('日本語だけの文章')).toEqual([]);
  expect(encoder.segments('  ')).toEqual([]);
});

test('what all texts have in common is taken out: texts that share nothing are not alike, those that do are', async () => {
  const found = await opened;
  if (found.kind === 'absent') {
    expect(found.reason).toContain('not installed');
    return;
  }
  const { encoder } = found;
  const [query, near, far, farther] = (
    await encoder.encode([
      'where is the password stored',
      'Credentials live in the system keychain and never in the config file.',
      'src/queue/stream-watcher/routes.ts',
      'I moved the header of BatchLoader so that the bucket keeps its schema.',
    ])
  ).map((vector) => wholeNumbers(vector ?? new Float32Array(encoder.dims)));
  if (query === undefined || near === undefined) throw new Error('there is a vector for each text');
  expect(cosine(query, near)).toBeGreaterThan(encoder.floor);
  for (const other of [far, farther]) {
    expect(Math.abs(cosine(query, other ?? query))).toBeLessThan(encoder.floor);
    expect(Math.abs(cosine(near, other ?? query))).toBeLessThan(encoder.floor);
  }
});

test('a question whose words only common ones hold is answered by what means the same', async () => {
  const found = await opened;
  const filling = Array.from({ length: 12 }, (_, at) => `Menu ${at} has a button with a picture of a cat.`);
  const note = 'All of the weather was fine on that day. The physician purchased the car.';
  const world = await storeOf([...filling, note]);
  const text = 'Did a doctor buy an automobile?';
  const hybrid = await ask(world, text, 'hybrid', [model, hashEncoderProvider]);
  const lexical = await ask(world, text, 'lexical', []);
  expect(idsOf(lexical)).not.toContain('s:13');
  if (found.kind === 'ready') expect(idsOf(hybrid)[0]).toBe('s:13');
});
