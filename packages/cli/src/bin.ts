#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { processIo } from './process-io.js';
import { run } from './run.js';

process.exit(
  await run(process.argv.slice(2), processIo(fileURLToPath(new URL('./replay-child.js', import.meta.url)))),
);
