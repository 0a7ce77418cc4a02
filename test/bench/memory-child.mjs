// One action on one log in a process of its own; prints its peak memory. Arguments: root of the store, action.

import { join } from 'node:path';
import { createEnvironment } from './machine.mjs';

const [root, action] = process.argv.slice(2);
const { openLogReader, openOwnedLog } = await import('../../packages/log/dist/index.js');
const { openStore } = await import('../../packages/store/dist/index.js');
const env = createEnvironment();
const directory = join(root, 'sessions/s-bench');

function withReader(work) {
  const reader = openLogReader(env.fs, directory, 's-bench');
  work(reader);
  reader.close();
}

const actions = {
  empty: () => undefined,
  open: () => withReader(() => undefined),
  tail: () => withReader((reader) => reader.tail(50)),
  turn: () => withReader((reader) => Array.from(reader.readTurn(reader.state.lifecycle.turnCount - 1))),
  list: async () => {
    const store = await openStore({ root, environment: env });
    if ((await store.list()).length !== 1) throw new Error('the session is not listed');
  },
  'open for writing': async () => {
    const log = await openOwnedLog(env, directory, 's-bench');
    await log.close();
  },
  scan: () =>
    withReader((reader) => {
      for (const record of reader.records()) record.seq;
    }),
};

await actions[action]();
const { maxRSS } = process.resourceUsage();
process.stdout.write(JSON.stringify({ rss: maxRSS * 1_024, heap: process.memoryUsage().heapUsed }));
