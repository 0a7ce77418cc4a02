import { ownLines, TestProgram, turn } from './support.js';

/** Everything below the root that is a file. */
function textOf(program: TestProgram, path = program.root): string {
  return program.disk
    .list(path)
    .map(({ name, kind }) => {
      const below = `${path}/${name}`;
      if (kind === 'directory') return textOf(program, below);
      const file = program.disk.open(below, 'read');
      const bytes = Buffer.alloc(file.status().size);
      for (let at = 0; at < bytes.length; ) at += file.read(bytes.subarray(at), at);
      file.close();
      return bytes.toString('latin1');
    })
    .join('\n');
}

async function filled(): Promise<TestProgram> {
  const program = new TestProgram();
  await program.fill('s-1', turn);
  return program;
}

const redactLine = (...rest: readonly string[]): readonly string[] => [
  'redact',
  's-1',
  ...rest,
  '--reason',
  'secret',
  '--yes',
];

test('a redacted record is shown as such everywhere, its words are nowhere, and the pack from before verifies', async () => {
  const program = await filled();
  for (const argv of [
    ['pack', 's-1'],
    ['rebuild', 's-1'],
    ['search', 'fixed'],
    ['pack', 's-1'],
  ]) {
    expect([argv, (await program.run(argv)).exit]).toEqual([argv, 0]);
  }
  expect(textOf(program)).toContain('It is fixed.');
  expect(textOf(program)).toContain('fixed');
  const refused = await program.run([...redactLine('5'), '--json']);
  expect([refused.exit, JSON.parse(refused.stdout).error]).toMatchObject([
    9,
    { code: 'guessable', details: { seqs: [5] } },
  ]);
  const done = await program.run(redactLine('5', '--accept-guessable'));
  expect([done.exit, done.stdout]).toEqual([0, 's-1:5  item.completed  redacted, reason secret\n']);
  expect(done.stderr).toContain('redacted 1 records; not reached: exports, fixtures');
  expect(textOf(program)).not.toContain('fixed');
  const shown = await program.run(['show', 's-1']);
  expect(shown.stdout).toContain('item.completed redacted, reason secret, by unknown');
  expect(shown.stdout).toContain('1 records, reason secret, by unknown');
  expect(JSON.parse((await program.run(['verify', 's-1', '--json'])).stdout)).toMatchObject({
    verdict: 'verified',
    tree: { redacted: [{ index: 4, seq: 5, statement_seq: 9 }] },
    mismatches: [],
    missing: [],
  });
  expect((await program.run(['verify', 's-1'])).stdout).toContain('redacted  seq 5, as seq 9 says\n');
  expect((await program.run(['search', 'fixed'])).exit).toBe(1);
  expect((await program.run(['search', 'Köln'])).exit).toBe(0);
  expect((await program.run(['rebuild', '--check'])).exit).toBe(0);
  expect((await program.run(['doctor', '--deep'])).exit).toBe(0);
  const markdown = (await program.run(['export', 's-1', '--format', 'md', '--out', '/data/s-1.md'])).exit;
  expect(markdown).toBe(0);
  expect((await program.run(['stats', '--json'])).stdout).toContain('"input_tokens":12');
});

test('the end of a turn keeps what it cost, and its part in the log', async () => {
  const program = await filled();
  expect((await program.run(redactLine('6', '--accept-guessable'))).exit).toBe(0);
  const document = JSON.parse((await program.run(['stats', '--json'])).stdout);
  expect(document.total).toMatchObject({ turns: 1, usage: { input_tokens: 12, output_tokens: 5 } });
  expect((await program.run(['append', 's-1', '--event', '{"type":"turn.started"}'])).exit).toBe(0);
  const summary = JSON.parse((await program.run(['sessions', '--json'])).stdout);
  expect(summary.sessions[0]).toMatchObject({ turns: 2 });
});

const refusals: readonly (readonly [argv: readonly string[], exit: number, code: string])[] = [
  [['redact'], 2, 'bad-flag'],
  [['redact', 's-1', '2'], 2, 'bad-flag'],
  [['redact', 's-1', 'x', '--reason', 'r'], 2, 'bad-flag'],
  [['redact', 's-1', '0', '--reason', 'r'], 2, 'bad-flag'],
  [['redact', 's-1', '2', '--reason', 'a\nb'], 2, 'bad-flag'],
  [['redact', 's-1', '2', '--apply', '--reason', 'r'], 2, 'bad-flag'],
  [['redact', 's-1', '2', '--scan', 'fixed'], 2, 'bad-flag'],
  [['redact', '--scan', 'a'], 2, 'bad-config'],
  [['redact', '--scan', 'fixed', '--apply', '--yes'], 2, 'bad-flag'],
  [['redact', 's-', '2', '--reason', 'r'], 6, 'not-found'],
  [['redact', 's-1', '99', '--reason', 'r', '--yes'], 6, 'not-found'],
  [['redact', 's-1', '7', '--reason', 'r', '--yes'], 8, 'reserved-record'],
];

test.each(refusals)('%j ends with %p, %s, and changes nothing', async (argv, exit, code) => {
  const program = await filled();
  await program.run(['pack', 's-1']);
  const before = textOf(program);
  const result = await program.run([...argv, '--json']);
  expect([result.exit, JSON.parse(result.stdout).error.code]).toEqual([exit, code]);
  expect(textOf(program)).toBe(before);
});

