// One of several processes that write to one log; starts when its input ends, and says how long its longest
// transaction took. Arguments: log, appends, log of its own to warm up on.

import { createEnvironment } from './machine.mjs';

const [path, count, warmUpPath] = process.argv.slice(2);
const { transaction } = await import('../../packages/log/dist/index.js');
const env = createEnvironment();
const event = { type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'x'.repeat(600) } };
const append = (log) => log.append(event);

// A program runs several times faster once it has run for a while: one of many must not be measured colder than one.
for (let at = 0; at < 100; at += 1) await transaction(env, warmUpPath, 's-warm', append);

process.stdout.write('ready\n');
for await (const _ of process.stdin) break;
let longestMs = 0;
for (let at = 0; at < Number(count); at += 1) {
  const startMs = performance.now();
  await transaction(env, path, 's-bench', append, { waitMs: 60_000 });
  longestMs = Math.max(longestMs, performance.now() - startMs);
}
process.stdout.write(`${longestMs}\n`);
