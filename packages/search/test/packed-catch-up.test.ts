import type { CapOptions } from '@turnlog/log';
import { deleteSession, restoreSession } from '@turnlog/store';
import { SeededRandom } from '@turnlog/testkit';
import { indexLines } from '../src/packed/index-lines.js';
import { checkPackedIndex, type IndexCheck, purgePackedIndex } from '../src/packed/index-upkeep.js';
import { comparePackedIndex, rebuildPackedIndex } from '../src/packed/rebuild-index.js';
import { dayOf } from './naive-index.js';
import { PackedStore, turnOf } from './packed-store.js';
import { type plainPlan, planFor } from './packed-world.js';

const nothingBehind = { events: 0, bytes: 0, sessions: 0 };
const help = { textVerdict: () => true, dayOf };

/** The index, brought up to the logs, says what one says that is made anew: chunk by chunk, and in its statistics. */
async function expectFresh(world: PackedStore): Promise<readonly string[]> {
  expect(await world.catchUp()).toEqual({ isComplete: true, behind: nothingBehind, failed: [] });
  const { followed, fresh } = await world.states();
  expect(followed).toEqual(fresh);
  const { statistics } = world.follower.index.query(planFor(['done', 'out', 'ask']), help);
  const tokens = followed.map((line) => Number(JSON.parse(line)[9]));
  expect(statistics.chunkCount).toBe(followed.length);
  expect(statistics.tokenCount).toBe(tokens.reduce((sum, len) => sum + len, 0));
  return followed;
}

async function evict(world: PackedStore, session: string, cap: CapOptions): Promise<void> {
  const log = await world.store.open(session, { cap });
  await log.maintain();
  await log.close();
}

test('what is appended is found after the next catching up, and nothing is behind', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'alpha'));
  expect((await expectFresh(world)).length).toBe(4);
  await world.append('s-1', turnOf(2, 'beta'));
  await world.append('s-2', turnOf(1, 'gamma'));
  expect((await expectFresh(world)).length).toBe(12);
});

test('how far it is behind is counted, in bytes and in records', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'alpha'));
  await world.catchUp();
  const { size: before = 0 } = world.fs.status('/store/sessions/s-1/events.jsonl') ?? {};
  await world.append('s-1', turnOf(2, 'beta'));
  const { size = 0 } = world.fs.status('/store/sessions/s-1/events.jsonl') ?? {};
  await world.append('s-2', turnOf(1, 'gamma'));
  const { size: other = 0 } = world.fs.status('/store/sessions/s-2/events.jsonl') ?? {};
  expect(world.follower.catchUp.behind()).toEqual({ events: 16, bytes: size - before + other, sessions: 2 });
});

test('records behind are counted up to 8 MiB, and beyond that nobody waits for the number', async () => {
  const world = await PackedStore.open();
  const item = { id: 'm', type: 'agent_message', text: 'x'.repeat(1_048_576) };
  const long = { type: 'item.completed', item };
  await world.append('s-1', [long, long, long, long, long, long, long]);
  const { size = 0 } = world.fs.status('/store/sessions/s-1/events.jsonl') ?? {};
  expect(world.follower.catchUp.behind()).toEqual({ events: 7, bytes: size, sessions: 1 });
  await world.append('s-2', [long]);
  const behind = world.follower.catchUp.behind();
  expect([behind.events, behind.bytes > 8_388_608, behind.sessions]).toEqual([null, true, 2]);
});

test('a record that no line feed ends yet is waited for', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'alpha'));
  const path = '/store/sessions/s-1/events.jsonl';
  const bytes = world.fs.contentOf(path);
  const item = { id: 'm-9', type: 'agent_message', text: 'late' };
  const event = { type: 'item.completed', item };
  const line = Buffer.from(
    JSON.stringify({ schema_version: '0.18.0', seq: 9, ts: '2026-10-05T09:00:00.000Z', event }),
  );
  world.fs.plantFile(path, Buffer.concat([bytes, line.subarray(0, 60)]));
  await world.catchUp();
  expect([...indexLines(world.follower.index)].some((text) => text.includes('late'))).toBe(false);
  world.fs.plantFile(path, Buffer.concat([bytes, line, Buffer.from('\n')]));
  expect((await expectFresh(world)).some((text) => text.includes('late'))).toBe(true);
});

