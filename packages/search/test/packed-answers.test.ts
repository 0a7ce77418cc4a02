import type { IndexedChunk } from '../src/indexed-chunk.js';
import { wholeOf } from '../src/packed/slices.js';
import { SourceView } from '../src/packed/source-view.js';
import { Tombstones } from '../src/packed/tombstones.js';
import {
  dayMs,
  help,
  PackedWorld,
  plainAnswer,
  plainPlan,
  planFor,
  RandomWorld,
  startMs,
} from './packed-world.js';

/** Chunks of some sessions in the order of the logs, with snapshots that take the place of others, and removals. */
function fill(world: PackedWorld, random: RandomWorld, count: number, sessions: readonly string[]): void {
  const next = new Map(sessions.map((session) => [session, 1]));
  for (const session of sessions) world.session(session, random.agent(), random.workspaces());
  for (let at = 0; at < count; at += 1) {
    const session = random.one(sessions);
    const seq = next.get(session) ?? 1;
    next.set(session, seq + 1 + random.random.below(3));
    const parts = random.random.below(5) === 0 ? 3 : 1;
    for (let n = 0; n < parts; n += 1) world.add(random.chunk(session, seq, n));
    if (random.random.below(4) > 0) continue;
    const earlier = random.one(world.naive.chunks).fields;
    if (earlier.session !== session || earlier.seq === seq) continue;
    const tsMs = world.naive.chunks.at(-1)?.fields.tsMs ?? null;
    world.supersede(session, earlier.seq, { seq, tsMs });
  }
}

async function expectEqual(world: PackedWorld, random: RandomWorld, queries: number): Promise<void> {
  const sessions = [...world.naive.sessions.keys()];
  for (let at = 0; at < queries; at += 1) {
    const plan = random.plan(sessions, world.naive.chunks);
    const expected = world.naive.answer(plan);
    const answer = plainAnswer(world.index.query(plan, help));
    expect({ plan, answer }).toEqual({ plan, answer: expected });
    const last = expected.hits.at(-1);
    const found = world.index.query(plan, help).hits.at(-1);
    if (last === undefined || found === undefined) continue;
    const { session, seq, n, tier, score } = found;
    const behind = { ...plan, after: { session, seq, n, tier, score } };
    expect(plainAnswer(world.index.query(behind, help))).toEqual(world.naive.answer(behind));
  }
}

const sessions = ['s-1', 's-10', 's-2', 'S', 'z.9'];

test.each([1, 2, 3, 4, 5, 6])(
  'from the tail, from segments and from both, answers are the naive ones (%d)',
  async (seed) => {
    const world = new PackedWorld({ tailChunks: 40 });
    const random = new RandomWorld(seed);
    fill(world, random, 60, sessions);
    await expectEqual(world, random, 40);
    expect(await world.sealing.maintain('everything')).toEqual({ kind: 'written' });
    await expectEqual(world, random, 40);
    world.reopen();
    await expectEqual(world, random, 20);
  },
);

/** One chunk of a session that says just this. */
function saying(session: string, seq: number, words: readonly string[]): IndexedChunk {
  const place = { session, seq, n: 0, turn: null, tsMs: startMs + seq * dayMs };
  const fields = { ...place, role: 'agent', kind: 'message', tool: null, paths: [] } as const;
  return { fields, len: words.length, terms: new Map(words.map((word) => [word, 1])), itemId: null };
}

test.each(['tail', 'sealed'] as const)(
  'a prefix stands for 512 tokens that are there, in the %s',
  async (where) => {
    const world = new PackedWorld();
    world.session('s', 'primary', []);
    for (let at = 0; at < 620; at += 1)
      world.add(saying('s', at + 1, [`w${String(at).padStart(4, '0')}`, 'all']));
    const plan = { ...planFor([]), terms: [{ kind: 'prefix', text: 'w' } as const] };
    for (const seq of [0, 50, 90, 100, 107, 108, 109]) {
      if (seq > 0)
        for (let dead = seq - 49; dead <= seq; dead += 1)
          world.supersede('s', dead, { seq: 700, tsMs: null });
      if (where === 'sealed') await world.sealing.maintain('everything');
      const answer = plainAnswer(world.index.query(plan, help));
      expect(answer).toEqual(world.naive.answer(plan));
      expect(answer.expansionsCapped).toBe(
        620 - world.naive.chunks.filter(({ superseded }) => superseded !== null).length > 512,
      );
    }
  },
);

