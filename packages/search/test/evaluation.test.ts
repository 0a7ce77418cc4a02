import fc from 'fast-check';
import type { ChunkFields } from '../src/chunk.js';
import { type ChunkTable, Evaluation } from '../src/evaluation.js';
import { explain } from '../src/explain.js';
import { type Filters, judgeFields, noFilters } from '../src/filters.js';
import { decodePageCursor, encodePageCursor } from '../src/page-cursor.js';
import { PathPattern } from '../src/path-pattern.js';
import type { QueryPlan } from '../src/query-plan.js';
import { recencyFactor } from '../src/recency.js';
import { compareSortKeys } from '../src/sort-key.js';

const nowMs = Date.UTC(2026, 2, 1);

const plan: QueryPlan = {
  terms: [
    { kind: 'token', text: 'disk' },
    { kind: 'token', text: 'full' },
  ],
  whole: null,
  required: [],
  excluded: [],
  filters: noFilters,
  asOf: null,
  nowMs,
  minScore: 0,
  group: 'none',
  limit: 10,
  after: null,
  counting: 'saturating',
  facets: 'none',
};

interface Row extends ChunkFields {
  readonly len: number;
  readonly tfs: readonly number[];
}

function row(session: string, seq: number, more: Partial<Row> = {}): Row {
  return {
    session,
    seq,
    n: 0,
    turn: null,
    tsMs: null,
    role: 'agent',
    kind: 'message',
    tool: null,
    paths: [],
    len: 3,
    tfs: [1, 1],
    ...more,
  };
}

function tableOf(rows: readonly Row[], filters: Filters): ChunkTable {
  const at = (chunk: number): Row => rows[chunk] ?? row('none', 0);
  return {
    len: (chunk) => at(chunk).len,
    tsMs: (chunk) => at(chunk).tsMs,
    key: at,
    fields: at,
    workspaces: () => ['/w'],
    judge: (chunk) =>
      judgeFields(filters, at(chunk), {
        session: at(chunk).session,
        workspaces: ['/w'],
        agent: at(chunk).session.startsWith('h') ? 'headless' : 'primary',
      }),
  };
}

function statisticsOf(rows: readonly Row[]): { chunkCount: number; tokenCount: number; dfs: number[] } {
  return {
    chunkCount: rows.length,
    tokenCount: rows.reduce((sum, { len }) => sum + len, 0),
    dfs: [0, 1].map((term) => rows.filter(({ tfs }) => (tfs[term] ?? 0) > 0).length),
  };
}

function evaluate(rows: readonly Row[], asked: Partial<QueryPlan> = {}): ReturnType<Evaluation['finish']> {
  const whole = { ...plan, ...asked };
  const evaluation = new Evaluation(
    whole,
    statisticsOf(rows),
    tableOf(rows, whole.filters),
    () => true,
    (ms) => (ms === null ? 'unknown' : new Date(ms).toISOString().slice(0, 10)),
  );
  for (const [chunk, { tfs }] of rows.entries()) {
    if (tfs.some((tf) => tf > 0)) evaluation.offer(chunk, tfs, false);
  }
  return evaluation.finish();
}