test.each([0, 1, 2, 3])('sealed after every step, a follower says what a new one says (%d)', async (seed) => {
  const world = await PackedStore.open({ tailChunks: 4 });
  const random = new SeededRandom(seed);
  const words = ['alpha', 'beta', 'gamma delta', 'ü 語'];
  for (let step = 1; step <= 24; step += 1) {
    const session = `s-${random.below(3)}`;
    await world.append(session, turnOf(1 + random.below(4), words[random.below(words.length)] ?? ''));
    if (random.below(2) === 0) continue;
    await world.catchUp();
    const { kind } = await world.follower.sealing.maintain(random.below(2) === 0 ? 'due' : 'everything');
    expect(['written', 'nothing']).toContain(kind);
    if (random.below(3) === 0) world.reopen();
  }
  await expectFresh(world);
  world.reopen();
  await expectFresh(world);
});

const removals: readonly (readonly [name: string, change: (world: PackedStore) => Promise<void>])[] = [
  ['a later snapshot', (world) => world.append('s-1', turnOf(2, 'again'))],
  ['an eviction with archive', (world) => evict(world, 's-1', { maxEvents: 12, archive: 'gzip' })],
  ['an eviction that drops', (world) => evict(world, 's-1', { maxEvents: 12, archive: 'drop' })],
  [
    'an eviction, and more behind it',
    async (world) => {
      await evict(world, 's-1', { maxEvents: 12, archive: 'gzip' });
      await world.append('s-1', turnOf(9, 'behind'));
      await evict(world, 's-1', { maxEvents: 10, archive: 'drop' });
      await world.append('s-1', turnOf(10, 'behind that'));
    },
  ],
  ['a removed session', async (world) => void (await deleteSession(world.store, 's-1'))],
  [
    'a session that is removed and restored',
    async (world) => {
      const { trash } = await deleteSession(world.store, 's-1');
      await world.catchUp();
      await restoreSession(world.store, trash);
    },
  ],
  [
    'another log in the place of a session',
    async (world) => {
      await deleteSession(world.store, 's-1');
      for (let turn = 1; turn <= 6; turn += 1) await world.append('s-1', turnOf(turn, 'other words'));
    },
  ],
];

test.each(
  removals.flatMap(([name, change]) =>
    (['in memory', 'sealed'] as const).map((where) => [name, where, change] as const),
  ),
)('after %s, %s, an index is as a new one', async (_name, where, change) => {
  const world = await PackedStore.open();
  for (let turn = 1; turn <= 4; turn += 1) {
    await world.append('s-1', turnOf(turn, `alpha${turn} common`));
    await world.append('s-2', turnOf(turn, `beta${turn} common`));
  }
  await world.catchUp();
  if (where === 'sealed')
    expect(await world.follower.sealing.maintain('everything')).toEqual({ kind: 'written' });
  await change(world);
  const lines = await expectFresh(world);
  expect(await world.follower.sealing.maintain('everything')).toEqual({ kind: 'written' });
  world.reopen();
  expect(await expectFresh(world)).toEqual(lines);
});

test('what left the corpus is in no file once that is asked for', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'unmistakable'));
  await world.append('s-2', turnOf(1, 'beta'));
  await world.catchUp();
  await world.follower.sealing.maintain('everything');
  const holds = (): boolean =>
    world.fs
      .list('/store/search')
      .filter(({ kind }) => kind === 'file')
      .some(({ name }) => Buffer.from(world.fs.contentOf(`/store/search/${name}`)).includes('unmistakable'));
  expect(holds()).toBe(true);
  await deleteSession(world.store, 's-1');
  await world.catchUp();
  expect(await world.follower.sealing.maintain('gone')).toEqual({ kind: 'written' });
  expect(holds()).toBe(false);
  await expectFresh(world);
});

