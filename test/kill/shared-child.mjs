/*
 * One of many producers of a shared log: appends its records FIRST to LAST, each in a transaction of its own and
 * under a key, and says `ack N` once one is durable. Started anew after a kill it repeats the one it is not sure of.
 */
import { transaction } from '../../packages/log/dist/index.js';
import { note, realMachine, tell } from './machine.mjs';

const [directory, producer, first, last] = process.argv.slice(2);
const machine = realMachine();
tell('open', 0);
for (let count = Number(first); count <= Number(last); count += 1) {
  const name = `${producer}-${count}`;
  await transaction(machine, directory, 's-1', (log) => log.append(note(name), { key: name }), {
    // On a loaded machine eight writers wait long for each other.
    waitMs: 240_000,
  });
  tell('ack', count);
}
