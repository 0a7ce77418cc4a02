import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { makeTemporaryDirectory } from '@turnlog/testkit';

const root = resolve(__dirname, '../..');
const example = join(root, 'examples/replay-in-jest');
const fixture = join(example, 'test/fixtures/fix-login');

beforeAll(() => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-b', 'packages/replay'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the package does not build:\n${stdout}`);
}, 120_000);

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[];
  }[];
}

/** Runs jest as a project of its own would: with ES modules, and the packages as they are published. */
function jest(
  argv: readonly string[],
  more: object = {},
  { home = example, env = {} }: { readonly home?: string; readonly env?: NodeJS.ProcessEnv } = {},
): { readonly report: Report; readonly stderr: string } {
  const config: object = JSON.parse(readFileSync(join(example, 'jest.config.json'), 'utf8'));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--experimental-vm-modules',
      join(root, 'node_modules/jest/bin/jest.js'),
      '--config',
      JSON.stringify({ ...config, ...more, rootDir: home }),
      '--json',
      ...argv,
    ],
    { cwd: home, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', ...env } },
  );
  return { report: JSON.parse(stdout), stderr };
}

test('R-15 the example of the specification runs as a test, in workers side by side; and so does one without matchers', () => {
  const { report } = jest(['--maxWorkers', '2']);
  expect([report.numPassedTests, report.numFailedTests]).toEqual([3, 1]);
  const alone = jest(['--runInBand', '--detectOpenHandles', 'fix-login.test'], {
    fakeTimers: { enableGlobally: true },
  });
  expect([alone.report.numPassedTests, alone.report.numFailedTests]).toEqual([3, 0]);
  expect(alone.stderr).not.toContain('open handle');
});

test('the report of a divergence is what a failing test prints', () => {
  const { report } = jest(['--runInBand', 'divergence.test']);
  const [message = ''] = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.flatMap(({ failureMessages }) => failureMessages),
  );
  const printed = message.slice(message.indexOf('event-differs'), message.indexOf('\n    at '));
  const expected = readFileSync(join(example, 'test/expected-divergence.txt'), 'utf8').trimEnd();
  expect(printed.replaceAll(fixture, 'FIXTURE').trimEnd()).toBe(expected);
});

test('the fixture is what record.mjs writes, byte for byte, whatever zone, language and mask', () => {
  const directory = makeTemporaryDirectory();
  try {
    const places = [
      { TZ: 'Pacific/Apia', LANG: 'C', mask: '000' },
      { TZ: 'Europe/Berlin', LANG: 'tr_TR.UTF-8', mask: '077' },
    ];
    for (const { TZ, LANG, mask } of places) {
      const out = join(directory.path, mask);
      const command = `umask ${mask}; exec "${process.execPath}" "${join(example, 'record.mjs')}" "${out}"`;
      const env = { ...process.env, TZ, LANG };
      const { status, stderr } = spawnSync('bash', ['-c', command], {
        cwd: directory.path,
        encoding: 'utf8',
        env,
      });
      expect([status, stderr]).toEqual([0, '']);
      for (const name of readdirSync(fixture)) {
        expect([name, readFileSync(join(out, name), 'utf8')]).toEqual([
          name,
          readFileSync(join(fixture, name), 'utf8'),
        ]);
      }
    }
  } finally {
    directory.remove();
  }
});

/** Two tests of one agent; the first one has its fixture recorded anew when `jest -u` asks for that. */
const asking = `
import { expect, test } from '@jest/globals';
import '@turnlog/replay/jest';

const agent = async ({ tool, log }) => {
  const text = await tool('read', { path: 'a' });
  log.append({ type: 'item.completed', item: { id: 'i1', type: 'agent_message', text } });
};
const options = { name: 'run', clock: { now: () => Date.UTC(2026, 0, 5), sleep: async () => undefined } };
const update = { ports: { tool: async () => process.env.ANSWER }, options };

test('asks for it', async () => {
  await expect(agent).toReplay('fixtures/asks', { update });
});

test('does not', async () => {
  await expect(agent).toReplay('fixtures/keeps');
});
`;

test('RE-24: jest -u records anew what a test asks for, and neither another fixture nor one that somebody changed', () => {
  const directory = makeTemporaryDirectory();
  try {
    const home = directory.path;
    mkdirSync(join(home, 'test'));
    symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
    writeFileSync(join(home, 'test/agent.test.mjs'), asking);
    const run = (ANSWER: string, ...argv: readonly string[]): readonly [passed: number, failed: number] => {
      const { report } = jest(['--runInBand', ...argv], {}, { home, env: { ANSWER } });
      return [report.numPassedTests, report.numFailedTests];
    };
    const files = (name: string): readonly string[] =>
      readdirSync(join(home, 'fixtures', name))
        .sort()
        .map((file) => readFileSync(join(home, 'fixtures', name, file), 'utf8'));
    // There is none of either, and nothing is made of itself.
    expect(run('one')).toEqual([0, 2]);
    expect(readdirSync(home).sort()).toEqual(['node_modules', 'test']);

    expect(run('one', '-u')).toEqual([1, 1]);
    expect(readdirSync(join(home, 'fixtures'))).toEqual(['asks']);
    cpSync(join(home, 'fixtures/asks'), join(home, 'fixtures/keeps'), { recursive: true });
    const first = files('asks');
    expect(run('two')).toEqual([2, 0]);
    expect(files('asks')).toEqual(first);

    expect(run('two', '-u')).toEqual([2, 0]);
    expect(files('asks').join('')).toContain('two');
    expect(files('keeps')).toEqual(first);

    appendFileSync(join(home, 'fixtures/asks/events.jsonl'), '\n');
    const changed = files('asks');
    expect(run('three', '-u')).toEqual([1, 1]);
    expect(files('asks')).toEqual(changed);
  } finally {
    directory.remove();
  }
});
