import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { gatedNodeModules, type Layer, layerOf, layers, mayImport, moduleRoot, npmName } from './layers.js';
import { lintFixture } from './lint-fixture.js';
import {
  identifierOf,
  importsOf,
  importsOfFile,
  isNode,
  literalOf,
  packageFolders,
  parseText,
  typescriptBelow,
  walk,
} from './source-tree.js';

const root = resolve(__dirname, '../..');
const folders = packageFolders(root);

/** Loads code of the user, whose path nobody knows before. */
const userLoader = 'packages/replay/src/load-module.ts';

function isOfUser(file: string, specifier: string): boolean {
  return specifier === '(computed)' && relative(root, file).split(sep).join('/') === userLoader;
}

/** `file: specifier` for each import of `file` that `isAllowed` refuses; relative ones must stay in `home`. */
function refusedImports(
  file: string,
  home: string,
  isAllowed: (specifier: string) => boolean,
): readonly string[] {
  const here = relative(root, file).split(sep).join('/');
  return importsOfFile(file)
    .filter(({ specifier }) => !isOfUser(file, specifier))
    .filter(({ specifier }) =>
      specifier.startsWith('.') ? leaves(home, resolve(dirname(file), specifier)) : !isAllowed(specifier),
    )
    .map(({ specifier }) => `${here}: ${specifier}`);
}

function leaves(home: string, path: string): boolean {
  return relative(home, path).split(sep)[0] === '..';
}

/** Readers that others wrote, to see what they make of what we write. */
const referenceReaders = ['ajv/dist/2020.js', 'commonmark', 'parse5'];

/** What tests may use beyond what their package may: itself, the test kit, and Node but for readline. */
function mayTestImport(layer: Layer, specifier: string): boolean {
  if (specifier.startsWith('node:')) return moduleRoot(specifier) !== 'node:readline';
  const own = [npmName(layer.folder), '@turnlog/testkit', 'fast-check', ...referenceReaders];
  return own.includes(specifier) || mayImport(layer, specifier);
}

test('every package has its row in the table, and every row lies above those it imports', () => {
  for (const folder of folders) expect(layerOf(folder).folder).toBe(folder);
  layers.forEach((layer, position) => {
    const below = layers.slice(0, position).map(({ folder }) => folder);
    expect(below).toEqual(expect.arrayContaining([...layer.imports]));
  });
});

test.each(folders)('packages/%s imports what its row allows, and nothing else', (folder) => {
  const home = join(root, 'packages', folder, 'src');
  const layer = layerOf(folder);
  const refused = typescriptBelow(home).flatMap((file) =>
    refusedImports(file, home, (specifier) => mayImport(layer, specifier)),
  );
  expect(refused).toEqual([]);
});

test.each(folders)('the tests of packages/%s import what lies below them, and the test kit', (folder) => {
  const home = join(root, 'packages', folder);
  const layer = layerOf(folder);
  const refused = typescriptBelow(join(home, 'test')).flatMap((file) =>
    refusedImports(file, home, (specifier) => mayTestImport(layer, specifier)),
  );
  expect(refused).toEqual([]);
});

test('C-1 node:readline is nowhere, whatever its spelling', () => {
  const files = [...typescriptBelow(join(root, 'packages')), ...typescriptBelow(join(root, 'test'))];
  const users = files.filter((file) =>
    importsOfFile(file).some(({ specifier }) => /^(?:node:)?readline(?:\/|$)/.test(specifier)),
  );
  expect(users).toEqual([]);
});

/** Names under which Node gives a whole file at once, or lines of it. */
const wholeFileReaders: ReadonlySet<string> = new Set([
  'readFile',
  'readFileSync',
  'openAsBlob',
  'readLines',
  'createInterface',
]);

function usesWholeFileReader(text: string): boolean {
  const module = parseText(text);
  const taken = importsOf(module)
    .filter(({ specifier }) => specifier.startsWith('node:'))
    .flatMap(({ names }) => names);
  walk(module, (node) => {
    if (node.type === 'MemberExpression') taken.push(memberName(node['property']));
  });
  return taken.some((name) => wholeFileReaders.has(name));
}

/** The name that is taken of an object, written with a dot or in brackets. */
function memberName(property: unknown): string {
  const computed =
    isNode(property) && property.type === 'Computed' ? literalOf(property['expression']) : null;
  return computed ?? identifierOf(property) ?? '';
}

