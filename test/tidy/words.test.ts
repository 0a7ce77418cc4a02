import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { filesBelow } from './source-tree.js';

const root = resolve(__dirname, '../..');

/** What is not written by hand: the lock files, and bytes that are evidence. */
const isMade = (name: string): boolean =>
  /(?:^|\/)pnpm-lock\.yaml$|^test\/golden\/|\.tsbuildinfo$/.test(name);
const isTest = (name: string): boolean => /(?:^|\/)test\//.test(name) || name.startsWith('packages/testkit/');

interface Refusal {
  readonly what: string;
  readonly pattern: RegExp;
  readonly isIn: (name: string) => boolean;
}

const everywhere = (): boolean => true;

/** Tests whose small projects must hold such tests, to see them refused or counted. */
const holdSkipped: ReadonlySet<string> = new Set([
  'test/tidy/closing-line.test.ts',
  'test/tidy/lint-rules.test.ts',
]);

const refusals: readonly Refusal[] = [
  { what: 'a path of one machine', pattern: /(?<![\w.$}/-])\/(?:work|mnt)\//, isIn: everywhere },
  {
    what: 'a path of one machine, but for tests',
    pattern: /(?<![\w.$}/-])\/(?:home|Users|root|tmp|private|var\/folders)\//,
    isIn: (name) => !isTest(name),
  },
  { what: 'unfinished work', pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/, isIn: everywhere },
  {
    what: 'a check of the compiler switched off',
    pattern: /@ts-(?:ignore|nocheck|expect-error)/,
    isIn: everywhere,
  },
  {
    what: 'a lint rule switched off without a reason',
    pattern: /biome-ignore(?!(?:-start|-end)? lint\/[\w/]+: \S+ \S+ \S+)/,
    isIn: everywhere,
  },
  {
    what: 'a test that does not run, or keeps others from running',
    pattern: /\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|only|todo|failing)\b|\bx(?:it|test|describe)\s*\(/,
    isIn: (name) => isTest(name) && name.endsWith('.ts') && !holdSkipped.has(name),
  },
];

/** This file must spell what it looks for. */
const files = filesBelow(root).filter((name) => !isMade(name) && name !== 'test/tidy/words.test.ts');

test.each(refusals)('no file holds $what', ({ pattern, isIn }) => {
  const places: string[] = [];
  for (const name of files.filter(isIn)) {
    readFileSync(join(root, name), 'utf8')
      .split('\n')
      .forEach((line, index) => {
        if (pattern.test(line)) places.push(`${name}:${index + 1}: ${line.trim()}`);
      });
  }
  expect(places).toEqual([]);
});

const seen: readonly (readonly [line: string, what: string])[] = [
  ["const path = '/mnt/disk/log';", 'a path of one machine'],
  ["const path = '/home/ann/log';", 'a path of one machine, but for tests'],
  ["open('/tmp/x')", 'a path of one machine, but for tests'],
  ['// TODO: later', 'unfinished work'],
  ['// @ts-ignore', 'a check of the compiler switched off'],
  ['// biome-ignore lint/style/useConst: why', 'a lint rule switched off without a reason'],
  ["test.skip.each(rows)('…', run);", 'a test that does not run, or keeps others from running'],
  ["describe.only('…', run);", 'a test that does not run, or keeps others from running'],
  ['(isLinux ? test : test.skip)(title, run);', 'a test that does not run, or keeps others from running'],
];

test.each(seen)('%j is found to be %s', (line, what) => {
  expect(refusals.filter(({ pattern }) => pattern.test(line)).map((refusal) => refusal.what)).toEqual([what]);
});

const passed: readonly string[] = [
  "workspace: '/srv/work/parser'",
  'below the root: a/tmp/x',
  "item: { type: 'todo' }",
  '// biome-ignore lint/style/useConst: assigned by the loop below',
  'https://example.org/home/x',
  'stream.skip(70_000_000)',
];

test.each(passed)('%j passes', (line) => {
  expect(refusals.filter(({ pattern }) => pattern.test(line))).toEqual([]);
});
