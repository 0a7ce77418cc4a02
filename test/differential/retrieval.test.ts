import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mirrorEngine, openMirror } from '@turnlog/mirror';
import { openSearch, type Search } from '@turnlog/search';
import { openStore, type Store } from '@turnlog/store';
import { FakeClock, makeTemporaryDirectory } from '@turnlog/testkit';
import { NeedIndex, stringsOf, WorldCheck } from '../bench/retrieval/check.js';
import { type Evaluation, evaluate } from '../bench/retrieval/evaluate.js';
import { type Fact, type GoldQuery, plainWords, said, scales } from '../bench/retrieval/fact.js';
import { planFacts } from '../bench/retrieval/facts.js';
import { askedAtMs, generateWorld, type World } from '../bench/retrieval/generate.js';
import { locomoScores, readLocomo, timeOf } from '../bench/retrieval/locomo.js';
import { baselineSlack, gates, interval, measured, scoresOf } from '../bench/retrieval/metrics.js';
import { Prng } from '../bench/retrieval/prng.js';
import { sentenceParts } from '../bench/retrieval/words.js';
import { engines, reader } from './searched-store.js';

const bench = resolve(__dirname, '../bench/retrieval');

/** Of the world of seed `dev-1` and size s. */
const pinned = '569a522247d9afdfa488239ec11859efebe3db3b17b6c55c87905e2e215e3a8c';

interface OpenWorld {
  readonly store: Store;
  readonly search: Search;
}

/** Runs `work` over a store with these logs, at the moment at which the world is asked. */
async function withLogs<Made>(
  write: (sink: (session: string, log: string) => void) => Made,
  work: (open: OpenWorld, made: Made) => Promise<void>,
): Promise<void> {
  const directory = makeTemporaryDirectory();
  const root = join(directory.path, 'store');
  const made = write((session, log) => {
    const place = join(root, 'sessions', session);
    mkdirSync(place, { recursive: true, mode: 0o700 });
    writeFileSync(join(place, 'events.jsonl'), log, { mode: 0o600 });
  });
  const clock = new FakeClock();
  clock.advance(askedAtMs - clock.now());
  const store = await openStore({ root, environment: { clock }, cwd: '/', env: {} });
  const search = openSearch(store, [mirrorEngine(store)]);
  try {
    await work({ store, search }, made);
  } finally {
    search.close();
    directory.remove();
  }
}

async function asked(
  { search }: OpenWorld,
  queries: readonly GoldQuery[],
  engine: (typeof engines)[number],
): Promise<Evaluation> {
  const ask = async ({ text }: GoldQuery): ReturnType<Parameters<typeof evaluate>[1]> => {
    const answer = await search.search({ text, engine, waitMs: 600_000 }, reader);
    expect([answer.engine, answer.degraded, answer.behind.bytes]).toEqual([engine, [], 0]);
    const wholes = answer.hits.filter(({ tier }) => tier === 1).length;
    return { ids: answer.hits.map(({ id }) => id), wholes };
  };
  return await evaluate(queries, ask, () => 0);
}

const baseline: Readonly<Record<string, Readonly<Record<string, number>>>> = JSON.parse(
  readFileSync(join(bench, 'baseline.json'), 'utf8'),
);

test('Q-28 the same seed makes the same bytes, whatever Node runs this, and every class reaches its gate', async () => {
  expect(generateWorld('dev-1', 's', () => undefined).sha256).toBe(pinned);
  await withLogs(
    (sink): World => generateWorld('gate-1', 's', sink),
    async (open, { queries, records }) => {
      expect(records).toBe(10_000);
      const { report } = await asked(open, queries, 'packed');
      expect([...report.keys()].sort()).toEqual([...Object.keys(gates), 'paraphrase'].sort());
      for (const [name, one] of report) {
        const gate = gates[name];
        if (gate === undefined) continue;
        const reached = measured(one, gate.measure);
        expect({ name, reached, isReached: reached >= gate.least }).toEqual({
          name,
          reached,
          isReached: true,
        });
        const before = baseline['gate-1 s']?.[name] ?? Number.NaN;
        expect({ name, isKept: reached >= before - baselineSlack }).toEqual({ name, isKept: true });
      }
    },
  );
}, 600_000);

