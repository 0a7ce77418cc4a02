// Listing the sessions of a store, against reading their manifests with plain calls of the file system.

import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../../packages/store/dist/index.js';
import { createTurns } from '../generate.mjs';
import { here, option, withDirectory } from '../machine.mjs';
import { latencies, rotate, summary } from '../measure.mjs';

const sessionCount = Number(option('sessions', 10_000));

/**
 * Sessions of one to three turns, each closed and healthy: a hundred are recorded, the others are copies of them,
 * with a name of their own.
 */
async function build(root) {
  const store = await openStore({ root });
  const next = createTurns(11);
  const counts = [];
  for (let number = 0; number < Math.min(100, sessionCount); number += 1) {
    const session = await store.open(nameOf(number), { durability: 'buffered' });
    const turns = Array.from({ length: 1 + (number % 3) }, next);
    for (const event of turns.flat()) session.append(event);
    counts.push(turns.flat().length);
    await session.close();
  }
  for (let number = counts.length; number < sessionCount; number += 1) {
    const from = number % counts.length;
    copy(join(root, 'sessions'), nameOf(from), nameOf(number));
    counts.push(counts[from]);
  }
  return { store, events: counts.reduce((sum, count) => sum + count, 0) };
}

const nameOf = (number) => `session-${number}`;

function copy(sessions, from, to) {
  const target = join(sessions, to);
  cpSync(join(sessions, from), target, { recursive: true });
  const manifest = join(target, 'manifest.json');
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, text.replace(`"session_id":"${from}"`, `"session_id":"${to}"`));
}

async function timedLater(work) {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

const manifests = (root) => {
  const sessions = join(root, 'sessions');
  return readdirSync(sessions).map((name) => readFileSync(join(sessions, name, 'manifest.json'), 'utf8'));
};

async function speed(root, { store, events }) {
  const variants = [
    {
      name: 'turnlog: list',
      run: () =>
        timedLater(async () => {
          const listed = await store.list();
          const sum = listed.reduce((total, summary) => total + (summary.events ?? 0), 0);
          if (listed.length !== sessionCount || sum !== events || listed.some(({ error }) => error !== null))
            throw new Error('not all is listed');
        }),
    },
    { name: 'read manifests', run: () => timedLater(() => manifests(root)) },
    {
      name: 'read and parse manifests',
      run: () => timedLater(() => manifests(root).map((text) => JSON.parse(text))),
    },
  ];
  const times = await rotate(variants, { repetitions: 5 });
  const rows = variants.map(({ name }) => {
    const { median, lower, upper } = summary(times.get(name));
    const { p50, p95, max } = latencies(times.get(name));
    const quartiles = `${Math.round(lower)}–${Math.round(upper)}`;
    return { variant: name, 'p50, ms': p50, quartiles, p95, max, n: times.get(name).length, median };
  });
  const timeOf = (name) => rows.find(({ variant }) => variant === name).median;
  return rows.map(({ median, ...row }) => ({
    ...row,
    'time × read manifests': median / timeOf('read manifests'),
    'time × read and parse manifests': median / timeOf('read and parse manifests'),
  }));
}

function memory(root) {
  const measure = (action) => {
    const child = spawnSync(process.execPath, [join(here, 'list-child.mjs'), root, action], {
      encoding: 'utf8',
    });
    if (child.status !== 0) throw new Error(`${action}: ${child.stderr}`);
    return JSON.parse(child.stdout);
  };
  const actions = ['empty', 'list', 'manifests'];
  const found = new Map(actions.map((action) => [action, []]));
  for (let round = 0; round < 3; round += 1) {
    for (const action of actions) found.get(action).push(measure(action));
  }
  const median = (action, name) =>
    summary(found.get(action).map((figures) => figures[name])).median / 1_048_576;
  return actions.map((action) => ({
    action,
    'peak RSS, MiB': median(action, 'rss'),
    'less empty, MiB': median(action, 'rss') - median('empty', 'rss'),
    'heap used at the end, MiB': median(action, 'heap'),
    n: found.get(action).length,
  }));
}

const results = await withDirectory(async (directory) => {
  const root = join(directory, 'store');
  const built = await build(root);
  return [
    {
      title: 'list',
      note: `${sessionCount} sessions, ${built.events} events, healthy metadata; a list has read and checked each manifest against its log`,
      rows: await speed(root, built),
    },
    { title: 'list, peak memory', note: 'fresh processes', rows: memory(root) },
  ];
});
process.stdout.write(`${JSON.stringify(results)}\n`);
