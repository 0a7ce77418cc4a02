// What an append and the publishing of a turn cost as the log grows: P-3.

import { join } from 'node:path';
import { createNodeFileSystem } from '../../../packages/fs/dist/index.js';
import { openOwnedLog } from '../../../packages/log/dist/index.js';
import { buildLog } from '../build-log.mjs';
import { Counters, countingFileSystem } from '../counting-fs.mjs';
import { createTurns } from '../generate.mjs';
import { createEnvironment, option, withDirectory } from '../machine.mjs';
import { latencies } from '../measure.mjs';

const largest = Number(option('records', 1_000_000));
const sizes = [1_000, 100_000, 1_000_000].filter((records) => records <= largest);

/** p50 of single appends to logs of different lengths, a turn to each in rotating order. */
async function appendLatency(directory) {
  const env = createEnvironment();
  const logs = [];
  for (const records of sizes) {
    const path = join(directory, `append-${records}`);
    await buildLog(env, path, { recordCount: records });
    const log = await openOwnedLog(env, path, 's-bench', { durability: 'buffered' });
    logs.push({ records, log, ns: [] });
  }
  const next = createTurns(7);
  for (let round = 0; round < 700; round += 1) {
    const events = next();
    for (let place = 0; place < logs.length; place += 1) {
      const { log, ns } = logs[(round + place) % logs.length];
      for (const event of events) {
        const start = process.hrtime.bigint();
        log.append(event);
        const took = Number(process.hrtime.bigint() - start);
        if (round >= 200) ns.push(took);
      }
    }
  }
  const rows = logs.map(({ records, ns }) => ({ records, ...inMicroseconds(latencies(ns)), n: ns.length }));
  for (const { log } of logs) await log.close();
  return rows.map((row) => ({ ...row, '× 1,000 records': row.p50 / rows[0].p50 }));
}

function inMicroseconds(found) {
  return Object.fromEntries(Object.entries(found).map(([name, ns]) => [name, ns / 1_000]));
}

/** What is written and synced for single turns of equal content, early and late in a log. */
async function publishCost(directory, durability) {
  const counters = new Counters();
  const env = createEnvironment(countingFileSystem(createNodeFileSystem(), counters));
  const log = await openOwnedLog(env, join(directory, `publish-${durability}`), 's-bench', { durability });
  // Small turns, so that the 64 KiB at which the manifest is due are crossed rarely and alike.
  const turn = [
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'x'.repeat(600) } },
    {
      type: 'turn.completed',
      usage: { input_tokens: 1, cached_input_tokens: 0, cache_creation_tokens: 0, output_tokens: 1 },
    },
  ];
  const rows = [];
  const windowTurns = 100;
  for (let number = 1; number <= 10_100; number += 1) {
    const isFirst = number === 10 || number === 10_000;
    if (isFirst) counters.reset();
    for (const event of turn) log.append(event);
    const index = counters.writtenBytes.get('turns.jsonl') ?? 0;
    if (isFirst) rows.push({ turn: number, 'index bytes of this turn': index });
    if (number === 10 + windowTurns - 1 || number === 10_000 + windowTurns - 1) {
      Object.assign(rows.at(-1), {
        'index bytes/turn': index / windowTurns,
        'manifest bytes/turn': (counters.writtenBytes.get('manifest.json') ?? 0) / windowTurns,
        'log bytes/turn': (counters.writtenBytes.get('events.jsonl') ?? 0) / windowTurns,
        'fdatasync/turn': counters.dataSyncs / windowTurns,
        'fsync/turn': counters.syncs / windowTurns,
        'bytes read/turn': counters.readBytes / windowTurns,
      });
    }
  }
  await log.close();
  const published = (row) => row['index bytes/turn'] + row['manifest bytes/turn'];
  return rows.map((row) => ({ ...row, '× turn 10': published(row) / published(rows[0]) }));
}

/** Syncs over a log of ordinary turns: one for each, and one for each full buffer. */
async function syncCount(directory) {
  const counters = new Counters();
  const env = createEnvironment(countingFileSystem(createNodeFileSystem(), counters));
  const log = await openOwnedLog(env, join(directory, 'syncs'), 's-bench', { durability: 'turn' });
  const next = createTurns(3);
  counters.reset();
  const turnCount = 500;
  let fullBuffers = 0;
  for (let turn = 0; turn < turnCount; turn += 1) {
    for (const event of next()) {
      const before = counters.dataSyncs;
      log.append(event);
      if (event.type !== 'turn.completed') fullBuffers += counters.dataSyncs - before;
    }
  }
  const dataSyncs = counters.dataSyncs;
  const bytes = log.state.length;
  await log.close();
  return [
    {
      turns: turnCount,
      bytes,
      fdatasync: dataSyncs,
      'of them for a full buffer': fullBuffers,
      fsync: counters.syncs,
    },
  ];
}

const results = await withDirectory(async (directory) => [
  {
    title: 'publish, by turn',
    note: 'bytes written, 100 equal turns from turn 10 and from turn 10,000',
    rows: await publishCost(directory, 'turn'),
  },
  { title: 'fdatasync, class turn', note: 'ordinary turns', rows: await syncCount(directory) },
  {
    title: 'append, by records in the log',
    note: 'single appends, buffered, microseconds',
    rows: await appendLatency(directory),
  },
]);
process.stdout.write(`${JSON.stringify(results)}\n`);
