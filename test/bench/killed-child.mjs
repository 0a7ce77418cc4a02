// Holds a log, has something in its buffer, and waits to be killed. Argument: log.

import { createEnvironment } from './machine.mjs';

const { openOwnedLog } = await import('../../packages/log/dist/index.js');
const log = await openOwnedLog(createEnvironment(), process.argv[2], 's-bench', { durability: 'turn' });
for (let at = 0; at < 20; at += 1) {
  log.append({ type: 'turn.started' });
  log.append({ type: 'turn.failed', message: 'x'.repeat(600) });
}
log.append({ type: 'turn.started' });
process.stdout.write(`${log.durableSeq}\n`);
setInterval(() => undefined, 1_000);
