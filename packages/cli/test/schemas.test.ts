import { recordRoles } from '@turnlog/events';
import { closed, faultsOf } from './published-schemas.js';
import { caseBytes, editedRoot, filledProgram, ownLines, TestProgram, turn } from './support.js';

const planted = async (): Promise<TestProgram> => {
  const program = await filledProgram();
  program.plant('bad', 'no record\n');
  program.plant('torn', '{"schema_version":"0.18.0","seq":1,"event":{"type":"turn.started"}}\nhalf a l');
  program.plant('B44', caseBytes('B44-big-integers', 'events.jsonl'));
  program.plant('B46', caseBytes('B46-proto-keys', 'events.jsonl'));
  program.plant('B49', caseBytes('B49-bad-timestamps', 'events.jsonl'));
  program.plant('B90', caseBytes('B01-torn-tail', 'events.jsonl'));
  await program.fill('fork', [
    {
      type: 'run.started',
      program: 'p',
      cwd: '/w',
      workspace: '/w',
      forked_from: { session: 's-1', seq: 2 },
    },
    { type: 'turn.started' },
  ]);
  await program.fill('lost', [
    { type: 'run.started', program: 'p', cwd: '/w', forked_from: { session: 'nobody', seq: 9 } },
  ]);
  const huge = { input_tokens: '#', output_tokens: 1 };
  const session = await (await program.store()).open('huge');
  session.append({ type: 'turn.started' });
  session.append({
    raw: JSON.stringify({ type: 'turn.completed', usage: huge }).replace('"#"', '9007199254740993'),
  });
  await session.close();
  program.disk.plantDirectory('/foreign/v-2');
  program.disk.plantFile('/foreign/v-2/events.jsonl', Buffer.from('no record\n'));
  program.disk.plantLink('/foreign/link', '/out');
  program.disk.setMode(`${program.session('s-1')}/manifest.json`, 0o644);
  return program;
};

/** Ways to print what the plain command lines of the verbs do not: nulls, failures, damage, big numbers, pages. */
const lines: readonly (readonly [schema: string, argv: readonly string[]])[] = [
  ['sessions', ['sessions', '--include-hidden']],
  ['sessions', ['sessions', '--limit', '2', '--include-hidden']],
  ['show', ['show', 'fork']],
  ['show', ['show', 'lost']],
  ['show', ['show', 'torn']],
  ['show', ['show', 'B44']],
  ['show', ['show', 'B46']],
  ['show', ['show', 'B49', '--role', recordRoles.join(',')]],
  ['show', ['show', 's-1', '--no-redact']],
  ['show', ['show', 's-1:2..3']],
  ['tail', ['tail', 'B46', '-n', '100']],
  ['tail', ['tail', 'huge', '-n', '0']],
  ['stats', ['stats', '--by', 'day,session']],
  ['stats', ['stats', '--by', 'model', '--since', '2026-01-01']],
  ['stats', ['stats', '--by', 'workspace,tool', '--limit', '1']],
  ['stats', ['stats', '--by', 'session', '--until', '2027-01-01']],
  ['doctor', ['doctor', '--deep']],
  ['doctor', ['doctor', '--fix']],
  ['rebuild', ['rebuild', '--check']],
  ['rebuild', ['rebuild', 's-1', 'bad']],
  ['rebuild', ['rebuild', '--only', 'search']],
  ['rebuild', ['rebuild', '--check', '--only', 'search']],
  ['blame', ['blame', 'src/bridge.ts', '--prove', '--root', editedRoot]],
  ['blame', ['blame', 'src/bridge.ts:1', '--prove', '--root', editedRoot]],
  ['export', ['export', 's-1', 'bad', '--out', '/out']],
  ['export', ['export', 'torn', '--out', '/out', '--with-damage', '--format', 'agent-trace', '--force']],
  ['import', ['import', '/foreign', '--dry-run']],
  ['import', ['import', '/foreign', '--raw', 'reference']],
  ['append', ['append', 's-1', '--event', '{"type":"x.a.b"}', '--key', 'k']],
  ['session-tag', ['session', 'tag', 's-1', 'none', '--remove']],
  ['config-get', ['config', 'get', 'durability']],
  ['config-set', ['config', 'set', 'redaction_patterns', '["acme-\\\\d{4}"]']],
];

test.each(lines)('I-1 valid by the schema of %s whatever there is to say: %j', async (schema, argv) => {
  for (const form of ['--json', '--jsonl']) {
    const program = await planted();
    const { stdout } = await program.run([...argv, form]);
    const rows = stdout.trimEnd().split('\n');
    expect(rows.length).toBeGreaterThan(0);
    const reference = form === '--json' ? `${schema}.json` : `${schema}.json#/$defs/line`;
    for (const row of rows) {
      const document: unknown = JSON.parse(row);
      expect([row, faultsOf(reference, document)]).toEqual([row, []]);
      expect([row, faultsOf(reference, document, 'open')]).toEqual([row, []]);
    }
  }
});