test('bytes that are too far inside of records are summed over pieces, sessions, segments and merges, and processes', async () => {
  const world = await PackedStore.open();
  const said = async (session: string, more: number): Promise<void> => {
    const item = { id: `m-${more}`, type: 'agent_message', text: 'x'.repeat(1_048_576 + more) };
    await world.append(session, [{ type: 'item.completed', item }]);
    await world.catchUp();
  };
  const unindexed = (): number => world.follower.index.unindexedBytes;
  await said('s-1', 1);
  await said('s-1', 20);
  expect(unindexed()).toBe(21);
  await world.follower.sealing.maintain('everything');
  await said('s-1', 300);
  await said('s-2', 4_000);
  expect(unindexed()).toBe(4_321);
  for (let round = 0; round < 2; round += 1) {
    await world.follower.sealing.maintain('everything');
    expect([world.follower.index.segments.length, unindexed()]).toEqual([1, 4_321]);
    world.reopen();
    expect(unindexed()).toBe(4_321);
    await world.catchUp();
    expect(unindexed()).toBe(4_321);
  }
  await deleteSession(world.store, 's-2');
  await world.catchUp();
  expect(unindexed()).toBe(321);
});

test('sessions take turns when there is no time', async () => {
  const world = await PackedStore.open();
  for (const session of ['a', 'b', 'c']) {
    for (let turn = 1; turn <= 20; turn += 1) await world.append(session, turnOf(turn, session));
  }
  let calls = 0;
  for (let isBehind = true; isBehind; calls += 1) {
    const { behind } = await world.follower.catchUp.run({ waitMs: 0 });
    isBehind = behind.bytes > 0;
  }
  expect(calls).toBeGreaterThan(3);
  await expectFresh(world);
});

test('any number of short sessions are read no longer than the wait, and each call brings on one at least', async () => {
  const world = await PackedStore.open();
  const sessions = ['a', 'b', 'c', 'd', 'e'];
  for (const session of sessions) await world.append(session, turnOf(1, session));
  for (const left of [4, 3, 2, 1, 0]) {
    const { isComplete, behind } = await world.follower.catchUp.run({ waitMs: 0 });
    expect([isComplete, behind.sessions]).toEqual([left === 0, left]);
  }
  await expectFresh(world);
});

test('a session that cannot be read is named, keeps what it has, and holds up no other', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'alpha'));
  await world.append('s-2', turnOf(1, 'beta'));
  await world.catchUp();
  const path = '/store/sessions/s-1/events.jsonl';
  const bytes = world.fs.contentOf(path);
  world.fs.removeFile(path);
  world.fs.plantLink(path, '/elsewhere');
  await world.append('s-2', turnOf(2, 'gamma'));
  const { failed } = await world.catchUp();
  expect(failed.map(({ session, error }) => [session, error.code])).toEqual([['s-1', 'TURNLOG_UNSAFE_PATH']]);
  expect([...indexLines(world.follower.index)].length).toBe(12);
  world.fs.removeFile(path);
  world.fs.plantFile(path, bytes);
  await expectFresh(world);
});

test('the state of a moment is that of an index over what there was then', async () => {
  const world = await PackedStore.open({ tailChunks: 6 });
  const then = await PackedStore.open();
  for (let turn = 1; turn <= 8; turn += 1) {
    // Each turn a minute, and every other one says what the one before said in other words.
    world.clock.setNow(Date.UTC(2026, 9, 6, 8, turn));
    then.clock.setNow(Date.UTC(2026, 9, 6, 8, turn));
    const events = turnOf(Math.ceil(turn / 2), `alpha word${turn}`);
    await world.append(`s-${turn % 2}`, events);
    if (turn <= 5) await then.append(`s-${turn % 2}`, events);
    await world.catchUp();
    await world.follower.sealing.maintain();
  }
  await then.catchUp();
  const nowMs = Date.UTC(2026, 9, 6, 8, 5, 30);
  const asOf = { tsMs: nowMs, session: null };
  for (const words of [['alpha'], ['done', 'word3'], ['word7'], ['beginning', 'alpha']]) {
    const past = world.follower.index.query({ ...planFor(words), ...plainOf(nowMs), asOf }, help);
    const present = then.follower.index.query({ ...planFor(words), ...plainOf(nowMs) }, help);
    expect(withoutNumbers(past)).toEqual(withoutNumbers(present));
  }
});

function plainOf(nowMs: number): Pick<typeof plainPlan, 'nowMs' | 'limit'> {
  return { nowMs, limit: 100 };
}

function withoutNumbers<Answer extends { readonly hits: readonly object[] }>(answer: Answer): object {
  return { ...answer, hits: answer.hits.map((hit) => ({ ...hit, chunk: 0 })) };
}

