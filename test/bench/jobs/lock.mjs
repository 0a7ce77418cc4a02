// What the writer lock and shared writing cost: P-6.

import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { openOwnedLog, transaction } from '../../../packages/log/dist/index.js';
import { buildLog } from '../build-log.mjs';
import { createEnvironment, here, option, peerVersion, requirePeer, withDirectory } from '../machine.mjs';
import { latencies, summary } from '../measure.mjs';

const { lock: lockWithLibrary } = requirePeer('proper-lockfile');
const env = createEnvironment();
const event = { type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'x'.repeat(600) } };

async function timedLater(work) {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/** Single calls of each kind, in rotating order. */
async function singleCalls(directory) {
  const place = (name) => {
    const path = join(directory, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  const forLibrary = place('library');
  const forLocks = place('locks');
  const forTransactions = join(directory, 'transactions');
  const owned = await openOwnedLog(env, join(directory, 'owned'), 's-bench', { durability: 'event' });
  const kinds = [
    {
      name: 'proper-lockfile: lock + unlock',
      run: async () => (await lockWithLibrary(forLibrary, { realpath: false }))(),
    },
    {
      name: 'exclusive create + unlink',
      run: () => {
        closeSync(openSync(join(forLibrary, 'x'), 'wx'));
        unlinkSync(join(forLibrary, 'x'));
      },
    },
    {
      name: 'turnlog: acquire + release',
      run: async () => {
        const held = await env.locks.acquire(forLocks, {
          mode: 'shared',
          waitMs: 0,
          onLost: () => undefined,
        });
        await held.release();
      },
    },
    {
      name: 'turnlog: transaction of one append',
      run: () => transaction(env, forTransactions, 's-bench', (log) => log.append(event)),
    },
    { name: 'turnlog: append of an owned log, durable', run: () => owned.append(event) },
  ];
  const found = new Map(kinds.map(({ name }) => [name, []]));
  for (let round = 0; round < 330; round += 1) {
    for (let at = 0; at < kinds.length; at += 1) {
      const { name, run } = kinds[(round + at) % kinds.length];
      const ms = await timedLater(run);
      if (round >= 30) found.get(name).push(ms);
    }
  }
  await owned.close();
  const rows = kinds.map(({ name }) => ({
    variant: name,
    ...latencies(found.get(name)),
    n: found.get(name).length,
  }));
  return rows.map((row) => ({ ...row, '× proper-lockfile': row.p50 / rows[0].p50 }));
}

/**
 * `count` processes that append `each` records; milliseconds from the first start to the last end of the work, and of
 * the longest transaction, its waiting included.
 */
async function sharedRun(path, count, each) {
  const children = Array.from({ length: count }, (_, at) =>
    spawn(process.execPath, [join(here, 'lock-child.mjs'), path, String(each), `${path}-warm-${at}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const ready = children.map((child) => new Promise((resolve) => child.stdout.once('data', resolve)));
  await Promise.all(ready);
  const start = process.hrtime.bigint();
  const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
  const longest = children.map(
    (child) => new Promise((resolve) => child.stdout.once('data', (text) => resolve(Number(text)))),
  );
  for (const child of children) child.stdin.end('go\n');
  const codes = await Promise.all(ended);
  if (codes.some((code) => code !== 0)) throw new Error(`writers failed: ${codes.join(' ')}`);
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  const lines = readFileSync(join(path, 'events.jsonl')).toString().trimEnd().split('\n');
  const seqs = lines.map((line) => JSON.parse(line).seq);
  if (seqs.length !== count * each || seqs.some((seq, at) => seq !== at + 1))
    throw new Error('records are missing');
  return { ms, longestMs: Math.max(...(await Promise.all(longest))) };
}

async function sharedWriters(directory) {
  const total = Number(option('appends', 640));
  const counts = [1, 4, 16];
  const rates = new Map(counts.map((count) => [count, []]));
  const longest = new Map(counts.map((count) => [count, []]));
  for (let round = 0; round < 5; round += 1) {
    for (const count of counts) {
      const path = join(directory, `shared-${count}-${round}`);
      const { ms, longestMs } = await sharedRun(path, count, total / count);
      rates.get(count).push((total / ms) * 1_000);
      longest.get(count).push(longestMs);
    }
  }
  const one = summary(rates.get(1)).median;
  return counts.map((count) => {
    const { median, lower, upper } = summary(rates.get(count));
    return {
      processes: count,
      'transactions/s': median,
      quartiles: `${Math.round(lower)}–${Math.round(upper)}`,
      '× one process': median / one,
      'ms each': 1_000 / median,
      'longest, ms': summary(longest.get(count)).median,
    };
  });
}

/** A writer of the log that is killed while it holds it; returns the seq of its last durable record. */
async function holdAndDie(...given) {
  const child = spawn(process.execPath, [join(here, 'killed-child.mjs'), ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await new Promise((resolve) => child.stdout.once('data', resolve));
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
  return Number(String(said));
}

/** Milliseconds of an open for writing that must find the record `seq`; the log is healthy afterwards. */
async function openAndClose(path, seq) {
  const start = process.hrtime.bigint();
  const log = await openOwnedLog(env, path, 's-bench');
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (log.lastSeq < seq) throw new Error('a durable record is missing');
  await log.close();
  return ms;
}

/** How long the next writer's open takes when the one before was killed while it held a long log. */
async function recovery(directory) {
  const path = join(directory, 'long');
  const built = await buildLog(env, path, { byteCount: Number(option('bytes', 1_073_741_824)) });
  // With 1 MiB more than it says the manifest is replaced.
  const kinds = [null, 0, 65_536, 262_144, 983_040];
  const found = new Map(kinds.map((kind) => [kind, []]));
  for (let round = 0; round < 9; round += 1) {
    for (let at = 0; at < kinds.length; at += 1) {
      const kind = kinds[(round + at) % kinds.length];
      const seq = kind === null ? built.records : await holdAndDie(path, String(kind));
      found.get(kind).push(await openAndClose(path, seq));
    }
  }
  const healthy = latencies(found.get(null));
  return kinds.map((kind) => {
    const row = latencies(found.get(kind));
    const variant = kind === null ? 'healthy log' : `killed, at least ${kind / 1_024} KiB to scan`;
    return { variant, ...row, 'p50 less healthy': row.p50 - healthy.p50, n: found.get(kind).length };
  });
}

/** The same of a short log. */
async function afterKill(directory) {
  const path = join(directory, 'killed');
  const ms = [];
  for (let round = 0; round < 20; round += 1) ms.push(await openAndClose(path, await holdAndDie(path)));
  return [{ variant: 'turnlog: open after SIGKILL of the owner', ...latencies(ms), n: ms.length }];
}

const results = await withDirectory(async (directory) => [
  {
    title: 'lock, single calls',
    note: `nobody else wants the lock, milliseconds; proper-lockfile ${peerVersion('proper-lockfile')}`,
    rows: await singleCalls(directory),
  },
  {
    title: 'shared writers',
    note: 'one log, transactions of one append each, read back and counted',
    rows: await sharedWriters(directory),
  },
  {
    title: 'take-over',
    note: 'the owner was killed; lock, recovery and tail scan together, milliseconds',
    rows: await afterKill(directory),
  },
  {
    title: 'recovery of a long log',
    note: 'a log of 1 GiB opened for writing after its owner was killed, milliseconds; what was not published is scanned',
    rows: await recovery(directory),
  },
]);
process.stdout.write(`${JSON.stringify(results)}\n`);
