// `pnpm bench [append|growth|open|memory|lock|cap|import|list|export|audit|search|retrieval …] [--json]`: installs the peers, runs each comparison in a process
// of its own, prints tables, and writes what was found to results/. Nothing is asserted: people decide.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const jobs = {
  append: [
    ['append.mjs', '--case', 'buffered'],
    ['append.mjs', '--case', 'turn'],
    ['append.mjs', '--case', 'event'],
  ],
  growth: [['growth.mjs']],
  open: [['open.mjs']],
  memory: [['memory.mjs']],
  lock: [['lock.mjs']],
  cap: [['cap.mjs']],
  import: [['import.mjs']],
  list: [['list.mjs']],
  export: [['export.mjs']],
  audit: [['audit.mjs']],
  retrieval: [['retrieval.mjs']],
  search: [
    ...[1_000, 10_000, 100_000, 1_000_000].map((chunks) => ['search.mjs', '--chunks', String(chunks)]),
    ['search-cases.mjs'],
  ],
};

const isJson = process.argv.includes('--json');
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const unknown = asked.filter((name) => !Object.hasOwn(jobs, name));

/** The peers have a lock file of their own; one of them is compiled, against the headers of this Node if there. */
function installPeers() {
  if (existsSync(join(here, 'node_modules/.modules.yaml'))) return;
  const prefix = dirname(dirname(process.execPath));
  const hasHeaders = existsSync(join(prefix, 'include/node/node.h'));
  const env = { ...process.env, ...(hasHeaders ? { npm_config_nodedir: prefix } : {}) };
  const install = spawnSync('pnpm', ['--dir', here, 'install', '--frozen-lockfile'], {
    env,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (install.status !== 0) throw new Error('the peers could not be installed');
}

function runJob([file, ...options]) {
  const run = spawnSync(process.execPath, ['--expose-gc', join(here, 'jobs', file), ...options], {
    encoding: 'utf8',
    maxBuffer: 16_777_216,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (run.status !== 0) throw new Error(`${file} ${options.join(' ')} failed`);
  return [JSON.parse(run.stdout)].flat();
}

function cell(value) {
  if (value === undefined) return '';
  if (typeof value !== 'number') return String(value);
  if (Number.isInteger(value) || value >= 1_000) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(3);
}

/** A table as Markdown, the columns padded. */
function table(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const print = (line) => `| ${line.map((text, column) => text.padEnd(widths[column])).join(' | ')} |`;
  const [head, ...body] = cells.map(print);
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n');
}

if (unknown.length > 0) {
  process.stderr.write(
    `usage: pnpm bench [${Object.keys(jobs).join('|')} …] [--json]; not known: ${unknown.join(', ')}\n`,
  );
  process.exitCode = 2;
} else {
  installPeers();
  const machine = `Node ${process.version}, ${process.platform} ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`;
  const date = new Date().toISOString();
  const results = [];
  if (!isJson) process.stdout.write(`${date}; ${machine}\n`);
  for (const name of asked.length > 0 ? asked : Object.keys(jobs)) {
    for (const result of jobs[name].flatMap(runJob)) {
      results.push({ job: name, ...result });
      if (!isJson) process.stdout.write(`\n**${result.title}**: ${result.note}\n\n${table(result.rows)}\n`);
    }
  }
  const text = `${JSON.stringify({ date, machine, results }, null, 2)}\n`;
  mkdirSync(join(here, 'results'), { recursive: true });
  writeFileSync(join(here, 'results', `${date.replaceAll(':', '-')}.json`), text);
  if (isJson) process.stdout.write(text);
}
