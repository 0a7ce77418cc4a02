// `pnpm test`: types, lint and every test, each to its end whatever the others found, so that one run names all
// that is wrong. The tests come last and close with the line `N passed, N failed`, in which each check that
// failed before them counts as one failure.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function succeeds(name, environment = {}) {
  const run = spawnSync(scripts[name], {
    cwd: root,
    env: {
      ...process.env,
      PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
      ...environment,
    },
    shell: true,
    stdio: 'inherit',
  });
  return run.status === 0;
}

const failed = ['types', 'lint'].filter((name) => !succeeds(name));
const isTested = succeeds('jest', { TURNLOG_FAILED_CHECKS: String(failed.length) });
process.exitCode = isTested && failed.length === 0 ? 0 : 1;
