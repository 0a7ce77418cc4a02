/* The real machine, for processes that a test kills. Uses compiled output: Node 20 does not run TypeScript. */
import { writeSync } from 'node:fs';
import {
  createHost,
  createNodeFileSystem,
  createRandomIds,
  createSystemClock,
  createWriterLocks,
} from '../../packages/fs/dist/index.js';

export function realMachine(lockTimes = {}) {
  const fs = createNodeFileSystem();
  const ids = createRandomIds();
  const clock = createSystemClock();
  const host = createHost();
  const locks = createWriterLocks({ fs, ids, clock, host, program: 'turnlog/test', ...lockTimes });
  return { fs, ids, clock, host, locks, ownership: { uid: host.uid, onModeWarning: () => undefined } };
}

/** One line to the parent, with the pipe before this returns; a pipe that is full is waited for. */
export function tell(...words) {
  const line = Buffer.from(`${words.join(' ')}\n`);
  for (let at = 0; at < line.length; ) {
    try {
      at += writeSync(1, line, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

export function note(name) {
  return { raw: `{"type":"x.test.note","name":${JSON.stringify(name)}}` };
}
