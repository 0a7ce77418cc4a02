/* Exits with the lock held. Prints whether it is held while the exit callbacks run; leaves nothing behind. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  createHost,
  createNodeFileSystem,
  createRandomIds,
  createSystemClock,
  createWriterLocks,
  systemTemporaryDirectory,
} from '../../dist/index.js';

const fs = createNodeFileSystem();
const ids = createRandomIds();
const host = createHost();
const directory = join(systemTemporaryDirectory(), `turnlog-test-${ids.randomHex(8)}`);
fs.makeDirectory(directory);
const locks = createWriterLocks({ fs, ids, clock: createSystemClock(), host, program: 'turnlog/test' });
await locks.acquire(directory, { mode: 'owned', waitMs: 0, onLost: () => process.exit(3) });

const tell = (name) => writeSync(1, `${name}, lock held: ${locks.inspect(directory) !== null}\n`);
host.onExit(() => {
  tell('first');
  throw new Error('a callback with a bug');
});
host.onExit(() => tell('second'));
host.onExit(() => tell('taken back'))();
// When all listeners have run, the library's too, the lock has been given back and the directory is empty.
process.emit = (
  (emit) =>
  (name, ...rest) => {
    const result = emit.call(process, name, ...rest);
    if (name === 'exit') fs.removeDirectory(directory);
    return result;
  }
)(process.emit);
process.exit(0);
