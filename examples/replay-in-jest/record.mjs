// Records the fixture of the tests: the agent once, on ports that answer as a model and a file system would.
//
//   node examples/replay-in-jest/record.mjs DIR

import { record } from '@turnlog/replay';
import { fixLogin } from './src/agent.mjs';

const files = new Map([['src/login.ts', 'if (user = admin) allow();\n']]);
let nowMs = Date.UTC(2026, 0, 5, 10);

const ports = {
  model: async function* () {
    for (const delta of ['if (user ', '=== admin) ', 'allow();\n']) {
      nowMs += 250;
      yield delta;
    }
  },
  tool: async (name, { path, text }) => {
    nowMs += 5;
    if (name === 'read_file') return files.get(path);
    if (name === 'run') return 'passed';
    files.set(path, text);
    return null;
  },
};

const clock = {
  now: () => nowMs,
  sleep: async (ms) => {
    nowMs += ms;
  },
};

await record(process.argv[2] ?? 'fix-login', ports, fixLogin, { name: 'fix-login', clock });
