import { caseBytes, filledProgram, TestProgram, turn } from './support.js';

const two: readonly object[] = [
  { type: 'run.started', program: 'demo', cwd: '/srv/app' },
  ...turn,
  { type: 'turn.started' },
  {
    type: 'item.started',
    item: { id: 'i9', type: 'tool_invocation', tool_name: 'read_file', status: 'in_progress' },
  },
  { type: 'x.acme.note', note: 'from an application' },
];

async function program(): Promise<TestProgram> {
  const made = new TestProgram();
  await made.fill('s-1', two);
  return made;
}

test('a session for people: a heading for each turn, one line for each item, an orphan named as such', async () => {
  const { exit, stdout } = await (await program()).run(['show', 's-1'], {
    columns: 100,
    isTty: true,
    env: { NO_COLOR: '1' },
  });
  expect(exit).toBe(0);
  expect(stdout).toBe(
    [
      's-1  in turn 2, 2 turns, 10 records, 1602 bytes',
      '2026-10-05 08:00:00 to 2026-10-05 08:00:00 (UTC)',
      'workspace: /srv/app',
      '  1  08:00:00  run       demo in /srv/app [started]',
      '',
      'turn 1, completed, 6 records, 2026-10-05 08:00:00',
      '  2  08:00:00  turn      [started]',
      '  3  08:00:00  user      Please fix „Köln“.',
      '  5  08:00:00  command   $ pnpm test (+2 lines) [exit 1]',
      '  6  08:00:00  agent     It is fixed. (+1 lines)',
      '  7  08:00:00  turn      12 tokens in, 5 out [completed]',
      '',
      'turn 2, open, 3 records, 2026-10-05 08:00:00',
      '  8  08:00:00  turn      [started]',
      ' 10  08:00:00  event     x.acme.note {"type":"x.acme.note","note":"from an application"}',
      '  9  08:00:00  tool      read_file [in_progress, not finished]',
      '',
    ].join('\n'),
  );
});

test('--full shows every record with its whole text', async () => {
  const { stdout } = await (await program()).run(['show', 's-1', '--full', '--turn', '1']);
  expect(stdout).toContain('  4  08:00:00  command   $ pnpm test [in_progress]\n');
  expect(stdout).toContain('                         4 passed\n                         1 failed\n');
  expect(stdout).toContain('                         Two lines.\n');
});

const selections: readonly (readonly [argv: readonly string[], seqs: readonly number[]])[] = [
  [['s-1:3'], [3]],
  [['s-1:3..5'], [3, 4, 5]],
  [['s-1:8..'], [8, 9, 10]],
  [
    ['s-1', '--turn', '2'],
    [8, 9, 10],
  ],
  [['s-1', '--role', 'user'], [3]],
  [
    ['s-1', '--role', 'agent,user'],
    [3, 6],
  ],
  [
    ['s-1', '--kind', 'command'],
    [4, 5],
  ],
  [
    ['s-1', '--kind', 'message', '--turn', '1'],
    [3, 6],
  ],
  [
    ['s-1', '--limit', '2'],
    [1, 2],
  ],
  [
    ['s-1', '--order', 'newest', '--limit', '3'],
    [10, 9, 8],
  ],
  [
    ['s-1', '--since', '1h'],
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  ],
  [['s-1', '--since', '2026-10-05', '--until', '2026-10-05', '--limit', '1'], [1]],
  [['@last:5..6'], [5, 6]],
  [['@last:/srv/app:7'], [7]],
];

test.each(selections)('show %j gives the records %j', async (argv, seqs) => {
  const made = await program();
  const { exit, stdout } = await made.run(['show', ...argv, '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout).records.map(({ seq }: { readonly seq: number }) => seq)).toEqual(seqs);
  const text = await made.run(['show', ...argv, '--full', '--format', 'text']);
  expect(text.exit).toBe(0);
  const rows = await made.run(['show', ...argv, '--jsonl']);
  expect(rows.stdout.trimEnd().split('\n')).toHaveLength(seqs.length + 1);
});

const misses: readonly (readonly [argv: readonly string[], exit: number, code: string | null])[] = [
  [['s-1:99'], 6, 'not-found'],
  [['s-1:99..120'], 6, 'not-found'],
  [['s-1', '--turn', '7'], 6, 'turn-not-found'],
  [['nobody'], 6, 'not-found'],
  [['s-1', '--kind', 'plan'], 1, null],
  [['s-1', '--until', '2020-01-01'], 1, null],
  [['s-1:5..3'], 2, 'bad-flag'],
  [['s-1:3', '--turn', '1'], 2, 'bad-flag'],
  [['s-1', '--role', 'boss'], 2, 'bad-flag'],
  [['s-1', '--since', 'yesterday'], 2, 'bad-flag'],
  [['s-1', '--turn', '0'], 2, 'bad-flag'],
];

test.each(misses)('show %j ends with %p and %p', async (argv, exit, code) => {
  const result = await (await program()).run(['show', ...argv, '--json']);
  expect(result.exit).toBe(exit);
  if (code !== null) expect(JSON.parse(result.stderr).error.code).toBe(code);
  const told = JSON.parse(result.stdout).error?.code ?? null;
  expect(told).toBe(code);
});

test('a failure in the middle of a document ends it as one, and is told in it', async () => {
  const made = new TestProgram();
  const text = 'x'.repeat(50_000);
  await made.fill(
    's',
    Array.from({ length: 8 }, (_, index) => ({ type: 'error', message: `${index}${text}` })),
  );
  let reads = 0;
  made.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EIO' },
    applies: ({ verb, path }) => {
      if (verb !== 'read' || !path.endsWith('events.jsonl')) return false;
      reads += 1;
      return reads > 12;
    },
  });
  const { exit, stdout, stderr } = await made.run(['show', 's', '--json']);
  expect(exit).toBe(7);
  expect(JSON.parse(stdout)).toMatchObject({ schema_version: 1, error: { code: 'io' } });
  expect(JSON.parse(stdout).records.length).toBeGreaterThan(0);
  expect(JSON.parse(stderr).error.code).toBe('io');
});