test('I-1 big numbers are texts beside their marks, by the schema too', async () => {
  const program = await planted();
  const { stdout } = await program.run(['stats', '--by', 'session', '--json']);
  const { rows } = JSON.parse(stdout);
  const huge = rows.find(({ session }: { readonly session: string }) => session === 'huge');
  expect(huge.usage).toMatchObject({ input_tokens: '9007199254740993', input_tokens_exact: true });
});

interface Cut {
  readonly records?: readonly unknown[];
  readonly error?: { readonly code: string };
}

test('I-1 a document that ends in a failure is valid by the schema of show', async () => {
  const program = await filledProgram();
  await program.fill(
    'long',
    Array.from({ length: 4_000 }, (_, n) => ({ type: 'x.acme.n', text: `${n} ${'x'.repeat(200)}` })),
  );
  const shownUntil = async (call: number): Promise<{ readonly exit: number; readonly document: Cut }> => {
    program.fs.setFault({
      call,
      lasting: 'from-then-on',
      effect: { errno: 'EIO' },
      applies: ({ verb, path }) => verb === 'read' && path.endsWith('long/events.jsonl'),
    });
    const { exit, stdout } = await program.run(['show', 'long', '--json']);
    return { exit, document: JSON.parse(stdout) };
  };
  let [call, shown] = [1, await shownUntil(1)];
  for (; (shown.document.records ?? []).length === 0; call += 1) shown = await shownUntil(call);
  const { exit, document } = shown;
  expect([exit, document.error?.code]).toEqual([7, 'io']);
  expect(faultsOf('show.json', document)).toEqual([]);
});

test('I-1 every failure is told by the schema of errors, on stdout and on stderr', async () => {
  const program = await planted();
  for (const argv of [
    ['nothing'],
    ['show', '../x'],
    ['show', 'nobody'],
    ['show', 'bad'],
    ['export', 's-1'],
    ['doctor', '--force-unlock', 'none'],
    ['append', 's-1', '--event', '{', '--jsonl'],
  ]) {
    const form = argv.includes('--jsonl') ? [] : ['--json'];
    const { exit, stdout, stderr } = await program.run([...argv, ...form]);
    expect(exit).toBeGreaterThan(1);
    for (const text of [stdout, stderr]) expect(faultsOf('error.json', JSON.parse(text))).toEqual([]);
  }
  expect(faultsOf('error.json', { schema_version: 1, error: { code: 'TURNLOG_IO' } })).not.toEqual([]);
});

test('I-1 lines of --ack and of --progress json have their schemas', async () => {
  const program = await filledProgram();
  const { stdout } = await program.run(['record', 'new-1', '--ack'], { stdin: ownLines(turn) });
  const acknowledged = stdout.trimEnd().split('\n');
  expect(acknowledged).toHaveLength(turn.length);
  for (const line of acknowledged) {
    expect(faultsOf('record.json#/$defs/acknowledged', JSON.parse(line))).toEqual([]);
  }
  const progress = { phase: 'scan', done: 12, total: 40, unit: 'sessions' };
  expect(faultsOf('progress.json', { progress })).toEqual([]);
  expect(faultsOf('progress.json', { progress: { ...progress, done: '12' } })).not.toEqual([]);
});

const configurations: readonly (readonly [value: unknown, isValid: boolean])[] = [
  [{}, true],
  [{ root: '/r', tz: 'UTC', durability: 'event', color: 'never', redaction_patterns: ['acme-\\d{4}'] }, true],
  [{ root: null, durability: null, later: [1] }, true],
  [{ root: ['x'] }, false],
  [{ root: '' }, false],
  [{ tz: 5 }, false],
  [{ durability: 'sometimes' }, false],
  [{ color: true }, false],
  [{ redaction_patterns: 'acme' }, false],
  [{ redaction_patterns: [7] }, false],
  [[1], false],
];

test.each(configurations)(
  'I-1, CL-13: the schema of the configuration file and the program agree on %j',
  async (value, isValid) => {
    expect(faultsOf('config-file.json', value, 'open').length === 0).toBe(isValid);
    const program = new TestProgram();
    for (const path of ['/u', '/u/c']) program.disk.plantDirectory(path);
    program.disk.plantFile('/u/c/config.json', Buffer.from(JSON.stringify(value)));
    const { exit } = await program.run(['config', 'get', '--config', '/u/c/config.json']);
    expect(exit).toBe(isValid ? 0 : 2);
  },
);

test('what is closed by name stays open where any member may stand', () => {
  const open = { type: 'object', additionalProperties: { type: 'object', properties: {} } };
  expect(closed(open)).toEqual({
    type: 'object',
    additionalProperties: { type: 'object', properties: {}, additionalProperties: false },
  });
});
