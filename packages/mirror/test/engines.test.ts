import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTimeZone } from '@turnlog/kernel';
import { loadSqlite, mirrorEngine } from '@turnlog/mirror';
import { openSearch, type Search, type SearchAnswer, type SearchRequest, tokenize } from '@turnlog/search';
import fc from 'fast-check';
import { ftsToken, tokenOf } from '../src/fts-token.js';
import { localDisk, type MirrorStore, withStore } from './support.js';

const engines = ['packed', 'fts5', 'wink'] as const;

const searcher = {
  zone: parseTimeZone('UTC', 'flag'),
  redact: (text: string): string => text,
  resolveWorkspace: (path: string): string => path,
};

/** A search as one process has it, with the mirror made if it is not there. */
async function searchOf(place: MirrorStore): Promise<Search> {
  const mirror = await place.mirror();
  await mirror.catchUp();
  return openSearch(place.store, [mirrorEngine(place.store, { filesystemKind: () => localDisk })]);
}

async function ask(
  search: Search,
  request: SearchRequest,
  engine: (typeof engines)[number],
): Promise<SearchAnswer> {
  const answer = await search.search({ ...request, engine }, searcher);
  expect([answer.engine, answer.degraded]).toEqual([engine, []]);
  return answer;
}

/** All that engines must agree in: everything but their name, how long it took, and what they call their state. */
function common({ engine: _, took_ms: __, index, next_cursor, ...answer }: SearchAnswer): string {
  return JSON.stringify({ ...answer, tokenizer: index.tokenizer, isLastPage: next_cursor === null });
}

async function write(
  place: MirrorStore,
  session: string,
  rows: readonly (readonly [text: string, ts: string | null])[],
): Promise<void> {
  const log = await place.store.open(session);
  for (const [at, [text, ts]] of rows.entries()) {
    const event = { type: 'item.completed', item: { id: `i-${at}`, type: 'agent_message', text } };
    log.append(event as Parameters<typeof log.append>[0], { tsMs: ts === null ? null : Date.parse(ts) });
  }
  await log.close();
}

type Corpus = Readonly<Record<string, readonly (readonly [text: string, ts: string | null])[]>>;
type Scored = readonly (readonly [id: string, score: number, tier?: number])[];

const untimed = (...texts: string[]): readonly (readonly [string, null])[] =>
  texts.map((text) => [text, null]);

/** The table of the specification (SE-23). */
const values: readonly (readonly [name: string, corpus: Corpus, query: string, hits: Scored])[] = [
  [
    'two words',
    { s1: untimed('rust cargo tool', 'unrelated note'), s2: untimed('cargo build tool') },
    'rust cargo',
    [
      ['s1:1', 1.3802518231206127],
      ['s2:1', 0.44713858782297006],
    ],
  ],
  [
    'a word typed twice',
    { s1: untimed('rust cargo tool', 'unrelated note'), s2: untimed('cargo build tool') },
    'rust cargo cargo',
    [
      ['s1:1', 1.3802518231206127],
      ['s2:1', 0.44713858782297006],
    ],
  ],
  [
    'one word of three chunks',
    { a: untimed('the widget is blue', 'the server runs on port 8080', 'use PostgreSQL for persistence') },
    'blue',
    [['a:1', 1.092569294494075]],
  ],
  ['one chunk', { a: untimed('alpha beta gamma') }, 'beta', [['a:1', 0.28768207245178085]]],
  [
    'equal scores',
    {
      s0: untimed('fact 0 appears twice twice'),
      s1: untimed('fact 1 appears twice twice'),
      s2: untimed('fact 2 appears twice twice'),
    },
    'twice',
    [
      ['s0:1', 0.18360566485871854],
      ['s1:1', 0.18360566485871854],
      ['s2:1', 0.18360566485871854],
    ],
  ],
  [
    'an identifier before its parts',
    { a: untimed('user_id missing', 'the user has no id', 'unrelated text') },
    'user_id',
    [
      ['a:1', 1.8519618955528836, 1],
      ['a:2', 0.8182796998378993],
    ],
  ],
  [
    'newer counts more',
    {
      a: [
        ['disk full error', '2026-01-30T00:00:00.000Z'],
        ['disk full error', null],
        ['disk full error', '2026-04-01T00:00:00.000Z'],
        ['all fine', null],
      ],
    },
    'disk full',
    [
      ['a:1', 0.7221601852974654],
      ['a:2', 0.6877716050452051],
      ['a:3', 0.6877716050452051],
    ],
  ],
  [
    'written without spaces',
    { a: untimed('用户身份验证失败', '身份', 'user identity') },
    '身份',
    [
      ['a:2', 0.5908617053374962],
      ['a:1', 0.333550962690522],
    ],
  ],
  [
    'one character of that',
    { a: untimed('食べる', '食事', '飲む') },
    '食',
    [
      ['a:2', 0.4991762683023675],
      ['a:1', 0.42081720292932134],
    ],
  ],
  [
    'the beginning of a hash',
    { a: untimed('commit a62a8b2d9f00c1d2e3f4a5b6c7d8e9f0a1b2c3d4', 'commit ffa04b1b', 'no hash') },
    'a62a8b2d9',
    [['a:1', 1.6285466842458856]],
  ],
];

