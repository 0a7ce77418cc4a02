import fc from 'fast-check';
import createWink from 'wink-bm25-text-search';
import { noFilters } from '../src/filters.js';
import type { IndexedChunk } from '../src/indexed-chunk.js';
import type { QueryPlan } from '../src/query-plan.js';
import { countTokens } from '../src/token-views.js';
import { WinkSegment, winkSegmentChunks } from '../src/wink-segment.js';
import { WinkSegments } from '../src/wink-segments.js';

function chunk(
  session: string,
  seq: number,
  text: string,
  more: Partial<IndexedChunk['fields']> = {},
): IndexedChunk {
  const fields = {
    session,
    seq,
    n: 0,
    turn: null,
    tsMs: null,
    role: 'agent',
    kind: 'message',
    tool: null,
    paths: [],
    ...more,
  } as const;
  return { fields, ...countTokens(text), itemId: null };
}

function plan(tokens: readonly string[], more: Partial<QueryPlan> = {}): QueryPlan {
  return {
    terms: tokens.map((text) => ({ kind: 'token', text })),
    whole: null,
    required: [],
    excluded: [],
    filters: noFilters,
    asOf: null,
    nowMs: 0,
    minScore: 0,
    group: 'none',
    limit: 10,
    after: null,
    counting: 'exact',
    facets: 'none',
    ...more,
  };
}

const help = { textVerdict: (): boolean => true, dayOf: (): string => '' };

function found(index: WinkSegments, asked: QueryPlan): readonly (readonly [string, number])[] {
  return index.query(asked, help).hits.map(({ session, seq, score }) => [`${session}:${seq}`, score]);
}

/** The formula of the search specification, written out once more, over all chunks. */
function naiveScore(texts: readonly (readonly string[])[], query: readonly string[], at: number): number {
  const average = texts.reduce((sum, tokens) => sum + tokens.length, 0) / texts.length;
  let score = 0;
  for (const token of new Set(query)) {
    const df = texts.filter((tokens) => tokens.includes(token)).length;
    const tf = texts[at]?.filter((own) => own === token).length ?? 0;
    if (tf === 0) continue;
    const weight = Math.log(1 + (texts.length - df + 0.5) / (df + 0.5));
    score += (weight * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * (texts[at]?.length ?? 0)) / average));
  }
  return score;
}

const words = fc.constantFrom(
  'alpha',
  'beta',
  'gamma',
  'delta',
  'constructor',
  '__proto__',
  'toString',
  'x1',
);

test('what the package itself answers is the naive score within 0.5e-9 per term, rounded', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(words, { minLength: 1, maxLength: 12 }), { minLength: 3, maxLength: 20 }),
      fc.uniqueArray(words, { minLength: 1, maxLength: 4 }),
      (texts, query) => {
        const wink = createWink();
        wink.defineConfig({ fldWeights: { t: 1 } });
        wink.definePrepTasks([(text) => text.split(' ').map((token) => `\ue000${token}`)]);
        for (const [id, tokens] of texts.entries()) wink.addDoc({ t: tokens.join(' ') }, id);
        wink.consolidate(9);
        for (const [id, score] of wink.search(query.join(' '), texts.length)) {
          const expected = naiveScore(texts, query, Number(id));
          expect(Math.abs(score - expected)).toBeLessThanOrEqual(0.5e-9 * query.length + 1e-12);
        }
      },
    ),
  );
});

test('a segment names all chunks that hold a token, also by names that objects have', () => {
  const texts = [['constructor', 'a'], ['__proto__'], ['a', 'a', 'toString'], []];
  const segment = new WinkSegment(texts.map((tokens) => new Map(tokens.map((token) => [token, 1]))));
  const holding = (token: string): readonly number[] => [...segment.holding(token)].sort();
  expect(holding('a')).toEqual([0, 2]);
  expect(holding('constructor')).toEqual([0]);
  expect(holding('__proto__')).toEqual([1]);
  expect(holding('toString')).toEqual([2]);
  expect(holding('hasOwnProperty')).toEqual([]);
});

