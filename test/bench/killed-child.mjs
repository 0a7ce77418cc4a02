// Holds a log, has something in its buffer, and waits to be killed. Arguments: log, bytes that it appends at least, in
// turns that are durable but whose manifest may not be written yet; by default 20 short turns.

import { createTurns } from './generate.mjs';
import { createEnvironment } from './machine.mjs';

const [path, byteCount] = process.argv.slice(2);
const { openOwnedLog } = await import('../../packages/log/dist/index.js');
const log = await openOwnedLog(createEnvironment(), path, 's-bench', { durability: 'turn' });
if (byteCount === undefined) {
  for (let at = 0; at < 20; at += 1) {
    log.append({ type: 'turn.started' });
    log.append({ type: 'turn.failed', message: 'x'.repeat(600) });
  }
} else {
  const next = createTurns();
  const end = log.state.length + Number(byteCount);
  while (log.state.length < end) for (const event of next()) log.append(event);
}
log.append({ type: 'turn.started' });
process.stdout.write(`${log.durableSeq}\n`);
setInterval(() => undefined, 1_000);