test.each(values)(
  'Q-7 %s: the values of the table within 1e-12 from every engine',
  async (_name, corpus, query, hits) => {
    await withStore(async (place) => {
      for (const [session, rows] of Object.entries(corpus)) await write(place, session, rows);
      place.clock.setNow(Date.parse('2026-03-01T00:00:00.000Z'));
      const search = await searchOf(place);
      try {
        for (const engine of engines) {
          const answer = await ask(search, { text: query }, engine);
          expect(answer.hits.map(({ id }) => id)).toEqual(hits.map(([id]) => id));
          for (const [at, [, score, tier]] of hits.entries()) {
            expect(Math.abs((answer.hits[at]?.score ?? 0) - score)).toBeLessThanOrEqual(1e-12);
            expect(answer.hits[at]?.tier).toBe(tier ?? 0);
          }
        }
      } finally {
        search.close();
      }
    });
  },
);

test.each([0, 1, 2])(
  'Q-10 %d documents: nothing is thrown, the exact text comes first, every engine',
  async (count) => {
    await withStore(async (place) => {
      await write(place, 'a', untimed(...['the exact text', 'some exact words'].slice(0, count)));
      const search = await searchOf(place);
      try {
        for (const engine of engines) {
          const answer = await ask(search, { text: 'the exact text' }, engine);
          expect(answer.total).toEqual({ value: count, relation: 'eq' });
          expect(answer.hits[0]?.id).toBe(count === 0 ? undefined : 'a:1');
          expect(answer.hits.every(({ score }) => score > 0)).toBe(true);
        }
      } finally {
        search.close();
      }
    });
  },
);

const words = [
  'cargo',
  'rust',
  'user_id',
  'src/core/log-store.ts:42',
  'E0382',
  '用户身份',
  'overtimeService',
  'build',
  'a',
];
const instants = ['2026-01-05T10:00:00.000Z', '2026-02-01T00:00:00.000Z', '2026-02-20T12:00:00.000Z', null];

