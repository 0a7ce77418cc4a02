/*
 * The tiers that try chance and endurance, with long budgets and new seeds, and a table of what they came to.
 *
 *   node test/soak/run.mjs [--scale F] [part …]
 *
 * Each part is a tier of tests with the variables that make it long; without names all of them run. `--scale 0.01`
 * takes a hundredth of every budget. The seed is printed, and taken from TURNLOG_TEST_SEED. Exits 1 when a test of
 * any part fails: each of them fails on the first thing that is not as it should be.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');

/** What a part runs, and its variables; their numbers are those of a run of some hours on two cores. */
const parts = {
  crash: { tests: ['test/crash'], long: { TURNLOG_CRASH_DISKS: 1_500, TURNLOG_CRASH_SEED: 'seed' } },
  shared: { tests: ['test/kill/shared'], long: { TURNLOG_SHARED_APPENDS: 10_000 } },
  kill: { tests: ['test/kill/kill'], long: { TURNLOG_KILL_CYCLES: 2_000 } },
  mcp: { tests: ['packages/mcp/test/program'], long: { TURNLOG_MCP_SECONDS: 60 } },
  disk: { tests: ['test/e2e/full-disk'], long: {} },
  large: { tests: ['test/e2e/large-log'], long: { TURNLOG_LARGE_LOG_MIB: 2_048 } },
  proofs: { tests: ['packages/audit/test/proofs'], long: { TURNLOG_FORGED_PROOFS: 1_000_000 } },
  search: { tests: ['packages/search/test/packed-reads'], long: { TURNLOG_SEARCH_CHUNKS: 2_000_000 } },
  pruning: { tests: ['packages/search/test/packed-corpora'], long: { TURNLOG_PRUNED_CORPORA: 5_000 } },
  security: { tests: ['test/security'], long: {} },
  fuzz: { tests: ['test/fuzz'], long: { TURNLOG_FUZZ_FACTOR: 200 } },
  mutants: { command: [join('test', 'mutants', 'run.mjs')], long: {} },
};

function wantedOf(given) {
  const words = [...given];
  const at = words.indexOf('--scale');
  const scale = at === -1 ? 1 : Number(words.splice(at, 2)[1]);
  const unknown = words.filter((word) => !(word in parts));
  if (!(scale > 0) || unknown.length > 0) {
    throw new Error(`usage: run.mjs [--scale F] [${Object.keys(parts).join('|')} …]`);
  }
  return { scale, names: words.length === 0 ? Object.keys(parts) : words };
}

function variablesOf({ long }, scale, seed) {
  return Object.fromEntries(
    Object.entries(long).map(([name, count]) => [
      name,
      String(count === 'seed' ? seed : Math.max(1, Math.ceil(count * scale))),
    ]),
  );
}

/** Runs one part, shows what it says, and gives its status with the figures among its lines. */
function runPart(part, environment) {
  const given = part.command ?? [jest, '--config', 'test/jest.config.mjs', ...part.tests];
  const child = spawn(process.execPath, given, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
    process.stdout.write(chunk);
  });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ isWhole: code === 0, lines: text.split('\n') }));
  });
}

/** Lines that tell how much was tried: those of `tellFigure`, and the counts of tiers that print their own. */
function figuresIn(lines) {
  const told = lines.flatMap(
    (line) => /^figure: ([^:]+(?:: [^:]+)*?): ([^:]+)$/.exec(line)?.slice(1, 3).join(' | ') ?? [],
  );
  const counted = lines.filter((line) => /^\d[\d,]* .*(crash states|with a fault|mutants killed)/.test(line));
  const sum = (pattern) =>
    counted.reduce((total, line) => total + Number(pattern.exec(line)?.[1]?.replaceAll(',', '') ?? 0), 0);
  const states = sum(/(\d[\d,]*) (?:distinct )?crash states/);
  const faults = sum(/(\d[\d,]*) \w+ with a fault/);
  return [
    ...told,
    ...counted,
    ...(states > 0 ? [`crash states, all together | ${states}`] : []),
    ...(faults > 0 ? [`runs with a fault, all together | ${faults}`] : []),
  ];
}

const { scale, names } = wantedOf(process.argv.slice(2));
const seed = Number(process.env.TURNLOG_TEST_SEED || randomInt(1, 2 ** 31));
process.stdout.write(`seed ${seed}, scale ${scale}: ${names.join(', ')}\n`);
const rows = [];
for (const name of names) {
  const part = parts[name];
  const variables = variablesOf(part, scale, seed);
  const started = Date.now();
  const { isWhole, lines } = await runPart(part, { ...variables, TURNLOG_TEST_SEED: String(seed) });
  const minutes = ((Date.now() - started) / 60_000).toFixed(1);
  const budget = Object.entries(variables).map(([variable, value]) => `${variable}=${value}`);
  rows.push(`${isWhole ? 'held  ' : 'FAILED'} ${name}, ${minutes} min ${budget.join(' ')}`);
  rows.push(...figuresIn(lines).map((figure) => `         ${figure}`));
  if (!isWhole) process.exitCode = 1;
}
process.stdout.write(`\nseed ${seed}\n${rows.join('\n')}\n`);
