import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { agentPath } from '../support.js';
import { bin, build } from './program.js';

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
