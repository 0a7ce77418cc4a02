import { removedName, TestProgram } from './support.js';

const dayMs = 86_400_000;

interface Gc {
  readonly applied: boolean;
  readonly policy: Readonly<Record<string, number | null>>;
  readonly failed: { readonly at: string; readonly code: string } | null;
  readonly sessions: readonly {
    readonly id: string;
    readonly goes: boolean;
    readonly reason: string;
    readonly done: boolean;
  }[];
  readonly purging: readonly { readonly trash: string; readonly done: boolean }[];
  readonly summary: Readonly<Record<string, number>>;
}

/** Sessions of the given ages in days; ended ones. */
async function aged(ages: Readonly<Record<string, number>>): Promise<TestProgram> {
  const program = new TestProgram();
  const nowMs = program.clock.now();
  for (const [id, days] of Object.entries(ages)) {
    const ts = new Date(nowMs - days * dayMs).toISOString();
    const end = {
      type: 'thread.completed',
      thread_id: id,
      session_id: id,
      subtype: 'success',
      outcome_code: 'completed',
      usage: { input_tokens: 1, cached_input_tokens: 0, cache_creation_tokens: 0, output_tokens: 1 },
      num_turns: 1,
    };
    const lines = [{ type: 'turn.started' }, end].map((event, index) =>
      JSON.stringify({ schema_version: '0.18.0', seq: index + 1, ts, event }),
    );
    program.plant(id, `${lines.join('\n')}\n`);
  }
  return program;
}