test('more matches than the package would give by itself are all found, in segments and in the tail', () => {
  const index = new WinkSegments();
  const count = winkSegmentChunks + 30;
  for (let seq = 1; seq <= count; seq += 1) {
    index.add(chunk('s', seq, seq % 2 === 0 ? 'even number' : 'odd number'));
  }
  expect(index.query(plan(['number']), help).total).toEqual({ value: count, relation: 'eq' });
  const even = index.query(plan(['even'], { limit: 5 }), help);
  expect(even.total.value).toBe(count / 2);
  expect(even.hits.map(({ seq }) => seq)).toEqual([2, 4, 6, 8, 10]);
  expect(index.query(plan(['even'], { limit: 0 }), help).hits).toEqual([]);
});

test.each([0, 1, 2, 3])('%d chunks: the exact text comes first, with a score above 0', (count) => {
  const index = new WinkSegments();
  const texts = ['exact text here', 'exact words', 'other text'];
  for (const [at, text] of texts.slice(0, count).entries()) index.add(chunk('s', at + 1, text));
  const hits = found(index, plan(['exact', 'text', 'here']));
  expect(hits.length).toBe(count);
  if (count > 0) expect(hits[0]?.[0]).toBe('s:1');
  expect(hits.every(([, score]) => score > 0)).toBe(true);
});

test('scores are those of the formula, whatever lies in a segment and what in the tail', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(words, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 25 }),
      fc.uniqueArray(words, { minLength: 1, maxLength: 4 }),
      (texts, query) => {
        const index = new WinkSegments();
        for (const [at, tokens] of texts.entries()) {
          const terms = new Map<string, number>();
          for (const token of tokens) terms.set(token, (terms.get(token) ?? 0) + 1);
          index.add({ ...chunk('s', at + 1, ''), len: tokens.length, terms });
        }
        const expected = texts
          .map((_, at) => [`s:${at + 1}`, naiveScore(texts, query, at)] as const)
          .filter(([, score]) => score > 0);
        const got = found(index, plan(query, { limit: 100 }));
        expect(new Map(got).size).toBe(expected.length);
        for (const [id, score] of expected) expect(new Map(got).get(id)).toBeCloseTo(score, 12);
      },
    ),
  );
});

test('a superseded chunk counts for the past only; a session that is gone, for nothing', () => {
  const index = new WinkSegments();
  index.noteSession({ session: 'a', workspaces: ['/w'], agent: 'primary' });
  index.add(chunk('a', 1, 'draft words', { tsMs: 1_000 }));
  index.add(chunk('a', 2, 'final words', { tsMs: 2_000 }));
  index.add(chunk('b', 1, 'other words', { tsMs: 1_500 }));
  index.supersede('a', 1, { seq: 2, tsMs: 2_000 });
  expect(index.query(plan(['words']), help)).toMatchObject({
    total: { value: 2 },
    statistics: { chunkCount: 2, tokenCount: 4, dfs: [2] },
  });
  const before = index.query(plan(['words'], { asOf: { tsMs: 1_600, session: null } }), help);
  expect(before.hits.map(({ session, seq }) => `${session}:${seq}`).sort()).toEqual(['a:1', 'b:1']);
  expect(before.statistics).toEqual({ chunkCount: 2, tokenCount: 4, dfs: [2] });
  index.removeSession('b');
  expect(found(index, plan(['other']))).toEqual([]);
  expect(index.query(plan(['words']), help).statistics).toEqual({ chunkCount: 1, tokenCount: 2, dfs: [1] });
  expect(index.sessionInfo('a')).toEqual({ session: 'a', workspaces: ['/w'], agent: 'primary' });
  expect([...index.newestFirst()].map(({ session, seq }) => `${session}:${seq}`)).toEqual(['a:2']);
});

test('a prefix is one term, over tokens that are there', () => {
  const index = new WinkSegments();
  index.add(chunk('a', 1, 'cargo carbon'));
  index.add(chunk('a', 2, 'cat'));
  index.add(chunk('a', 3, 'dog'));
  const answer = index.query({ ...plan([]), terms: [{ kind: 'prefix', text: 'car' }] }, help);
  expect(answer.statistics.dfs).toEqual([1]);
  expect(answer.hits.map(({ tfs }) => tfs)).toEqual([[2]]);
  expect(answer.expansionsCapped).toBe(false);
});

test('a closed index says so', () => {
  const index = new WinkSegments();
  index.close();
  expect(index.state.kind).toBe('unusable');
  expect(() => index.query(plan(['x']), help)).toThrow(expect.objectContaining({ code: 'TURNLOG_CLOSED' }));
});
