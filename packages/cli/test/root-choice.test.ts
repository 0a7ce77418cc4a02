import { TestProgram, turn } from './support.js';

const places = [
  '/',
  '/srv',
  '/srv/app',
  '/srv/app/src',
  '/srv/app/src/deep/er',
  '/srv/other',
  '/u',
  '/u/ann',
  '/u/ann/.config',
  '/data',
];

function withPlaces(): TestProgram {
  const program = new TestProgram();
  for (const place of [
    '/srv',
    '/srv/app',
    '/srv/app/src',
    '/srv/app/src/deep',
    '/srv/app/src/deep/er',
    '/srv/other',
    '/u',
    '/u/ann',
    '/u/ann/.config',
    '/data',
  ]) {
    program.disk.plantDirectory(place);
  }
  return program;
}

const bare = { TURNLOG_ROOT: '' };
const named: readonly (readonly [
  name: string,
  argv: readonly string[],
  env: Record<string, string>,
  root: string,
])[] = [
  ['--root', ['--root', '/data/flag'], {}, '/data/flag'],
  ['TURNLOG_ROOT', [], { TURNLOG_ROOT: '/data/env' }, '/data/env'],
  ['XDG_DATA_HOME', [], { ...bare, XDG_DATA_HOME: '/data/xdg' }, '/data/xdg/turnlog'],
  ['the default', [], bare, '/u/ann/.local/share/turnlog'],
];

test.each(named)('I-5 %s: from ten directories there is one store', async (_name, argv, env, root) => {
  const program = withPlaces();
  await program.run(['append', 's', '--event', JSON.stringify(turn[0]), ...argv], { env, cwd: '/' });
  for (const cwd of places) {
    const { exit, stdout } = await program.run(['sessions', '--json', ...argv], { env, cwd });
    expect([exit, JSON.parse(stdout).root, JSON.parse(stdout).sessions.length]).toEqual([0, root, 1]);
  }
});

test('I-5 the nearest ancestor whose .turnlog holds sessions; -C counts as the directory', async () => {
  const program = withPlaces();
  for (const path of ['/srv/app/.turnlog', '/srv/app/.turnlog/sessions']) program.disk.plantDirectory(path);
  const root = async (cwd: string, argv: readonly string[] = []): Promise<string> =>
    JSON.parse((await program.run(['sessions', '--json', ...argv], { env: bare, cwd })).stdout).root;
  for (const cwd of ['/srv/app', '/srv/app/src', '/srv/app/src/deep/er'])
    expect(await root(cwd)).toBe('/srv/app/.turnlog');
  for (const cwd of ['/srv', '/srv/other', '/']) expect(await root(cwd)).toBe('/u/ann/.local/share/turnlog');
  expect(await root('/', ['-C', '/srv/app/src'])).toBe('/srv/app/.turnlog');
});

test('I-5 an unsafe owner or mode is refused with the chmod line, a deep root early', async () => {
  for (const [facts, text] of [
    [{ mode: 0o777 }, 'chmod go-w'],
    [{ uid: 7 }, 'belongs to another user'],
  ] as const) {
    const program = new TestProgram();
    program.disk.plantDirectory('/data');
    program.disk.plantDirectory(program.root, facts);
    const { exit, stderr } = await program.run(['sessions']);
    expect(exit).toBe(9);
    expect(stderr).toContain(text);
  }
  const program = new TestProgram();
  const deep = await program.run([
    'append',
    's',
    '--event',
    '{"type":"x.a.b"}',
    '--root',
    `/${'d'.repeat(900)}`,
    '--json',
  ]);
  expect([deep.exit, JSON.parse(deep.stdout).error.details.errno]).toEqual([7, 'ENAMETOOLONG']);
  expect(program.disk.list('/')).toEqual([]);
});

test('CL-15: a folder that a cloud service copies is named in a warning', async () => {
  const program = new TestProgram();
  const { exit, stderr } = await program.run(['sessions', '--root', '/u/ann/Dropbox/log']);
  expect(exit).toBe(0);
  expect(stderr).toContain('cloud');
});
