/*
 * Appends numbered turns to a log with a small cap, so that turns leave it nearly all the time, until it is killed.
 * Says `try NAME` before an append and `ack NAME:SEQ` once its turn is durable.
 */
import { openOwnedLog } from '../../packages/log/dist/index.js';
import { note, realMachine, tell } from './machine.mjs';

const [directory, archive, cycle] = process.argv.slice(2);
const log = await openOwnedLog(realMachine(), directory, 's-1', {
  cap: { maxEvents: 24, target: 0.5, archive },
});
log.onMaintenance(({ step, cause }) => {
  if (step !== 'cap' && step !== 'lock-taken-over') tell('failed', step, String(cause));
});
tell('open', log.lastSeq);

for (let count = 0; ; count += 1) {
  const names = [`${cycle}-${count}a`, `${cycle}-${count}b`];
  log.append({ raw: '{"type":"turn.started"}' });
  const appended = names.map((name) => {
    tell('try', name);
    return `${name}:${log.append(note(name)).seq}`;
  });
  log.append({ raw: '{"type":"turn.completed","usage":{}}' });
  for (const name of appended) tell('ack', name);
  // Evictions get their turn between appends.
  await new Promise((resolve) => setImmediate(resolve));
}
