// Fails, and is meant to: what it prints is the report of a divergence. Its output is compared by the test that runs
// this example.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import '@turnlog/replay/jest';
import { fixLogin } from '../src/agent.mjs';

const fixture = join(dirname(fileURLToPath(import.meta.url)), 'fixtures/fix-login');

test('the agent works on another file than the recorded one', async () => {
  await expect((player) => fixLogin({ ...player, target: 'src/b.ts' })).toReplay(fixture);
});