test('C-1 no source file takes a whole file as one text, but for what the system says of itself', () => {
  const users = folders
    .flatMap((folder) => typescriptBelow(join(root, 'packages', folder, 'src')))
    .filter((file) => usesWholeFileReader(readFileSync(file, 'utf8')))
    .map((file) => relative(root, file).split(sep).join('/'));
  expect(users).toEqual(['packages/fs/src/host.ts']);
});

test.each([
  "import { readFileSync } from 'node:fs'; readFileSync('a', 'utf8');",
  "fs.promises.readFile('a');",
  "fs['readFileSync']('a');",
  'for await (const line of handle.readLines()) use(line);',
])('a whole file is seen to be read: %s', (text) => {
  expect(usesWholeFileReader(text)).toBe(true);
  expect(usesWholeFileReader(`// ${text}`)).toBe(false);
});

test.each([
  ['kernel', ['sha256.ts']],
  ['fs', ['random-ids.ts']],
])('within packages/%s only %j imports node:crypto', (folder, expected) => {
  const home = join(root, 'packages', folder, 'src');
  const users = typescriptBelow(home)
    .filter((file) => importsOfFile(file).some(({ specifier }) => specifier === 'node:crypto'))
    .map((file) => relative(home, file));
  expect(users).toEqual(expected);
});

test('imports are seen in every form', () => {
  const text = `
    import 'a'; import type { B } from 'b'; export { c } from 'c'; export * from 'd';
    import e = require('e'); const f = require('f'); const g = () => import('g');
    type H = import('h').H; const i = (name: string) => import(name);
    // import 'no';
    const text = "import 'no'";
  `;
  const found = importsOf(parseText(text)).map(({ specifier }) => specifier);
  expect(found).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '(computed)']);
});

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** Loaded where it is there, and named where it is not. */
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8'));
}

test.each(folders)('packages/%s declares what it imports, and no more than its row', (folder) => {
  const home = join(root, 'packages', folder);
  const layer = layerOf(folder);
  const manifest = readJson<Manifest>(join(home, 'package.json'));
  const declared = Object.keys({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  });
  expect(manifest.name).toBe(npmName(folder));
  expect(declared.filter((name) => !mayImport(layer, name))).toEqual([]);

  const used = typescriptBelow(join(home, 'src'))
    .flatMap((file) => importsOfFile(file).filter(({ specifier }) => !isOfUser(file, specifier)))
    .map(({ specifier }) => moduleRoot(specifier))
    .filter((name) => !name.startsWith('.') && !name.startsWith('node:'));
  const missing = [...new Set(used)].filter((name) => !declared.includes(name) && !isFromRoot(folder, name));
  expect(missing).toEqual([]);
});

/** The test kit uses the test tools that the workspace itself installs. */
function isFromRoot(folder: string, name: string): boolean {
  return folder === 'testkit' && name === 'fast-check';
}

interface Project {
  readonly references?: readonly { readonly path: string }[];
}

test.each(folders)('the compiler builds packages/%s from the packages it may import', (folder) => {
  const project = readJson<Project>(join(root, 'packages', folder, 'tsconfig.json'));
  const referenced = (project.references ?? []).map(({ path }) => path.replace('../', ''));
  expect(referenced.filter((name) => !layerOf(folder).imports.includes(name))).toEqual([]);
});

describe('the lint rule says the same', () => {
  const thirdParty = [...new Set(layers.flatMap((layer) => [...layer.thirdParty])), 'lodash'];
  const candidates = [
    ...layers.map(({ folder }) => npmName(folder)),
    ...thirdParty,
    ...gatedNodeModules,
    'node:fs/promises',
    'node:readline/promises',
    'node:path',
    'node:url',
    './own.js',
  ];
  const fixture = candidates
    .map((specifier, index) => `import { x as x${index} } from '${specifier}';`)
    .join('\n');
  const files = Object.fromEntries(folders.map((folder) => [`packages/${folder}/src/fixture.ts`, fixture]));
  const complaints = lintFixture(root, files).filter(({ rule }) => rule === 'noRestrictedImports');

  test.each(folders)('for packages/%s', (folder) => {
    const layer = layerOf(folder);
    const flagged = complaints
      .filter(({ path, severity }) => path === `packages/${folder}/src/fixture.ts` && severity === 'error')
      .map(({ line }) => candidates[line - 1]);
    const refused = candidates.filter((name) => !name.startsWith('.') && !mayImport(layer, name));
    expect(flagged.sort()).toEqual(refused.sort());
  });
});