test('every engine finds the same chunks of a generated world in the same order, whatever is asked', async () => {
  await withLogs(
    (sink): World => generateWorld('gate-2', 's', sink),
    async (open, { queries }) => {
      const opened = await openMirror(open.store);
      if (opened.kind === 'off') throw new Error(`no mirror here: ${opened.reason}`);
      await opened.mirror.rebuild();
      opened.mirror.close();
      expect(queries.length).toBe(450);
      const found = new Map<string, Evaluation['ids']>();
      for (const engine of engines) found.set(engine, (await asked(open, queries, engine)).ids);
      expect(found.get('fts5')).toEqual(found.get('packed'));
      expect(found.get('wink')).toEqual(found.get('packed'));
    },
  );
}, 600_000);

describe('the world', () => {
  test('a generator that is seeded with a text gives the numbers of sfc32', () => {
    const random = new Prng('turnlog');
    const again = new Prng('turnlog');
    const numbers = Array.from({ length: 1_000 }, () => random.next());
    expect(numbers).toEqual(Array.from({ length: 1_000 }, () => again.next()));
    expect(new Set(numbers).size).toBe(1_000);
    expect(Math.max(...numbers)).toBeLessThan(2 ** 32);
    expect(numbers.slice(0, 4)).toEqual([186_947_261, 2_984_986_195, 2_043_505_845, 3_504_793_312]);
    expect(new Prng('turnlo').next()).not.toBe(numbers[0]);
  });

  test('its check refuses a fact that another chunk answers too, and one that its gold does not answer', () => {
    const fact: Fact = {
      queryClass: 'decision',
      text: 'why Kafka and not NATS',
      need: { words: ['kafka', 'nats'] },
      golds: [],
      distractors: [],
    };
    const line = (seq: number, text: string): string =>
      JSON.stringify({ seq, event: { type: 'item.completed', item: said(text) } });
    const right = new WorldCheck([fact]);
    right.take('a', line(1, 'Use Kafka, for NATS was slow.'));
    right.take('a', line(2, 'Use Kafka.'));
    expect(() => right.finish([['a:1']])).not.toThrow();
    expect(() => right.finish([['a:2']])).toThrow('query 0 is answered by a:1, not by a:2');
    right.take('a', line(3, 'NATS? Kafka!'));
    expect(() => right.finish([['a:1']])).toThrow('answered by a:1 a:3');
    expect(new NeedIndex([{ ...fact, need: { prefix: 'abcdef0' } }]).answered('see abcdef012')).toEqual([0]);
  });

  test('a paraphrase shares no word with what was planted, and its distractors all but one', () => {
    const pairs = sentenceParts.flat();
    expect(pairs).toHaveLength(120);
    const [planted, others] = [pairs.map(([word]) => word), new Set(pairs.map(([, word]) => word))];
    expect(planted.filter((word) => others.has(word))).toEqual([]);
    const facts = planFacts(new Prng('dev-3'), scales.s).filter((fact) => fact.queryClass === 'paraphrase');
    expect(facts).toHaveLength(30);
    for (const { text, golds, distractors } of facts) {
      const wordsOf = (item: unknown): readonly string[] => plainWords(stringsOf(item).join('\n'));
      const asked = plainWords(text);
      const told = golds.flatMap(wordsOf);
      expect(asked.filter((word) => told.includes(word))).toEqual([]);
      for (const distractor of distractors) {
        const near = wordsOf(distractor);
        expect(told.filter((word) => !near.includes(word))).toHaveLength(1);
        expect(asked.filter((word) => near.includes(word))).toEqual([]);
      }
    }
  });

  test('each fact has its gold and at least five others beside it', () => {
    const { queries } = generateWorld('dev-3', 's', () => undefined);
    for (const query of queries) {
      const least = query.class === 'none' ? 0 : query.class === 'many' ? 2 : 1;
      expect({ query, isGold: query.gold.length >= least }).toEqual({ query, isGold: true });
      expect(query.distractors.length).toBeGreaterThanOrEqual(5);
      const sessions = query.gold.map((id) => id.split(':')[0]);
      expect(new Set(sessions).size).toBe(query.gold.length);
    }
  });
});

