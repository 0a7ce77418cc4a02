import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { exportsOf } from './exports-of.js';
import { npmName } from './layers.js';
import { packageFolders, parseFile, typescriptBelow, walk } from './source-tree.js';

const root = resolve(__dirname, '../..');
const written = packageFolders(root).filter((folder) => existsSync(indexOf(folder)));
const pinned: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(__dirname, 'exports.json'), 'utf8'),
);

function indexOf(folder: string): string {
  return join(root, 'packages', folder, 'src/index.ts');
}

test('the packages are those of exports.json', () => {
  expect(Object.keys(pinned)).toEqual(written.map(npmName));
});

/** A new or lost export is meant: `node test/tidy/pin.mjs exports` writes the list anew, and a review reads it. */
test.each(written)('packages/%s exports what exports.json lists', (folder) => {
  expect(exportsOf(indexOf(folder))).toEqual(pinned[npmName(folder)]);
});

test.each(written)('what packages/%s lists without `type` is there when it runs', async (folder) => {
  const loaded: unknown = await import(npmName(folder));
  const values = (pinned[npmName(folder)] ?? []).filter((name) => !name.startsWith('type '));
  expect(typeof loaded === 'object' && loaded !== null ? Object.keys(loaded).sort() : []).toEqual(values);
});

test('no source file has a default export or exports whatever another one does', () => {
  const refused: string[] = [];
  for (const file of typescriptBelow(join(root, 'packages'))) {
    walk(parseFile(file).body, (node) => {
      if (/^(?:ExportAll|ExportDefault)/.test(node.type))
        refused.push(`${relative(root, file)}: ${node.type}`);
    });
  }
  expect(refused).toEqual([]);
});

/** Doors beside the index, for what only some users have installed. */
const sideDoors: Readonly<Record<string, object>> = {
  '@turnlog/audit': {
    // The module of a thread, which is loaded at once and by itself.
    './hash-worker': { types: './dist/hash-worker.d.ts', default: './dist/hash-worker.js' },
    './jest': { types: './dist/jest/matchers.d.ts', default: './dist/jest/matchers.js' },
    // Files for people who have nothing else of Turnlog.
    './turnlog-verify.mjs': './verifier/turnlog-verify.mjs',
    './turnlog-verify.html': './verifier/turnlog-verify.html',
  },
  // What that thread needs of a log: all of it takes longer to load than to hash some hundred thousand lines.
  '@turnlog/log': {
    './tree': { types: './dist/merkle-frontier.d.ts', default: './dist/merkle-frontier.js' },
  },
  '@turnlog/replay': {
    './jest': { types: './dist/jest/matchers.d.ts', default: './dist/jest/matchers.js' },
  },
};

test.each(written)('the code of packages/%s can be entered at its index alone', (folder) => {
  const manifest: { readonly exports?: Readonly<Record<string, unknown>> } = JSON.parse(
    readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'),
  );
  const { '.': index, ...others } = manifest.exports ?? {};
  expect(index).toEqual({ types: './dist/index.d.ts', default: './dist/index.js' });
  // Data may stand beside it, under the path it lies at.
  const code = Object.entries(others).filter(([from, to]) => from !== to || !from.endsWith('.json'));
  expect(Object.fromEntries(code)).toEqual(sideDoors[npmName(folder)] ?? {});
});
