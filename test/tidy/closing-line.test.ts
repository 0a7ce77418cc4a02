import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../..');

interface Run {
  readonly status: number | null;
  readonly lines: readonly string[];
}

/** Runs jest with the project's reporters over small suites of their own, and returns what came on stdout. */
function runSuites(
  suites: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Run {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'turnlog-closing-')));
  try {
    const reporter = join(root, 'test/plain-summary-reporter.mjs');
    const config = { rootDir: directory, transform: {}, reporters: ['default', reporter] };
    writeFileSync(join(directory, 'jest.config.json'), JSON.stringify(config));
    for (const [name, text] of Object.entries(suites)) writeFileSync(join(directory, name), text);
    const jest = join(root, 'node_modules/jest/bin/jest.js');
    const run = spawnSync(process.execPath, [jest, '--config', join(directory, 'jest.config.json')], {
      cwd: directory,
      encoding: 'utf8',
      env: { ...process.env, TURNLOG_TEST_SEED: '7', TURNLOG_FAILED_CHECKS: '0', ...environment },
    });
    return { status: run.status, lines: run.stdout.split('\n') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const passing = "test('a', () => undefined); test('b', () => undefined);";
const isClosing = (line: string): boolean => /^\d+ passed, \d+ failed$/.test(line);

test('a good run ends with the closing line, once, and nothing after it', () => {
  const { status, lines } = runSuites({ 'good.test.js': passing });
  expect(status).toBe(0);
  expect(lines.slice(-2)).toEqual(['2 passed, 0 failed', '']);
  expect(lines.filter(isClosing)).toHaveLength(1);
});

test('failures, suites that do not load, and skipped tests are counted', () => {
  const { status, lines } = runSuites({
    'good.test.js': passing,
    'bad.test.js': "test('c', () => { throw new Error('no'); }); xtest('d', () => undefined);",
    'broken.test.js': "require('./not-there.js');",
  });
  expect(status).toBe(1);
  expect(lines.slice(-4)).toEqual([
    'seed: run again with TURNLOG_TEST_SEED=7',
    '1 skipped',
    '2 passed, 2 failed',
    '',
  ]);
});

test('a check that failed before the tests is a failure', () => {
  const { lines } = runSuites({ 'good.test.js': passing }, { TURNLOG_FAILED_CHECKS: '2' });
  expect(lines.slice(-2)).toEqual(['2 passed, 2 failed', '']);
});