async function gc(program: TestProgram, ...flags: readonly string[]): Promise<Gc> {
  const { exit, stdout, stderr } = await program.run(['gc', ...flags, '--json']);
  expect([exit, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const going = ({ sessions }: Gc): readonly string[] =>
  sessions.filter(({ goes }) => goes).map(({ id }) => id);

/** Every path below the root with what stands there: bytes, mode and time. */
function treeOf(program: TestProgram): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (directory: string): void => {
    for (const { name, kind } of program.disk.list(directory)) {
      const path = `${directory}/${name}`;
      const bytes = kind === 'file' ? Buffer.from(program.disk.contentOf(path)).toString('latin1') : '';
      const status = program.disk.status(path);
      found.set(path, `${kind} ${status?.mode} ${status?.modifiedMs} ${status?.inode} ${bytes}`);
      if (kind === 'directory') visit(path);
    }
  };
  visit(program.root);
  return found;
}

const ages = { 'abcdefgh-1': 90, 'abcdefgh-2': 80, 'abcdefgh-3': 2, own: 100, pinned: 100 } as const;

async function prepared(): Promise<TestProgram> {
  const program = await aged(ages);
  await program.run(['session', 'pin', 'pinned', '--reason', 'needed']);
  for (const id of Object.keys(ages)) program.disk.setTimes(program.session(id), 0, 0);
  return program;
}

test('I-11 touched times change nothing, pins and the own session stay, ids that share 8 characters are told apart, and the plan is the action', async () => {
  const program = await prepared();
  const flags = ['--max-age', '30d', '--keep', 'own'];
  const before = treeOf(program);
  const plan = await gc(program, ...flags);
  expect(treeOf(program)).toEqual(before);
  expect([plan.applied, going(plan)]).toEqual([false, ['abcdefgh-1', 'abcdefgh-2']]);
  expect(plan.sessions.filter(({ goes }) => !goes).map(({ id, reason }) => [id, reason])).toEqual([
    ['abcdefgh-3', 'within-limits'],
    ['own', 'kept'],
    ['pinned', 'pinned'],
  ]);
  const done = await gc(program, ...flags, '--apply', '--yes');
  expect([done.applied, done.failed, going(done)]).toEqual([true, null, going(plan)]);
  expect(done.sessions.filter((row) => row.done).map(({ id }) => id)).toEqual(going(plan));
  expect(program.disk.list(`${program.root}/sessions`).map(({ name }) => name)).toEqual([
    'abcdefgh-3',
    'own',
    'pinned',
  ]);
  // One of many that share a beginning is not taken for another.
  expect(
    going(await gc(await prepared(), '--max-age', '30d', '--keep', 'own', '--keep', 'abcdefgh-1')),
  ).toEqual(['abcdefgh-2']);
});

const values: readonly (readonly [flag: string, value: string, expected: number | null | 'refused'])[] = [
  ['--max-sessions', '0', null],
  ['--max-sessions', '-1', 'refused'],
  ['--max-sessions', 'NaN', 'refused'],
  ['--max-sessions', '"30"', 'refused'],
  ['--max-sessions', '0.5', 'refused'],
  ['--max-sessions', '1e9', 1e9],
  ['--max-age', '0', null],
  ['--max-age', '-1', 'refused'],
  ['--max-age', '-1d', 'refused'],
  ['--max-age', 'NaN', 'refused'],
  ['--max-age', '"30"', 'refused'],
  ['--max-age', '30', 'refused'],
  ['--max-age', '0.5d', 'refused'],
  ['--max-age', '36h', 1.5 * dayMs],
  ['--max-age', '1e9d', 36_500 * dayMs],
  ['--trash-days', '0', null],
  ['--trash-days', '-1', 'refused'],
  ['--trash-days', 'NaN', 'refused'],
  ['--trash-days', '"30"', 'refused'],
  ['--trash-days', '1e9', 36_500 * dayMs],
];
const members: Readonly<Record<string, string>> = {
  '--max-sessions': 'max_sessions',
  '--max-age': 'max_age_ms',
  '--trash-days': 'trash_ms',
};

test.each(values)('I-11 gc %s=%s', async (flag, value, expected) => {
  const program = await prepared();
  const { exit, stdout } = await program.run(['gc', `${flag}=${value}`, '--json']);
  if (expected === 'refused') expect([exit, JSON.parse(stdout).error.code]).toEqual([2, 'bad-flag']);
  else expect([exit, JSON.parse(stdout).policy[members[flag] ?? '']]).toEqual([0, expected]);
});

describe('configuration', () => {
  const home = '/u/ann/.config/turnlog/config.json';

  test.each([
    ['retention_max_sessions', 0, null],
    ['retention_max_sessions', -1, 'refused'],
    ['retention_max_sessions', '30', 'refused'],
    ['retention_max_age_days', 0.5, 'refused'],
    ['retention_max_age_days', 1e9, 36_500 * dayMs],
    ['retention_trash_days', 7, 7 * dayMs],
  ] as const)('I-11 %s %p', async (name, value, expected) => {
    const program = await prepared();
    program.disk.plantFile(home, Buffer.from(JSON.stringify({ [name]: value })));
    const { exit, stdout } = await program.run(['gc', '--json']);
    const document = JSON.parse(stdout);
    if (expected === 'refused') {
      expect([exit, document.error.code, document.error.details.pointer]).toEqual([
        2,
        'bad-config',
        `/${name}`,
      ]);
    } else {
      const known: readonly unknown[] = Object.values(document.policy);
      expect([exit, known.includes(expected)]).toEqual([0, true]);
    }
  });

  test('the user decides, a flag goes before the file, and a project has no say', async () => {
    const program = await prepared();
    program.disk.plantFile(home, Buffer.from('{"retention_max_sessions":3}'));
    program.disk.plantDirectory('/w');
    program.disk.plantDirectory('/w/.turnlog');
    program.disk.plantFile(
      '/w/.turnlog/config.json',
      Buffer.from('{"retention_max_sessions":1,"retention_max_age_days":1}'),
    );
    const { stdout, stderr } = await program.run(['gc', '--json'], { cwd: '/w' });
    expect(JSON.parse(stdout).policy).toMatchObject({ max_sessions: 3, max_age_ms: null });
    expect(stderr).toContain('a project cannot set retention_max_sessions');
    expect((await gc(program, '--max-sessions', '4')).policy).toMatchObject({ max_sessions: 4 });
    expect((await gc(program, '--max-sessions', '0')).policy).toMatchObject({ max_sessions: null });
    const set = await program.run(['config', 'set', 'retention_max_age_days', '90']);
    expect(set.exit).toBe(0);
    expect((await gc(program)).policy).toMatchObject({ max_sessions: 3, max_age_ms: 90 * dayMs });
    expect((await program.run(['config', 'set', 'retention_max_age_days', '-1'])).exit).toBe(2);
  });
});

/** Every verb that removes or rewrites, as it would be said to do it. */
const destructive: readonly (readonly [name: string, argv: readonly string[], asks: boolean])[] = [
  ['gc', ['gc', '--max-age', '30d', '--max-sessions', '1', '--purge-trash', '--apply'], true],
  ['session delete', ['session', 'delete', 'abcdefgh-1'], true],
  ['session restore', ['session', 'restore', removedName], false],
  ['doctor --fix', ['doctor', '--fix'], false],
  ['doctor --force-unlock', ['doctor', '--force-unlock', 'abcdefgh-2'], true],
  ['import', ['import', '/foreign'], false],
  ['redact', ['redact', 'abcdefgh-1', '1', '--reason', 'secret', '--accept-guessable'], true],
];

async function withSomethingToDo(): Promise<TestProgram> {
  const program = await prepared();
  program.disk.plantDirectory(`${program.root}/trash`);
  program.disk.plantDirectory(`${program.root}/trash/${removedName}`);
  program.disk.plantFile(
    `${program.root}/trash/${removedName}/events.jsonl`,
    Buffer.from('{"schema_version":"0.18.0","event":{"type":"turn.started"}}\n'),
  );
  program.disk.setMode(`${program.session('abcdefgh-3')}/events.jsonl`, 0o644);
  program.disk.plantDirectory('/foreign');
  program.disk.plantDirectory('/foreign/v-1');
  program.disk.plantFile(
    '/foreign/v-1/events.jsonl',
    Buffer.from('{"schema_version":"0.18.0","event":{"type":"thread.started","thread_id":"v-1"}}\n'),
  );
  await (await program.store()).open('abcdefgh-2');
  program.lockTable.judge(program.session('abcdefgh-2'), 'unknown');
  return program;
}

test.each(destructive)(
  'I-24 %s --dry-run leaves the tree as it is; without a terminal it wants --yes where it asks',
  async (_name, argv, asks) => {
    const program = await withSomethingToDo();
    const before = treeOf(program);
    const dry = await program.run([...argv, '--dry-run']);
    expect([dry.exit === 9, treeOf(program)]).toEqual([false, before]);
    expect(program.machine.locks.inspect(program.session('abcdefgh-2'))).not.toBeNull();
    const real = await program.run([...argv, '--json']);
    if (asks) {
      expect([real.exit, JSON.parse(real.stdout).error.code]).toEqual([9, 'needs-yes']);
      expect(treeOf(program)).toEqual(before);
      expect((await program.run([...argv, '--yes'])).exit).toBeLessThan(2);
    }
    // What the dry run kept from happening does happen.
    const isFree = program.machine.locks.inspect(program.session('abcdefgh-2')) === null;
    if (argv.includes('--force-unlock')) expect(isFree).toBe(true);
    else expect(treeOf(program)).not.toEqual(before);
  },
);

test('the first failure ends a run with its exit; the document says what was done and what is left', async () => {
  const program = await aged({ a: 90, b: 80, c: 70 });
  program.fs.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb, path }) => verb === 'rename' && path === program.session('b'),
  });
  const { exit, stdout } = await program.run(['gc', '--max-age', '30d', '--apply', '--yes', '--json']);
  const document: Gc = JSON.parse(stdout);
  expect([exit, document.failed]).toMatchObject([7, { at: 'b', code: 'io' }]);
  expect(document.summary).toMatchObject({ going: 3, removed: 1, left: 2 });
  const again = await gc(program, '--max-age', '30d', '--apply', '--yes');
  expect(again.summary).toMatchObject({ removed: 2, left: 0 });
});

