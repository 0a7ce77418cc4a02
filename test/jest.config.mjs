import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packages = readdirSync(join(root, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

// Tests run against the sources: `@turnlog/log` is packages/log/src, and `turnlog` is packages/cli/src.
const sources = Object.fromEntries(
  packages.map((name) => [
    name === 'cli' ? '^turnlog$' : `^@turnlog/${name}$`,
    `<rootDir>/packages/${name}/src/index.ts`,
  ]),
);

// Known before the workers start, which inherit it, and printed after a failure.
process.env.TURNLOG_TEST_SEED ||= '20261005';

export default {
  rootDir: root,
  testMatch: ['<rootDir>/packages/*/test/**/*.test.ts', '<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '<rootDir>/test/bench/'],
  modulePathIgnorePatterns: ['<rootDir>/packages/[^/]+/dist/'],
  extensionsToTreatAsEsm: [],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  // In the sandbox of a test each use of a global asks the sandbox first. These are given to each module instead: of
  // the language, never replaced by a test, and no name that a dependency declares for itself.
  sandboxInjectedGlobals:
    'Array ArrayBuffer BigInt DataView Error Float64Array JSON Map Math Number Object Promise RegExp Set String Symbol Uint32Array Uint8Array WeakMap'.split(
      ' ',
    ),
  moduleNameMapper: {
    ...sources,
    '^@turnlog/log/tree$': '<rootDir>/packages/log/src/merkle-frontier.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  setupFiles: ['<rootDir>/test/setup.ts'],
  // Every core works: by itself jest leaves one idle, which on two cores is half of the machine.
  maxWorkers: '100%',
  // A loaded machine may take long for a test that enumerates; no test asserts how long anything takes.
  testTimeout: 60_000,
  reporters: ['default', '<rootDir>/test/plain-summary-reporter.mjs'],
};
