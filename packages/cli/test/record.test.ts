import { run } from 'turnlog';
import { filledProgram, ownLines, TestProgram, turn } from './support.js';

interface Shown {
  readonly session: { readonly in_turn: boolean; readonly turns: number };
  readonly records: readonly {
    readonly seq: number;
    readonly type: string;
    readonly event: Record<string, unknown>;
  }[];
}

async function shown(program: TestProgram, id: string): Promise<Shown> {
  const { exit, stdout } = await program.run(['show', id, '--json']);
  expect(exit).toBe(0);
  return JSON.parse(stdout);
}

test('own lines become records; a new session begins with where it runs', async () => {
  const program = new TestProgram();
  const result = await program.run(['record', 's', '-C', '/srv/app', '--json'], { stdin: ownLines(turn) });
  expect([result.exit, JSON.parse(result.stdout)]).toMatchObject([
    0,
    { schema_version: 1, id: 's', appended: 6, duplicates: 0, refused: 0, lost: 0 },
  ]);
  const { records } = await shown(program, 's');
  expect(records[0]?.event).toEqual({
    type: 'run.started',
    program: 'turnlog',
    version: '0.1.0',
    cwd: '/srv/app',
    workspace: '/srv/app',
  });
  expect(records.slice(1).map(({ event }) => event)).toEqual(turn);
});

test('a run.started of the first block is the only one, and a thread.started stands before ours', async () => {
  const program = new TestProgram();
  const started = { type: 'run.started', program: 'p', cwd: '/w' };
  await program.run(['record', 'own'], {
    stdin: ownLines([{ type: 'thread.started', thread_id: 't' }, started]),
  });
  expect((await shown(program, 'own')).records.map(({ type }) => type)).toEqual([
    'thread.started',
    'run.started',
  ]);
  await program.run(['record', 'ours'], {
    stdin: ownLines([{ type: 'thread.started', thread_id: 't' }, ...turn]),
  });
  expect((await shown(program, 'ours')).records.map(({ type }) => type).slice(0, 3)).toEqual([
    'thread.started',
    'run.started',
    'turn.started',
  ]);
  await program.run(['record', 'ours'], { stdin: ownLines(turn) });
  expect((await shown(program, 'ours')).records.filter(({ type }) => type === 'run.started')).toHaveLength(1);
});

test('--workspace, --parent and --durability reach the log', async () => {
  const program = new TestProgram();
  await program.run(['record', 'child', '--workspace', 'sub', '-C', '/srv', '--parent', 'mother'], {
    stdin: ownLines(turn),
  });
  await program.run(['record', 'fork', '--parent', 'mother:12'], { stdin: ownLines(turn) });
  expect((await shown(program, 'child')).records[0]?.event).toMatchObject({
    workspace: '/srv/sub',
    parent: { session: 'mother' },
  });
  expect(
    (await shown(program, 'fork')).records.find(({ event }) => event !== undefined)?.event,
  ).toMatchObject({
    forked_from: { session: 'mother', seq: 12 },
  });
  expect((await program.run(['record', 'x', '--parent', '../y'])).exit).toBe(2);
});

test('without an id own input gets one of the day', async () => {
  const program = new TestProgram();
  const { stdout } = await program.run(['record', '--json'], { stdin: ownLines(turn) });
  expect(JSON.parse(stdout).id).toMatch(/^20261005-[0-9a-f]{8}$/);
});

test('a bad line is told and exit 1; the lines around it are recorded', async () => {
  const program = new TestProgram();
  const stdin = `${ownLines(turn.slice(0, 1))}nonsense\n{"event":{"type":"log.evicted"}}\n${ownLines(turn.slice(1))}`;
  const { exit, stderr, stdout } = await program.run(['record', 's'], { stdin });
  expect([exit, stdout]).toEqual([1, '']);
  expect(stderr).toContain('line 2');
  expect(stderr).toContain('line 3');
  expect((await shown(program, 's')).records).toHaveLength(turn.length + 1);
});

test('lines are cut at 0x0A only, wherever the blocks end, also without a last newline', async () => {
  const program = new TestProgram();
  const events = [{ type: 'error', message: 'a\u2028b\u0085c „ü 語🦊“' }, ...turn];
  const bytes = Buffer.from(ownLines(events).trimEnd());
  for (const size of [1, 3, 7, 64]) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    const { exit } = await program.run(['record', `s-${size}`], { stdin: chunks });
    expect(exit).toBe(0);
    const { records } = await shown(program, `s-${size}`);
    expect(records.slice(1).map(({ event }) => event)).toEqual(events);
  }
});