describe('measures', () => {
  test('are those of the ranks', () => {
    expect(scoresOf(['a', 'b'], ['x', 'a', 'y', 'b'])).toEqual({
      'hit@1': 0,
      'hit@5': 1,
      'hit@10': 1,
      'recall@10': 1,
      'mrr@10': 0.5,
      'ndcg@10': (1 / Math.log2(3) + 1 / Math.log2(5)) / (1 + 1 / Math.log2(3)),
    });
    expect(scoresOf(['a'], ['x', 'y'])).toMatchObject({
      'hit@10': 0,
      'recall@10': 0,
      'mrr@10': 0,
      'ndcg@10': 0,
    });
    const eleven = [...'bcdefghijk', 'a'];
    expect(scoresOf(['a'], eleven)).toMatchObject({ 'hit@10': 0, 'recall@10': 0 });
    expect(scoresOf(['a'], ['a'])).toMatchObject({ 'hit@1': 1, 'mrr@10': 1, 'ndcg@10': 1 });
  });

  test('an interval holds the mean, and is the same each time', () => {
    const values = Array.from({ length: 200 }, (_, at) => (at % 4 === 0 ? 0 : 1));
    const once = interval(values);
    expect(once).toEqual(interval(values));
    expect(once.mean).toBe(0.75);
    // The standard error of a share of 0.75 of 200 is 0.031: nearly two of them on either side.
    expect(once.low).toBeGreaterThan(0.67);
    expect(once.low).toBeLessThan(0.71);
    expect(once.high).toBeGreaterThan(0.79);
    expect(once.high).toBeLessThan(0.83);
    expect(interval([1, 1, 1])).toEqual({ mean: 1, low: 1, high: 1 });
  });
});

describe('LoCoMo', () => {
  const example: unknown = JSON.parse(readFileSync(join(bench, 'locomo-example.json'), 'utf8'));

  test('conversations become sessions, and evidence names their records', () => {
    const { sessions, questions } = readLocomo(example);
    expect(sessions.map(({ session }) => session)).toEqual(['made-up-1-1', 'made-up-1-2']);
    expect(questions.map(({ evidence }) => evidence)).toEqual([
      ['made-up-1-2:3'],
      ['made-up-1-1:4', 'made-up-1-2:5'],
    ]);
    expect(timeOf('1:56 pm on 8 May, 2023')).toBe(Date.UTC(2023, 4, 8, 13, 56));
    expect(timeOf('12:05 am on 21 June, 2023')).toBe(Date.UTC(2023, 5, 21, 0, 5));
    expect(timeOf('yesterday')).toBeNull();
  });

  test('its questions are asked within their conversation, and scored by session and by turn', async () => {
    const set = readLocomo(example);
    await withLogs(
      (sink) => {
        for (const { session, log } of set.sessions) sink(session, log);
      },
      async ({ search }) => {
        const answers = [];
        for (const question of set.questions) {
          const { hits } = await search.search(
            {
              text: question.text,
              filters: new Map([['workspace', [question.workspace]]]),
              limit: 100,
              waitMs: 60_000,
            },
            reader,
          );
          answers.push({ question, ids: hits.map(({ id }) => id) });
        }
        expect(locomoScores(answers)).toEqual({
          questions: 2,
          'any@1': 1,
          'any@5': 1,
          'any@10': 1,
          'all@5': 1,
          'all@10': 1,
          'turn any@5': 1,
          mrr: 1,
        });
        const [first, second] = set.questions;
        if (first === undefined || second === undefined) throw new Error('the example has two questions');
        expect(
          locomoScores([
            { question: first, ids: ['made-up-1-1:3', 'made-up-1-1:5', 'made-up-1-2:5'] },
            { question: second, ids: ['made-up-1-1:4:1'] },
          ]),
        ).toEqual({
          questions: 2,
          'any@1': 0.5,
          'any@5': 1,
          'any@10': 1,
          'all@5': 0.5,
          'all@10': 0.5,
          'turn any@5': 0.5,
          mrr: 0.75,
        });
      },
    );
  });
});
