import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { faultsOf } from '../published-schemas.js';
import { agentPath } from '../support.js';
import { bin, build, Running } from './program.js';

let directory: TemporaryDirectory;
let repository: string;
let fixture: string;

beforeAll(build, 120_000);

beforeEach(() => {
  directory = makeTemporaryDirectory();
  fixture = join(directory.path, 'run');
  cpSync(resolve(__dirname, '../../../../test/golden/fixtures/1'), fixture, { recursive: true });
  repository = join(directory.path, 'code');
  mkdirSync(join(repository, 'src'), { recursive: true });
  git('init', '--quiet', '--initial-branch', 'main');
});

afterEach(() => directory.remove());

function git(...argv: readonly string[]): string {
  const own = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', '-c', 'commit.gpgsign=false'];
  const { status, stdout, stderr } = spawnSync('git', [...own, ...argv], {
    cwd: repository,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

const codePath = (): string => join(repository, 'src/agent.cjs');

/** The agent as it was recorded, or one that answers something else from a commit on. */
function agent(name: 'run' | 'other' | 'fail' | 'hang'): string {
  const shared = `const agents = require(${JSON.stringify(agentPath)});\n`;
  const hang = 'exports.run = () => new Promise(() => setInterval(() => undefined, 1_000));\n';
  return name === 'hang' ? hang : `${shared}exports.run = agents.${name};\n`;
}

function commit(subject: string, text: string | null): string {
  if (text === null) rmSync(codePath(), { force: true });
  else writeFileSync(codePath(), text);
  writeFileSync(join(repository, 'notes.txt'), subject);
  git('add', '--all');
  git('commit', '--quiet', '--message', subject);
  return git('rev-parse', 'HEAD');
}

/** All that a search must leave as it is: commits, branches, work trees, index and files. */
function state(): readonly string[] {
  const below = readdirSync(repository, { recursive: true }).map(String);
  return [
    git('status', '--porcelain', '--branch'),
    git('for-each-ref'),
    git('worktree', 'list', '--porcelain'),
    git('stash', 'list'),
    // Git writes down the refs that are there when it removes others.
    ...below.filter((name) => !/^\.git\/(?:objects|index$|hooks|packed-refs$)/.test(name)).sort(),
    readFileSync(codePath(), 'utf8'),
  ];
}

interface Ended {
  readonly exit: number | null;
  readonly document: ReturnType<typeof JSON.parse>;
}

function bisect(...argv: readonly string[]): Ended {
  const all = [bin, 'replay', 'bisect', fixture, '--module', codePath(), '--json', ...argv];
  const { status, stdout } = spawnSync(process.execPath, all, { cwd: directory.path, encoding: 'utf8' });
  return { exit: status, document: JSON.parse(stdout) };
}

test('RE-26: bisect names the first commit that diverges and the divergence there, beside work that is not committed', () => {
  const good = commit('the agent', agent('run'));
  for (const subject of ['one', 'two', 'three']) commit(subject, agent('run'));
  const first = commit('it says something else', agent('other'));
  for (const subject of ['five', 'six', 'seven']) commit(subject, agent('other'));
  writeFileSync(codePath(), `${agent('fail')}// not committed\n`);
  writeFileSync(join(repository, 'new.txt'), 'not even known to git\n');
  const before = state();
  const { exit, document } = bisect('--good', good, '--bad', 'main');
  expect([exit, document.bisection.first_bad.commit]).toEqual([0, first]);
  expect(document.bisection).toMatchObject({
    first_bad: { subject: 'it says something else', author: 'Ann' },
    suspects: [first],
    skipped: 0,
  });
  expect(document.bisection.tested).toBeLessThan(5);
  expect(document).toMatchObject({
    error: null,
    divergence: { kind: 'event-differs', at: { seq: 5 }, diff: [{ path: '/item/text' }] },
  });
  expect(faultsOf('replay.json', document)).toEqual([]);
  expect(state()).toEqual(before);
});

test('RE-26: the next commit may be the bad one; a hook of the repository does not run', () => {
  const good = commit('the agent', agent('run'));
  const bad = commit('it fails', agent('fail'));
  const hook = join(repository, '.git/hooks/post-checkout');
  writeFileSync(hook, `#!/bin/sh\ntouch ${join(directory.path, 'hooked')}\n`, { mode: 0o755 });
  const { exit, document } = bisect('--good', good, '--bad', bad);
  expect([exit, document.bisection.first_bad.commit]).toEqual([0, bad]);
  expect(document).toMatchObject({ divergence: null, error: { name: 'RangeError' } });
  expect(readdirSync(directory.path).sort()).toEqual(['code', 'run']);
});

test('RE-26: commits without the module are skipped, and told where they stand before the first bad one', () => {
  const good = commit('the agent', agent('run'));
  const gone = commit('it is gone', null);
  const back = commit('it is back', agent('other'));
  commit('more', agent('other'));
  const before = state();
  const { exit, document } = bisect('--good', good, '--bad', 'HEAD');
  expect(exit).toBe(1);
  expect(document.bisection).toMatchObject({ first_bad: null, suspects: [back, gone] });
  expect(document.bisection.skipped).toBeGreaterThan(0);
  expect(faultsOf('replay.json', document)).toEqual([]);
  expect(state()).toEqual(before);
});

test('RE-26: ends that are not what they are said to be, and what is no commit, are refused by name', () => {
  const good = commit('the agent', agent('run'));
  const bad = commit('it says something else', agent('other'));
  const before = state();
  const refused = (...argv: readonly string[]): readonly unknown[] => {
    const { exit, document } = bisect(...argv);
    return [exit, document.error.code, document.error.details.flag];
  };
  expect(refused('--good', bad, '--bad', bad)).toEqual([2, 'bad-flag', 'good']);
  expect(refused('--good', good, '--bad', good)).toEqual([2, 'bad-flag', 'bad']);
  expect(refused('--good', good, '--bad', 'nowhere')).toEqual([2, 'bad-flag', 'bad']);
  expect(refused('--good', '--help', '--bad', bad)).toEqual([2, 'bad-flag', 'good']);
  expect(refused('--good', good)).toEqual([2, 'bad-flag', 'bad']);
  expect(refused('--good', good, '--bad', bad, '--shrink')).toEqual([2, 'bad-flag', 'shrink']);
  const loose = [bin, 'replay', 'bisect', fixture, '--module', agentPathOutside(), '--json'];
  const outside = spawnSync(process.execPath, [...loose, '--good', good, '--bad', bad], { encoding: 'utf8' });
  expect([outside.status, JSON.parse(outside.stdout).error.details.flag]).toEqual([2, 'module']);
  writeFileSync(join(fixture, 'events.jsonl'), 'nothing\n');
  expect(bisect('--good', good, '--bad', bad)).toMatchObject({
    exit: 3,
    document: { error: { code: 'invalid-fixture' } },
  });
  expect(state()).toEqual(before);
});

/** A module that lies in no repository. */
function agentPathOutside(): string {
  const path = join(directory.path, 'outside.cjs');
  writeFileSync(path, agent('run'));
  return path;
}

test('RE-26: a signal ends git and the code, and the repository is as it was', async () => {
  const good = commit('the agent', agent('run'));
  for (const subject of ['one', 'two', 'three', 'four']) commit(subject, agent('hang'));
  commit('it says something else', agent('other'));
  const before = state();
  const root = join(directory.path, 'store');
  const argv = [
    'replay',
    'bisect',
    fixture,
    '--module',
    codePath(),
    '--good',
    good,
    '--bad',
    'main',
    '--json',
  ];
  const running = new Running(root, argv);
  const log = (): readonly string[] =>
    readdirSync(join(repository, '.git'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('BISECT_START'));
  await running.until(() => log().length > 0);
  await running.until(() => /--export/.test(spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout));
  const { code } = await running.stop('SIGTERM');
  expect(code).toBe(143);
  expect(state()).toEqual(before);
  const left = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout;
  expect(left.split('\n').filter((line) => line.includes(repository))).toEqual([]);
});
