import type { SearchAnswer, SearchRequest } from '@turnlog/search';
import { engines, type SearchedStore, withSearchedStore } from './searched-store.js';

/** What an answer took of a clock that goes on by one whenever it is read, and the answer. */
async function counted(
  place: SearchedStore,
  request: SearchRequest,
): Promise<{ readonly answer: SearchAnswer; readonly reads: number }> {
  let nowMs = place.clock.monotonicMs();
  const startMs = nowMs;
  const spy = jest.spyOn(place.clock, 'monotonicMs').mockImplementation(() => {
    nowMs += 1;
    return nowMs;
  });
  try {
    const answer = await place.ask(request);
    return { answer, reads: nowMs - startMs };
  } finally {
    spy.mockRestore();
  }
}

/** What was found by the end of a budget is part of the whole answer, and says that it is no more. */
function expectPartOf(answer: SearchAnswer, scores: ReadonlyMap<string, number>): void {
  const { hits, total, next_cursor: next } = answer;
  expect([total.relation, next]).toEqual(['gte', null]);
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
      const { answer: whole, reads } = await counted(place, { ...request, budgetMs: 1e6 });
      expect([whole.partial, whole.total]).toEqual([false, { value: 2_000, relation: 'eq' }]);
      const answers: SearchAnswer[] = [];
      for (let budgetMs = 0; budgetMs <= reads; budgetMs += 1) {
        answers.push((await counted(place, { ...request, budgetMs })).answer);
      }
      const [cut, ended] = [
        answers.filter(({ partial }) => partial),
        answers.filter(({ partial }) => !partial),
      ];
      for (const answer of cut) expectPartOf(answer, scores);
      expect(cut.some(({ total }) => total.value > 0)).toBe(true);
      for (const { hits, total } of ended) expect([hits, total]).toEqual([whole.hits, whole.total]);
      expect(ended.length).toBeGreaterThan(0);
    });
  },
  60_000,
);

test('a text without a word is looked for until the budget is spent', async () => {
  await withSearchedStore(async (place) => {
    await place.say(
      'a',
      Array.from({ length: 40 }, () => '=>'),
    );
    for (const engine of engines) {
      await place.ask({ text: '=>', engine });
      const { answer, reads } = await counted(place, { text: '=>', engine, limit: 100, budgetMs: 1e6 });
      expect([engine, answer.partial, answer.hits.length]).toEqual([engine, false, 40]);
      const ended = await counted(place, { text: '=>', engine, limit: 100, budgetMs: reads - 20 });
      expect([ended.answer.partial, ended.answer.total.relation]).toEqual([true, 'gte']);
      expect(ended.answer.hits.length).toBeLessThan(40);
    }
  });
});
