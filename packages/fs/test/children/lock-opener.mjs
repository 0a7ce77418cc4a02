/*
 * One of many openers of one log. Told `{round, directory}` it takes the lock, writes `enter` and `leave` into the
 * round's journal around a short stay, gives the lock back and answers with what it displaced.
 *
 * `--die-after-claim` and `--freeze-after-claim` stop the process the moment it has claimed the lock of a dead owner.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createHost,
  createNodeFileSystem,
  createRandomIds,
  createSystemClock,
  createWriterLocks,
} from '../../dist/index.js';

const fs = createNodeFileSystem();
const clock = createSystemClock();
const signal = { '--die-after-claim': 'SIGKILL', '--freeze-after-claim': 'SIGSTOP' }[process.argv[2]];

function open(path, mode) {
  const file = fs.open(path, mode);
  const isClaim = mode === 'create' && /session\.lock\.[0-9a-f]{16}\.\d+$/.test(path);
  if (signal === undefined || !isClaim) return file;
  // Stops once the claim is written, when it is closed.
  const close = file.close.bind(file);
  file.close = () => {
    close();
    process.kill(process.pid, signal);
    // The signal may take a moment to come; nothing of ours may happen meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  };
  return file;
}

const locks = createWriterLocks({
  fs: { ...fs, open },
  ids: createRandomIds(),
  clock,
  host: createHost(),
  program: 'turnlog/test',
});

process.on('message', async ({ directory }) => {
  const journal = join(directory, 'journal');
  const request = { mode: 'owned', waitMs: 30_000, onLost: () => process.exit(3) };
  const lock = await locks.acquire(directory, request);
  appendFileSync(journal, `enter ${process.pid}\n`);
  lock.check();
  await clock.sleep(Math.random() * 2);
  lock.check();
  appendFileSync(journal, `leave ${process.pid}\n`);
  await lock.release();
  process.send({ pid: process.pid, takenOver: lock.takenOver });
});
process.send({ pid: process.pid, ready: true });
