// One look at all sessions of a store in a process of its own; prints its peak memory. Arguments: root, action.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../packages/store/dist/index.js';

const [root, action] = process.argv.slice(2);
const sessions = join(root, 'sessions');

const actions = {
  empty: () => undefined,
  list: async () => (await openStore({ root })).list(),
  manifests: () =>
    readdirSync(sessions).map((name) =>
      JSON.parse(readFileSync(join(sessions, name, 'manifest.json'), 'utf8')),
    ),
};

const found = await actions[action]();
const { heapUsed: heap } = process.memoryUsage();
const { maxRSS } = process.resourceUsage();
process.stdout.write(JSON.stringify({ rss: maxRSS * 1_024, heap, count: found?.length ?? 0 }));
