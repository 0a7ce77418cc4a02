// Appending to a log that is at its cap: what evictions cost, and what they write: P-5.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createNodeFileSystem } from '../../../packages/fs/dist/index.js';
import { openOwnedLog } from '../../../packages/log/dist/index.js';
import { buildLog } from '../build-log.mjs';
import { Counters, countingFileSystem } from '../counting-fs.mjs';
import { createTurns, makeTurns } from '../generate.mjs';
import { createEnvironment, option, withDirectory } from '../machine.mjs';
import { latencies, rateRows, rotate } from '../measure.mjs';

const eventCount = Number(option('events', 40_000));
const maxEvents = Number(option('max-events', 10_000));

const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

/** Appends turn after turn, the event loop having its turn between them, as an agent's would. */
async function appendTurns(log, turns) {
  const start = process.hrtime.bigint();
  for (const events of turns) {
    for (const event of events) log.append(event);
    await turnOfTheLoop();
  }
  log.sync();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

async function run(path, durability, cap, turns) {
  const log = await openOwnedLog(createEnvironment(), path, 's-bench', {
    durability,
    ...(cap === undefined ? {} : { cap }),
  });
  const failures = [];
  log.onMaintenance((report) => failures.push(report.message));
  const ms = await appendTurns(log, turns);
  await log.maintain();
  const { evicted, lifecycle } = log.state;
  await log.close();
  const records = lifecycle.eventCount + (evicted?.events ?? 0);
  const summaries = cap === undefined ? 0 : records - turns.flat().length;
  if (failures.length > 0 || summaries < 0 || (cap !== undefined && evicted === null)) {
    throw new Error(`the cap did not hold: ${failures.join(', ')}`);
  }
  return ms;
}

async function speed(directory, durability) {
  const turns = makeTurns(eventCount);
  let round = 0;
  const of = (name, cap) => ({
    name,
    run: () => {
      round += 1;
      return run(join(directory, `${durability}-${round}`), durability, cap, turns);
    },
  });
  const variants = [
    of('no cap'),
    of('cap, gzip', { maxEvents }),
    of('cap, drop', { maxEvents, archive: 'drop' }),
  ];
  const times = await rotate(variants, { repetitions: 7 });
  return rateRows(times, { 'events/s': turns.flat().length }, ['no cap']);
}

/** Bytes written by what they are for, over many evictions. */
async function rewritten(directory, archive) {
  const counters = new Counters();
  const env = createEnvironment(countingFileSystem(createNodeFileSystem(), counters));
  const path = join(directory, `rewritten-${archive}`);
  const log = await openOwnedLog(env, path, 's-bench', { durability: 'turn', cap: { maxEvents, archive } });
  const next = createTurns(5);
  let appendedBytes = 0;
  let evictions = 0;
  let total = 0;
  const turns = Math.ceil((10 * maxEvents) / 22);
  counters.reset();
  for (let turn = 0; turn < turns; turn += 1) {
    for (const event of next()) {
      log.append(event);
      appendedBytes += Buffer.byteLength(JSON.stringify(event)) + 78;
    }
    const before = log.state.evicted?.toSeq ?? 0;
    await log.maintain();
    if ((log.state.evicted?.toSeq ?? 0) > before) evictions += 1;
  }
  for (const bytes of counters.writtenBytes.values()) total += bytes;
  await log.close();
  const archived = readdirSync(join(path, 'archive')).map(
    (name) => statSync(join(path, 'archive', name)).size,
  );
  return {
    archive,
    evictions,
    'appended, MB': appendedBytes / 1e6,
    'written in all, MB': total / 1e6,
    'rewritten × appended': (total - appendedBytes) / appendedBytes,
    'in archives, MB': archived.reduce((sum, bytes) => sum + bytes, 0) / 1e6,
  };
}

/** How long single appends, and turns of the event loop, take while 100 MB are being cut. */
async function waiting(directory) {
  const env = createEnvironment();
  const path = join(directory, 'waiting');
  await buildLog(env, path, { recordCount: 135_000 });
  const bytes = statSync(join(path, 'events.jsonl')).size;
  const log = await openOwnedLog(env, path, 's-bench', {
    durability: 'turn',
    cap: { maxBytes: bytes + 100_000 },
  });
  const next = createTurns(9);
  const appends = [];
  const loops = [];
  for (let isCut = false; !isCut; ) {
    for (const event of next()) {
      const start = process.hrtime.bigint();
      log.append(event);
      appends.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
    const start = process.hrtime.bigint();
    await turnOfTheLoop();
    loops.push(Number(process.hrtime.bigint() - start) / 1e6);
    isCut = log.state.evicted !== null;
  }
  await log.close();
  return [
    { what: 'append', ...latencies(appends), n: appends.length },
    { what: 'turn of the event loop', ...latencies(loops), n: loops.length },
  ];
}

const results = await withDirectory(async (directory) => [
  {
    title: 'append at the cap, buffered',
    note: `${eventCount} events, at most ${maxEvents} in the log`,
    rows: await speed(directory, 'buffered'),
  },
  {
    title: 'append at the cap, turn',
    note: `${eventCount} events, at most ${maxEvents} in the log`,
    rows: await speed(directory, 'turn'),
  },
  {
    title: 'bytes written at the cap',
    note: `ten times the cap of ${maxEvents} events appended`,
    rows: [await rewritten(directory, 'gzip'), await rewritten(directory, 'drop')],
  },
  {
    title: 'waiting during an eviction',
    note: 'a log of 100 MB is cut while turns are appended, milliseconds',
    rows: await waiting(directory),
  },
]);
process.stdout.write(`${JSON.stringify(results)}\n`);
