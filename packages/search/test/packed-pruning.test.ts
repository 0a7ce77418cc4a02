import { limits } from '@turnlog/kernel';
import { SeededRandom } from '@turnlog/testkit';
import { Evaluation, type ScoredChunk } from '../src/evaluation.js';
import type { IndexedChunk } from '../src/indexed-chunk.js';
import type { QueryHelp } from '../src/lexical-index.js';
import { CandidateScan } from '../src/packed/block-max.js';
import { fieldsOf } from '../src/packed/query-table.js';
import type { QueryPlan } from '../src/query-plan.js';
import { help, PackedWorld, plainAnswer, plainPlan, planFor } from './packed-world.js';

/**
 * Chunks whose blocks mislead: in each the largest tf stands in a long chunk and the shortest chunk has a small one,
 * many chunks are alike to the last bit, and a few hold the whole form.
 */
function adversarial(random: SeededRandom, at: number): IndexedChunk {
  const block = Math.floor(at / 128);
  const isLong = at % 128 === block % 128;
  const isShort = at % 128 === (block * 7 + 3) % 128;
  const shape = isLong ? 'long' : isShort ? 'short' : 'plain';
  const fields = {
    session: `s-${at % 3}`,
    seq: 1 + Math.floor(at / 3),
    n: 0,
    turn: null,
    tsMs: plainPlan.nowMs - random.below(4) * 30 * 86_400_000,
    role: 'agent',
    kind: at % 97 === 0 ? 'context' : 'message',
    tool: null,
    paths: [],
  } as const;
  const extra = random.below(3) === 0 ? random.below(30) : 0;
  const len = { long: 4_000, short: 3, plain: 20 + extra }[shape];
  return { fields, len, terms: termsOf(random, at, shape), itemId: null };
}

function termsOf(random: SeededRandom, at: number, shape: 'long' | 'short' | 'plain'): Map<string, number> {
  const terms = new Map([['common', shape === 'long' ? 60 : 1]]);
  if (at % 2 === 0) terms.set('even', shape === 'short' ? 1 : 2);
  if (random.below(40) === 0) terms.set('seldom', 1 + random.below(3));
  if (random.below(900) === 0) terms.set('whole-form', 1);
  if (random.below(300) === 0) terms.set('late', at > 2_000 ? 5 : 1);
  return terms;
}

const questions = [
  ['common'],
  ['even', 'common'],
  ['seldom', 'common', 'even'],
  ['late', 'seldom'],
  ['whole-form', 'whole', 'common'],
  ['common', 'even', 'seldom', 'late', 'whole-form'],
];

async function filled(seed: number, count: number): Promise<PackedWorld> {
  const world = new PackedWorld();
  const random = new SeededRandom(seed);
  for (let session = 0; session < 3; session += 1) world.session(`s-${session}`, 'primary', []);
  const third = Math.floor(count / 3);
  for (let at = 0; at < count; at += 1) {
    world.add(adversarial(random, at));
    if (at === third || at === 2 * third) await world.sealing.maintain('everything');
  }
  return world;
}

const states: readonly (readonly [name: string, change: (world: PackedWorld) => Promise<void>])[] = [
  ['segments and a tail', () => Promise.resolve()],
  ['segments', async (world) => void (await world.sealing.maintain('everything'))],
  [
    'segments of which some is dead',
    async (world) => {
      await world.sealing.maintain('everything');
      for (let seq = 3; seq < 700; seq += 7) world.supersede('s-1', seq, { seq: 9_999, tsMs: null });
    },
  ],
];

const plans: readonly QueryPlan[] = questions.flatMap((words) =>
  [1, 10].flatMap((limit) =>
    (['included', 'left-out'] as const).map((hidden) => ({
      ...planFor(words, { limit, whole: words.includes('whole-form') ? 'whole-form' : null }),
      filters: { ...plainPlan.filters, hidden },
    })),
  ),
);

