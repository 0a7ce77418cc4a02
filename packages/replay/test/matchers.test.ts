import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from '@jest/globals';
import type { AgentPorts, Player } from '@turnlog/replay';
import { openFixture } from '@turnlog/replay';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import '../src/jest/matchers.js';

const kept = resolve(__dirname, '../../../test/golden/fixtures/1');
let directory: TemporaryDirectory;
let fixture: string;

beforeEach(() => {
  directory = makeTemporaryDirectory();
  fixture = join(directory.path, 'run');
  cpSync(kept, fixture, { recursive: true });
});

afterEach(() => directory.remove());

const events = (words = 'It is fixed.\nTwo lines.'): readonly { readonly type: string }[] => {
  const i1 = { id: 'i1', type: 'command_execution', command: 'pnpm test' };
  const failed = { ...i1, aggregated_output: '4 passed\n1 failed', exit_code: 1, status: 'failed' };
  const content = [{ type: 'text', text: 'Please fix „Köln“.' }];
  return [
    { type: 'turn.started' },
    { type: 'user.message', ...{ id: 'm1', origin: 'prompt', content } },
    { type: 'item.started', ...{ item: { ...i1, status: 'in_progress' } } },
    { type: 'item.completed', ...{ item: failed } },
    { type: 'item.completed', ...{ item: { id: 'i2', type: 'agent_message', text: words } } },
    { type: 'turn.completed', ...{ usage: { input_tokens: 12, output_tokens: 5 } } },
  ];
};

const agent =
  (words?: string) =>
  async (ports: AgentPorts): Promise<void> => {
    for (const event of events(words).slice(0, 3)) ports.log.append(event);
    await ports.model({});
    await ports.tool('command_execution', { command: 'pnpm test' }).catch(() => undefined);
    await ports.model({});
    for (const event of events(words).slice(3)) ports.log.append(event);
  };

async function messageOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return String(error instanceof Error ? error.message : error).replaceAll(directory.path, 'DIR');
  }
  return 'nothing was thrown';
}

const report = `event-differs in s-1 at seq 5, turn 1, i2
  expected  {"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"It is fixed.\\nTwo lines."}}
  got       {"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"No."}}
  replace /item/text  "It is fixed.\\nTwo lines." → "No."
  cause     seq 5: the last served exchange before this point
  before    seq 2: user.message
  before    seq 3: item.started command_execution i1
  before    seq 4: item.completed command_execution i1
  rerun     turnlog replay DIR/run --until 5`;

test('R-14 toReplay and toDivergeAt pass, fail with the report, and are turned round by not', async () => {
  await expect(agent()).toReplay(fixture);
  await expect(agent('No.')).not.toReplay(fixture);
  expect(await messageOf(() => expect(agent('No.')).toReplay(fixture))).toBe(report);
  expect(await messageOf(() => expect(agent()).not.toReplay(fixture))).toBe(
    'the code replays DIR/run, and was expected not to',
  );
  const place = { seq: 5, kind: 'event-differs', path: '/item/text' } as const;
  await expect(agent('No.')).toDivergeAt(fixture, place);
  await expect(agent('No.')).not.toDivergeAt(fixture, { seq: 4 });
  expect(await messageOf(() => expect(agent('No.')).toDivergeAt(fixture, { seq: 4 }))).toBe(
    `expected a divergence at {"seq":4}\n${report}`,
  );
  expect(await messageOf(() => expect(agent()).toDivergeAt(fixture, place))).toBe(
    `expected a divergence at ${JSON.stringify(place)}, but the code replays DIR/run`,
  );
  expect(await messageOf(() => expect(agent('No.')).not.toDivergeAt(fixture, place))).toBe(
    `expected no divergence at ${JSON.stringify(place)}\n${report}`,
  );
});

test('R-14 toMatchEvents and toContainEvent pass, fail with a message, take not and asymmetric matchers', async () => {
  expect(events()).toMatchEvents(fixture);
  expect(events()).toMatchEvents(events());
  expect(events('No.')).not.toMatchEvents(fixture);
  expect(await messageOf(() => expect(events('No.')).toMatchEvents(fixture))).toContain(
    'event-differs in s-1 at seq 5',
  );
  expect(await messageOf(() => expect(events().slice(1)).toMatchEvents(events()))).toContain('event-differs');
  expect(await messageOf(() => expect(events().slice(0, 5)).toMatchEvents(events()))).toContain(
    'missing-event in the expected events at seq 6',
  );
  expect(await messageOf(() => expect(events()).not.toMatchEvents(events()))).toBe(
    'the events are those that were expected to be others',
  );
  expect(events()).toContainEvent({ item: { text: expect.stringContaining('fixed') } });
  expect(events()).not.toContainEvent({ item: { text: expect.stringContaining('broken') } });
  expect(await messageOf(() => expect(events()).toContainEvent({ type: 'error' }))).toBe(
    'none of the 6 events contains {"type": "error"}',
  );
  expect(await messageOf(() => expect(events()).not.toContainEvent({ type: 'turn.started' }))).toBe(
    'one of the 6 events contains {"type": "turn.started"}',
  );
});

test('R-14 toHaveCalled looks at what was served, with asymmetric matchers and not; two players are independent', async () => {
  const player: Player = await openFixture(fixture);
  const other = await openFixture(fixture);
  await agent()(player);
  expect(player).toHaveCalled('tool', { arguments: { command: expect.stringMatching(/^pnpm/) } });
  expect(player).toHaveCalled('model');
  expect(other).not.toHaveCalled('model');
  expect(await messageOf(() => expect(player).toHaveCalled('tool', { name: 'x' }))).toBe(
    'none of the 1 calls of tool contains {"name": "x"}',
  );
  expect(await messageOf(() => expect(player).not.toHaveCalled('model'))).toBe(
    'one of the 2 calls of model contains {}',
  );
  player.finish();
  await expect(agent()).toReplay(fixture);
});
