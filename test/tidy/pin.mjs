// Writes anew what the tidy tests hold fast. A person runs it, looks at the difference, and commits it:
//
//   node test/tidy/pin.mjs exports   test/tidy/exports.json, from packages/*/src/index.ts
//   node test/tidy/pin.mjs goldens   test/golden/SHA256SUMS: adds new files, refuses changed and lost ones

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

register('./typescript-loader.mjs', import.meta.url);
const { filesBelow, packageFolders } = await import('./source-tree.ts');
const { exportsOf } = await import('./exports-of.ts');
const { npmName } = await import('./layers.ts');

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));

function pinExports() {
  const lists = {};
  for (const folder of packageFolders(root)) {
    const index = join(root, 'packages', folder, 'src/index.ts');
    if (existsSync(index)) lists[npmName(folder)] = exportsOf(index);
  }
  writeFileSync(join(here, 'exports.json'), `${JSON.stringify(lists, null, 2)}\n`);
}

function pinGoldens() {
  const folder = join(root, 'test/golden');
  const path = join(folder, 'SHA256SUMS');
  const pinned = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const files = filesBelow(folder).filter((name) => name !== 'SHA256SUMS');
  const lines = files.map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    return `${digest}  ${name}`;
  });
  const changed = pinned.filter((line) => !lines.includes(line));
  if (changed.length > 0) throw new Error(`a frozen file was changed or lost:\n${changed.join('\n')}`);
  writeFileSync(path, `${lines.join('\n')}\n`);
}

const pins = { exports: pinExports, goldens: pinGoldens };
const what = process.argv[2] ?? '';
if (process.env.CI) {
  process.stderr.write('refused: in CI what is pinned is compared, never written\n');
  process.exitCode = 2;
} else if (!Object.hasOwn(pins, what)) {
  process.stderr.write(`usage: node test/tidy/pin.mjs ${Object.keys(pins).join('|')}\n`);
  process.exitCode = 2;
} else {
  pins[what]();
}
