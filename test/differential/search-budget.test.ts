import type { SearchAnswer, SearchRequest } from '@turnlog/search';
import { engines, type SearchedStore, withSearchedStore } from './searched-store.js';

/** What an answer took of a clock that goes on by one whenever it is read, and the answer. */
async function counted(
  place: SearchedStore,
  request: SearchRequest,
): Promise<{ readonly answer: SearchAnswer; readonly looks: number }> {
  let nowMs = place.clock.monotonicMs();
  const startMs = nowMs;
  const spy = jest.spyOn(place.clock, 'monotonicMs').mockImplementation(() => {
    nowMs += 1;
    return nowMs;
  });
  try {
    const answer = await place.ask(request);
    return { answer, looks: nowMs - startMs };
  } finally {
    spy.mockRestore();
  }
}

/** An answer whose time is over while the record is read that comes `last` in a row, and how many were read in all. */
async function endedByReading(
  place: SearchedStore,
  request: SearchRequest,
  last: number,
): Promise<{ readonly answer: SearchAnswer; readonly reads: number }> {
  const startMs = place.clock.monotonicMs();
  let reads = 0;
  const clock = jest
    .spyOn(place.clock, 'monotonicMs')
    .mockImplementation(() => (reads < last ? startMs : startMs + 2_000));
  const open = place.store.read.bind(place.store);
  const log = jest.spyOn(place.store, 'read').mockImplementation((...given) => {
    const reader = open(...given);
    const readRange = reader.readRange.bind(reader);
    jest.spyOn(reader, 'readRange').mockImplementation((...range) => {
      reads += 1;
      return readRange(...range);
    });
    return reader;
  });
  try {
    return { answer: await place.ask({ ...request, budgetMs: 1_000 }), reads };
  } finally {
    log.mockRestore();
    clock.mockRestore();
  }
}

/** What was found by the end of a budget is part of the whole answer, and says that it is no more. */
function expectPartOf(answer: SearchAnswer, scores: ReadonlyMap<string, number>): void {
  const { hits, total } = answer;
  expect(total.relation).toBe('gte');
  expect(total.value).toBeLessThanOrEqual(1_000);
  expect(hits.length).toBeLessThanOrEqual(Math.min(5, total.value));
  const known = hits.filter(({ id }) => scores.has(id));
  expect(known.map(({ score }) => score)).toEqual(known.map(({ id }) => scores.get(id)));
}

test.each(engines)(
  '%s: an answer that ends within its budget is whole, and one that does not says so and tells nothing wrong',
  async (engine) => {
    await withSearchedStore(async (place) => {
      const texts = Array.from({ length: 2_000 }, (_, at) => `needle ${'hay '.repeat(at % 9)}${at}`);
      await place.say('a', texts);
      const request = { text: 'needle', limit: 5, facets: true, engine } as const;
      const all = await place.ask({ ...request, limit: 100 });
      const scores = new Map(all.hits.map(({ id, score }) => [id, score]));
      const { answer: whole, looks } = await counted(place, { ...request, budgetMs: 1e6 });
      expect([whole.partial, whole.total]).toEqual([false, { value: 2_000, relation: 'eq' }]);
      const answers: SearchAnswer[] = [];
      for (let budgetMs = 0; budgetMs <= looks; budgetMs += 1) {
        answers.push((await counted(place, { ...request, budgetMs })).answer);
      }
      const [cut, ended] = [
        answers.filter(({ partial }) => partial),
        answers.filter(({ partial }) => !partial),
      ];
      const idsOf = ({ hits }: SearchAnswer): readonly string[] => hits.map(({ id }) => id);
      for (const answer of cut) {
        expectPartOf(answer, scores);
        // A page goes on only behind hits that are those of the whole answer, though their texts may lack.
        if (answer.next_cursor !== null) expect(idsOf(answer)).toEqual(idsOf(whole));
      }
      expect(cut.some(({ total, next_cursor: next }) => total.value > 0 && next === null)).toBe(true);
      expect(cut.some(({ next_cursor: next }) => next !== null)).toBe(true);
      for (const { hits, total } of ended) expect([hits, total]).toEqual([whole.hits, whole.total]);
      expect(ended.length).toBeGreaterThan(0);
    });
  },
  60_000,
);

const readers: readonly (readonly [string, SearchRequest])[] = [
  ['texts of hits', { text: 'needle', limit: 100 }],
  ['a phrase', { text: '"needle hay"', syntax: 'query' }],
  ['an exclusion', { text: 'needle -hay', syntax: 'query', limit: 0 }],
  ['a text without a word', { text: '=>', limit: 100 }],
  ['texts of hits of a hybrid search', { text: 'needle', limit: 40, mode: 'hybrid' }],
];

test.each(readers)(
  '%s: no record is read any more when the budget is spent, with every engine',
  async (_name, request) => {
    await withSearchedStore(async (place) => {
      await place.say(
        'a',
        Array.from({ length: 60 }, (_, at) => `=> needle hay ${at}`),
      );
      for (const engine of engines) {
        const asked = { ...request, engine };
        const whole = await place.ask(asked);
        expect(whole).toMatchObject({ engine, partial: false });
        const all = await endedByReading(place, asked, Number.POSITIVE_INFINITY);
        expect(all.answer).toMatchObject({ partial: false, hits: whole.hits });
        expect(all.reads).toBeGreaterThanOrEqual(40);
        const { answer, reads } = await endedByReading(place, asked, 7);
        expect({ engine, reads, partial: answer.partial }).toEqual({ engine, reads: 7, partial: true });
        expect(answer.total.relation).toBe('gte');
        // What was found is told, and what there was no time to read is not made up.
        const texts = answer.hits.filter(({ snippet }) => snippet.text !== '').length;
        expect(texts).toBeLessThanOrEqual(7);
        for (const { snippet, paths } of answer.hits.slice(texts)) {
          expect([snippet, paths]).toEqual([{ text: '', ranges: [] }, []]);
        }
      }
    });
  },
  60_000,
);

test('what a prefix stands for is looked up until the budget is spent, with every engine', async () => {
  await withSearchedStore(async (place) => {
    const words = Array.from({ length: 300 }, (_, at) => `pre${at}`);
    await place.say('a', [words.join(' '), 'prefix']);
    for (const engine of engines) {
      const request = { text: 'pre*', syntax: 'query', engine } as const;
      await place.ask(request);
      const whole = await counted(place, { ...request, budgetMs: 1e6 });
      expect([engine, whole.answer.partial, whole.answer.total.value]).toEqual([engine, false, 2]);
      // Once for each word, and when it is over once for each of the few things that are left.
      expect(whole.looks).toBeGreaterThan(300);
      const ended = await counted(place, { ...request, budgetMs: 100 });
      expect([ended.answer.partial, ended.answer.hits]).toEqual([true, []]);
      expect(ended.looks).toBeLessThan(120);
    }
  });
});

test.each(['packed', 'wink'] as const)(
  '%s: bringing the index up to the logs ends with the budget, however long it may wait',
  async (engine) => {
    await withSearchedStore(async (place) => {
      for (let at = 0; at < 40; at += 1) await place.say(`s-${at}`, ['needle']);
      const ended = await counted(place, { text: 'needle', engine, waitMs: 60_000, budgetMs: 15 });
      expect([ended.answer.partial, ended.answer.behind.sessions > 0]).toEqual([true, true]);
      const { answer } = await counted(place, { text: 'needle', engine, waitMs: 60_000 });
      expect([answer.partial, answer.behind.sessions, answer.total.value]).toEqual([false, 0, 40]);
    });
  },
);
