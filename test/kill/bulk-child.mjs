/*
 * Appends 500 records of 64 KiB as soon as it gets the log; says what kept it from it before. When it is to pause, it
 * stops half-way until SIGUSR2 comes, so that another process surely meets it at work.
 */
import { openOwnedLog } from '../../packages/log/dist/index.js';
import { realMachine, tell } from './machine.mjs';

const [directory, producer, count, pause] = process.argv.slice(2);
const goOn = new Promise((resolve) => process.once('SIGUSR2', resolve));
const machine = realMachine();
let log = null;
while (log === null) {
  try {
    log = await openOwnedLog(machine, directory, 's-1', { durability: 'buffered' });
  } catch (error) {
    tell('refused', error.code, error.details.pid, error.details.host);
    await machine.clock.sleep(100);
  }
}
tell('open', log.lastSeq);
const text = producer.repeat(65_536);
for (let number = 0; number < Number(count); number += 1) {
  log.append({ type: 'x.test.bulk', producer, number, text });
  if (number % 50 === 0) await machine.clock.sleep(1);
  // A waiting promise alone keeps no process alive.
  if (pause === 'pause' && number === Math.floor(Number(count) / 2)) {
    const alive = setInterval(() => undefined, 1_000);
    await goOn;
    clearInterval(alive);
  }
}
await log.close();
tell('closed');