test('--raw prints the stored bytes, of the whole file and of what is selected', async () => {
  const made = await program();
  const stored = Buffer.from(made.disk.contentOf(`${made.session('s-1')}/events.jsonl`));
  expect((await made.run(['show', 's-1', '--raw'])).bytes.equals(stored)).toBe(true);
  const lines = stored.toString('utf8').split('\n');
  expect((await made.run(['show', 's-1:3..4', '--raw'])).stdout).toBe(`${lines[2]}\n${lines[3]}\n`);
  expect((await made.run(['tail', 's-1', '-n', '2', '--raw'])).stdout).toBe(`${lines[8]}\n${lines[9]}\n`);
});

test('CL-27: --raw is refused on a terminal unless --force', async () => {
  const made = await program();
  for (const verb of ['show', 'tail']) {
    const refused = await made.run([verb, 's-1', '--raw'], { isTty: true });
    expect([refused.exit, refused.stdout]).toEqual([2, '']);
    expect((await made.run([verb, 's-1', '--raw', '--force'], { isTty: true })).exit).toBe(0);
  }
});

test('B44: whole numbers beyond 2^53 are texts beside a mark, all other numbers as stored', async () => {
  const made = new TestProgram();
  made.plant('big', caseBytes('B44-big-integers', 'events.jsonl'));
  const { exit, stdout } = await made.run(['show', 'big', '--json']);
  expect(exit).toBe(0);
  const stored = caseBytes('B44-big-integers', 'events.jsonl').toString('utf8');
  for (const [number] of stored.matchAll(/(?<=[:[,])-?\d{17,}(?=[,}\]])/g)) {
    expect(stdout).toContain(`"${number}"`);
    expect(stdout).not.toMatch(new RegExp(`[:,[]${number}[,}\\]]`));
  }
  expect(stdout).toContain('_exact":true');
  for (const kept of ['1e400', '-0', '1.0']) if (stored.includes(kept)) expect(stdout).toContain(kept);
});

test('B48: 6,000 levels are printed as stored, and named as too deep in text', async () => {
  const made = new TestProgram();
  made.plant('deep', caseBytes('B48-deep-nesting', 'events.jsonl'));
  const json = await made.run(['show', 'deep', '--jsonl']);
  expect(json.exit).toBe(0);
  expect(json.stdout).toContain('['.repeat(5_000));
  expect((await made.run(['show', 'deep'])).stdout).toContain('nested too deep');
});

test('B49: unknown times are null for programs and called unknown for people; the last valid one is listed', async () => {
  const made = new TestProgram();
  made.plant('times', caseBytes('B49-bad-timestamps', 'events.jsonl'));
  const { stdout } = await made.run(['show', 'times', '--json']);
  const { records } = JSON.parse(stdout);
  expect(records.map(({ ts }: { readonly ts: string | null }) => ts)).toEqual([
    ...Array.from({ length: 7 }, () => null),
    '2026-01-05T10:00:08.000Z',
  ]);
  const text = await made.run(['show', 'times']);
  expect(text.stdout.match(/unknown time/g)).toHaveLength(7);
  const listed = JSON.parse((await made.run(['sessions', '--json'])).stdout).sessions[0];
  expect(listed).toMatchObject({ events: 8, last_ts: '2026-01-05T10:00:08.000Z' });
});