const sentence = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join(' '));
const item = fc.record({
  kind: fc.constantFrom('started', 'updated', 'completed'),
  id: fc.nat(4),
  type: fc.constantFrom('agent_message', 'plan', 'reasoning'),
  text: sentence,
  ts: fc.constantFrom(...instants),
});
const corpora = fc.array(fc.array(item, { minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 5 });

const requests: fc.Arbitrary<SearchRequest> = fc
  .record({
    text: fc.array(
      fc.constantFrom(...words, 'ca*', '-rust', '+cargo', '"user_id"', 'core', 'store', 'over*', '身'),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
    syntax: fc.constantFrom('literal' as const, 'query' as const),
    limit: fc.constantFrom(0, 1, 3, 10),
    asOf: fc.option(fc.constantFrom('2026-01-06T00:00:00Z', '2026-02-10T00:00:00Z', 's0:2', 's1:1'), {
      nil: undefined,
    }),
    facets: fc.boolean(),
    explain: fc.boolean(),
    includeHidden: fc.boolean(),
    group: fc.constantFrom('none' as const, 'session' as const),
    filter: fc.option(
      fc.constantFrom(
        ['session', 's0'],
        ['kind', 'plan'],
        ['role', 'agent'],
        ['since', '2026-02-01'],
        ['until', '2026-02-05'],
      ),
      { nil: undefined },
    ),
  })
  .map(({ text, asOf, filter, ...rest }) => ({
    ...rest,
    text: text.join(' '),
    ...(asOf === undefined ? {} : { asOf }),
    ...(filter === undefined
      ? {}
      : { filters: new Map([[filter[0], [filter[1]]]]) as NonNullable<SearchRequest['filters']> }),
  }));

/** The answer, or the code of the refusal: engines must agree in both. */
async function outcome(
  search: Search,
  request: SearchRequest,
  engine: (typeof engines)[number],
): Promise<string> {
  try {
    return common(await ask(search, request, engine));
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
    throw error;
  }
}

type Item = typeof item extends fc.Arbitrary<infer Value> ? Value : never;

/** The second session is one of a sub-agent, which is left out unless it is asked for. */
async function writeItems(place: MirrorStore, number: number, items: readonly Item[]): Promise<void> {
  const log = await place.store.open(`s${number}`);
  if (number === 1) log.append({ type: 'run.started', program: 'p', cwd: '/w', agent: 'subagent' });
  for (const { kind, id, type, text, ts } of items) {
    const event = { type: `item.${kind}`, item: { id: `i-${id}`, type, text } };
    const tsMs = ts === null ? null : Date.parse(ts);
    log.append(event as Parameters<typeof log.append>[0], { tsMs });
  }
  await log.close();
}

const seeds = Array.from({ length: 10 }, (_, at) => at + 1);

test('Q-8 all engines give the same answer to the byte, pruned or not, over random corpora, queries, filters, moments and limits', async () => {
  let [answered, found] = [0, 0];
  for (const seed of seeds) {
    const [corpus = []] = fc.sample(corpora, { seed, numRuns: 1 });
    const asked = fc.sample(requests, { seed, numRuns: 200 });
    await withStore(async (place) => {
      for (const [number, items] of corpus.entries()) await writeItems(place, number, items);
      const search = await searchOf(place);
      for (const request of asked) {
        const packed = await outcome(search, request, 'packed');
        for (const engine of ['fts5', 'wink'] as const) {
          expect([engine, request, await outcome(search, request, engine)]).toEqual([
            engine,
            request,
            packed,
          ]);
        }
        answered += 1;
        if (packed.includes('"id"')) found += 1;
      }
      search.close();
    });
  }
  await withStore(async (place) => {
    // So many matches that the default engine leaves candidates out; the others look at all of them.
    const texts = Array.from(
      { length: 1_300 },
      (_, at) => `cargo ${at % 7 === 0 ? 'rust ' : ''}${'build '.repeat(at % 5)}`,
    );
    await write(place, 's0', untimed(...texts));
    const search = await searchOf(place);
    for (const text of ['cargo', 'cargo rust', 'build cargo', 'rust', 'ca* build']) {
      for (const limit of [1, 5, 100]) {
        const [packed, fts5, wink] = await Promise.all(
          engines.map((engine) => outcome(search, { text, limit, syntax: 'query' }, engine)),
        );
        expect([fts5, wink]).toEqual([packed, packed]);
      }
    }
    search.close();
  });
  expect(answered).toBe(2_000);
  expect(found).toBeGreaterThan(500);
}, 240_000);

const cases = join(__dirname, '..', '..', '..', '..', 'shared', 'cases');
const hasCases = existsSync(join(cases, 'SHA256SUMS'));

/** The everyday strings of a failure that was met, or some like them where these are not at hand. */
function everydayQueries(): readonly string[] {
  if (!hasCases)
    return ['multi-agent', "it's", '"unbalanced', 'NEAR(', 'OR NOT', '*', 'col:value', '^x', '\u0000x'];
  const path = join(cases, 'B132-fts5-query-strings', 'queries.jsonl');
  const texts = readFileSync(path, 'utf8').trimEnd().split('\n');
  return texts.map((line) => (JSON.parse(line) as { readonly q: string }).q);
}

/** The document that holds just this text is found by it; a longer text than any query is refused. */
async function expectFound(
  search: Search,
  text: string,
  seq: number,
  engine: (typeof engines)[number],
): Promise<void> {
  if (text.length > 4_096) {
    expect(await outcome(search, { text }, engine)).toBe('TURNLOG_QUERY_TOO_LONG');
    return;
  }
  const { hits } = await ask(search, { text, limit: 100 }, engine);
  expect([text, hits.some((hit) => hit.seq === seq)]).toEqual([text, true]);
}

const punctuation = fc.string({
  unit: fc.constantFrom(...'"\'()*^:+-{}[]|~`\\/.,;!?#$%&<>=@_ \u0000aN1'),
  maxLength: 12,
});

test('Q-5, B131, B132: everyday strings with punctuation are found literally and random ones are no error, with every engine', async () => {
  await withStore(async (place) => {
    const queries = everydayQueries();
    await write(place, 'q', untimed(...queries));
    const search = await searchOf(place);
    for (const engine of engines) {
      for (const [at, text] of queries.entries()) await expectFound(search, text, at + 1, engine);
    }
    search.close();
  });
  await withStore(async (place) => {
    await write(place, 'q', untimed("it's a + (b) N1"));
    const search = await searchOf(place);
    const refusals = new Set<string>();
    for (const text of fc.sample(punctuation, { seed: 7, numRuns: 10_000 })) {
      const answer = await outcome(search, { text, syntax: 'query', limit: 0 }, 'fts5');
      if (!answer.startsWith('{')) refusals.add(answer);
    }
    for (const text of fc.sample(punctuation, { seed: 8, numRuns: 200 })) {
      const request = { text, syntax: 'query', limit: 3 } as const;
      const packed = await outcome(search, request, 'packed');
      expect([text, await outcome(search, request, 'fts5')]).toEqual([text, packed]);
      expect([text, await outcome(search, request, 'wink')]).toEqual([text, packed]);
    }
    // Nothing but a query of exclusions is refused.
    expect([...refusals]).toEqual(['TURNLOG_NOTHING_TO_SEARCH']);
    search.close();
  });
}, 240_000);

test('tokens survive being written for FTS5, whatever they hold', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const { tokens } of tokenize(text)) {
        for (const token of tokens) {
          expect(tokenOf(ftsToken(token.text))).toBe(token.text);
          expect(ftsToken(token.text)).toMatch(/^[a-z0-9_\u0080-\u{10ffff}]+$/u);
        }
      }
    }),
  );
  expect(ftsToken('user_id')).toBe('user_5fid');
  expect(ftsToken('src/a.ts:4')).toBe('src_2fa_2ets_3a4');
});

