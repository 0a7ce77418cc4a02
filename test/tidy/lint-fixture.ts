import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** One complaint of the linter. */
export interface Complaint {
  /** The rule without its group, as in `noExplicitAny`. */
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly severity: string;
}

/**
 * Runs the linter with the project's own configuration over files that stand in a directory of their own, and
 * returns what it complains about.
 */
export function lintFixture(root: string, files: Readonly<Record<string, string>>): readonly Complaint[] {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'turnlog-lint-')));
  try {
    copyFileSync(join(root, '.biome.json'), join(directory, '.biome.json'));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), text);
    }
    return complaints(runLinter(root, directory));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function runLinter(root: string, directory: string): unknown {
  const program = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const options = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', '.'];
  const run = spawnSync(process.execPath, [program, ...options], { cwd: directory, encoding: 'utf8' });
  if (!run.stdout.startsWith('{')) throw new Error(`the linter did not report: ${run.stdout}${run.stderr}`);
  return JSON.parse(run.stdout);
}

function complaints(report: unknown): readonly Complaint[] {
  const found: Complaint[] = [];
  const diagnostics = memberOf(report, 'diagnostics');
  if (!Array.isArray(diagnostics)) throw new Error('the report of the linter has no list of diagnostics');
  for (const diagnostic of diagnostics) {
    const location = memberOf(diagnostic, 'location');
    found.push({
      rule: String(memberOf(diagnostic, 'category')).split('/').at(-1) ?? '',
      path: String(memberOf(location, 'path')),
      line: Number(memberOf(memberOf(location, 'start'), 'line')),
      severity: String(memberOf(diagnostic, 'severity')),
    });
  }
  return found;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
