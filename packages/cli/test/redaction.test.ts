import { openRedactionKey } from '@turnlog/store';
import { carriers, lookAlikes, type Planted, plantSecrets, readings } from '@turnlog/testkit';
import { everyVerb, filledProgram, ownLines, type TestProgram, turn } from './support.js';

const secretCount = 1_000;
const planted = plantSecrets(secretCount, 19);

/** The session `s-1`, whose records, title, tags and workspaces hold every one of the secrets. */
async function programWith(secrets: readonly Planted[]): Promise<TestProgram> {
  const program = await filledProgram();
  const lines = secrets.map((secret, at) => carriers[at % carriers.length]?.line(secret, at) ?? '');
  const named = secrets.filter((_, at) => at % 40 === 0).map(({ text }) => text.slice(0, 400));
  const more = named.flatMap((text, at) => [
    { type: 'run.started', program: text, version: text, cwd: text, workspace: `/w/${text}`, agent: text },
    { type: 'journal.set', title: text, tags: [text, `tag ${at}`] },
    { type: 'turn.started', context: { goal: text } },
    { type: 'turn.failed', message: text },
  ]);
  const stored = more.map((event) => JSON.stringify({ schema_version: '0.18.0', event }));
  program.plant('s-1', `${[...lines, ...stored].join('\n')}\n`);
  const [first] = named;
  if (first !== undefined) {
    const name = first.replaceAll('/', '').slice(0, 100);
    program.disk.plantDirectory(`/foreign/${name}`);
    program.disk.plantFile(`/foreign/${name}/events.jsonl`, Buffer.from('no record\n'));
  }
  return program;
}

function foundIn(text: string, secrets: readonly Planted[]): readonly string[] {
  const texts = readings(text);
  return secrets.flatMap(({ kind, name, secrets: parts }) =>
    parts.filter((part) => texts.some((each) => each.includes(part))).map(() => `${kind}, ${name}`),
  );
}

type Forms = readonly (readonly string[])[];

/** All forms of what a verb says, and of how it fails. */
const everyForm: Forms = [[], ['--json'], ['--jsonl'], ['-v'], ['--nonsense', '-v']];
const asText: Forms = [[]];
const asRowsToo: Forms = [[], ['--jsonl']];
const asDocumentToo: Forms = [[], ['--json'], ['--jsonl']];

async function everythingSaid(program: TestProgram, argv: readonly string[], forms: Forms): Promise<string> {
  const stdin = argv[0] === 'record' ? `${ownLines(turn)}${planted[0]?.text ?? ''}\n` : '';
  let said = '';
  for (const more of forms) {
    const { stdout, stderr } = await program.run([...argv, ...more], { stdin });
    said += stdout + stderr;
  }
  return said;
}

/** Each verb in every form; of more ways to use it, the forms that print anything else. */
const lines: readonly (readonly [name: string, argv: readonly string[], forms: Forms])[] = [
  ...everyVerb().map(([name, argv]) => [name, argv, everyForm] as const),
  ['show, all of it', ['show', 's-1', '--full'], asText],
  ['show, JSON', ['show', 's-1', '--format', 'json', '--order', 'newest', '--limit', '2000'], asRowsToo],
  ['tail, all of it', ['tail', 's-1', '-n', '100000'], asDocumentToo],
  ['sessions, hidden ones too', ['sessions', '--include-hidden'], asDocumentToo],
  ['doctor, deep', ['doctor', '--deep'], asDocumentToo],
  ['stats, by everything', ['stats', '--by', 'session,workspace,model'], asDocumentToo],
  ...['md', 'html', 'jsonl', 'atif', 'agent-trace', 'otlp'].map(
    (format) => [`export, ${format}`, ['export', 's-1', '--format', format], asText] as const,
  ),
  ['export, otlp with content', ['export', 's-1', '--format', 'otlp', '--content'], asText],
];

test.each(lines)(
  'CL-24, I-19: of 1,000 planted secrets none comes out of %s',
  async (_name, argv, forms) => {
    const program = await programWith(planted);
    expect(foundIn(await everythingSaid(program, argv, forms), planted)).toEqual([]);
  },
  60_000,
);

