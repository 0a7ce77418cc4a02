import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { ownLines, turn } from '../support.js';
import { bin, build, Running, rollout, turnlog } from './program.js';

let directory: TemporaryDirectory;

beforeAll(build, 120_000);

beforeEach(() => {
  directory = makeTemporaryDirectory();
});

afterEach(() => directory.remove());

test('I-23 what export, completion and config make is 0600, also under umask 000; the next umask changes nothing', () => {
  const root = join(directory.path, 'store');
  const out = join(directory.path, 'out');
  const config = join(directory.path, 'config.json');
  turnlog(root, ['record', 's'], ownLines(turn));
  mkdirSync(out);
  const run = (mask: string, ...argv: readonly string[]): void => {
    const command = `umask ${mask}; exec "${process.execPath}" "${bin}" --root "${root}" "$@"`;
    const { status, stderr } = spawnSync('bash', ['-c', command, 'turnlog', ...argv], { encoding: 'utf8' });
    expect([argv, status, stderr]).toEqual([argv, 0, expect.any(String)]);
  };
  for (const mask of ['000', '077']) {
    for (const format of ['md', 'html', 'jsonl', 'atif', 'agent-trace', 'otlp']) {
      run(mask, 'export', 's', '--format', format, '--out', out, '--force');
    }
    run(mask, 'config', 'set', 'tz', 'UTC', '--config', config);
    for (const path of [config, ...readdirSync(out).map((name) => join(out, name))]) {
      expect([path, statSync(path).mode & 0o777]).toEqual([path, 0o600]);
    }
  }
  expect(readdirSync(out)).toHaveLength(6);
});

test('CL-10 the start loads no native module', () => {
  const preload = join(directory.path, 'preload.cjs');
  writeFileSync(preload, "process.dlopen = (module, path) => { throw new Error('native: ' + path); };\n");
  for (const argv of [['--version'], ['--help'], ['show', '--help'], ['sessions']]) {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--require', preload, bin, '--root', join(directory.path, 'store'), ...argv],
      { encoding: 'utf8' },
    );
    expect([argv, status, stderr.includes('native')]).toEqual([argv, 0, false]);
  }
});

test('IM-45: import --watch brings what comes, tells it, and ends on SIGINT', async () => {
  const root = join(directory.path, 'store');
  const folder = join(directory.path, 'rollouts');
  mkdirSync(folder);
  const thread = '0199a213-0000-7000-8000-000000000001';
  const path = join(folder, `rollout-2026-01-02T00-00-00-${thread}.jsonl`);
  const whole = rollout(thread, 20);
  const half = rollout(thread, 10);
  writeFileSync(path, half);
  const watching = new Running(root, ['import', folder, '--watch', '--jsonl']);
  try {
    await watching.until(() => watching.stdout.includes('"state":"new"'));
    appendFileSync(path, whole.slice(half.length));
    await watching.until(() => watching.stdout.includes('"state":"grown"'));
  } finally {
    expect(await watching.stop('SIGINT')).toMatchObject({ code: 130, signal: null });
  }
  const { stdout } = turnlog(root, ['show', `codex-${thread}`, '--json']);
  for (const said of ['done 1 ', 'done 11 ']) expect(stdout).toContain(said);
}, 30_000);

test('tail -f is woken before it would look by itself', async () => {
  const root = join(directory.path, 'store');
  turnlog(root, ['record', 's'], ownLines(turn));
  const follower = new Running(root, ['tail', 's', '-f', '-n', '1', '--jsonl']);
  await follower.until(() => follower.stdout.includes('"seq":7'));
  for (let n = 0; n < 3; n += 1) {
    turnlog(root, ['append', 's', '--event', `{"type":"x.acme.n${n}"}`]);
    await follower.until(() => follower.stdout.includes(`x.acme.n${n}`));
  }
  expect(await follower.stop('SIGTERM')).toMatchObject({ code: 143, signal: null, stderr: '' });
}, 30_000);