test('what was redacted before is refused, and what a cut-short run has left over is purged all the same', async () => {
  const program = await filled();
  await program.run(redactLine('5', '--accept-guessable'));
  const left = `${program.session('s-1')}/derived/usage.json`;
  program.disk.plantDirectory(`${program.session('s-1')}/derived`);
  program.disk.plantFile(left, Buffer.from('It is fixed.'));
  const again = await program.run([...redactLine('5', '--accept-guessable'), '--json']);
  expect([again.exit, JSON.parse(again.stdout).error]).toMatchObject([
    6,
    { code: 'gone', details: { seqs: [5], reason: 'redacted' } },
  ]);
  expect(textOf(program)).not.toContain('It is fixed.');
  const nothing = await program.run(['redact', 's-1', '--json']);
  expect([nothing.exit, JSON.parse(nothing.stdout).summary.records]).toEqual([1, 0]);
});

test('a redaction that was begun is named by doctor, and finished by redact ID', async () => {
  const program = await filled();
  program.fs.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb }) =>
      verb === 'rename' &&
      program.disk.status(`${program.session('s-1')}/index/pending-rewrite.json`) !== null,
  });
  expect((await program.run(redactLine('5', '--accept-guessable'))).exit).toBe(7);
  expect(textOf(program)).toContain('It is fixed.');
  const found = await program.run(['doctor', '--json']);
  expect(found.exit).toBe(1);
  expect(JSON.parse(found.stdout).findings).toMatchObject([
    { kind: 'redaction-unfinished', session: 's-1', weight: 'fault' },
  ]);
  const dry = await program.run(['redact', 's-1', '--dry-run', '--json']);
  expect([dry.exit, JSON.parse(dry.stdout).sessions[0].records]).toMatchObject([
    0,
    [{ seq: 5, cause: 'unfinished', reason: 'secret' }],
  ]);
  expect((await program.run(['redact', 's-1', '--yes'])).exit).toBe(0);
  expect(textOf(program)).not.toContain('It is fixed.');
  expect((await program.run(['doctor'])).exit).toBe(0);
});

test('AU-26: --scan lists candidates by kind and pattern, and changes nothing before --apply says so', async () => {
  const program = await filled();
  const key = 'sk-live-0123456789abcdef0123';
  await program.run([
    'append',
    's-1',
    '--event',
    JSON.stringify({ type: 'error', message: `api_key=${key}` }),
  ]);
  await program.fill('s-2', [{ type: 'error', message: 'call me at 555-0199' }]);
  const before = textOf(program);
  const scan = async (...rest: readonly string[]): Promise<{ exit: number; found: unknown }> => {
    const { exit, stdout } = await program.run(['redact', ...rest, '--json']);
    return { exit, found: JSON.parse(stdout).candidates };
  };
  const one = await scan('--scan', 'assign', '--scan', '\\d{3}-\\d{4}');
  expect(one.exit).toBe(0);
  expect(one.found).toMatchObject([
    { id: 's-1', seq: 7, type: 'error', kinds: ['assign'], redactable: true },
    { id: 's-2', seq: 1, kinds: ['user'] },
  ]);
  expect(await scan('s-1', '--scan', '\\d{3}-\\d{4}')).toEqual({ exit: 1, found: [] });
  const dry = await program.run([
    'redact',
    '--scan',
    'assign',
    '--apply',
    '--reason',
    'secret',
    '--accept-guessable',
    '--dry-run',
  ]);
  expect([dry.exit, dry.stderr]).toEqual([0, expect.stringContaining('would redact 1 records')]);
  expect(textOf(program)).toBe(before);
  const applied = await program.run([
    'redact',
    '--scan',
    'assign',
    '--apply',
    '--reason',
    'secret',
    '--accept-guessable',
    '--yes',
  ]);
  expect([applied.exit, textOf(program).includes(key)]).toEqual([0, false]);
  expect(textOf(program)).toContain('555-0199');
});

test('--redactable gives each record a salt, also those that others append later, and nothing is guessable then', async () => {
  const program = new TestProgram();
  const events = [
    { type: 'error', message: 'same' },
    { type: 'error', message: 'same' },
  ];
  expect((await program.run(['record', 's-1', '--redactable'], { stdin: ownLines(events) })).exit).toBe(0);
  await program.run(['append', 's-1', '--event', '{"type":"error","message":"same"}']);
  const { stdout } = await program.run(['show', 's-1', '--raw']);
  const salts = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).salt);
  expect(salts.every((salt) => /^[0-9a-f]{32}$/.test(String(salt)))).toBe(true);
  expect(new Set(salts).size).toBe(salts.length);
  const seq = String(salts.length);
  expect((await program.run(redactLine(seq))).exit).toBe(0);
});

test('without --redactable no record has a salt', async () => {
  const program = await filled();
  expect((await program.run(['show', 's-1', '--raw'])).stdout).not.toContain('"salt"');
});

test('a session that somebody writes to is waited for, and then named as locked', async () => {
  const program = await filled();
  const held = await (await program.store()).open('s-1');
  const result = await program.run([...redactLine('5', '--accept-guessable'), '--json']);
  expect([result.exit, JSON.parse(result.stdout).error.code]).toEqual([5, 'locked']);
  await held.close();
});
