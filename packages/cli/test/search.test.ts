import { edits, storedLines, TestProgram } from './support.js';

const said = (id: string, text: string): object => ({
  type: 'item.completed',
  item: { id, type: 'agent_message', text },
});
const started = (workspace: string, agent: string): object => ({
  type: 'run.started',
  program: 'p',
  version: '1',
  cwd: workspace,
  workspace,
  agent,
});

/** Three sessions of the same days: a person's, one in another workspace, and one of a program. */
async function filled(): Promise<TestProgram> {
  const program = new TestProgram();
  program.plant('bridge', storedLines(edits));
  program.plant(
    'harbour',
    storedLines([
      started('/h', 'primary'),
      { type: 'turn.started' },
      said('a1', 'A harbour at the Rhine, in Köln.'),
      said('a2', 'The cranes of the harbour, without a bridge.'),
      {
        type: 'user.message',
        id: 'm2',
        origin: 'injected',
        content: [{ type: 'text', text: 'rhine rules' }],
      },
      { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
    ]),
  );
  program.plant('nightly', storedLines([started('/w', 'headless'), said('a1', 'The Rhine by night.')]));
  return program;
}

interface Answer {
  readonly hits: readonly {
    readonly id: string;
    readonly score: number;
    readonly hits_in_session?: number;
  }[];
  readonly total: { readonly value: number };
  readonly next_cursor: string | null;
  readonly engine: string;
  readonly degraded: readonly { readonly name: string }[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: string; readonly count: number }[]>>;
}

async function found(program: TestProgram, ...argv: readonly string[]): Promise<Answer> {
  const { stdout } = await program.run(['search', ...argv, '--json'], { cwd: '/w' });
  return JSON.parse(stdout);
}

const ids = ({ hits }: Answer): readonly string[] => [...hits].map(({ id }) => id).sort();

const filters: readonly (readonly [why: string, argv: readonly string[], ids: readonly string[]])[] = [
  ['no filter', ['rhine'], ['bridge:3', 'bridge:8', 'harbour:3']],
  ['a session by its first characters', ['rhine', '--session', 'harb'], ['harbour:3']],
  [
    'one of two sessions',
    ['rhine', '--session', 'harb', '--session', 'brid'],
    ['bridge:3', 'bridge:8', 'harbour:3'],
  ],
  ['a role', ['rhine', '--role', 'user'], ['bridge:3']],
  ['a kind', ['bridge', '--kind', 'file_change'], ['bridge:4', 'bridge:5']],
  ['a tool', ['bridge', '--tool', 'read_file'], ['bridge:6']],
  ['a path by its end', ['zwei', '--path', 'bridge.ts'], ['bridge:5']],
  ['a path by its pattern', ['zwei', '--path', 'src/*.md'], []],
  ['a workspace, as seen from here', ['rhine', '--workspace', '.'], ['bridge:3', 'bridge:8']],
  ['sessions of programs', ['rhine', '--agent', 'headless', '--include-hidden'], ['nightly:2']],
  [
    'a day',
    ['rhine', '--since', '2026-10-05', '--until', '2026-10-05'],
    ['bridge:3', 'bridge:8', 'harbour:3'],
  ],
  ['before a time', ['rhine', '--until', '2026-10-05T08:00:03Z'], ['bridge:3', 'harbour:3']],
  ['as of a record', ['rhine', '--as-of', 'bridge:3'], ['bridge:3', 'harbour:3']],
  [
    'hidden ones too',
    ['rhine', '--include-hidden'],
    ['bridge:3', 'bridge:8', 'harbour:3', 'harbour:5', 'nightly:2'],
  ],
  [
    'the syntax of queries',
    ['-Q', '+bridge -cranes'],
    ['bridge:3', 'bridge:4', 'bridge:5', 'bridge:6', 'bridge:7', 'bridge:8'],
  ],
  ['the same by its name', ['--syntax', 'query', 'rhine role:user'], ['bridge:3']],
  ['nothing of it in a literal query', ['cranes role:user'], ['harbour:4']],
];

test.each(filters)('search keeps to %s', async (_why, argv, expected) => {
  expect(ids(await found(await filled(), ...argv))).toEqual(expected);
});

test('every engine that is asked for gives the same answer, and one that cannot answer is named', async () => {
  const program = await filled();
  const packed = await found(program, 'rhine', '--engine', 'packed');
  const wink = await found(program, 'rhine', '--engine', 'wink');
  expect([packed.engine, wink.engine]).toEqual(['packed', 'wink']);
  expect(wink.hits).toEqual(packed.hits);
  // A disk in memory has no file that SQLite could open.
  const fts5 = await found(program, 'rhine', '--engine', 'fts5');
  expect([fts5.engine, fts5.degraded.map(({ name }) => name)]).toEqual(['packed', ['fts5']]);
  expect(fts5.hits).toEqual(packed.hits);
});

test('pages follow each other, and a cursor belongs to its query', async () => {
  const program = await filled();
  const whole = await found(program, 'rhine');
  const first = await found(program, 'rhine', '--limit', '2');
  const second = await found(program, 'rhine', '--limit', '2', '--cursor', first.next_cursor ?? '');
  expect([...first.hits, ...second.hits]).toEqual(whole.hits);
  expect(second.next_cursor).toBeNull();
  const other = await program.run(['search', 'bridge', '--cursor', first.next_cursor ?? '', '--json']);
  expect([other.exit, JSON.parse(other.stdout).error.code]).toEqual([2, 'cursor-mismatch']);
});

test('scores are explained, cut and grouped', async () => {
  const program = await filled();
  const [best, ...others] = (await found(program, 'rhine')).hits;
  const text = await program.run(['search', 'rhine', '--explain', '--limit', '1']);
  expect(text.stdout).toMatch(
    / {4}\d\.\d{4} {2}rhine \(part, 1 here, in \d chunks\)\n {4}\d\.\d{4} = \d\.\d{4} × \d\.\d{4} for its age, tier 0\n/,
  );
  const least = String(best?.score ?? 0).slice(0, 12);
  expect((await found(program, 'rhine', '--min-score', least)).hits.length).toBeLessThanOrEqual(
    others.length,
  );
  const grouped = await found(program, 'rhine', '--group', 'session');
  expect(grouped.hits.map(({ id, hits_in_session }) => [id.split(':')[0], hits_in_session]).sort()).toEqual([
    ['bridge', 2],
    ['harbour', 1],
  ]);
});

test('facets count all matches; --limit 0 gives them alone', async () => {
  const program = await filled();
  const { hits, total, facets } = await found(program, 'rhine', '--facets', '--limit', '0');
  expect([hits, total.value]).toEqual([[], 3]);
  expect(facets?.['session']).toEqual([
    { value: 'bridge', count: 2 },
    { value: 'harbour', count: 1 },
  ]);
  const text = await program.run(['search', 'rhine', '--facets', '--limit', '0']);
  expect([text.exit, text.stdout]).toEqual([
    0,
    '\nsession: bridge 2, harbour 1\nrole: agent 2, user 1\nkind: message 3\nworkspace: /w 2, /h 1\nday: 2026-10-05 3\n',
  ]);
});

test('people see where a hit stands, who said it, and the lines that say most', async () => {
  const { exit, stdout, stderr } = await (await filled()).run(['search', 'cranes']);
  expect([exit, stdout]).toEqual([
    0,
    'harbour:4  2026-10-05 08:00:03  agent message\n  The cranes of the harbour, without a bridge.\n',
  ]);
  expect(stderr).toBe('1 of 1 matches\n');
});

test('notes say what an answer lacks', async () => {
  const program = await filled();
  const page = await program.run(['search', 'rhine', '--limit', '1']);
  expect(page.stderr).toMatch(
    /^1 of 3 matches\nmore; say --cursor \S+\n2 hidden matches \(programs, sub-agents, context\); say --include-hidden\n$/,
  );
  program.plant('when', '{"schema_version":"0.18.0","event":{"type":"turn.failed","message":"rhine"}}\n');
  const since = await program.run(['search', 'rhine', '--since', '2026-01-01']);
  expect(since.stderr).toContain('1 matches of unknown time are left out\n');
  program.plant('bad', 'no record\n');
  const engine = await program.run(['search', 'rhine', '--engine', 'fts5']);
  expect(engine.stderr).toContain('without fts5: ');
  expect((await program.run(['search', 'rhine', '-q'])).stderr).toBe('');
});

test('what the index lacks is told while records lie in it, and not for damage that no waiting brings in', async () => {
  const program = await filled();
  const event = { type: 'turn.failed', message: 'rhine' };
  program.plant('torn', `${storedLines([event])}this is no record\n`);
  const told = await program.run(['search', 'rhine', '--wait', '30s', '--json']);
  expect(JSON.parse(told.stdout).behind).toEqual({ events: 0, bytes: 18, sessions: 1 });
  expect((await program.run(['search', 'rhine'])).stderr).not.toContain('behind');
  program.plant('long', storedLines(Array<object>(20_000).fill(event)));
  const hasty = await program.run(['search', 'rhine', '--wait', '0s']);
  expect(hasty.stderr).toMatch(/the index is \d+ bytes behind in \d sessions; say --wait 30s\n/);
});

test('exit 1 says that nothing was found, and why where nothing could be searched for', async () => {
  const program = await filled();
  const none = await program.run(['search', 'zeppelin']);
  expect([none.exit, none.stdout, none.stderr]).toEqual([1, '', '0 of 0 matches\n']);
  const blank = await program.run(['search', ' ', '--json']);
  expect([blank.exit, JSON.parse(blank.stdout).reason]).toEqual([1, 'no-searchable-term']);
  const told = await program.run(['search', ' ']);
  expect([told.exit, told.stderr]).toEqual([
    1,
    'nothing to search for: the query holds no word, number or sign\n',
  ]);
});

test('--mode hybrid finds what shares no word with the query, and says which lists there are', async () => {
  const program = await filled();
  const lexical = await found(program, 'harbours');
  expect(lexical.hits).toEqual([]);
  const hybrid = await found(program, 'harbours', '--mode', 'hybrid', '--explain', '--wait', '1m');
  expect(ids(hybrid)).toEqual(expect.arrayContaining(['harbour:3', 'harbour:4']));
  expect(hybrid.degraded.map(({ name }) => name)).toContain('graph');
  const { stdout, stderr } = await program.run(
    ['search', 'harbours', '--mode', 'hybrid', '--explain', '--wait', '1m'],
    { cwd: '/w' },
  );
  expect(stdout).toContain('0.0164  vector list, place 1\n');
  expect(stdout).toContain('0.0164 of all lists\n');
  expect(stderr).toContain('without graph: there is no memory whose links could be followed\n');
});

const refusals: readonly (readonly [argv: readonly string[], exit: number, code: string])[] = [
  [[], 2, 'bad-flag'],
  [['x', '-Q', '--syntax', 'literal'], 2, 'bad-flag'],
  [['x', '--min-score', '-1'], 2, 'bad-flag'],
  [['x', '--min-score', 'NaN'], 2, 'bad-flag'],
  [['x', '--limit', '101'], 2, 'bad-flag'],
  [['x', '--since', 'soon'], 2, 'bad-flag'],
  [['x', '--as-of', 'soon'], 2, 'bad-flag'],
  [['x', '--engine', 'grep'], 2, 'bad-flag'],
  [['x', '--mode', 'vector'], 2, 'bad-flag'],
  [['x', '--cursor', 'x'], 2, 'cursor-mismatch'],
  [['x', '--session', '../x'], 2, 'invalid-session-id'],
  [['x', '--session', 'nobody'], 6, 'not-found'],
  [['-Q', '--', '-x'], 2, 'nothing-to-search'],
  [['x '.repeat(2_049)], 2, 'query-too-long'],
];

const named = refusals.map((row) => [row[0].join(' ').slice(0, 40), ...row] as const);

test.each(named)('search %s is refused', async (_name, argv, exit, code) => {
  const result = await (await filled()).run(['search', '--json', ...argv]);
  expect([result.exit, JSON.parse(result.stdout).error.code]).toEqual([exit, code]);
});

test('capabilities name the engines that can be asked, and the native parts that are there', async () => {
  const program = new TestProgram();
  const { engines, native } = JSON.parse((await program.run(['capabilities', '--json'])).stdout);
  expect(engines).toEqual(['packed', 'fts5', 'wink']);
  expect(['[]', '["better-sqlite3"]']).toContain(JSON.stringify(native));
  const { stdout } = await program.run(['capabilities']);
  expect(stdout).toContain(`engines of search: packed, fts5, wink; native parts: ${native[0] ?? 'none'}\n`);
});

test('--budget-ms ends the work at that time, and the answer says that it is not whole', async () => {
  const program = await filled();
  const none = await program.run(['search', 'rhine', '--budget-ms', '0', '--json']);
  expect([none.exit, JSON.parse(none.stdout)]).toMatchObject([
    1,
    { hits: [], partial: true, total: { value: 0, relation: 'gte' } },
  ]);
  const ample = await found(program, 'rhine', '--budget-ms', '60000');
  expect(ample).toEqual({ ...(await found(program, 'rhine')), took_ms: expect.any(Number) });
  expect((await program.run(['search', 'rhine', '--budget-ms', '0'])).stderr).toContain(
    'not all could be looked at in time\n',
  );
});

test('rebuild makes the search index when asked, again when there is one, and --check says where it is wrong', async () => {
  const program = await filled();
  const run = async (...argv: readonly string[]) =>
    JSON.parse((await program.run([...argv, '--json'])).stdout);
  expect((await run('rebuild')).search).toBeUndefined();
  expect((await run('rebuild', '--check', '--only', 'search')).search.outcome).toBe('absent');
  expect(await run('rebuild', '--only', 'search')).toMatchObject({
    sessions: [],
    search: { outcome: 'rebuilt' },
  });
  const equal = await run('rebuild', '--check', '--only', 'search');
  expect(equal.search).toMatchObject({ outcome: 'equal', difference: null, degraded: [] });
  expect(equal.search.digest).toBe(equal.search.published_digest);
  expect((await run('rebuild')).search.outcome).toBe('rebuilt');
  for (const { name } of program.disk.list(`${program.root}/search`)) {
    if (!name.endsWith('.seg')) continue;
    const bytes = Buffer.from(program.disk.contentOf(`${program.root}/search/${name}`));
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    program.disk.plantFile(`${program.root}/search/${name}`, bytes);
  }
  const wrong = await program.run(['rebuild', '--check']);
  expect([wrong.exit, wrong.stdout]).toEqual([1, 'wrong  search\n']);
  expect(wrong.stderr).toMatch(/search: .*[0-9a-f]{16}\.seg/);
  program.disk.plantFile(`${program.root}/search/segments.json`, Buffer.from('no list\n'));
  const seen = JSON.parse((await program.run(['doctor', '--json'])).stdout);
  const damage = seen.findings.filter(({ kind }: { kind: string }) => kind === 'search-damaged');
  expect(damage).toContainEqual(
    expect.objectContaining({
      weight: 'notice',
      session: null,
      message: expect.stringContaining('segments.json'),
    }),
  );
  expect((await run('rebuild', '--only', 'search')).search.outcome).toBe('rebuilt');
  expect((await program.run(['rebuild', '--check'])).exit).toBe(0);
  expect((await program.run(['doctor'])).stdout).not.toContain('search-damaged');
});