describe('session pin, delete, restore', () => {
  test('what is destroyed is named in full; a pinned one is refused; what is in the trash comes back', async () => {
    const program = await prepared();
    const json = async (
      ...argv: readonly string[]
    ): Promise<readonly [number, Readonly<Record<string, unknown>>]> => {
      const { exit, stdout } = await program.run([...argv, '--json']);
      const document = JSON.parse(stdout);
      return [exit, document.error ?? document];
    };
    expect(await json('session', 'delete', 'abcdefgh', '--yes')).toMatchObject([6, { code: 'not-found' }]);
    expect(await json('session', 'delete', '@last', '--yes')).toMatchObject([
      2,
      { code: 'invalid-session-id' },
    ]);
    expect(await json('session', 'pin', 'abcdefgh', '--reason', 'r')).toMatchObject([
      2,
      { code: 'ambiguous-id', details: { candidates: ['abcdefgh-1', 'abcdefgh-2', 'abcdefgh-3'] } },
    ]);
    expect(await json('session', 'delete', 'pinned', '--yes')).toMatchObject([9, { code: 'pinned' }]);
    expect(await json('session', 'delete', 'pinned', '--dry-run')).toMatchObject([9, { code: 'pinned' }]);
    const [, { trash }] = await json('session', 'delete', 'abcdefgh-1', '--yes');
    const list = await program.run(['sessions', '--trash', '--json']);
    expect(JSON.parse(list.stdout)).toMatchObject({
      sessions: [],
      trash: [{ trash, id: 'abcdefgh-1', reason: 'manual', events: 2, turns: 1 }],
    });
    expect(await json('session', 'restore', 'abcdefgh-1')).toMatchObject([6, { code: 'not-found' }]);
    expect(await json('session', 'restore', String(trash), '--dry-run')).toMatchObject([
      0,
      { id: 'abcdefgh-1', dry_run: true },
    ]);
    expect(await json('session', 'restore', String(trash))).toMatchObject([
      0,
      { id: 'abcdefgh-1', dry_run: false },
    ]);
    expect(await json('session', 'restore', String(trash))).toMatchObject([6, { code: 'not-found' }]);
    expect(await json('session', 'unpin', 'pinned')).toMatchObject([
      0,
      { id: 'pinned', pinned: false, changed: true },
    ]);
    expect(await json('session', 'delete', 'pinned', '--yes')).toMatchObject([0, { id: 'pinned' }]);
  });

  test('pins are listed with their reasons, whatever hides them otherwise', async () => {
    const program = await prepared();
    await program.run(['session', 'archive', 'pinned']);
    const { stdout } = await program.run(['sessions', '--pinned', '--json']);
    expect(JSON.parse(stdout).sessions).toMatchObject([
      { id: 'pinned', archived: true, pinned: { reason: 'needed', pinned_at: '2026-10-05T08:00:00.000Z' } },
    ]);
    const table = await program.run(['sessions', '--pinned']);
    expect(table.stdout).toContain('pinned');
  });

  test.each([
    ['session', 'pin', 'own'],
    ['session', 'pin', 'own', '--reason', ' '],
    ['session', 'pin', 'own', '--reason', 'two\nlines'],
    ['session', 'pin', 'own', '--reason', 'r', '--dry-run'],
    ['session', 'unpin', 'own', '--reason', 'r'],
    ['session', 'delete', 'own', 'other', '--yes'],
    ['session', 'restore', 'own', '--yes'],
    ['session', 'rename', 'own', 'T', '--reason', 'r'],
    ['sessions', '--trash', '--pinned'],
  ])('%s %s %s: refused with exit 2', async (...argv) => {
    const program = await prepared();
    const before = treeOf(program);
    expect((await program.run(argv)).exit).toBe(2);
    expect(treeOf(program)).toEqual(before);
  });

  test('the tables for people name what goes and why, and what the trash holds', async () => {
    const program = await prepared();
    const plan = await program.run(['gc', '--max-age', '30d']);
    expect(plan.stdout).toMatch(/remove +abcdefgh-1 +age/);
    expect(plan.stderr).toContain('would remove 3 of 5 sessions');
    expect((await program.run(['gc', '--max-age', '30d', '-v'])).stdout).toMatch(/keep +pinned +pinned/);
    await program.run(['gc', '--max-age', '30d', '--apply', '--yes']);
    expect((await program.run(['sessions', '--trash'])).stdout).toMatch(
      /abcdefgh-1\.20261005T080000Z\.[0-9a-f]{8} +2 +age/,
    );
    expect((await program.run(['sessions', '--trash', '--limit', '1'])).stderr).toContain('2 more');
  });
});