test('bm25() of FTS5 is the naive score with its own idf to 1e-12: rows, lengths and counts in the mirror are right', async () => {
  const texts = [
    'alpha beta alpha',
    'beta gamma delta',
    'user_id beta',
    'gamma',
    '用户身份 alpha',
    'delta delta delta beta',
  ];
  await withStore(async (place) => {
    await write(place, 'a', untimed(...texts));
    await (await place.mirror()).catchUp();
    const tokens = texts.map((text) =>
      tokenize(text).flatMap((group) => group.tokens.map((token) => token.text)),
    );
    const average = tokens.reduce((sum, list) => sum + list.length, 0) / tokens.length;
    const database = (await loadSqlite()).open(place.path('mirror.sqlite'), 'read-only');
    try {
      for (const token of new Set(tokens.flat())) {
        const rows = database
          .prepare<{ readonly seq: number; readonly score: number }>(
            `SELECT seq, bm25(chunk_fts) AS score FROM chunk_fts JOIN chunk ON chunk.rowid = chunk_fts.rowid
             WHERE chunk_fts MATCH ? ORDER BY session, seq, n`,
          )
          .all(`"${ftsToken(token)}"`);
        const holding = tokens.flatMap((list, at) => (list.includes(token) ? [at] : []));
        expect(rows.map(({ seq }) => seq - 1)).toEqual(holding);
        const weight = Math.max(
          Math.log((tokens.length - holding.length + 0.5) / (holding.length + 0.5)),
          1e-6,
        );
        for (const { seq, score } of rows) {
          const list = tokens[seq - 1] ?? [];
          const tf = list.filter((own) => own === token).length;
          const naive = (weight * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * list.length) / average));
          expect(Math.abs(-score - naive)).toBeLessThanOrEqual(1e-12);
        }
      }
    } finally {
      database.close();
    }
  });
});