test('CL-5: a signal ends it after the record in hand: half a line is no record, the lock is free', async () => {
  for (const [signal, expected] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const program = new TestProgram();
    const { exit, stderr } = await program.run(['record', 's'], {
      stdin: [ownLines(turn.slice(0, 2)), '{"event":{"type":"err'],
      signal,
    });
    expect(exit).toBe(expected);
    expect(stderr).toContain('had not ended');
    expect(program.lockTable.holders.size).toBe(0);
    const { session, records } = await shown(program, 's');
    expect([session.in_turn, records.length]).toEqual([true, 3]);
    expect(program.disk.list(program.session('s')).filter(({ name }) => name.startsWith('.t-'))).toEqual([]);
    expect((await program.run(['record', 's'], { stdin: ownLines(turn.slice(2)) })).exit).toBe(0);
    expect((await shown(program, 's')).session.in_turn).toBe(false);
  }
});

test('IM-42: own input that ends inside a turn leaves it open, exit 0', async () => {
  const program = new TestProgram();
  expect((await program.run(['record', 's'], { stdin: ownLines(turn.slice(0, 3)) })).exit).toBe(0);
  expect((await shown(program, 's')).session).toMatchObject({ in_turn: true, turns: 1 });
});

test('every block that was read is with the operating system before the next one is read', async () => {
  const program = new TestProgram();
  const seen: number[] = [];
  const blocks = turn.map((event) => ownLines([event]));
  async function* observed(): AsyncGenerator<Uint8Array, void, void> {
    for (const block of blocks) {
      const status = program.disk.status(`${program.session('s')}/events.jsonl`);
      seen.push(status?.size ?? 0);
      yield Buffer.from(block);
    }
  }
  const sink = { write: async () => undefined };
  const exit = await run(['record', 's', '--durability', 'buffered'], {
    stdin: observed(),
    stdout: sink,
    stderr: sink,
    env: { TURNLOG_ROOT: program.root, HOME: '/u' },
    cwd: '/',
    isTty: { stdin: false, stdout: false, stderr: false },
    columns: null,
    environment: program.machine,
    onStop: () => () => undefined,
  });
  expect(exit).toBe(0);
  for (let at = 1; at < seen.length; at += 1) expect(seen[at]).toBeGreaterThan(seen[at - 1] ?? 0);
});

test.each([
  ['event', [['1'], ['2'], ['3']]],
  ['buffered', [['1'], ['2'], ['3']]],
] as const)('--ack names each record once it is durable to the class %s', async (durability, expected) => {
  const program = new TestProgram();
  await program.run(['record', 's', '--durability', durability], {
    stdin: ownLines([{ type: 'run.started', program: 'p', cwd: '/' }]),
  });
  const blocks = turn.slice(0, 3).map((event) => ownLines([event]));
  const { stdout } = await program.run(['record', 's', '--durability', durability, '--ack'], {
    stdin: blocks,
  });
  expect(stdout).toBe(expected.map(([seq]) => `{"seq":${Number(seq) + 1}}\n`).join(''));
});

test('--ack in the class turn comes with the end of the turn', async () => {
  const program = new TestProgram();
  const out: string[] = [];
  const seen: number[] = [];
  async function* observed(): AsyncGenerator<Uint8Array, void, void> {
    for (const event of turn) {
      seen.push(out.length);
      yield Buffer.from(ownLines([event]));
    }
    seen.push(out.length);
  }
  const exit = await run(['record', 's', '--ack'], {
    stdin: observed(),
    stdout: { write: async (chunk) => void out.push(String(chunk)) },
    stderr: { write: async () => undefined },
    env: { TURNLOG_ROOT: program.root, HOME: '/u' },
    cwd: '/',
    isTty: { stdin: false, stdout: false, stderr: false },
    columns: null,
    environment: program.machine,
    onStop: () => () => undefined,
  });
  // Nothing while the turn is open; all of it, the run.started before it not counted, when it has ended.
  expect([exit, seen]).toEqual([0, [0, 0, 0, 0, 0, 0, 1]]);
  expect(out.join('')).toBe([2, 3, 4, 5, 6, 7].map((seq) => `{"seq":${seq}}\n`).join(''));
});

test('--tee passes the input on unchanged, bad lines and half lines as well', async () => {
  const program = new TestProgram();
  const stdin = Buffer.concat([Buffer.from(ownLines(turn)), Buffer.from([0xff, 0x0a]), Buffer.from('half')]);
  const { exit, bytes } = await program.run(['record', 's', '--tee'], { stdin });
  expect(bytes.equals(stdin)).toBe(true);
  expect(exit).toBe(1);
  const foreign = await program.run(['record', '--tee'], { stdin: '{"nobody":"knows"}\n' });
  expect([foreign.exit, foreign.stdout]).toEqual([3, '{"nobody":"knows"}\n']);
});

