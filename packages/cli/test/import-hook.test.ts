import { openLogReader } from '@turnlog/log';
import { rollout } from './e2e/program.js';
import { TestProgram } from './support.js';

const threadA = '11111111-1111-4111-8111-111111111111';
const codexThread = '0199a213-0000-7000-8000-000000000001';
const transcriptPath = `/u/ann/.claude/projects/-repo/${threadA}.jsonl`;
const rolloutPath = `/u/ann/.codex/sessions/2026/01/02/rollout-2026-01-02T00-00-00-${codexThread}.jsonl`;
const session = `claude-${threadA}`;

function plant(program: TestProgram, path: string, bytes: string): void {
  const parts = path.split('/').slice(1, -1);
  parts.forEach((_, index) => {
    const folder = `/${parts.slice(0, index + 1).join('/')}`;
    if (program.disk.status(folder) === null) program.disk.plantDirectory(folder);
  });
  program.disk.plantFile(path, Buffer.from(bytes));
}

function line(n: number, type: 'user' | 'assistant', text: string): string {
  const message =
    type === 'user'
      ? { role: 'user', content: text }
      : {
          id: `msg_${n}`,
          role: 'assistant',
          model: 'm1',
          content: [{ type: 'text', text }],
          usage: { input_tokens: 3, output_tokens: 2 },
        };
  const envelope = {
    isSidechain: false,
    cwd: '/repo',
    sessionId: threadA,
    version: '2.1.90',
    userType: 'external',
  };
  const timestamp = new Date(Date.UTC(2026, 0, 5, 10) + n * 1_000).toISOString();
  const parentUuid = n === 0 ? null : `u${n - 1}`;
  return `${JSON.stringify({ parentUuid, ...envelope, type, message, uuid: `u${n}`, timestamp })}\n`;
}

function transcript(turns: number, words = 'x'): string {
  return Array.from(
    { length: turns },
    (_, n) => line(2 * n, 'user', `do ${n}`) + line(2 * n + 1, 'assistant', `${words} ${n}`),
  ).join('');
}

function withTranscript(turns = 2, words = 'x'): TestProgram {
  const program = new TestProgram();
  plant(program, transcriptPath, transcript(turns, words));
  return program;
}

function told(event: string, more: object = {}): string {
  return JSON.stringify({
    session_id: threadA,
    transcript_path: transcriptPath,
    cwd: '/repo',
    hook_event_name: event,
    ...more,
  });
}

type Event = Readonly<Record<string, unknown>>;

function eventsOf(program: TestProgram, id = session): readonly Event[] {
  const reader = openLogReader(program.disk, program.session(id), id);
  try {
    return [...reader.records()].map(
      (record) => JSON.parse(Buffer.from(record.eventBytes()).toString()) as Event,
    );
  } finally {
    reader.close();
  }
}

const typesOf = (program: TestProgram, id?: string): readonly unknown[] =>
  eventsOf(program, id).map(({ type }) => type);

const count = (program: TestProgram, type: string): number =>
  typesOf(program).filter((each) => each === type).length;

/** Runs a hook: whatever happens, nothing is on stdout and the exit is 0. Returns what is on stderr. */
async function hook(
  program: TestProgram,
  stdin: string,
  argv: readonly string[] = ['claude'],
  options: Parameters<TestProgram['run']>[1] = {},
): Promise<string> {
  const { exit, stdout, stderr } = await program.run(['import', '--hook', ...argv], { stdin, ...options });
  expect([exit, stdout]).toEqual([0, '']);
  return stderr;
}

test('a hook imports what is new of the thread that it is about, and nothing else', async () => {
  const program = withTranscript();
  plant(program, '/u/ann/.claude/projects/-repo/other.jsonl', transcript(1).replaceAll(threadA, codexThread));
  expect(await hook(program, told('Stop'))).toBe('');
  expect(program.disk.list(`${program.root}/sessions`).map(({ name }) => name)).toEqual([session]);
  // The last turn may go on: it is open until the next one, or the end.
  expect([count(program, 'turn.started'), count(program, 'turn.completed')]).toEqual([2, 1]);
  const before = typesOf(program).length;
  expect(await hook(program, told('Stop'))).toBe('');
  expect(typesOf(program)).toHaveLength(before);

  plant(program, transcriptPath, transcript(3));
  await hook(program, told('PreCompact'));
  expect([count(program, 'turn.started'), count(program, 'turn.completed')]).toEqual([3, 2]);
  await hook(program, told('SessionEnd'));
  expect(count(program, 'turn.completed')).toBe(3);
  expect(eventsOf(program).at(-1)).toMatchObject({ type: 'run.imported', final: true });
});

test('sub-agents of the thread come with it', async () => {
  const program = withTranscript();
  const child = line(0, 'user', 'look').replace('"isSidechain":false', '"isSidechain":true,"agentId":"a1"');
  const path = `/u/ann/.claude/projects/-repo/${threadA}/subagents/agent-a1.jsonl`;
  plant(program, path, child);
  plant(program, '/u/ann/.claude/projects/-repo/agent-a2.jsonl', child.replaceAll('a1', 'a2'));
  await hook(
    program,
    told('SubagentStop', { agent_transcript_path: '/u/ann/.claude/projects/-repo/agent-a2.jsonl' }),
  );
  expect(program.disk.list(`${program.root}/sessions`).map(({ name }) => name)).toEqual([
    session,
    `${session}.a1`,
    `${session}.a2`,
  ]);
});

