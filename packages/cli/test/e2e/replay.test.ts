import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { agentPath, ownLines } from '../support.js';
import { bin, build, turnlog } from './program.js';

let directory: TemporaryDirectory;
let fixture: string;

beforeAll(build, 120_000);

beforeEach(() => {
  directory = makeTemporaryDirectory();
  fixture = join(directory.path, 'run');
  cpSync(resolve(__dirname, '../../../../test/golden/fixtures/1'), fixture, { recursive: true });
});

afterEach(() => directory.remove());

function replay(...argv: readonly string[]): { readonly exit: number | null; readonly document: unknown } {
  const all = [bin, 'replay', fixture, '--module', agentPath, '--json', ...argv];
  const { status, stdout } = spawnSync(process.execPath, all, { encoding: 'utf8' });
  return { exit: status, document: JSON.parse(stdout) };
}

test('RE-22, RE-26: code is run in a process of its own: 0 without divergence, 1 with one, and what it fails with is told', () => {
  expect(replay()).toMatchObject({
    exit: 0,
    document: { divergence: null, error: null, served: 3, appended: 6 },
  });
  expect(replay('--export', 'other')).toMatchObject({
    exit: 1,
    document: {
      divergence: {
        kind: 'event-differs',
        at: { seq: 5, turn: 1, item: 'i2' },
        diff: [{ path: '/item/text' }],
      },
    },
  });
  expect(replay('--export', 'other', '--until', '4')).toMatchObject({
    exit: 0,
    document: { divergence: null },
  });
  expect(replay('--export', 'fail')).toMatchObject({
    exit: 1,
    document: { divergence: null, error: { name: 'RangeError', message: 'out of range' } },
  });
  expect(replay('--export', 'nobody')).toMatchObject({ exit: 1, document: { error: { name: 'TypeError' } } });
});

test('RE-26: a socket is the failure TURNLOG_NETWORK_USED', () => {
  expect(replay('--export', 'dial')).toMatchObject({
    exit: 1,
    document: { error: { code: 'network-used' } },
  });
  expect(readFileSync(agentPath, 'utf8')).toContain('fetch(');
});

test('RE-22: a damaged fixture ends with 3 and names the file', () => {
  writeFileSync(join(fixture, 'events.jsonl'), 'nothing\n');
  expect(replay()).toMatchObject({
    exit: 3,
    document: { error: { code: 'invalid-fixture', details: { path: join(fixture, 'events.jsonl') } } },
  });
});

/** Many kinds of records, with what a careless program would change. */
const mixed = Array.from({ length: 12 }, (_, n) => [
  { type: 'turn.started' },
  {
    type: 'user.message',
    id: `m${n}`,
    origin: 'prompt',
    content: [{ type: 'text', text: `Zeile\u2028 ${n} „ü“` }],
  },
  {
    type: 'item.started',
    item: {
      id: `t${n}`,
      type: 'tool_invocation',
      tool_name: 'read',
      arguments: { n },
      status: 'in_progress',
    },
  },
  {
    type: 'item.completed',
    item: { id: `o${n}`, type: 'tool_output', call_id: `t${n}`, output: `${n}`, status: 'completed' },
  },
  { type: 'item.completed', item: { id: `a${n}`, type: 'agent_message', text: `answer ${n}` } },
  { type: 'turn.completed', usage: { input_tokens: n, output_tokens: 1 } },
]).flat();

test('R-1 a fixture is valid, its sums and lines are right, and it is the same bytes on every machine', () => {
  const root = join(directory.path, 'store');
  turnlog(root, ['record', 's'], ownLines(mixed));
  const first = join(directory.path, 'first');
  expect(turnlog(root, ['fixture', 'make', 's', '--out', first]).code).toBe(0);
  expect(turnlog(root, ['fixture', 'check', first, '--json'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"root":"verified"'),
  });
  const sums = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
    cwd: first,
    encoding: 'utf8',
  });
  expect([sums.status, sums.stdout.match(/: OK/g)?.length]).toEqual([0, 3]);
  const stored = readFileSync(join(root, 'sessions/s/events.jsonl'));
  expect(readFileSync(join(first, 'events.jsonl')).equals(stored)).toBe(true);

  // Another machine: a copy of the store elsewhere, in another zone and language, with another mask.
  for (const [name, TZ, LANG, mask] of [
    ['a', 'Pacific/Apia', 'C', '000'],
    ['b', 'America/St_Johns', 'tr_TR.UTF-8', '077'],
  ] as const) {
    const home = join(directory.path, name, 'deeper');
    mkdirSync(home, { recursive: true, mode: 0o700 });
    cpSync(root, join(home, 'store'), { recursive: true });
    const line = `umask ${mask}; exec "${process.execPath}" "${bin}" --root "${home}/store" fixture make s --out out --name s`;
    const env = { ...process.env, TZ, LANG, HOME: home, TURNLOG_TZ: TZ };
    const { status, stderr } = spawnSync('bash', ['-c', line], { cwd: home, env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    for (const file of readdirSync(first)) {
      const made = join(home, 'out', file);
      expect([file, readFileSync(made).equals(readFileSync(join(first, file)))]).toEqual([file, true]);
      expect([file, statSync(made).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(statSync(join(home, 'out')).mode & 0o777).toBe(0o700);
  }
});

test('R-1 the fixture that other versions of Node made of the same session is the same bytes', () => {
  const root = join(directory.path, 'store');
  const kept = resolve(__dirname, '../../../../test/golden/fixtures/1');
  mkdirSync(join(root, 'sessions/s-1'), { recursive: true, mode: 0o700 });
  cpSync(join(kept, 'events.jsonl'), join(root, 'sessions/s-1/events.jsonl'));
  const made = join(directory.path, 'made');
  expect(turnlog(root, ['fixture', 'make', 's-1', '--out', made])).toMatchObject({ code: 0 });
  for (const file of readdirSync(kept)) {
    expect([file, readFileSync(join(made, file), 'utf8')]).toEqual([
      file,
      readFileSync(join(kept, file), 'utf8'),
    ]);
  }
});