test('IM-40: with --tee a failing disk ends nothing: the stream goes on, the gap is in the log, exit 7', async () => {
  const program = await filledProgram();
  const blocks = turn.map((event) => ownLines([event]));
  let written = 0;
  program.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'ENOSPC' },
    applies: ({ verb, path }) => {
      if (verb !== 'write' || !path.endsWith('events.jsonl')) return false;
      written += 1;
      return written > 2 && written < 5;
    },
  });
  const { exit, stdout, stderr } = await program.run(['record', 's-1', '--tee', '--durability', 'event'], {
    stdin: blocks,
  });
  expect([exit, stdout]).toEqual([7, ownLines(turn)]);
  expect(stderr).toContain('lost');
  program.fs.setFault(null);
  const { records } = await shown(program, 's-1');
  const gap = records.find(({ type }) => type === 'log.recovered');
  expect(gap?.event).toMatchObject({ reason: 'gap' });
  const seqs = records.map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
});

test('IM-40: with --tee a store that cannot be opened ends nothing either', async () => {
  const program = new TestProgram();
  program.disk.plantDirectory('/data');
  program.disk.plantDirectory(program.root, { mode: 0o777 });
  const { exit, stdout } = await program.run(['record', 's', '--tee'], { stdin: ownLines(turn) });
  expect([exit, stdout]).toEqual([9, ownLines(turn)]);
});

test('--tee goes on recording when nobody reads behind it', async () => {
  const program = new TestProgram();
  const blocks = turn.map((event) => ownLines([event]));
  const { exit } = await program.run(['record', 's', '--tee'], { stdin: blocks, stdoutWrites: 1 });
  expect(exit).toBe(0);
  expect((await shown(program, 's')).records).toHaveLength(turn.length + 1);
});

test('what wants stdout for itself excludes the others', async () => {
  const program = new TestProgram();
  for (const pair of [
    ['--tee', '--ack'],
    ['--tee', '--json'],
    ['--ack', '--jsonl'],
  ]) {
    expect((await program.run(['record', 's', ...pair])).exit).toBe(2);
  }
});

test('a session that another writer holds is refused at once, naming the writer', async () => {
  const program = await filledProgram();
  const held = await (await program.store()).open('s-1');
  const { exit, stdout } = await program.run(['record', 's-1', '--json'], { stdin: ownLines(turn) });
  expect(exit).toBe(5);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'locked',
    retryable: true,
    details: { pid: 100, host: 'box' },
  });
  await held.close();
});

test('IM-40: codex exec is known by its first object, and its session named after its thread', async () => {
  const program = new TestProgram();
  const stdin = [
    '{"type":"thread.started","thread_id":"0199-abc"}',
    '{"type":"turn.started"}',
    '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Hi"}}',
    '{"type":"turn.completed","usage":{"input_tokens":3,"cached_input_tokens":0,"output_tokens":1}}',
    '',
  ].join('\n');
  const { exit, stdout } = await program.run(['record', '--json', '-C', '/srv/w', '--prompt', 'Say hi'], {
    stdin,
  });
  expect([exit, JSON.parse(stdout).id]).toEqual([0, 'codex-0199-abc']);
  const { session, records } = await shown(program, 'codex-0199-abc');
  expect(session).toMatchObject({ turns: 1, in_turn: false });
  const types = records.map(({ type }) => type);
  expect(types).toEqual(
    expect.arrayContaining(['run.started', 'user.message', 'item.completed', 'turn.completed']),
  );
  expect(types.filter((type) => type === 'run.started')).toHaveLength(1);
});

test('IM-42: a foreign stream that ends inside a turn fails the turn, exit 1', async () => {
  const program = new TestProgram();
  const stdin = '{"type":"thread.started","thread_id":"t-9"}\n{"type":"turn.started"}\n';
  const { exit } = await program.run(['record', 'f'], { stdin });
  expect(exit).toBe(1);
  const { records } = await shown(program, 'f');
  expect(records.at(-1)?.event).toMatchObject({ type: 'turn.failed', message: 'stream ended' });
});

test('a record of a source that is in the log in another form is there already; any other key in conflict is refused', async () => {
  const program = new TestProgram();
  const line = (key: string, message: string): string =>
    `${JSON.stringify({ event: { type: 'error', message }, key })}\n`;
  const stdin = line('im1:0123456789abcdefghijkl', 'one') + line('own', 'one');
  await program.run(['record', 's'], { stdin });
  const again = await program.run(['record', 's', '--json'], { stdin: stdin.replaceAll('"one"', '"two"') });
  expect([again.exit, JSON.parse(again.stdout)]).toEqual([
    1,
    expect.objectContaining({ appended: 0, duplicates: 1, refused: 1 }),
  ]);
});
