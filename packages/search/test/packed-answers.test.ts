import { help, PackedWorld, plainAnswer, RandomWorld } from './packed-world.js';

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