test.each(states.flatMap(([name, change]) => [1, 2].map((seed) => [name, seed, change] as const)))(
  'Q-32 in %s (%d), pruned answers are those that look at everything, to the byte',
  async (_name, seed, change) => {
    const world = await filled(seed, 3_600);
    await change(world);
    for (const [at, plan] of plans.entries()) {
      const pruned = world.index.query(plan, help);
      const exhaustive = world.index.query({ ...plan, counting: 'exact' }, help);
      const counts = { total: 0, hiddenMatches: 0 };
      expect({ ...pruned, ...counts }).toEqual({ ...exhaustive, ...counts });
      if (at % 4 === seed) expect(plainAnswer(pruned)).toEqual(world.naive.answer(plan));
    }
  },
);

/** Words that so many chunks have one of; one of them comes in bursts. */
const frequencies: readonly (readonly [word: string, oneIn: number])[] = [
  ['common', 1],
  ['half', 2],
  ['tenth', 10],
  ['hundredth', 100],
  ['seldom', 700],
  ['whole-form', 900],
];

/** Sessions of other ages one after the other, so that what is new lies in few places. */
async function aged(seed: number, chunkCount: number): Promise<PackedWorld> {
  const world = new PackedWorld();
  const random = new SeededRandom(seed);
  for (let at = 0; at < chunkCount; at += 1) {
    const session = `s-${100 + Math.floor(at / 500)}`;
    if (at % 500 === 0) world.session(session, at % 3_500 === 0 ? 'subagent' : 'primary', []);
    const age = ((Math.floor(at / 1_700) * 7_919) % 97) * 86_400_000;
    const tsMs = random.below(9) === 0 ? null : plainPlan.nowMs - age;
    const len = random.below(60) === 0 ? 5 : 20 + random.below(1 + random.below(400));
    world.index.add(agedChunk({ session, seq: 1 + (at % 500), tsMs }, len, wordsOf(random, at)));
    if (at === 9_000) await world.sealing.maintain('everything');
  }
  return world;
}

function wordsOf(random: SeededRandom, at: number): Map<string, number> {
  const terms = new Map<string, number>();
  for (const [word, oneIn] of frequencies) {
    if (random.below(oneIn) === 0) terms.set(word, 1 + random.below(1 + random.below(4)));
  }
  if (at % 5_000 < 80) terms.set('burst', 3);
  return terms;
}

function agedChunk(
  fields: Pick<IndexedChunk['fields'], 'session' | 'seq' | 'tsMs'>,
  len: number,
  terms: ReadonlyMap<string, number>,
): IndexedChunk {
  const rest = { n: 0, turn: null, role: 'agent', kind: 'message', tool: null, paths: [] } as const;
  return { fields: { ...fields, ...rest }, len, terms, itemId: null };
}

test.each([1, 2, 3])('what lies in many windows is pruned to the byte as well (%d)', async (seed) => {
  const world = await aged(seed, 14_000);
  for (let seq = 3; seq < 400; seq += 7) world.index.supersede('s-111', seq, { seq: 999, tsMs: null });
  const random = new SeededRandom(seed);
  const words = [...frequencies.map(([word]) => word), 'burst'];
  for (let at = 0; at < 150; at += 1) {
    const asked = words.filter(() => random.below(2) === 0);
    const plan: QueryPlan = {
      ...planFor(asked.length === 0 ? ['seldom', 'common'] : asked.reverse(), {
        limit: [1, 3, 10, 100][random.below(4)] ?? 1,
        whole: random.below(3) === 0 ? 'whole-form' : null,
        nowMs: plainPlan.nowMs - random.below(60) * 86_400_000,
      }),
      filters: { ...plainPlan.filters, hidden: random.below(2) === 0 ? 'included' : 'left-out' },
    };
    const last = expectPruned(world, plan, help).at(-1) ?? null;
    if (at % 8 !== 0) continue;
    expectPruned(world, { ...plan, after: last }, help);
    expectPruned(world, { ...plan, minScore: last?.score ?? 1 }, help);
    const phrased = { ...plan, required: [['of text']] };
    expectPruned(world, phrased, { ...help, textVerdict: ({ seq }) => seq % 5 === 0 });
  }
});