test('codex tells it in the last argument and names the thread; other hooks of it tell it on stdin', async () => {
  const program = new TestProgram();
  plant(program, rolloutPath, rollout(codexThread, 3));
  const notify = { type: 'agent-turn-complete', 'thread-id': codexThread, 'turn-id': 't', cwd: '/repo' };
  expect(await hook(program, '', ['codex', JSON.stringify(notify)])).toBe('');
  expect(typesOf(program, `codex-${codexThread}`)).toContain('run.imported');

  const other = new TestProgram();
  plant(other, rolloutPath.replace('/u/ann/.codex/sessions', '/c/sessions'), rollout(codexThread, 3));
  const env = { CODEX_HOME: '/c' };
  const onStdin = JSON.stringify({ session_id: codexThread, transcript_path: null, hook_event_name: 'Stop' });
  expect(await hook(other, onStdin, ['codex'], { env })).toBe('');
  expect(typesOf(other, `codex-${codexThread}`)).toEqual(typesOf(program, `codex-${codexThread}`));
  // It is the file that an import of everything finds, by the same name.
  const { stdout } = await other.run(['import', 'codex', '--final', '--json'], { env });
  expect(JSON.parse(stdout).summary).toMatchObject({ sources: 1, failed: 0, sessions: { conflict: 0 } });
});

test('a permission that is asked for, or refused, stands in the log once, named by its call', async () => {
  const program = withTranscript();
  const call = { tool_name: 'Bash', tool_input: { command: 'rm x' }, tool_use_id: 'toolu_1' };
  for (const event of ['PermissionRequest', 'PermissionDenied', 'PermissionRequest', 'PermissionDenied']) {
    expect(await hook(program, told(event, { ...call, reason: 'no' }))).toBe('');
  }
  const permissions = eventsOf(program).filter(({ type }) => String(type).startsWith('permission.'));
  expect(permissions).toEqual([
    { type: 'permission.requested', tool_name: 'Bash', tool_call_id: 'toolu_1' },
    {
      type: 'permission.resolved',
      tool_name: 'Bash',
      decision: 'deny',
      wait_ms: 0,
      derived: ['wait_ms'],
      tool_call_id: 'toolu_1',
      reason: 'no',
    },
  ]);
  // Another call is another question; without the name of a call the same words are the same question.
  await hook(program, told('PermissionRequest', { ...call, tool_use_id: 'toolu_2' }));
  const unnamed = { tool_name: 'Bash', tool_input: { command: 'ls' } };
  for (const stdin of [told('PermissionRequest', unnamed), told('PermissionRequest', unnamed)]) {
    await hook(program, stdin);
  }
  expect(count(program, 'permission.requested')).toBe(3);
  // The transcript goes on behind them as ever.
  plant(program, transcriptPath, transcript(4));
  expect(await hook(program, told('SessionEnd'))).toBe('');
  expect([count(program, 'turn.completed'), count(program, 'permission.requested')]).toEqual([4, 3]);
});