test('newer chunks come first by a factor that is 1 for unknown and coming times', () => {
  const rows = [
    row('a', 1, { tsMs: Date.UTC(2026, 0, 30) }),
    row('a', 2),
    row('a', 3, { tsMs: Date.UTC(2026, 3, 1) }),
    row('a', 4, { tfs: [0, 0], len: 2 }),
  ];
  const { hits } = evaluate(rows);
  expect(hits.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(hits[0]?.score).toBeCloseTo(0.7221601852974654, 12);
  expect(hits[1]?.score).toBeCloseTo(0.6877716050452051, 12);
  expect(hits[1]?.score).toBe(hits[2]?.score);
});

test('Q-13 recency is monotone, in (1, 1.1], and 1 for unknown and coming times; nobody asks the clock', () => {
  fc.assert(
    fc.property(fc.nat(4e12), fc.nat(4e12), (one, other) => {
      const [newer, older] = [Math.min(one, other), Math.max(one, other)];
      const factors = [newer, older].map((age) => recencyFactor(nowMs - age, nowMs));
      expect(factors[0]).toBeGreaterThanOrEqual(factors[1] ?? 0);
      for (const factor of factors) {
        expect(factor).toBeGreaterThanOrEqual(1);
        expect(factor).toBeLessThanOrEqual(1.1);
      }
    }),
  );
  expect(recencyFactor(nowMs, nowMs)).toBe(1.1);
  expect(recencyFactor(nowMs - 30 * 86_400_000, nowMs)).toBe(1.05);
  expect([recencyFactor(null, nowMs), recencyFactor(nowMs + 1, nowMs)]).toEqual([1, 1]);
  const before = Date.now;
  try {
    Date.now = () => {
      throw new Error('the clock was asked');
    };
    expect(evaluate([row('a', 1, { tsMs: nowMs })]).hits).toHaveLength(1);
  } finally {
    Date.now = before;
  }
});

test('hits, parts of a page and counts are those of a sort of everything', () => {
  const rows = fc.array(
    fc.record({
      session: fc.constantFrom('a', 'b', 'ä', 'h'),
      seq: fc.integer({ min: 1, max: 400 }),
      len: fc.integer({ min: 2, max: 9 }),
      tfs: fc.tuple(fc.nat(2), fc.nat(2)),
      tsMs: fc.option(fc.integer({ min: nowMs - 1e10, max: nowMs }), { nil: null }),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 7 }), (found, limit) => {
      const distinct = [...new Map(found.map((entry) => [`${entry.session}:${entry.seq}`, entry])).values()];
      const all = distinct.map((entry) => row(entry.session, entry.seq, entry));
      const everything = evaluate(all, { limit: 1_000 });
      expect([...everything.hits].sort(compareSortKeys)).toEqual(everything.hits);
      expect(everything.total).toEqual({ value: everything.hits.length, relation: 'eq' });
      const paged: (typeof everything.hits)[number][] = [];
      for (let after: QueryPlan['after'] = null; ; ) {
        const page = evaluate(all, { limit, after });
        expect(page.total).toEqual(everything.total);
        paged.push(...page.hits);
        after = page.hits.at(-1) ?? null;
        if (!page.hasMore) break;
      }
      expect(paged).toEqual(everything.hits);
      expect(everything.hiddenMatches.value).toBe(
        all.filter(({ session, tfs }) => session === 'h' && tfs.some((tf) => tf > 0)).length,
      );
    }),
  );
});

test('a session is given once, by its best chunk, with the number of its matches', () => {
  const rows = [row('a', 1), row('a', 2, { tfs: [2, 1] }), row('b', 1)];
  const { hits, total } = evaluate(rows, { group: 'session' });
  expect(hits.map(({ session, seq, hitsInSession }) => [session, seq, hitsInSession])).toEqual([
    ['a', 2, 2],
    ['b', 1, 1],
  ]);
  expect(total).toEqual({ value: 2, relation: 'eq' });
});

test('facets count all matches, also those that are not on the page', () => {
  const rows = [row('a', 1, { tool: 'sh' }), row('a', 2, { role: 'user', tsMs: nowMs }), row('b', 3)];
  const { hits, facets } = evaluate(rows, { limit: 1, facets: 'counted' });
  expect(hits).toHaveLength(1);
  expect(facets).toEqual({
    session: [
      { value: 'a', count: 2 },
      { value: 'b', count: 1 },
    ],
    role: [
      { value: 'agent', count: 2 },
      { value: 'user', count: 1 },
    ],
    kind: [{ value: 'message', count: 3 }],
    tool: [{ value: 'sh', count: 1 }],
    workspace: [{ value: '/w', count: 3 }],
    day: [
      { value: 'unknown', count: 2 },
      { value: '2026-03-01', count: 1 },
    ],
  });
});