async function checked(world: PackedStore, scratch: string): Promise<IndexCheck> {
  const check = await checkPackedIndex(world.store, scratch);
  if (check === null) throw new Error('nobody stopped it');
  return check;
}

test('a check says whether the published index is what the logs say, and where it is not', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'alpha'));
  await world.catchUp();
  await world.follower.sealing.maintain('everything');
  await world.append('s-1', turnOf(2, 'beta'));
  const right = await checked(world, '/check-1');
  expect(right.difference).toBeNull();
  expect(right.published).toBe(right.rebuilt);
  // The last snapshot of a message is lost, as no log says.
  const [segment] = world.follower.index.segments;
  segment?.reader.tombstones.bury(3, 2, null);
  expect(await world.follower.sealing.maintain('gone')).toEqual({ kind: 'written' });
  expect([...indexLines(world.follower.index)].length).toBe(3);
  const wrong = await checked(world, '/check-2');
  expect(wrong.published).not.toBe(wrong.rebuilt);
  expect(wrong.difference?.rebuilt).toMatch(/^\["s-1",5,0,/);
});

test('purging leaves nothing of what has left the corpus, whoever has written the index', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'unmistakable'));
  await world.append('s-2', turnOf(1, 'beta'));
  await world.catchUp();
  await world.follower.sealing.maintain('everything');
  await deleteSession(world.store, 's-1');
  await purgePackedIndex(world.store);
  for (const { name, kind } of world.fs.list('/store/search')) {
    if (kind !== 'file') continue;
    expect(Buffer.from(world.fs.contentOf(`/store/search/${name}`)).includes('unmistakable')).toBe(false);
  }
  world.reopen();
  await expectFresh(world);
});

test('a rebuilt index rests on the logs alone, and its old files go', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'alpha'));
  await world.catchUp();
  await world.follower.sealing.maintain('everything');
  const [before] = world.follower.index.segments;
  // The last snapshot of a message is lost, as no log says.
  before?.reader.tombstones.bury(before.reader.chunkCount - 1, 2, null);
  await world.follower.sealing.maintain('everything');
  expect((await comparePackedIndex(world.store)).outcome).toBe('different');
  expect(await rebuildPackedIndex(world.store)).toMatchObject({ outcome: 'rebuilt', failed: [] });
  const after = await comparePackedIndex(world.store);
  expect(after).toMatchObject({ outcome: 'equal', difference: null, damaged: [] });
  expect(after.digest).toBe(after.publishedDigest);
  expect(world.fs.list('/store/search').filter(({ name }) => name.startsWith('check-'))).toEqual([]);
  world.reopen();
  const listed = world.follower.index.segments.map((segment) => segment.listed.file);
  expect(listed).not.toContain(before?.listed.file);
  await expectFresh(world);
});

test('a damaged index is wrong, an absent one is no fault, and a rebuild that is stopped keeps what it has read', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'alpha'));
  expect((await comparePackedIndex(world.store)).outcome).toBe('absent');
  const stopped = new AbortController();
  stopped.abort();
  expect((await rebuildPackedIndex(world.store, stopped.signal)).outcome).toBe('rebuilt');
  const [file = ''] = world.fs
    .list('/store/search')
    .map(({ name }) => name)
    .filter((name) => name.endsWith('.seg'));
  const bytes = Buffer.from(world.fs.contentOf(`/store/search/${file}`));
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  world.fs.plantFile(`/store/search/${file}`, bytes);
  expect((await comparePackedIndex(world.store, stopped.signal)).outcome).toBe('cut-short');
  const wrong = await comparePackedIndex(world.store);
  expect([wrong.outcome, wrong.damaged]).toEqual(['wrong', [expect.stringContaining(file)]]);
  expect((await rebuildPackedIndex(world.store)).outcome).toBe('rebuilt');
  expect((await comparePackedIndex(world.store)).outcome).toBe('equal');
});

test('an index that a killed comparison has left goes with the next purge, and with the next rebuild', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'unmistakable'));
  await rebuildPackedIndex(world.store);
  const name = 'check-0123456789abcdef';
  for (const clean of [purgePackedIndex, rebuildPackedIndex]) {
    await checked(world, `/store/search/${name}`);
    expect(world.fs.status(`/store/search/${name}`)?.kind).toBe('directory');
    await clean(world.store);
    expect(world.fs.status(`/store/search/${name}`)).toBeNull();
  }
});
