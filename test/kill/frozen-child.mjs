/*
 * Holds a log with short lock times and appends one record after the other, through a pause in which it is frozen or
 * blocks itself. A poisoned handle is reopened once; whatever happens is told.
 */
import { openOwnedLog } from '../../packages/log/dist/index.js';
import { note, realMachine, tell } from './machine.mjs';

const [directory, blocks] = process.argv.slice(2);
process.on('unhandledRejection', () => tell('unhandled'));
process.on('uncaughtException', () => tell('uncaught'));
const machine = realMachine({ staleMs: 2_000, updateMs: 1_000 });
const log = await openOwnedLog(machine, directory, 's-1', { durability: 'buffered' });
log.append(note('first'));
log.sync();
log.append(note('held'));
tell('open', log.lastSeq);
if (blocks === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
else await machine.clock.sleep(3_000);
// The timers of the lock have run, late.
await machine.clock.sleep(300);
try {
  log.append(note('second'));
  log.sync();
  tell('went-on');
} catch (error) {
  tell('failed', error.code, error.cause?.code ?? '-');
  const { lost, kept } = await log.reopen();
  tell('reopened', JSON.stringify({ lost, kept }));
  log.append(note('second'));
}
await log.close();
tell('closed');