test('the search for them finds what is not redacted', async () => {
  const program = await programWith(planted);
  const { stdout } = await program.run(['show', 's-1', '--json', '--no-redact']);
  expect(new Set(foundIn(stdout, planted)).size).toBeGreaterThan(40);
  const list = await program.run(['sessions', '--no-redact']);
  expect(foundIn(list.stdout, planted).length).toBeGreaterThan(0);
});

test('I-19 what only looks like a secret comes out as it is', async () => {
  const alike = lookAlikes(secretCount, 23);
  const program = await filledProgram();
  const events = alike.map(({ json }) => ({ type: 'x.acme.note', value: json }));
  await program.fill('s-2', events);
  const { stdout } = await program.run(['show', 's-2', '--json']);
  const shown: readonly { readonly event: { readonly value: unknown } }[] = JSON.parse(stdout).records;
  expect(shown.map(({ event }) => event.value)).toEqual(alike.map(({ json }) => json));
});

const [apiKey = ''] = plantSecrets(1, 7).flatMap(({ secrets }) => secrets);
const telling = { type: 'item.completed', item: { id: 'i', type: 'agent_message', text: `use ${apiKey}` } };

async function programWithKey(): Promise<TestProgram> {
  const program = await filledProgram();
  await program.fill('s-2', [
    { type: 'journal.set', title: `about ${apiKey}`, tags: [apiKey] },
    {
      type: 'run.started',
      program: 'p',
      version: '1',
      cwd: '/',
      workspace: `/w/${apiKey}`,
      agent: 'primary',
    },
    telling,
  ]);
  return program;
}

const ways: readonly (readonly string[])[] = [
  ['show', 's-2'],
  ['show', 's-2', '--json'],
  ['show', 's-2', '--jsonl'],
  ['tail', 's-2'],
  ['tail', 's-2', '--json'],
  ['sessions'],
  ['sessions', '--json'],
  ['sessions', '--jsonl'],
];

test.each(ways)('I-20 %s %s %s: --no-redact shows what is stored, and JSON says so', async (...argv) => {
  const program = await programWithKey();
  const masked = await program.run(argv);
  expect(masked.stdout).not.toContain(apiKey);
  expect(masked.stdout).toMatch(/\[redacted:[a-z]+:[0-9a-f]{8}\]/);
  const plain = await program.run([...argv, '--no-redact']);
  expect(plain.stdout).toContain(apiKey);
  if (argv.includes('--json')) {
    expect(JSON.parse(masked.stdout)).toMatchObject({ redacted: true, redaction_list: expect.any(Number) });
    expect(JSON.parse(plain.stdout)).toMatchObject({ redacted: false });
  }
  if (argv.includes('--jsonl')) {
    const last = plain.stdout.trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last).summary).toMatchObject({ redacted: false });
  }
});

test('I-20 --raw is byte for byte', async () => {
  const program = await programWithKey();
  const stored = Buffer.from(program.disk.contentOf(`${program.session('s-2')}/events.jsonl`));
  for (const argv of [
    ['show', 's-2', '--raw'],
    ['tail', 's-2', '--raw'],
    ['show', 's-2:1..3', '--raw'],
  ]) {
    expect((await program.run(argv)).bytes.equals(stored)).toBe(true);
  }
});

test('CL-26 equal secrets have equal marks, in every run on a store; a store without secrets gets no key', async () => {
  const program = await programWithKey();
  const path = `${program.root}/redaction.key`;
  await program.run(['show', 's-1', '--json']);
  expect(program.disk.status(path)).toBeNull();
  const marks = new Set<string>();
  for (const argv of [['show', 's-2'], ['tail', 's-2'], ['sessions', '--json'], ['sessions']]) {
    for (const [mark] of (await program.run(argv)).stdout.matchAll(/\[redacted:[^\]]*\]/g)) marks.add(mark);
  }
  expect(marks.size).toBe(1);
  expect(openRedactionKey(program.machine, program.root).scope).toBe('store');
});

