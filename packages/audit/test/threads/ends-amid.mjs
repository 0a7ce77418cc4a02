// A thread that says it is there, and is gone when the first block comes.

import { parentPort } from 'node:worker_threads';

parentPort.on('message', ({ kind }) => {
  if (kind === 'block') process.exit(7);
});
parentPort.postMessage({ kind: 'ready' });
