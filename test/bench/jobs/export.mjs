// Making a document of a session, against `JSON.parse` of each line of its log.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildLog } from '../build-log.mjs';
import { exportVariants, makeDocument } from '../export-document.mjs';
import { parseLines } from '../import-file.mjs';
import { createEnvironment, here, option, withDirectory } from '../machine.mjs';
import { rotate, summary, timed } from '../measure.mjs';

const recordCount = Number(option('records', 5_000));
const id = 's-bench';
const reference = 'JSON.parse';

async function speed(root, built) {
  const lengths = new Map();
  const variants = Object.keys(exportVariants).map((name) => ({
    name,
    run: async () => {
      const { ms, bytes, report } = await makeDocument(root, id, name);
      // The bytes as they are come with no count of records.
      const isWhole = name === 'jsonl, raw' ? bytes === built.bytes : report.recordCount === built.records;
      if (!isWhole) throw new Error(`${name} left records out`);
      lengths.set(name, bytes);
      return ms;
    },
  }));
  const events = join(root, 'sessions', id, 'events.jsonl');
  variants.push({ name: reference, run: () => timed(() => parseLines(events)) });
  const times = await rotate(variants, { repetitions: 7, warmUps: 2 });
  const parsed = summary(times.get(reference)).median;
  return variants.map(({ name }) => {
    const { median, lower, upper, count } = summary(times.get(name));
    const length = lengths.get(name);
    return {
      variant: name,
      ms: median,
      quartiles: `${Math.round(lower)}–${Math.round(upper)}`,
      'MB/s of the log': built.bytes / 1e3 / median,
      'document, MB': length === undefined ? undefined : length / 1e6,
      n: count,
      'rate × JSON.parse': parsed / median,
    };
  });
}

function memory(root, built) {
  const names = ['empty', 'html', 'jsonl'];
  const found = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < 3; round += 1) {
    for (const name of names) {
      const child = spawnSync(process.execPath, [join(here, 'export-child.mjs'), root, id, name], {
        encoding: 'utf8',
      });
      if (child.status !== 0) throw new Error(`${name}: ${child.stderr}`);
      found.get(name).push(JSON.parse(child.stdout));
    }
  }
  const median = (name, figure) => summary(found.get(name).map((figures) => figures[figure])).median;
  return names.map((name) => ({
    variant: name,
    'peak RSS, MiB': median(name, 'rss') / 1_048_576,
    'less empty, MiB': (median(name, 'rss') - median('empty', 'rss')) / 1_048_576,
    'highest heap seen, MiB': median(name, 'heap') / 1_048_576,
    'MB/s, cold': name === 'empty' ? undefined : built.bytes / 1e3 / median(name, 'ms'),
    n: found.get(name).length,
  }));
}

const results = await withDirectory(async (directory) => {
  const env = createEnvironment();
  const sessions = join(directory, 'sessions');
  env.fs.makeDirectory(sessions);
  const built = await buildLog(env, join(sessions, id), { recordCount });
  return [
    {
      title: 'export',
      note: `${built.records} records, ${(built.bytes / 1e6).toFixed(2)} MB; the document is made, not stored`,
      rows: await speed(directory, built),
    },
    { title: 'export, peak memory', note: 'fresh processes', rows: memory(directory, built) },
  ];
});
process.stdout.write(`${JSON.stringify(results)}\n`);
