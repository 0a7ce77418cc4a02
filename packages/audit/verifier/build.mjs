// Writes turnlog-verify.mjs and turnlog-verify.html from the modules in src/: joined in their order, without the imports
// among them, and without comments and blank lines, so that what is published stays short. `--check` only compares.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = dirname(fileURLToPath(import.meta.url));
const source = (name) => readFileSync(join(home, 'src', name), 'utf8');

/** In an order in which nothing is used before it is there. */
const core = ['bytes', 'tree', 'shapes', 'read-log', 'redactions', 'history', 'pack', 'compare'].map(
  (name) => `${name}.mjs`,
);

/** The lines of modules that do something. Comments stand on lines of their own, as the style asks for. */
function joined(names) {
  const text = names.map((name) => source(name).replace(/^import [^;]* from '\.\/[^']*';\n/gm, '')).join('');
  const isKept = (line) => line !== '' && !/^\s*(?:\/\/|\/\*\*|\*)/.test(line);
  return `${text.split('\n').filter(isKept).join('\n')}\n`;
}

const head = `#!/usr/bin/env node
// Usage: node turnlog-verify.mjs [--trust KEYS] [--record LINE] DIR|PROOF … Says whether a session is as packed, a proof holds.
// Exit: 0 verified, 1 not so, 2 usage, 3 no pack, 4 bad signature. Made of packages/audit/verifier/src; comments are there.
`;

const imports = /^import .*\n/gm;
const program = joined(['program.mjs']);
const script = joined(core);
const made = {
  'turnlog-verify.mjs': `${head}${program.match(imports).join('')}${script}${program.replace(imports, '')}`,
};

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The same core with a page around it. The policy names what may run and how it looks; nothing else can. */
function page() {
  const style = source('page.css');
  const code = joined([...core, 'page-files.mjs', 'page-records.mjs', 'page.mjs']).replace(/^export /gm, '');
  if (/<\/script|<!--/i.test(code)) throw new Error('the script would end inside of itself');
  const policy = `default-src 'none'; script-src ${hashOf(code)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`;
  return source('page.html')
    .replace('POLICY', () => policy)
    .replace(/<style>[^<]*/, () => `<style>${style}`)
    .replace(/<script type="module">[^<]*/, () => `<script type="module">${code}`);
}

made['turnlog-verify.html'] = page();

for (const [name, text] of Object.entries(made)) {
  const path = join(home, name);
  const isSame = existsSync(path) && readFileSync(path, 'utf8') === text;
  if (isSame) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${name} is not what build.mjs makes of src/\n`);
    process.exitCode = 1;
  } else writeFileSync(path, text);
}
