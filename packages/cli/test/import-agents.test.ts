import { rollout } from './e2e/program.js';
import { caseBytes, TestProgram } from './support.js';

const threadA = '11111111-1111-4111-8111-111111111111';
const codexThread = '0199a213-0000-7000-8000-000000000001';

/** Threads of two agents at the places that variables name, and of one at its usual place. */
function withAgents(): TestProgram {
  const program = new TestProgram();
  const plant = (path: string, bytes: Uint8Array): void => {
    const parts = path.split('/').slice(1, -1);
    parts.forEach((_, index) => {
      const folder = `/${parts.slice(0, index + 1).join('/')}`;
      if (program.disk.status(folder) === null) program.disk.plantDirectory(folder);
    });
    program.disk.plantFile(path, bytes);
  };
  const transcript = caseBytes('B90-usage-repeat-and-replay', `claude/projects/-repo-demo/${threadA}.jsonl`);
  plant(`/u/ann/.claude/projects/-repo-demo/${threadA}.jsonl`, transcript);
  plant(`/elsewhere/claude/projects/-x/${threadA}.jsonl`, transcript);
  plant(
    `/elsewhere/codex/sessions/2026/01/02/rollout-2026-01-02T00-00-00-${codexThread}.jsonl`,
    Buffer.from(rollout(codexThread, 3)),
  );
  return program;
}

interface Imported {
  readonly path: string;
  readonly kind: string;
  readonly state: string;
}

async function imported(
  program: TestProgram,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly exit: number; readonly sources: readonly Imported[] }> {
  const { exit, stdout } = await program.run(['import', ...argv, '--json'], { env });
  return { exit, sources: JSON.parse(stdout).sources };
}

test('an agent is looked for at its usual place, or where its variable says', async () => {
  const program = withAgents();
  const usual = await imported(program, ['claude']);
  expect([usual.exit, usual.sources.map(({ path }) => path)]).toEqual([
    0,
    [`/u/ann/.claude/projects/-repo-demo/${threadA}.jsonl`],
  ]);
  const env = { CODEX_HOME: '/elsewhere/codex', CLAUDE_CONFIG_DIR: '/elsewhere/claude' };
  const all = await imported(withAgents(), [], env);
  expect(all.sources.map(({ kind, state }) => [kind, state])).toEqual([
    ['claude-code', 'new'],
    ['codex-rollout', 'new'],
  ]);
  const codex = await imported(withAgents(), ['codex'], env);
  expect(codex.sources.map(({ kind }) => kind)).toEqual(['codex-rollout']);
  expect((await imported(withAgents(), ['codex'])).exit).toBe(1);
});

test('--path takes the place of the usual ones; --from and an agent restrict the formats', async () => {
  for (const restriction of [['codex'], ['--from', 'codex-rollout']]) {
    const { sources } = await imported(withAgents(), [...restriction, '--path', '/elsewhere']);
    expect(sources.map(({ kind, state }) => [kind, state])).toEqual([
      [null, 'unknown'],
      ['codex-rollout', 'new'],
    ]);
  }
});

test('--since passes over files that did not change since; --dry-run says what the others are', async () => {
  const program = withAgents();
  const now = await imported(program, ['/elsewhere', '--since', '2100-01-01']);
  expect([now.exit, now.sources]).toEqual([1, []]);
  const before = program.disk.mutationCount;
  const dry = await imported(program, ['/elsewhere', '--dry-run']);
  expect(dry.sources.map(({ kind }) => kind)).toEqual(['claude-code', 'codex-rollout']);
  expect(program.disk.mutationCount).toBe(before);
});

test('--raw reference keeps no copy of the bytes, --raw asset does', async () => {
  for (const [mode, hasAssets] of [
    ['reference', false],
    ['asset', true],
  ] as const) {
    const program = withAgents();
    await imported(program, ['claude', '--raw', mode, '--final']);
    const folder =
      program.disk.status(`${program.root}/assets`) === null
        ? []
        : program.disk.list(`${program.root}/assets`);
    expect([mode, folder.length > 0]).toEqual([mode, hasAssets]);
  }
});

test('two files of one thread that each have records of their own are a conflict, exit 1; --as-new imports it', async () => {
  const program = withAgents();
  const other = rollout(codexThread, 3).replaceAll('please', 'do').replaceAll('done', 'made');
  program.disk.plantFile('/elsewhere/other.jsonl', Buffer.from(other));
  const first = await imported(program, ['/elsewhere', '--from', 'codex-rollout']);
  expect([first.exit, first.sources.map(({ state }) => state).sort()]).toEqual([
    1,
    ['conflict', 'new', 'unknown'],
  ]);
  const text = await program.run(['import', '/elsewhere', '--from', 'codex-rollout']);
  expect(text.stdout).toContain('conflict');
  expect(text.stderr).toContain('1 in conflict');
  const asNew = await imported(program, ['/elsewhere', '--from', 'codex-rollout', '--as-new']);
  expect(asNew.sources.map(({ state }) => state)).toContain('new');
});

test('a watch cannot be one document', async () => {
  const { exit } = await withAgents().run(['import', '--watch', '--json']);
  expect(exit).toBe(2);
});

test('what VT Code left in the workspace, and its archives where their variable says, are found', async () => {
  const program = withAgents();
  const folders = ['/w', '/w/.vtcode', '/w/.vtcode/history', '/w/.vtcode/logs', '/w/archives'];
  for (const folder of folders) program.disk.plantDirectory(folder);
  const plant = (path: string, ...values: readonly object[]): void =>
    program.disk.plantFile(path, Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join('')));
  const messages = [{ role: 'user', content: 'hello' }];
  plant('/w/archives/session-a.json', { metadata: { workspace_path: '/w' }, messages });
  plant('/w/.vtcode/logs/trajectory.jsonl', {
    kind: 'tool',
    turn: 1,
    name: 'x',
    args: {},
    ok: true,
    ts: 1_773_315_186,
  });
  plant(
    '/w/.vtcode/history/b_0001_20260312T113600Z.jsonl',
    { _type: 'metadata', _metadata: { session_id: 'b', turn_number: 1 } },
    { turn: 1, role: 'user', content: 'hello', timestamp: '2026-03-12T11:36:00Z' },
  );
  plant('/w/.vtcode/history/b.memory.json', { session_id: 'b', grounded_facts: [], summary: 's' });
  const all = await imported(program, ['vtcode', '-C', '/w'], { VT_SESSION_DIR: 'archives' });
  expect([all.exit, all.sources.map(({ kind, state }) => [kind, state])]).toEqual([
    0,
    [
      ['vtcode-memory', 'grown'],
      ['vtcode-history', 'new'],
      ['vtcode-trajectory', 'new'],
      ['vtcode-archive', 'new'],
    ],
  ]);
  const some = await imported(program, [
    'vtcode',
    '-C',
    '/w',
    '--path',
    '/w/archives',
    '--from',
    'vtcode-archive',
  ]);
  expect(some.sources.map(({ kind, state }) => [kind, state])).toEqual([['vtcode-archive', 'unchanged']]);
});
