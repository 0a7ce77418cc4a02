#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { processIo } from './process-io.js';
import { run } from './run.js';

const helpers = {
  replayChild: fileURLToPath(new URL('./replay-child.js', import.meta.url)),
  bin: fileURLToPath(import.meta.url),
  hashWorker: fileURLToPath(new URL('./hash-worker.js', import.meta.url)),
};

process.exit(await run(process.argv.slice(2), processIo(helpers)));