const refused: readonly (readonly [name: string, argv: readonly string[], stdin: string, said: RegExp])[] = [
  ['G-24 bad JSON', ['claude'], '{"session_id":', /no JSON object/],
  ['no object', ['claude'], '[1]', /no JSON object/],
  ['nothing at all', ['claude'], '', /no JSON object/],
  ['no file', ['claude'], '{"hook_event_name":"Stop"}', /no file so far/],
  [
    'a file that is not there',
    ['claude'],
    told('Stop', { transcript_path: '/u/ann/.claude/projects/x.jsonl' }),
    /nothing stands at/,
  ],
  [
    'G-24 a foreign path',
    ['claude'],
    told('Stop', { transcript_path: '/etc/secret.jsonl' }),
    /none of the agent's own folders/,
  ],
  [
    'a path that leads out',
    ['claude'],
    told('Stop', { transcript_path: '/u/ann/.claude/projects/../../../../etc/secret.jsonl' }),
    /none of the agent's own folders/,
  ],
  [
    'a link that leads out',
    ['claude'],
    told('Stop', { transcript_path: '/u/ann/.claude/projects/link/secret.jsonl' }),
    /none of the agent's own folders/,
  ],
  ['a relative path', ['claude'], told('Stop', { transcript_path: 'projects/x.jsonl' }), /no absolute path/],
  [
    'a folder',
    ['claude'],
    told('Stop', { transcript_path: '/u/ann/.claude/projects' }),
    /none of the agent's own folders/,
  ],
  ["another agent's file", ['codex'], told('Stop'), /none of the agent's own folders/],
  ['an agent that is not read yet', ['gemini'], told('Stop'), /gemini is not read yet/],
  ['an agent that nobody knows', ['emacs'], told('Stop'), /bad-flag/],
  ['a source beside it', ['claude', '/u/ann'], told('Stop'), /takes no sources/],
  ['a flag that is none', ['claude', '--no-such-flag'], told('Stop'), /bad-flag/],
];

test.each(refused)('%s: said on stderr, nothing imported', async (_name, argv, stdin, said) => {
  const program = withTranscript();
  plant(program, '/etc/secret.jsonl', transcript(1));
  program.disk.plantLink('/u/ann/.claude/projects/link', '/etc');
  expect(await hook(program, stdin, argv)).toMatch(said);
  expect(program.disk.status(program.session(session))).toBeNull();
});

test('an agent folder may itself be a link, and a path may begin with a tilde', async () => {
  const program = new TestProgram();
  plant(program, `/dotfiles/claude/projects/-repo/${threadA}.jsonl`, transcript(2));
  program.disk.plantDirectory('/u/ann');
  program.disk.plantLink('/u/ann/.claude', '/dotfiles/claude');
  const path = `~/.claude/projects/-repo/${threadA}.jsonl`;
  expect(await hook(program, told('Stop', { transcript_path: path }))).toBe('');
  expect(count(program, 'turn.started')).toBe(2);
  expect(eventsOf(program).find(({ type }) => type === 'run.source')).toMatchObject({ path: transcriptPath });
});

test('G-24 a lock that somebody holds is waited for half a second, then left to a later hook', async () => {
  const program = withTranscript();
  await hook(program, told('Stop'));
  plant(program, transcriptPath, transcript(3));
  const held = await (await program.store()).open(session);
  const before = program.clock.monotonicMs();
  expect(await hook(program, told('Stop'))).toMatch(/locked/);
  expect(program.clock.monotonicMs() - before).toBe(500);
  await held.close();
  expect(await hook(program, told('Stop'))).toBe('');
  expect(count(program, 'turn.started')).toBe(3);
});

test('G-24 a full disk is said on stderr; what is missing comes with a later hook', async () => {
  const program = withTranscript(20, 'y'.repeat(10_000));
  program.disk.setSpace(program.disk.usedBytes + 20_000);
  expect(await hook(program, told('Stop'))).toMatch(/: io: /);
  expect(program.disk.list(`${program.root}/sessions`)).toEqual([]);
  program.disk.setSpace(null);
  expect(await hook(program, told('Stop'))).toBe('');
  expect(count(program, 'turn.started')).toBe(20);
});

const megabytes = 350;
/** The longest that an agent waits for its hook. */
const hookMs = 2_000;

test(`G-24 a transcript of ${megabytes} MB is read as far as two seconds go, and later hooks do the rest`, async () => {
  const program = withTranscript(0);
  const long = 'z'.repeat(1_000_000);
  const turns = Array.from({ length: megabytes }, (_, n) =>
    Buffer.from(line(2 * n, 'user', `do ${n}`) + line(2 * n + 1, 'assistant', long)),
  );
  const bytes = Buffer.concat(turns);
  program.disk.plantFile(transcriptPath, bytes);
  expect(bytes.length).toBeGreaterThan(megabytes * 1_000_000);
  // Time goes by with what is read of it: a fold takes 64 KiB at once, a digest and a copy 1 MiB.
  const readMs = 1;
  program.fs.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb, path }) => {
      if (verb === 'read' && path === transcriptPath) program.clock.advance(readMs);
      return false;
    },
  });
  let passes = 0;
  for (let done = 0; done < bytes.length; passes += 1) {
    const before = program.clock.monotonicMs();
    expect(await hook(program, told('Stop'))).toBe('');
    expect(program.clock.monotonicMs() - before).toBeLessThanOrEqual(hookMs);
    const last = eventsOf(program).findLast(({ type }) => type === 'run.imported');
    expect(last).toMatchObject({ from: done, final: false });
    expect(Number(last?.['to'])).toBeGreaterThan(done);
    done = Number(last?.['to']);
  }
  expect(passes).toBeGreaterThan(2);
  const events = eventsOf(program);
  const said = events.filter(({ type }) => type === 'user.message');
  expect(said.map(({ content }) => content)).toEqual(
    turns.map((_, n) => [{ type: 'text', text: `do ${n}` }]),
  );
  expect(events.filter(({ type }) => type === 'item.completed')).toHaveLength(megabytes);
  program.fs.setFault(null);
  const sources = async (): Promise<unknown> =>
    JSON.parse((await program.run(['import', 'claude', '--json'])).stdout).summary.sessions;
  expect(await sources()).toMatchObject({ unchanged: 1, new: 0, grown: 0, conflict: 0 });
}, 120_000);

test('an agent that never closes stdin does not hold the hook', async () => {
  const program = withTranscript();
  expect(await hook(program, '', ['claude'], { stdinPausesMs: 1_000 })).toMatch(/no JSON object/);
});

test('nothing is on stdout for programs either', async () => {
  const program = withTranscript();
  for (const form of ['--json', '--jsonl']) {
    expect(await hook(program, 'x', ['claude', form])).toMatch(/invalid-event/);
    expect(await hook(program, told('Stop'), ['claude', form])).toBe('');
  }
});