test.each([999, 1_000, 1_001])(
  '%d matches are counted, up to a thousand exactly, and with facets all',
  async (count) => {
    const world = new PackedWorld();
    world.session('s', 'primary', []);
    for (let seq = 1; seq <= count; seq += 1) world.add(saying('s', seq, ['all']));
    for (const rest of [{}, { limit: 0 }, { counting: 'exact' }, { facets: 'counted' }] as const) {
      const plan = planFor(['all'], rest);
      expect(plainAnswer(world.index.query(plan, help))).toEqual(world.naive.answer(plan));
      await world.sealing.maintain('everything');
      const { total } = world.index.query(plan, help);
      const isExact = 'counting' in rest || 'facets' in rest || count <= 1_000;
      expect(total).toEqual(isExact ? { value: count, relation: 'eq' } : { value: 1_000, relation: 'gte' });
    }
  },
);

test('a filter comes before the cut: strong hits elsewhere crowd nothing out, and a larger scope loses nothing', async () => {
  const world = new PackedWorld();
  for (const session of ['strong', 'weak']) world.session(session, 'primary', []);
  for (let seq = 1; seq <= 50; seq += 1) world.add(saying('strong', seq, ['word']));
  world.add(saying('weak', 1, ['word', 'a', 'b', 'c', 'd', 'e', 'f', 'g']));
  await world.sealing.maintain('everything');
  const within = (sessions: readonly string[], limit: number): readonly string[] => {
    const filters = { ...plainPlan.filters, sessions };
    return plainAnswer(world.index.query(planFor(['word'], { limit, filters }), help)).hits.map(
      ({ id }) => id,
    );
  };
  expect(within(['weak'], 5)).toEqual(['weak:1']);
  expect(within(['weak', 'strong'], 100)).toEqual(expect.arrayContaining(['weak:1']));
  expect(within([], 100)).toEqual(within(['weak', 'strong'], 100));
});

test('of several snapshots the first that came superseded a chunk, in whatever order they are told', () => {
  const tombstones = new Tombstones(4);
  tombstones.bury(0, 7, { seq: 9, tsMs: 90 });
  tombstones.bury(0, 7, { seq: 12, tsMs: 120 });
  expect(tombstones.supersederOf(0)).toEqual({ seq: 9, tsMs: 90 });
  tombstones.bury(0, 7, { seq: 5, tsMs: null });
  expect(tombstones.supersederOf(0)).toEqual({ seq: 5, tsMs: null });
  tombstones.bury(1, 3, null);
  tombstones.bury(1, 3, { seq: 2, tsMs: null });
  tombstones.voidLog(2);
  expect([tombstones.supersederOf(1), tombstones.isGone(1), tombstones.isDead(2)]).toEqual([
    null,
    true,
    false,
  ]);
  const read = Tombstones.decode(
    Uint8Array.from(Buffer.concat(wholeOf(tombstones.encode()))),
    'x',
    4,
    (ordinal) => [7, 3, 0, 0][ordinal] ?? 0,
  );
  expect([read.deadCount, read.deadTokens, read.goneCount]).toEqual([2, 10, 1]);
  expect([read.supersederOf(0), read.isGone(1), read.isVoid(2), read.isVoid(0)]).toEqual([
    { seq: 5, tsMs: null },
    true,
    true,
    false,
  ]);
});

test('a past state is not found out any further when the time is over', () => {
  const world = new PackedWorld();
  world.session('a', 'primary', []);
  world.add(saying('a', 1, ['needle']));
  const at = jest.spyOn(SourceView, 'at');
  world.index.freezeTail();
  world.session('b', 'primary', []);
  world.add(saying('b', 1, ['needle']));
  world.index.freezeTail();
  const plan = planFor(['needle'], { asOf: { tsMs: startMs + 9 * dayMs, session: null } });
  expect(world.index.query(plan, help)).toMatchObject({ isPartial: false, total: { value: 2 } });
  expect(at).toHaveBeenCalledTimes(3);
  const ended = world.index.query(plan, { ...help, isOver: () => true });
  expect(ended).toMatchObject({ isPartial: true, hits: [], total: { value: 0, relation: 'gte' } });
  expect(at).toHaveBeenCalledTimes(4);
  at.mockRestore();
});
