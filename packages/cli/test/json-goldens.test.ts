import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { otherSchemaPaths, schemaPathsOf } from '../src/schemas.js';
import { subVerbsOf, type Verb } from '../src/verb.js';
import { verbs } from '../src/verbs.js';
import { goldensOf, offerGolden } from './goldens.js';
import { faultsOf, isContained, readSchemas } from './published-schemas.js';
import { filledProgram, ownLines, removedName, turn, workingLines } from './support.js';

/** A command line of each thing that a verb does when it does several, on the store of `filledProgram`. */
const linesOfSubVerbs: Readonly<Record<string, readonly string[]>> = {
  'session-rename': ['session', 'rename', 's-1', 'The bridge of Köln'],
  'session-tag': ['session', 'tag', 's-1', 'x', 'y'],
  'session-archive': ['session', 'archive', 's-1'],
  'session-pin': ['session', 'pin', 's-1', '--reason', 'the one with the fix'],
  'session-unpin': ['session', 'unpin', 's-1'],
  'session-delete': ['session', 'delete', 's-1', '--yes'],
  'session-restore': ['session', 'restore', removedName],
  'fixture-make': ['fixture', 'make', 's-1', '--out', '/out/s-1'],
  'fixture-check': ['fixture', 'check', '/fixtures/run'],
  'fixture-show': ['fixture', 'show', '/fixtures/run'],
  'fixture-trim': ['fixture', 'trim', '/fixtures/run', '--turns', '1..1'],
  'fixture-rekey': ['fixture', 'rekey', '/fixtures/run'],
  'config-get': ['config', 'get'],
  'config-set': ['config', 'set', 'tz', 'Europe/Berlin'],
};

const nameOf = (path: string): string => path.replace(/^schemas\//, '').replace(/\.json$/, '');

function linesOf(verb: Verb): readonly (readonly [name: string, argv: readonly string[]])[] {
  const lines = subVerbsOf(verb).length === 0 ? workingLines : linesOfSubVerbs;
  return schemaPathsOf(verb).map((path) => {
    const argv = lines[nameOf(path)];
    if (argv === undefined) throw new Error(`there is no command line for ${nameOf(path)}`);
    return [nameOf(path), argv];
  });
}

/** Everything that prints a document, with a command line that works: a new verb must say one. */
const kinds = verbs.flatMap(linesOf);

async function printed(argv: readonly string[], form: '--json' | '--jsonl'): Promise<string> {
  const program = await filledProgram();
  const stdin = argv[0] === 'record' ? ownLines(turn) : '';
  const { exit, stdout } = await program.run([...argv, form], { stdin });
  expect(exit).toBe(0);
  return stdout;
}

/** What a document says of the program and not of the store: it changes with every release. */
const passing: ReadonlySet<string> = new Set(['version', 'redaction_list', 'script']);
/** Documents and views have versions of their own, and so have their digests. */
const digests: ReadonlySet<string> = new Set(['sha256', 'bytes', 'digest', 'published_digest']);
/** Texts for people. */
const words: ReadonlySet<string> = new Set([
  'summary',
  'help',
  'meaning',
  'hint',
  'wanted',
  'value',
  'record',
]);

const masked: Readonly<Record<string, readonly ReadonlySet<string>[]>> = {
  export: [passing, digests],
  rebuild: [passing, digests],
  // A pack names the program that made it.
  pack: [passing, digests],
  capabilities: [passing, words],
  // One tool more is one row more, and this count.
  mcp: [passing, new Set(['description', 'tools'])],
  // How long it took, and which state of the index answered.
  search: [passing, new Set(['took_ms', 'generation'])],
  // One key more is one row more, and this count.
  'config-get': [passing, new Set(['meaning', 'keys'])],
  error: [new Set(['message', 'hint'])],
};

function comparable(name: string, document: unknown): unknown {
  const sets = masked[name] ?? [passing];
  // An argument that is one of several words is named by all of them; the words are compared one by one.
  const isGrowing = (member: string, value: unknown): boolean =>
    name === 'capabilities' && member === 'name' && String(value).includes('|');
  const mask = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(mask);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([member, inner]) => [
        member,
        (sets.some((set) => set.has(member)) && typeof inner !== 'object') || isGrowing(member, inner)
          ? '…'
          : mask(inner),
      ]),
    );
  };
  return mask(document);
}

const parsedLines = (text: string): readonly unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

/** The newest golden is equal, member by member in their order; what older ones say is still said. */
function compareWithGoldens(file: string, name: string, documents: readonly unknown[], text: string): void {
  const goldens = goldensOf(file).map((golden) => parsedLines(golden).map((each) => comparable(name, each)));
  const now = documents.map((each) => comparable(name, each));
  const newest = goldens.at(-1);
  // The tables of the program grow with every verb and flag.
  const isEqual =
    name === 'capabilities'
      ? isContained(newest ?? null, now)
      : JSON.stringify(newest) === JSON.stringify(now);
  if (!isEqual) offerGolden(file, text);
  if (name !== 'capabilities') expect(now).toEqual(newest);
  // Also the order of the members.
  expect([file, isEqual]).toEqual([file, true]);
  // The last line of rows has no name; the others are found by theirs.
  for (const golden of goldens) {
    expect(isContained(golden.at(-1), now.at(-1))).toBe(true);
    expect(isContained(golden.slice(0, -1), now.slice(0, -1))).toBe(true);
  }
}