test('CL-24 what is typed comes back without its secrets, also where no store can be opened', async () => {
  const program = await filledProgram();
  for (const argv of [[apiKey], ['show', apiKey], ['sessions', `--${apiKey}`], ['import', `/no/${apiKey}`]]) {
    for (const form of [[], ['--json'], ['-v']]) {
      const { stdout, stderr, exit } = await program.run([...argv, ...form]);
      expect(exit).toBeGreaterThan(0);
      expect(stdout + stderr).not.toContain(apiKey);
    }
    const { stderr } = await program.run([...argv, '--no-redact']);
    expect(stderr).toContain(apiKey);
  }
});

const codeName = 'falcon-90210';
const patterns = JSON.stringify({ redaction_patterns: ['falcon-\\d{5}'] });

/** A store in which a name of the user stands wherever texts stand, and the user file that names its pattern. */
async function programWithPattern(): Promise<TestProgram> {
  const program = await filledProgram();
  for (const path of ['/u', '/u/ann', '/u/ann/.config', '/u/ann/.config/turnlog'])
    program.disk.plantDirectory(path);
  program.disk.plantFile('/u/ann/.config/turnlog/config.json', Buffer.from(patterns));
  const agent = { type: 'item.completed', item: { id: 'i9', type: 'agent_message', text: codeName } };
  const run = { type: 'run.started', program: codeName, version: codeName, cwd: '/', workspace: codeName };
  await program.fill('s-1', [
    { type: 'journal.set', title: codeName, tags: [codeName] },
    run,
    { type: 'turn.started', context: { goal: codeName } },
    agent,
    { type: 'turn.failed', message: codeName },
    { type: 'x.acme.note', [codeName]: [codeName] },
  ]);
  program.plant(codeName, 'no record\n');
  return program;
}

test.each(lines)('CL-25 what a pattern of the user finds comes out of no way: %s', async (_name, argv) => {
  const program = await programWithPattern();
  const everything = [
    [...argv],
    [...argv, '--json'],
    [...argv, '--jsonl'],
    [...argv, '-v', '--root', `/none/${codeName}`],
  ];
  let said = '';
  for (const each of everything) {
    const { stdout, stderr } = await program.run(each);
    said += stdout + stderr;
  }
  for (const { name } of program.disk.list('/out')) {
    if (program.disk.status(`/out/${name}`)?.kind === 'file')
      said += Buffer.from(program.disk.contentOf(`/out/${name}`)).toString('utf8');
  }
  expect(said).not.toContain(codeName);
});

test('CL-25 the patterns are those of the user: without the file, and with --no-redact, the name is shown', async () => {
  const program = await programWithPattern();
  const masked = await program.run(['show', 's-1', '--json']);
  expect(masked.stdout).toMatch(/\[redacted:user:[0-9a-f]{8}\]/);
  expect((await program.run(['show', 's-1', '--no-redact'])).stdout).toContain(codeName);
  const elsewhere = { env: { TURNLOG_CONFIG: '/u/ann/none.json' } };
  expect((await program.run(['show', 's-1'], elsewhere)).stdout).toContain(codeName);
  for (const path of ['/srv', '/srv/.turnlog']) program.disk.plantDirectory(path);
  program.disk.plantFile('/srv/.turnlog/config.json', Buffer.from(patterns));
  const project = await program.run(['show', 's-1'], { ...elsewhere, cwd: '/srv' });
  expect(project.stdout).toContain(codeName);
  expect(project.stderr).toContain('a project cannot set redaction_patterns');
});

test('what the program says about itself is not touched', async () => {
  const program = await filledProgram();
  for (const argv of [
    ['capabilities', '--json'],
    ['config', 'get', '--json'],
    ['completion', 'zsh'],
  ]) {
    const masked = await program.run(argv);
    const plain = await program.run([...argv, '--no-redact']);
    const without = (text: string): string => text.replace(/"redacted":[^,]*,(?:"redaction_list":\d+,)?/, '');
    expect(without(masked.stdout)).toBe(without(plain.stdout));
  }
});
