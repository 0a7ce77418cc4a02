// Importing transcripts of other agents, against `JSON.parse` of each of their lines: the largest of the corpus, where
// it is there, and a generated one.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeTranscript } from '../claude-transcript.mjs';
import { importFile, parseLines } from '../import-file.mjs';
import { here, option, root, withDirectory } from '../machine.mjs';
import { rateRows, rotate, timed } from '../measure.mjs';

// Fresh processes get the large one; the small one is imported several times by one process that is warmed up.
const largeBytes = Number(option('bytes', 200_000_000));
const smallBytes = largeBytes / 10;
const corpus = join(root, '..', 'shared', 'corpus');
const heapMiB = 128;

/** The largest transcripts that one agent has in the corpus. */
function largestOf(agent, count) {
  const directory = join(corpus, agent);
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ path: join(directory, name), title: `${agent}: ${basename(name)}` }))
    .map((file) => ({ ...file, bytes: statSync(file.path).size }))
    .sort((left, right) => right.bytes - left.bytes)
    .slice(0, count);
}

async function rates(directory, file, repetitions) {
  const store = join(directory, 'store');
  const importAs = async (raw) => {
    const { ms } = await importFile(store, file.path, { raw });
    rmSync(store, { recursive: true });
    return ms;
  };
  const variants = [
    { name: 'turnlog, raw copy', run: () => importAs('asset') },
    { name: 'turnlog, digests of the raw copy', run: () => importAs('reference') },
    { name: 'JSON.parse', run: () => timed(() => parseLines(file.path)) },
  ];
  const times = await rotate(variants, { repetitions, warmUps: 2 });
  return rateRows(times, { 'MB/s': file.bytes / 1e6 }, ['JSON.parse']);
}

/** Where the bytes went, and that the session has what the report says. */
async function account(directory, file) {
  const path = join(directory, 'account');
  const { ledger, store, sessionId } = await importFile(path, file.path, { raw: 'reference' });
  const reader = store.read(sessionId);
  let records = 0;
  for (const record of reader.records()) records += record.seq > 0 ? 1 : 0;
  reader.close();
  rmSync(path, { recursive: true });
  if (ledger.bytes !== file.bytes || records === 0) throw new Error(`${file.title} is not all accounted for`);
  const megabytes = (bytes) => (bytes / 1e6).toFixed(2);
  const { mapped, kept, refused } = ledger;
  return `${megabytes(file.bytes)} MB, of them mapped ${megabytes(mapped)}, kept ${megabytes(kept)}, refused ${megabytes(refused)}; ${records} records in the session`;
}

function inFreshProcess(directory, file, action) {
  const store = join(directory, 'fresh');
  const child = spawnSync(
    process.execPath,
    [`--max-old-space-size=${heapMiB}`, join(here, 'import-child.mjs'), store, file.path, action],
    { encoding: 'utf8' },
  );
  rmSync(store, { recursive: true, force: true });
  return child.status === 0 ? JSON.parse(child.stdout) : null;
}

/** One run of each: importing so much takes long. */
function memory(directory, file) {
  const names = {
    empty: 'empty',
    parse: 'JSON.parse',
    asset: 'turnlog, raw copy',
    reference: 'turnlog, digests of the raw copy',
  };
  const found = new Map(
    Object.keys(names).map((action) => [action, inFreshProcess(directory, file, action)]),
  );
  const empty = found.get('empty');
  const parsed = found.get('parse');
  return [...found].map(([action, figures]) => {
    const variant = names[action];
    if (figures === null) return { variant, n: 'fails' };
    const memoryFigures = {
      variant,
      'peak RSS, MiB': figures.rss / 1_048_576,
      'less empty, MiB': (figures.rss - empty.rss) / 1_048_576,
      'highest heap seen, MiB': figures.heap / 1_048_576,
      n: 1,
    };
    if (action === 'empty') return memoryFigures;
    return {
      ...memoryFigures,
      'MB/s': file.bytes / 1e3 / figures.ms,
      '× JSON.parse': parsed.ms / figures.ms,
    };
  });
}

function generate(directory, byteCount) {
  const path = join(directory, `transcript-${byteCount}.jsonl`);
  return { path, title: 'generated Claude transcript', ...writeTranscript(path, byteCount) };
}

const results = await withDirectory(async (directory) => {
  const small = generate(directory, smallBytes);
  const large = generate(directory, largeBytes);
  const real = [...largestOf('claude', 2), ...largestOf('codex', 2)];
  const found = [];
  for (const file of [small, ...real]) {
    const note = await account(directory, file);
    const rows = await rates(directory, file, file === small ? 5 : 9);
    found.push({ title: `import, ${file.title}`, note, rows });
  }
  const left = real.length === 0 ? '; there is no corpus beside this folder, so real files are left out' : '';
  found.push({
    title: 'import, large file and memory',
    note: `${large.title}, ${Math.round(large.bytes / 1e6)} MB in ${large.turns} turns, fresh processes with --max-old-space-size=${heapMiB}${left}`,
    rows: memory(directory, large),
  });
  return found;
});
process.stdout.write(`${JSON.stringify(results)}\n`);