/** The best hits of a plan, which are the same as when everything is counted. */
function expectPruned({ index }: PackedWorld, plan: QueryPlan, by: QueryHelp): readonly ScoredChunk[] {
  const pruned = index.query(plan, by);
  const exhaustive = index.query({ ...plan, counting: 'exact' }, by);
  expect([pruned.hits, pruned.hasMore]).toEqual([exhaustive.hits, exhaustive.hasMore]);
  for (const count of ['total', 'hiddenMatches'] as const) {
    expect(pruned[count].value).toBe(Math.min(exhaustive[count].value, limits.searchTotalMax));
  }
  return exhaustive.hits;
}

test('chunks that do not count any more do not show what the best must score', async () => {
  const world = new PackedWorld();
  world.session('s', 'primary', []);
  for (let at = 0; at < 1_500; at += 1) {
    const isRare = at % 50 === 0;
    // Every other chunk that holds the rare word holds it often, and is superseded.
    const tf = at % 100 === 0 ? 9 : 1;
    const terms = new Map(isRare ? [['rare', tf]] : [['common', 1]]);
    world.index.add(agedChunk({ session: 's', seq: at + 1, tsMs: null }, 20, terms));
  }
  for (let at = 0; at < 1_500; at += 100) world.index.supersede('s', at + 1, { seq: 9_999, tsMs: null });
  const plan = { ...planFor(['rare', 'common'], { limit: 10 }) };
  const pruned = world.index.query(plan, help);
  expect(pruned.hits).toEqual(world.index.query({ ...plan, counting: 'exact' }, help).hits);
  expect(pruned.hits).toHaveLength(10);
});

test('a block that begins among old chunks is read for the new ones that it ends with', async () => {
  const world = new PackedWorld();
  const day = 86_400_000;
  const addAll = (
    session: string,
    count: number,
    ageOf: (seq: number) => number,
    rare: (seq: number) => boolean,
  ) => {
    world.session(session, 'primary', []);
    for (let seq = 1; seq <= count; seq += 1) {
      const terms = new Map([['common', 1], ...(rare(seq) ? [['rare', 1] as const] : [])]);
      world.index.add(agedChunk({ session, seq, tsMs: plainPlan.nowMs - ageOf(seq) * day }, 20, terms));
    }
  };
  addAll(
    's-1',
    20_000,
    () => 30,
    (seq) => seq % 1_000 === 0,
  );
  await world.sealing.maintain('everything');
  addAll(
    's-2',
    9_000,
    (seq) => (seq < 5_000 ? 900 : 0),
    (seq) => seq === 100 || seq === 8_000,
  );
  await world.sealing.maintain('everything');
  expect(world.index.segments).toHaveLength(2);
  const { hits } = world.index.query(planFor(['rare', 'common'], { limit: 3 }), help);
  expect(hits.map(({ session, seq }) => [session, seq])).toEqual([
    ['s-2', 8_000],
    ['s-1', 1_000],
    ['s-1', 2_000],
  ]);
});

test('blocks that cannot bring anything in are left out', async () => {
  const world = new PackedWorld();
  for (let at = 0; at < 6_000; at += 1) {
    const { fields } = adversarial(new SeededRandom(1), at);
    const terms = new Map([['even', at < 1_500 ? 9 : 1]]);
    world.add({ fields: { ...fields, session: 's', seq: at + 1 }, len: 20, terms, itemId: null });
  }
  await world.sealing.maintain('everything');
  const [segment] = world.index.segments;
  if (segment === undefined) throw new Error('there is a segment');
  const { reader } = segment;
  const scan = new CandidateScan();
  scan.begin(1, -1);
  const statistics = { chunkCount: 6_000, tokenCount: 120_000, dfs: [6_000] };
  const table = {
    len: () => 20,
    tsMs: () => null,
    key: (chunk: number) => ({ session: 's', seq: chunk + 1, n: 0 }),
    fields: () => fieldsOf(reader, 0),
    judge: () => 'match' as const,
    workspaces: () => [],
  };
  const evaluation = new Evaluation(
    planFor(['even']),
    statistics,
    table,
    () => true,
    () => '',
  );
  const lens = reader.lens();
  const facts = { newestIn: () => 0 };
  const scope = { evaluation, base: 0, among: 'matches', presence: null, judge: null, lens, facts } as const;
  scan.run([{ cursor: () => reader.cursor(reader.findTerm('even')), term: 0 }], scope, [[0, 6_000]]);
  expect(scan.skippedCount).toBeGreaterThan(10);
});
