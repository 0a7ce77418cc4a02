#!/usr/bin/env node
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { processIo } from './process-io.js';
import { run } from './run.js';

const helpers = {
  replayChild: fileURLToPath(new URL('./replay-child.js', import.meta.url)),
  bin: fileURLToPath(import.meta.url),
  hashWorker: createRequire(import.meta.url).resolve('@turnlog/audit/hash-worker'),
};

process.exit(await run(process.argv.slice(2), processIo(helpers)));
