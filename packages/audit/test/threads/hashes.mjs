// The thread of `hash-worker.test.ts` as it is compiled.

import { serveHashes } from '../../dist/index.js';

serveHashes();
