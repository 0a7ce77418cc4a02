import { caseBytes, filledProgram, type TestProgram, turn } from './support.js';

const formats = ['md', 'html', 'jsonl', 'atif', 'otlp'] as const;

async function contentOf(program: TestProgram, path: string): Promise<string> {
  return Buffer.from(program.disk.contentOf(path)).toString('utf8');
}

test.each(formats)('a session goes to stdout as %s, and nothing else does', async (format) => {
  const program = await filledProgram();
  const { exit, stdout, stderr } = await program.run(['export', 's-1', '--format', format]);
  expect([exit, stderr]).toEqual([0, '']);
  expect(stdout).toContain(format === 'otlp' ? 'invoke_agent' : 'It is fixed.');
});

test('without --content the texts stay out of otlp', async () => {
  const program = await filledProgram();
  const without = await program.run(['export', 's-1', '--format', 'otlp']);
  const withContent = await program.run(['export', 's-1', '--format', 'otlp', '--content']);
  expect(without.stdout).not.toContain('Please fix');
  expect(withContent.stdout).toContain('Please fix');
});

test('--out FILE is that file, --out DIR the id and the ending of the format', async () => {
  const program = await filledProgram();
  expect((await program.run(['export', 's-1', '--out', '/out/mine.md'])).stdout).toBe('/out/mine.md\n');
  const { stdout } = await program.run(['export', 's-1', '--out', '/out', '--format', 'jsonl', '--json']);
  const { exports } = JSON.parse(stdout);
  expect(exports).toEqual([
    expect.objectContaining({ id: 's-1', path: '/out/s-1.jsonl', records: turn.length, error: null }),
  ]);
  expect(exports[0].bytes).toBe(program.disk.contentOf('/out/s-1.jsonl').length);
});

test('several sessions never share a file; one that fails is told and the others are written', async () => {
  const program = await filledProgram();
  await program.fill('s-2', turn);
  program.plant('bad', 'no record\n');
  const argv = ['export', 's-1', 's-2', 'bad', 's-1', '--out', '/out', '--format', 'jsonl', '--json'];
  const { exit, stdout } = await program.run(argv);
  expect([exit, JSON.parse(stdout).summary]).toEqual([1, { exported: 2, failed: 1 }]);
  expect(program.disk.list('/out').map(({ name }) => name)).toEqual(['s-1.jsonl', 's-2.jsonl']);
});

test('I-23 an existing target is untouched without --force, and files are 0600', async () => {
  const program = await filledProgram();
  program.disk.plantFile('/out/s-1.md', Buffer.from('mine'));
  const refused = await program.run(['export', 's-1', '--out', '/out/s-1.md', '--json']);
  expect([refused.exit, JSON.parse(refused.stdout).error]).toEqual([
    9,
    expect.objectContaining({ code: 'needs-yes', hint: expect.stringContaining('--force') }),
  ]);
  expect(await contentOf(program, '/out/s-1.md')).toBe('mine');
  expect((await program.run(['export', 's-1', '--out', '/out/s-1.md', '--force'])).exit).toBe(0);
  expect(await contentOf(program, '/out/s-1.md')).toContain('It is fixed.');
  expect((program.disk.status('/out/s-1.md')?.mode ?? 0) & 0o777).toBe(0o600);
});

test('I-23 a full disk leaves the old file and no other', async () => {
  const program = await filledProgram();
  program.disk.plantFile('/out/s-1.md', Buffer.from('mine'));
  program.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'ENOSPC' },
    applies: ({ verb, path }) => verb === 'write' && path.startsWith('/out/'),
  });
  const { exit, stdout } = await program.run(['export', 's-1', '--out', '/out/s-1.md', '--force', '--json']);
  expect([exit, JSON.parse(stdout).error.code]).toEqual([7, 'io']);
  expect(await contentOf(program, '/out/s-1.md')).toBe('mine');
  expect(program.disk.list('/out').map(({ name }) => name)).toEqual(['s-1.md']);
});

const broken = (): Buffer =>
  Buffer.concat([
    Buffer.from('{"schema_version":"0.18.0","seq":1,"event":{"type":"turn.started"}}\n'),
    Buffer.from('damaged \u001b[31m\n'),
    Buffer.from('{"schema_version":"0.18.0","seq":2,"event":{"type":"turn.completed","usage":{}}}\n'),
  ]);

test('--with-damage writes what is damaged to a file apart; --raw is byte for byte', async () => {
  const program = await filledProgram();
  program.plant('s-2', broken());
  const argv = ['export', 's-2', '--format', 'jsonl', '--out', '/out'];
  const { stdout } = await program.run([...argv, '--with-damage', '--json']);
  expect(JSON.parse(stdout).exports[0].damage).toEqual({
    count: 1,
    bytes: expect.any(Number),
    path: '/out/s-2.damage.ndjson',
  });
  const [line = ''] = (await contentOf(program, '/out/s-2.damage.ndjson')).split('\n');
  expect(JSON.parse(line)).toMatchObject({ line: 2 });
  const raw = await program.run(['export', 's-2', '--format', 'jsonl', '--raw']);
  expect(raw.bytes.equals(broken())).toBe(true);
});

const unchanged = [
  'B37-unicode-line-separators',
  'B40-lone-surrogates',
  'B44-big-integers',
  'B46-proto-keys',
  'B48-deep-nesting',
];

test.each(unchanged)(
  'I-12, I-20: lines of %s in which nothing is redacted stay byte for byte',
  async (name) => {
    const program = await filledProgram();
    const stored = caseBytes(name, 'events.jsonl');
    program.plant('s-2', stored);
    const { bytes } = await program.run(['export', 's-2', '--format', 'jsonl']);
    const whole = await program.run(['export', 's-2', '--format', 'jsonl', '--raw']);
    expect(whole.bytes.equals(stored)).toBe(true);
    const lines = stored.toString('latin1').split('\n');
    for (const line of bytes.toString('latin1').trimEnd().split('\n')) expect(lines).toContain(line);
  },
);

const refused: readonly (readonly string[])[] = [
  ['export'],
  ['export', 's-1', 's-2'],
  ['export', 's-1', '--json'],
  ['export', 's-1', '--raw'],
  ['export', 's-1', '--format', 'html', '--content'],
  ['export', 's-1', '--format', 'jsonl', '--condensed'],
  ['export', 's-1', '--format', 'jsonl', '--with-damage'],
  ['export', 's-1', 's-2', '--out', '/nowhere'],
  ['export', 's-1', '--format', 'pdf'],
];

test.each(refused)('%s %s %s %s %s is refused with exit 2', async (...argv) => {
  const program = await filledProgram();
  await program.fill('s-2', turn);
  const { exit } = await program.run(argv.filter((text) => text !== undefined));
  expect(exit).toBe(2);
});

test('a document does not go to a terminal unless somebody insists', async () => {
  const program = await filledProgram();
  expect((await program.run(['export', 's-1'], { isTty: true })).exit).toBe(2);
  expect((await program.run(['export', 's-1', '--force'], { isTty: true })).exit).toBe(0);
});

test('a file that is no file is not written to', async () => {
  const program = await filledProgram();
  program.disk.plantLink('/out/link.md', '/out/other.md');
  const { exit } = await program.run(['export', 's-1', '--out', '/out/link.md', '--force']);
  expect(exit).toBe(9);
});
