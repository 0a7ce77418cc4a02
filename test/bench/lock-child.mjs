// One of several processes that write to one log; starts when its input ends. Arguments: log, appends.

import { createEnvironment } from './machine.mjs';

const [path, count] = process.argv.slice(2);
const { transaction } = await import('../../packages/log/dist/index.js');
const env = createEnvironment();
const event = { type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'x'.repeat(600) } };

process.stdout.write('ready\n');
for await (const _ of process.stdin) break;
for (let at = 0; at < Number(count); at += 1) {
  await transaction(env, path, 's-bench', (log) => log.append(event), { waitMs: 60_000 });
}
