import { ownLines, TestProgram } from './support.js';

const userFile = '/u/ann/.config/turnlog/config.json';
const projectFile = '/srv/app/.turnlog/config.json';
const localFile = '/srv/app/.turnlog/config.local.json';

function plant(program: TestProgram, path: string, value: unknown): void {
  const parts = path.split('/').slice(1, -1);
  parts.forEach((_, index) => {
    const directory = `/${parts.slice(0, index + 1).join('/')}`;
    if (program.disk.status(directory) === null) program.disk.plantDirectory(directory);
  });
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  program.disk.plantFile(path, Buffer.from(text));
}

interface Explained {
  readonly value: string | null;
  readonly source: string;
}

async function explain(
  program: TestProgram,
  key: string,
  argv: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Explained> {
  const { exit, stdout } = await program.run(['config', 'get', key, '--json', ...argv], {
    cwd: '/srv/app/src',
    env: { TURNLOG_ROOT: '', TURNLOG_TZ: '', ...env },
  });
  expect(exit).toBe(0);
  return JSON.parse(stdout).settings[key];
}

interface Key {
  readonly name: string;
  readonly variable: string;
  /** A value for each source, weakest first. */
  readonly values: readonly [user: string, project: string, local: string, variable: string, flag: string];
  readonly ofVariable?: string;
}

const keys: readonly Key[] = [
  {
    name: 'tz',
    variable: 'TURNLOG_TZ',
    values: ['Europe/Berlin', 'Asia/Tokyo', 'America/Lima', 'Africa/Cairo', 'Asia/Kolkata'],
  },
  {
    name: 'root',
    variable: 'TURNLOG_ROOT',
    values: ['/u/ann/r', '/srv/app/r', '/srv/app/l', '/env/r', '/flag/r'],
  },
  {
    name: 'durability',
    variable: 'TURNLOG_DURABILITY',
    values: ['event', 'buffered', 'turn', 'event', 'buffered'],
  },
  {
    name: 'color',
    variable: 'NO_COLOR',
    values: ['always', 'never', 'always', 'never', 'always'],
    ofVariable: '1',
  },
];

/** Sources in the order of their weight, as `config get` names them. */
const sources = (key: Key): readonly string[] => [
  userFile,
  projectFile,
  localFile,
  key.variable,
  `--${key.name}`,
];

const pairs = keys.flatMap((key) =>
  [0, 1, 2, 3, 4].flatMap((strong) =>
    [0, 1, 2, 3, 4]
      .filter((weak) => weak < strong)
      .map((weak): readonly [string, number, number, Key] => [key.name, strong, weak, key]),
  ),
);

/** The flag of durability belongs to record; get shows what files and variables say. */
const isShown = ([name, strong]: readonly [string, number, number, Key]): boolean =>
  name !== 'durability' || strong < 4;

test.each([0, 1, 2, 3])('I-4 durability: the flag of record goes before source %p', async (weak) => {
  const syncs = async (weakValue: string, argv: readonly string[]): Promise<number> => {
    const program = new TestProgram();
    const file = [userFile, projectFile, localFile][weak];
    if (file !== undefined) plant(program, file, { durability: weakValue });
    const env: Record<string, string> = weak === 3 ? { TURNLOG_DURABILITY: weakValue } : {};
    const stdin = ownLines(Array.from({ length: 9 }, () => ({ type: 'error', message: 'm' })));
    const { exit } = await program.run(['record', 's', ...argv], { stdin, env, cwd: '/srv/app' });
    expect(exit).toBe(0);
    return program.fs.countOf('syncData', (path) => path.endsWith('events.jsonl'));
  };
  expect(await syncs('buffered', [])).toBeLessThan(9);
  expect(await syncs('event', [])).toBeGreaterThanOrEqual(9);
  expect(await syncs('buffered', ['--durability', 'event'])).toBeGreaterThanOrEqual(9);
  expect(await syncs('event', ['--durability', 'buffered'])).toBeLessThan(9);
});

test.each(pairs.filter(isShown))(
  'I-4 %s: source %p goes before source %p, and is named',
  async (name, strong, weak, key) => {
    const program = new TestProgram();
    const argv: string[] = [];
    const env: Record<string, string> = {};
    for (const at of [strong, weak]) {
      const value = key.values[at] ?? '';
      if (at === 0) plant(program, userFile, { [name]: value });
      else if (at === 1) plant(program, projectFile, { [name]: value });
      else if (at === 2) plant(program, localFile, { [name]: value });
      else if (at === 3) env[key.variable] = key.ofVariable ?? value;
      else argv.push(`--${name}`, value);
    }
    expect(await explain(program, name, argv, env)).toEqual({
      value: key.values[strong],
      source: sources(key)[strong],
    });
  },
);

test('I-4 without any source there is the default', async () => {
  const program = new TestProgram();
  expect(await explain(program, 'durability')).toEqual({ value: 'turn', source: 'default' });
  expect(await explain(program, 'root')).toEqual({ value: null, source: 'default' });
});

test('I-4 config --explain names the source of every key', async () => {
  const program = new TestProgram();
  plant(program, projectFile, { tz: 'Asia/Tokyo' });
  const { stdout } = await program.run(['config', 'get', '--explain'], {
    cwd: '/srv/app',
    env: { TURNLOG_TZ: '' },
  });
  expect(stdout).toContain(projectFile);
  expect(stdout).toContain('TURNLOG_ROOT');
  for (const key of keys) expect(stdout).toContain(key.name);
});

test('I-4 a project cannot set a root outside of itself, by name or by link', async () => {
  for (const [path, link] of [
    ['/elsewhere', null],
    ['../../other', null],
    ['inside/store', '/elsewhere'],
  ] as const) {
    const program = new TestProgram();
    plant(program, projectFile, { root: path });
    program.disk.plantDirectory('/elsewhere');
    if (link !== null) program.disk.plantLink('/srv/app/inside', link);
    const result = await program.run(['config', 'get', 'root', '--json'], {
      cwd: '/srv/app',
      env: { TURNLOG_ROOT: '' },
    });
    expect(JSON.parse(result.stdout).settings.root).toEqual({ value: null, source: 'default' });
    expect(result.stderr).toContain('outside of itself');
  }
});

test('I-4 unknown keys and prototype names warn once and have no effect', async () => {
  const program = new TestProgram();
  const text =
    '{"__proto__":{"tz":"Asia/Tokyo"},"constructor":1,"hooks":["x"],"redact":false,"tz":"Europe/Berlin"}';
  plant(program, projectFile, text);
  const result = await program.run(['config', 'get', 'tz', '--json'], {
    cwd: '/srv/app',
    env: { TURNLOG_TZ: '' },
  });
  expect(JSON.parse(result.stdout).settings.tz.value).toBe('Europe/Berlin');
  for (const name of ['__proto__', 'constructor', 'hooks', 'redact']) {
    expect(result.stderr.split(name)).toHaveLength(2);
  }
  expect(({} as { readonly tz?: unknown }).tz).toBeUndefined();
});

const wrong: readonly (readonly [value: unknown, pointer: string])[] = [
  [{ tz: 5 }, '/tz'],
  [{ tz: 'Mars/Olympus' }, '/tz'],
  [{ durability: 'sometimes' }, '/durability'],
  [{ color: true }, '/color'],
  [{ root: ['x'] }, '/root'],
  ['{', ''],
  ['[1]', ''],
];

test.each(wrong)('CL-13: %j is refused with exit 2, file and pointer', async (value, pointer) => {
  for (const file of [userFile, projectFile, localFile]) {
    const program = new TestProgram();
    plant(program, file, value);
    const { exit, stdout } = await program.run(['sessions', '--json'], { cwd: '/srv/app' });
    expect([exit, JSON.parse(stdout).error]).toEqual([
      2,
      expect.objectContaining({
        code: 'bad-config',
        details: expect.objectContaining({ path: file, pointer }),
      }),
    ]);
  }
});

const wrongPatterns: readonly (readonly [value: unknown, pointer: string])[] = [
  ['acme-\\d{4}', ''],
  [['acme-\\d{4}', 7], '/1'],
  [['acme-\\d{4}', 'beta', '(hunter2|x)+'], '/2'],
  [['abc'], '/0'],
  [Array.from({ length: 65 }, () => 'acme'), ''],
];

test.each(wrongPatterns)(
  'CL-13, CL-25: the patterns %j in the user file are refused with exit 2, file and pointer, and are in no error',
  async (patterns, pointer) => {
    const program = new TestProgram();
    plant(program, userFile, { redaction_patterns: patterns });
    for (const argv of [['sessions'], ['config', 'get'], ['sessions', '--no-redact']]) {
      const { exit, stdout, stderr } = await program.run([...argv, '--json']);
      expect([exit, JSON.parse(stdout).error]).toEqual([
        2,
        expect.objectContaining({
          code: 'bad-config',
          details: expect.objectContaining({
            path: userFile,
            pointer: `/redaction_patterns${pointer}`,
            reason: expect.any(String),
          }),
        }),
      ]);
      expect(stdout + stderr).not.toContain('hunter2');
    }
  },
);

test('I-4 redaction_patterns: the user file goes before the default; what a project sets is ignored with a warning', async () => {
  const program = new TestProgram();
  const key = 'redaction_patterns';
  expect(await explain(program, key)).toEqual({ value: [], source: 'default' });
  for (const file of [projectFile, localFile]) plant(program, file, { [key]: ['(not even read'] });
  const result = await program.run(['config', 'get', key, '--json'], { cwd: '/srv/app/src' });
  expect(JSON.parse(result.stdout).settings[key]).toEqual({ value: [], source: 'default' });
  for (const file of [projectFile, localFile]) {
    expect(result.stderr).toContain(`${file}: a project cannot set ${key}; it is ignored`);
  }
  plant(program, userFile, { [key]: ['acme-\\d{4}'] });
  expect(await explain(program, key)).toEqual({ value: ['acme-\\d{4}'], source: userFile });
  const { stdout } = await program.run(['config', 'get', '--explain']);
  expect(stdout).toContain(JSON.stringify(['acme-\\d{4}']));
});

test('config set takes patterns as a list in JSON, and tells programs what it set', async () => {
  const program = new TestProgram();
  const set = async (value: string): Promise<number> =>
    (await program.run(['config', 'set', 'redaction_patterns', value])).exit;
  for (const bad of ['acme', '["(x"]', '{}', '[1]']) expect([bad, await set(bad)]).toEqual([bad, 2]);
  expect(program.disk.status(userFile)).toBeNull();
  expect(await set('["acme-\\\\d{4}"]')).toBe(0);
  expect(JSON.parse(textOf(program, userFile))).toEqual({ redaction_patterns: ['acme-\\d{4}'] });
  const { exit, stdout, stderr } = await program.run(['config', 'set', 'tz', 'UTC', '--json']);
  expect([exit, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({ schema_version: 1, key: 'tz', value: 'UTC', path: userFile });
});

test('wrong variables and flags are refused with exit 2', async () => {
  const program = new TestProgram();
  expect((await program.run(['sessions'], { env: { TURNLOG_TZ: 'Mars/X' } })).exit).toBe(2);
  expect((await program.run(['sessions'], { env: { TURNLOG_DURABILITY: 'x' } })).exit).toBe(2);
  expect((await program.run(['record', 's', '--durability', 'x'])).exit).toBe(2);
});

test('a project file that is no regular file is passed over with a warning', async () => {
  const program = new TestProgram();
  plant(program, localFile, { tz: 'Asia/Tokyo' });
  program.disk.plantLink(projectFile, '/etc/passwd');
  const { exit, stderr } = await program.run(['sessions'], { cwd: '/srv/app' });
  expect(exit).toBe(0);
  expect(stderr).toContain(projectFile);
});

test('config set writes the user file, keeps what it does not know, and is read back', async () => {
  const program = new TestProgram();
  expect((await program.run(['config', 'set', 'tz', 'Asia/Tokyo'])).exit).toBe(0);
  plant(program, userFile, { ...JSON.parse(textOf(program, userFile)), later: [1] });
  expect((await program.run(['config', 'set', 'color', 'never'])).exit).toBe(0);
  expect(JSON.parse(textOf(program, userFile))).toEqual({ tz: 'Asia/Tokyo', later: [1], color: 'never' });
  expect(program.disk.status(userFile)?.mode).toBe(0o600);
  expect(await explain(program, 'tz')).toEqual({ value: 'Asia/Tokyo', source: userFile });
  for (const line of [
    ['set', 'tz', 'x'],
    ['set', 'tz'],
    ['set', 'nope', 'x'],
    ['get', 'tz', 'x'],
    ['put', 'tz'],
  ]) {
    expect((await program.run(['config', ...line])).exit).toBe(2);
  }
});

function textOf(program: TestProgram, path: string): string {
  return Buffer.from(program.disk.contentOf(path)).toString('utf8');
}

const colours: readonly (readonly [
  name: string,
  options: {
    readonly env?: Record<string, string>;
    readonly isTty?: boolean;
    readonly argv?: readonly string[];
  },
  isColoured: boolean,
])[] = [
  ['a terminal', { isTty: true }, true],
  ['a pipe', {}, false],
  ['NO_COLOR', { isTty: true, env: { NO_COLOR: '1' } }, false],
  ['an empty NO_COLOR', { isTty: true, env: { NO_COLOR: '' } }, true],
  ['CLICOLOR_FORCE on a pipe', { env: { CLICOLOR_FORCE: '1' } }, true],
  ['CLICOLOR_FORCE=0 on a pipe', { env: { CLICOLOR_FORCE: '0' } }, false],
  ['NO_COLOR and CLICOLOR_FORCE', { isTty: true, env: { NO_COLOR: '1', CLICOLOR_FORCE: '1' } }, false],
  ['a dumb terminal', { isTty: true, env: { TERM: 'dumb' } }, false],
  ['CI on a pipe', { env: { CI: 'true' } }, false],
  ['--color always on a pipe', { argv: ['--color', 'always'] }, true],
  ['--color never on a terminal', { isTty: true, argv: ['--color', 'never'] }, false],
  ['--color always against NO_COLOR', { env: { NO_COLOR: '1' }, argv: ['--color', 'always'] }, true],
];

test.each(colours)('I-6 %s: the words are the same, coloured or not', async (_name, options, isColoured) => {
  const program = new TestProgram();
  await program.fill('s', [{ type: 'turn.started' }]);
  const { stdout, stderr } = await program.run(['sessions', ...(options.argv ?? [])], options);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this is about
  const plain = stdout.replace(/\x1b\[\d+m/g, '');
  expect(stdout !== plain).toBe(isColoured);
  expect(plain.replace(/ +/g, ' ')).toContain('in turn');
  // There is nothing that lasts, so there is no progress.
  expect(stderr).toBe('');
});
