// Packing and verifying a session, against reading its log, hashing each line with `crypto.hash` and building the tree,
// and hashing the same files once each: both in one process, one after the other. Then the same with the thread that long
// logs are hashed in, against one thread.

import { createHash, hash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packSession, verifyPack } from '../../../packages/audit/dist/index.js';
import { MerkleFrontier, treeRoot } from '../../../packages/log/dist/index.js';
import { buildLog } from '../build-log.mjs';
import { createEnvironment, option, withDirectory } from '../machine.mjs';
import { rotate, summary } from '../measure.mjs';

const recordCount = Number(option('records', 100_000));
const blockBytes = 1_048_576;
const reference = 'lines, tree and files hashed';
const workers = {
  module: new URL('../../../packages/audit/dist/hash-worker.js', import.meta.url),
  bytesMin: 0,
};

function* blocks(path) {
  const file = openSync(path, 'r');
  try {
    const block = Buffer.alloc(blockBytes);
    for (let count = readSync(file, block); count > 0; count = readSync(file, block)) {
      yield block.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

/** The root of a log by the fewest steps: lines cut at 0x0A, each hashed in one call, the tree over them. */
function rootOf(path) {
  const tree = new MerkleFrontier();
  let rest = Buffer.alloc(0);
  const scratch = Buffer.alloc(16_777_216);
  for (const block of blocks(path)) {
    const held = rest.length === 0 ? block : Buffer.concat([rest, block]);
    let start = 0;
    for (let end = held.indexOf(0x0a); end !== -1; end = held.indexOf(0x0a, start)) {
      held.copy(scratch, 1, start, end);
      tree.add(hash('sha256', scratch.subarray(0, 1 + end - start), 'hex'));
      start = end + 1;
    }
    rest = Buffer.from(held.subarray(start));
  }
  return treeRoot(tree.head());
}

function digestOf(path) {
  const digest = createHash('sha256');
  for (const block of blocks(path)) digest.update(block);
  return digest.digest('hex');
}

function filesBelow(directory) {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('audit-pack'))
    .map((entry) => join(entry.parentPath, entry.name));
}

async function clocked(work) {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

const results = await withDirectory(async (directory) => {
  const env = createEnvironment();
  const built = await buildLog(env, directory, { recordCount });
  const events = join(directory, 'events.jsonl');
  const place = { directory, sessionId: 's-bench' };
  const expected = rootOf(events);
  const deep = { mode: 'deep', record: 'none' };
  const { pack } = await packSession(env, place, deep);
  if (pack.own.tree.root !== expected) throw new Error('the roots differ');
  const files = filesBelow(directory);
  const verified = async (threads) => {
    const found = await verifyPack(env.fs, { ...place, nowMs: 0, ...threads });
    if (found.completeness !== 'proven') throw new Error('it does not verify');
  };
  const variants = [
    { name: reference, run: () => clocked(() => [rootOf(events), ...files.map(digestOf)]) },
    { name: 'files hashed only', run: () => clocked(() => files.map(digestOf)) },
    { name: 'pack, all of it', run: () => clocked(() => packSession(env, place, deep)) },
    { name: 'pack, nothing new', run: () => clocked(() => packSession(env, place, { record: 'none' })) },
    { name: 'verify', run: () => clocked(() => verified({})) },
    { name: 'pack, two threads', run: () => clocked(() => packSession(env, place, { ...deep, workers })) },
    { name: 'verify, two threads', run: () => clocked(() => verified({ workers })) },
  ];
  const times = await rotate(variants, { repetitions: 7, warmUps: 2 });
  const base = summary(times.get(reference)).median;
  const bytes = statSync(events).size;
  const alone = { pack: 'pack, all of it', verify: 'verify' };
  const rows = variants.map(({ name }) => {
    const { median, lower, upper, count } = summary(times.get(name));
    return {
      variant: name,
      ms: median,
      quartiles: `${Math.round(lower)}–${Math.round(upper)}`,
      'MB/s': bytes / 1e3 / median,
      n: count,
      [`rate × ${reference}`]: base / median,
      ...(name.endsWith('two threads')
        ? { 'rate × one thread': summary(times.get(alone[name.split(',')[0]])).median / median }
        : {}),
    };
  });
  const note = `${built.records} records, ${(built.bytes / 1e6).toFixed(1)} MB; "all of it" has an earlier pack to prove too`;
  return [{ title: 'audit', note, rows }];
});
process.stdout.write(`${JSON.stringify(results)}\n`);
