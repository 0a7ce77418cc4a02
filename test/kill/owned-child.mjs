/*
 * Appends numbered records to a log that it owns until it is killed. Says `try NAME` before an append and `ack NAME`
 * once it is durable; in class `turn` that is at the end of each turn.
 */
import { openOwnedLog } from '../../packages/log/dist/index.js';
import { note, realMachine, tell } from './machine.mjs';

const [directory, durability, cycle] = process.argv.slice(2);
const log = await openOwnedLog(realMachine(), directory, 's-1', { durability });
tell('open', log.lastSeq);

const unacknowledged = [];
function append(event, name) {
  if (name !== null) tell('try', name);
  const { seq } = log.append(event);
  if (name !== null) unacknowledged.push(`${name}:${seq}`);
}

for (let count = 0; ; count += 1) {
  if (durability === 'event') {
    append(note(`${cycle}-${count}`), `${cycle}-${count}`);
  } else {
    append({ raw: '{"type":"turn.started"}' }, null);
    for (const part of ['a', 'b']) append(note(`${cycle}-${count}${part}`), `${cycle}-${count}${part}`);
    append({ raw: '{"type":"turn.completed","usage":{}}' }, null);
  }
  for (const name of unacknowledged.splice(0)) tell('ack', name);
}
