import { SeededRandom } from '@turnlog/testkit';
import type { QueryPlan } from '../src/query-plan.js';
import { help, PackedWorld, plainPlan, planFor } from './packed-world.js';

/** How many corpora are made; the long run of `pnpm soak` makes more. */
const corpora = Number(process.env['TURNLOG_PRUNED_CORPORA'] ?? 6);
const firstSeed = Number(process.env['TURNLOG_TEST_SEED']);
const questionsOfEach = 120;
const msOfDay = 86_400_000;

/** Sessions of one length whose words are as common as their rank is low, in segments and a tail. */
class RandomCorpus {
  readonly world = new PackedWorld();
  readonly #random: SeededRandom;
  readonly #chunkCount: number;
  readonly #sessionChunks: number;
  readonly #vocabulary: number;

  constructor(random: SeededRandom) {
    this.#random = random;
    this.#chunkCount = 3_000 + random.below(30_000);
    this.#sessionChunks = 100 + random.below(2_000);
    this.#vocabulary = 30 + random.below(400);
  }

  word(): string {
    return `w${Math.floor(this.#vocabulary ** (this.#random.below(10_000) / 10_000)) - 1}`;
  }

  session(): string {
    return this.#sessionOf(this.#random.below(this.#chunkCount));
  }

  async fill(): Promise<void> {
    const random = this.#random;
    const written = new Set(Array.from({ length: random.below(5) }, () => random.below(this.#chunkCount)));
    for (let at = 0; at < this.#chunkCount; at += 1) {
      if (at % this.#sessionChunks === 0) {
        this.world.session(this.#sessionOf(at), random.below(9) === 0 ? 'subagent' : 'primary', []);
      }
      this.#add(at);
      if (written.has(at)) await this.world.sealing.maintain('everything');
    }
    for (let left = random.below(300); left > 0; left -= 1) {
      const seq = 1 + random.below(this.#sessionChunks);
      this.world.index.supersede(this.session(), seq, { seq: 99_999, tsMs: null });
    }
  }

  #sessionOf(at: number): string {
    return `s-${1_000 + Math.floor(at / this.#sessionChunks)}`;
  }

  #add(at: number): void {
    const random = this.#random;
    const terms = new Map<string, number>();
    const len = 1 + random.below(1 + random.below(60));
    for (let left = len; left > 0; left -= 1) {
      const word = this.word();
      terms.set(word, (terms.get(word) ?? 0) + 1);
    }
    const fields = {
      session: this.#sessionOf(at),
      seq: 1 + (at % this.#sessionChunks),
      n: 0,
      turn: null,
      tsMs: random.below(20) === 0 ? null : plainPlan.nowMs - random.below(400) * msOfDay,
      role: 'agent',
      kind: random.below(50) === 0 ? 'context' : 'message',
      tool: null,
      paths: [],
    } as const;
    this.world.index.add({ fields, len, terms, itemId: null });
  }
}

function randomPlan(random: SeededRandom, corpus: RandomCorpus): QueryPlan {
  const words = new Set(Array.from({ length: 1 + random.below(6) }, () => corpus.word()));
  const plan = planFor([...words], {
    limit: [0, 1, 3, 10, 100][random.below(5)] ?? 1,
    whole: random.below(4) === 0 ? corpus.word() : null,
    nowMs: plainPlan.nowMs - random.below(60) * msOfDay,
  });
  const hidden = random.below(2) === 0 ? 'included' : 'left-out';
  const sessions = random.below(4) === 0 ? [corpus.session()] : [];
  return { ...plan, filters: { ...plainPlan.filters, hidden, sessions } };
}

test('of random corpora, pruned answers are those that look at everything, to the byte', async () => {
  let questions = 0;
  for (let seed = firstSeed; seed < firstSeed + corpora; seed += 1) {
    const random = new SeededRandom(seed);
    const corpus = new RandomCorpus(random);
    await corpus.fill();
    for (let at = 0; at < questionsOfEach; at += 1) {
      const plan = randomPlan(random, corpus);
      const { hits, hasMore } = corpus.world.index.query(plan, help);
      const all = corpus.world.index.query({ ...plan, counting: 'exact' }, help);
      expect([seed, at, JSON.stringify([hits, hasMore])]).toEqual([
        seed,
        at,
        JSON.stringify([all.hits, all.hasMore]),
      ]);
      questions += 1;
    }
  }
  process.stdout.write(`figure: pruned answers like exhaustive ones: ${questions} of ${corpora} corpora\n`);
  expect(questions).toBe(corpora * questionsOfEach);
}, 36_000_000);