test.each([
  [999, { value: 999, relation: 'eq' }],
  [1_000, { value: 1_000, relation: 'eq' }],
  [1_001, { value: 1_000, relation: 'gte' }],
])('%i matches are a total of %j, and exact when everything is counted', (count, total) => {
  const rows = Array.from({ length: count }, (_, index) => row('a', index + 1));
  expect(evaluate(rows).total).toEqual(total);
  expect(evaluate(rows, { counting: 'exact', limit: 0 })).toMatchObject({
    hits: [],
    hasMore: false,
    total: { value: count, relation: 'eq' },
  });
});

test('the parts of an explanation sum to the score', () => {
  const rows = [row('a', 1, { tsMs: nowMs - 86_400_000 }), row('a', 2, { tfs: [0, 3], len: 8 })];
  for (const hit of evaluate(rows).hits) {
    const { terms, lexical, recency, score } = explain(
      plan,
      statisticsOf(rows),
      hit,
      rows[hit.chunk]?.tsMs ?? null,
    );
    const sum = terms.reduce((before, { part }) => before + part, 0);
    expect(Math.abs(sum - lexical)).toBeLessThanOrEqual(1e-9);
    expect(Math.abs(lexical * recency.factor - score)).toBeLessThanOrEqual(1e-9);
  }
});

test('an explanation says which term is the whole form, which a part, and which stands for a beginning', () => {
  const terms = [
    { kind: 'token', text: 'user_id' },
    { kind: 'token', text: 'user' },
    { kind: 'prefix', text: 'i' },
    { kind: 'token', text: 'missing' },
  ] as const;
  const asked: QueryPlan = { ...plan, terms, whole: 'user_id' };
  const place = { session: 's', seq: 1, n: 0, chunk: 0, len: 4, hitsInSession: null };
  const hit = { ...place, tier: 1, score: 1, lexical: 1, recency: 1, tfs: [1, 2, 1, 0] } as const;
  const { terms: told } = explain(asked, { chunkCount: 9, tokenCount: 36, dfs: [1, 2, 3, 0] }, hit, null);
  expect(told.map(({ term, as, tf, df, len, avgdl }) => [term, as, tf, df, len, avgdl])).toEqual([
    ['user_id', 'whole', 1, 1, 4, 4],
    ['user', 'part', 2, 2, 4, 4],
    ['i', 'prefix', 1, 3, 4, 4],
  ]);
});

test('a cursor goes on where it was made, and nowhere else', () => {
  const after = { session: 'a:b', seq: 7, n: 2, tier: 1, score: 0.1 + 0.2 } as const;
  const text = encodePageCursor({ q: 'disk' }, { after, lexical: 0.5, index: 'x' });
  expect(decodePageCursor({ q: 'disk' }, text)).toEqual({ after, lexical: 0.5, index: 'x' });
  for (const bad of ['', 'bm8', text.slice(2)]) {
    expect(() => decodePageCursor({ q: 'disk' }, bad)).toThrow(
      expect.objectContaining({ code: 'TURNLOG_CURSOR_MISMATCH' }),
    );
  }
  expect(() => decodePageCursor({ q: 'other' }, text)).toThrow(
    expect.objectContaining({ code: 'TURNLOG_CURSOR_MISMATCH' }),
  );
});

test.each([
  [
    'log-store.ts',
    ['src/core/log-store.ts', 'log-store.ts', 'src\\core\\log-store.ts'],
    ['my-log-store.ts', 'log-store.tsx'],
  ],
  ['core/log-store.ts', ['src/core/log-store.ts'], ['score/log-store.ts']],
  ['src/**/*.ts', ['src/a.ts', 'src/a/b/c.ts', '/w/src/a/b.ts'], ['src/a.js', 'srcx/a.ts']],
  ['*.ts', ['a.ts', 'src/a.ts'], ['a.ts/b']],
  ['a?.(x)', ['ab.(x)'], ['a.(x)', 'abc.(x)']],
])('the path filter %s', (pattern, matching, others) => {
  const compiled = new PathPattern(pattern);
  expect(matching.filter((path) => !compiled.matches(path))).toEqual([]);
  expect(others.filter((path) => compiled.matches(path))).toEqual([]);
});