test('B46: prototype names are data; a manifest that sets them sets nothing', async () => {
  const made = new TestProgram();
  made.plant('s1', caseBytes('B46-proto-keys', 'events.jsonl'));
  made.disk.plantFile(`${made.session('s1')}/manifest.json`, caseBytes('B46-proto-keys', 'manifest.json'));
  const { exit, stdout } = await made.run(['show', 's1', '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout).records).toHaveLength(4);
  expect((await made.run(['show', 's1'])).exit).toBe(0);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
});

test('B01: damage is listed at the end, for programs with its digest', async () => {
  const made = new TestProgram();
  made.plant('torn', caseBytes('B01-torn-tail', 'events.jsonl'));
  const { exit, stdout } = await made.run(['show', 'torn', '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    summary: { records: 3, damage: 1 },
    damage: [{ kind: 'torn-tail', offset: 380, length: 55 }],
  });
  expect((await made.run(['show', 'torn'])).stdout).toContain('damaged: torn-tail, 55 bytes at offset 380');
});

test('times are shown in the zone that is asked for', async () => {
  const made = await program();
  const { stdout } = await made.run(['sessions', '--tz', 'Asia/Tokyo']);
  expect(stdout).toContain('LAST EVENT (Asia/Tokyo)');
  expect(stdout).toContain('2026-10-05 17:00:00');
  expect((await made.run(['sessions', '--tz', 'Mars/Olympus'])).exit).toBe(2);
});

test('tail prints the last records and starts nothing else', async () => {
  const made = await program();
  const { stdout } = await made.run(['tail', 's-1', '-n', '3', '--json']);
  expect(JSON.parse(stdout).records.map(({ seq }: { readonly seq: number }) => seq)).toEqual([8, 9, 10]);
  expect((await made.run(['tail', 's-1', '-n', '0', '--json'])).stdout).toContain('"records":[]');
});

test('tail -f goes on where the last records ended, and ends on a signal with its own exit', async () => {
  const made = await filledProgram();
  const store = await made.store();
  const seen: string[] = [];
  let stop: (signal: 'SIGINT') => void = () => undefined;
  const { run } = await import('turnlog');
  const following = run(['tail', 's-1', '-f', '-n', '1', '--jsonl'], {
    stdin: (async function* () {})(),
    stdout: { write: async (chunk) => void seen.push(String(chunk)) },
    stderr: { write: async () => undefined },
    env: { TURNLOG_ROOT: made.root, HOME: '/u' },
    cwd: '/',
    isTty: { stdin: false, stdout: false, stderr: false },
    columns: null,
    environment: made.machine,
    onStop: (listener) => {
      stop = listener;
      return () => undefined;
    },
  });
  const until = async (count: number): Promise<void> => {
    for (let tries = 0; seen.length < count && tries < 1_000; tries += 1)
      await new Promise((resolve) => setImmediate(resolve));
  };
  await until(1);
  const session = await store.open('s-1');
  session.append({ type: 'error', message: 'one' });
  session.flush();
  await until(2);
  session.append({ type: 'error', message: 'two' });
  await session.close();
  await until(3);
  stop('SIGINT');
  expect(await following).toBe(130);
  expect(seen.map((text) => JSON.parse(text).seq)).toEqual([6, 7, 8]);
});

const forked = (session: string, seq: number): object => ({
  type: 'run.started',
  program: 'p',
  version: '1',
  cwd: '/',
  workspace: '/w',
  agent: 'primary',
  forked_from: { session, seq },
});

interface PrintedRow {
  readonly session?: string;
  readonly seq?: number;
  readonly kind: string;
  readonly missing?: unknown;
}

test('C-61: a fork begins with what it shares with its parent; the log itself is what --raw and ranges show', async () => {
  const program = await filledProgram();
  await program.fill('fork', [forked('s-1', 2), ...turn.slice(0, 2)]);
  const { stdout } = await program.run(['show', 'fork', '--json']);
  const document = JSON.parse(stdout);
  expect(document.records.map(({ session, seq }: PrintedRow) => [session ?? 'fork', seq])).toEqual([
    ['s-1', 1],
    ['s-1', 2],
    ['fork', 1],
    ['fork', 2],
    ['fork', 3],
  ]);
  expect(document.summary).toEqual({ records: 5, shared: 2, missing: 0, damage: 0 });
  const text = await program.run(['show', 'fork']);
  const lines = text.stdout.split('\n');
  expect(lines.indexOf('shared with s-1')).toBeLessThan(lines.indexOf('from here on fork'));
  const range = await program.run(['show', 'fork:1..3', '--json']);
  expect(JSON.parse(range.stdout).records).toHaveLength(3);
  const raw = await program.run(['show', 'fork', '--raw']);
  expect(raw.stdout.trimEnd().split('\n')).toHaveLength(3);
});

test('C-61: a parent that is missing is named where it would stand, and nothing is put in its place', async () => {
  const program = new TestProgram();
  await program.fill('fork', [forked('gone-1', 7), ...turn.slice(0, 2)]);
  const { stdout, exit } = await program.run(['show', 'fork', '--json']);
  expect(exit).toBe(0);
  const { records, summary } = JSON.parse(stdout);
  expect(records[0]).toEqual({
    kind: 'missing',
    missing: {
      reason: 'absent',
      named_by: 'fork',
      session: 'gone-1',
      thread_id: null,
      from_seq: 1,
      to_seq: 7,
      code: 'not-found',
    },
  });
  expect(summary).toMatchObject({ records: 3, missing: 1 });
  const text = await program.run(['show', 'fork']);
  expect(text.stdout).toContain(
    'missing: a part of gone-1, seq 1 to 7, named by fork: there is no such session',
  );
});