test.each(kinds)('I-1 %s --json is its golden, and valid by its published schema', async (name, argv) => {
  const text = await printed(argv, '--json');
  const document: unknown = JSON.parse(text);
  expect(faultsOf(`${name}.json`, document)).toEqual([]);
  expect(faultsOf(`${name}.json`, document, 'open')).toEqual([]);
  compareWithGoldens(`${name}.json`, name, [document], text);
});

test.each(kinds)(
  'I-1 %s --jsonl is its golden, and every line valid by its published schema',
  async (name, argv) => {
    const text = await printed(argv, '--jsonl');
    const lines = parsedLines(text);
    for (const line of lines) {
      expect(faultsOf(`${name}.json#/$defs/line`, line)).toEqual([]);
      expect(faultsOf(`${name}.json#/$defs/line`, line, 'open')).toEqual([]);
    }
    compareWithGoldens(`${name}.jsonl`, name, lines, text);
  },
);

test('I-1 a failure is its golden, and valid by its published schema', async () => {
  const { exit, stdout } = await (await filledProgram()).run(['show', 's-1:9..12', '--json']);
  expect(exit).toBe(6);
  const document: unknown = JSON.parse(stdout);
  expect(faultsOf('error.json', document)).toEqual([]);
  compareWithGoldens('error.json', 'error', [document], stdout);
});

type Path = readonly (string | number)[];

/** Members whose inside is not ours to describe: stored events, details of failures, schemas of tools. */
const opaque: ReadonlySet<unknown> = new Set(['event', 'details', 'inputSchema', 'outputSchema']);

/** Every place of a document, but for what is inside of those. */
function placesIn(
  value: unknown,
  path: Path = [],
): readonly { readonly path: Path; readonly value: unknown }[] {
  const here = { path, value };
  if (typeof value !== 'object' || value === null) return [here];
  if (opaque.has(path.at(-1))) return [here];
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [here, ...inner.flatMap(([name, each]) => placesIn(each, [...path, name]))];
}

/** A copy of `document` with another value at one place. */
function changedAt(document: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(document);
  if (Array.isArray(document)) {
    return document.map((item, index) => (index === name ? changedAt(item, rest, change) : item));
  }
  if (typeof document !== 'object' || document === null) return document;
  return Object.fromEntries(
    Object.entries(document).map(([member, value]) => [
      member,
      member === name ? changedAt(value, rest, change) : value,
    ]),
  );
}

/** What may stand in them beside what is known. */
const growing: ReadonlySet<unknown> = new Set(['event', 'inputSchema', 'outputSchema']);

const isMap = (path: Path): boolean => ['records', 'skipped'].includes(String(path.at(-1)));

test.each(kinds)(
  'I-1 the schema of %s bites: whatever of the output is changed, it tells',
  async (name, argv) => {
    const document: unknown = JSON.parse(await printed(argv, '--json'));
    const reference = `${name}.json`;
    for (const { path, value } of placesIn(document)) {
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      const wrong = changedAt(document, path, () => (isObject ? 'no object' : { no: 'scalar or list' }));
      expect([path, faultsOf(reference, wrong, 'open').length]).not.toEqual([path, 0]);
      if (!isObject || isMap(path) || growing.has(path.at(-1))) continue;
      const grown = changedAt(document, path, (object) => ({ ...Object(object), unexpected: 1 }));
      expect([path, faultsOf(reference, grown).length]).not.toEqual([path, 0]);
      // Who reads our documents with an older schema bears what came later.
      expect([path, faultsOf(reference, grown, 'open')]).toEqual([path, []]);
    }
    for (const member of Object.keys(Object(document))) {
      if (member === 'redaction_list') continue;
      const rest = Object.fromEntries(Object.entries(Object(document)).filter(([each]) => each !== member));
      expect([member, faultsOf(reference, rest, 'open').length]).not.toEqual([member, 0]);
    }
  },
);

test('I-1 every schema belongs to a verb or is named by capabilities, and every verb has its schemas', () => {
  const named = [...kinds.map(([name]) => name), ...Object.values(otherSchemaPaths).map(nameOf), 'common'];
  expect([...readSchemas().keys()].sort()).toEqual(named.map((name) => `${name}.json`).sort());
});

test('I-1 the package brings its schemas, under the paths that capabilities names', async () => {
  const folder = resolve(__dirname, '..');
  const { files, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  expect(files).toContain('schemas');
  expect(exports['./schemas/*.json']).toBe('./schemas/*.json');
  const told = JSON.parse(await printed(['capabilities'], '--json'));
  const paths: readonly string[] = [
    ...told.verbs.flatMap(({ schemas }: { readonly schemas: readonly string[] }) => schemas),
    ...Object.values<string>(told.schemas),
  ];
  expect(paths.length).toBeGreaterThan(kinds.length);
  for (const path of paths) expect([path, existsSync(join(folder, path))]).toEqual([path, true]);
});
