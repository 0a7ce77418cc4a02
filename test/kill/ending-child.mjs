/* Appends three records, the first one durable, and ends in the way it is told. */
import { openOwnedLog } from '../../packages/log/dist/index.js';
import { note, realMachine, tell } from './machine.mjs';

const [directory, ending] = process.argv.slice(2);
const log = await openOwnedLog(realMachine(), directory, 's-1', { durability: 'buffered' });
if (ending !== 'at-once') {
  log.append(note('one'), { durability: 'event' });
  log.append(note('two'));
  log.append(note('three'));
}
tell('open', log.lastSeq);
if (ending === 'throw') throw new Error('an uncaught error of the program');
if (ending === 'signal') setInterval(() => undefined, 1_000);
else process.exit(0);
