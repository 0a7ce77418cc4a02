import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import '@turnlog/replay/jest';
import { openFixture } from '@turnlog/replay';
import { fixLogin } from '../src/agent.mjs';

const fixture = join(dirname(fileURLToPath(import.meta.url)), 'fixtures/fix-login');

describe('fixLogin', () => {
  test('repeats the recorded run', async () => {
    await expect(async (player) => {
      await fixLogin({
        model: player.model,
        tool: player.tool,
        clock: player.clock,
        ids: player.ids,
        log: player.log, // append() compares with the fixture
      });
    }).toReplay(fixture);
  });

  test('notices another file', async () => {
    await expect((player) => fixLogin({ ...player, target: 'src/b.ts' })).toDivergeAt(fixture, {
      seq: 2,
      path: '/item/arguments/path',
    });
  });

  test('works without matchers, too', async () => {
    const player = await openFixture(fixture);
    await fixLogin(player);
    player.finish();
    expect(player).toHaveCalled('tool', {
      name: 'write_file',
      arguments: { path: expect.stringMatching(/login/) },
    });
  });
});
