/*
 * Plants known bugs, one after the other, in a copy of the tree, and runs the tests that must notice.
 *
 *   node test/mutants/run.mjs [part of a name]
 *
 * Exits 1 when a mutant survives or its place is not found: a survivor is a missing test, a lost place a stale list.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const wanted = process.argv[2] ?? '';
const mutants = readdirSync(here)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => JSON.parse(readFileSync(join(here, name), 'utf8')))
  .filter(({ name }) => name.includes(wanted));

const copy = mkdtempSync(join(tmpdir(), 'turnlog-mutants-'));
const skipped = new Set(['node_modules', '.git', 'dist']);
cpSync(root, copy, { recursive: true, filter: (path) => !skipped.has(basename(path)) });
// Installed packages are shared; those of the workspace are found by their sources.
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
for (const name of readdirSync(join(root, 'packages'))) {
  symlinkSync(join(root, 'packages', name, 'node_modules'), join(copy, 'packages', name, 'node_modules'));
}

const passing = new Set();

/** A test that fails by itself notices nothing: each choice of tests must pass on the tree as it is. */
function checkBaseline(mutant) {
  const key = JSON.stringify([mutant.mustFail, mutant.only]);
  if (!passing.has(key) && testsNotice(mutant)) return false;
  passing.add(key);
  return true;
}

function testsNotice({ mustFail, only }) {
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const given = [
    '--config',
    'test/jest.config.mjs',
    '--bail',
    '--silent',
    mustFail,
    ...(only ? ['-t', only] : []),
  ];
  const { status } = spawnSync(process.execPath, [jest, ...given], { cwd: copy, stdio: 'ignore' });
  return status !== 0;
}

function judge(mutant) {
  const { file, find, replace } = mutant;
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(find).length !== 2) return 'place not found';
  if (!checkBaseline(mutant)) return 'tests fail without it';
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  try {
    return testsNotice(mutant) ? 'killed' : 'survived';
  } finally {
    writeFileSync(path, source);
  }
}

let failures = 0;
try {
  for (const mutant of mutants) {
    const verdict = judge(mutant);
    if (verdict !== 'killed') failures += 1;
    process.stdout.write(`${verdict}: ${mutant.name} (${mutant.mustFail})\n`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.stdout.write(`${mutants.length - failures} of ${mutants.length} mutants killed\n`);
process.exitCode = failures === 0 && mutants.length > 0 ? 0 : 1;
