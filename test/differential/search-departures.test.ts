import { redactSession } from '@turnlog/audit';
import type { CapOptions } from '@turnlog/log';
import { purgePackedIndex } from '@turnlog/search';
import { deleteSession, parseSessionId, restoreSession } from '@turnlog/store';
import { SeededRandom } from '@turnlog/testkit';
import { dayOf } from '../../packages/search/test/naive-index.js';
import { PackedStore, turnOf } from '../../packages/search/test/packed-store.js';
import { planFor } from '../../packages/search/test/packed-world.js';

const help = { textVerdict: () => true, dayOf };

/** The index, brought up to the logs, says what one says that is made anew: chunk by chunk, and in its statistics. */
async function expectFresh(world: PackedStore): Promise<readonly string[]> {
  const caughtUp = await world.catchUp();
  expect([caughtUp.isComplete, caughtUp.behind.events, caughtUp.failed]).toEqual([true, 0, []]);
  const { followed, fresh } = await world.states();
  expect(followed).toEqual(fresh);
  const { statistics } = world.follower.index.query(planFor(['done', 'out', 'ask']), help);
  const tokens = followed.map((line) => Number(JSON.parse(line)[9]));
  expect(statistics.chunkCount).toBe(followed.length);
  expect(statistics.tokenCount).toBe(tokens.reduce((sum, len) => sum + len, 0));
  return followed;
}

async function evict(world: PackedStore, session: string, cap: CapOptions): Promise<void> {
  const log = await world.store.open(session, { cap });
  await log.maintain();
  await log.close();
}

async function redact(world: PackedStore, session: string, ...seqs: readonly number[]): Promise<void> {
  const request = { seqs, reason: 'secret', actor: 'ann', guessable: 'accept' } as const;
  await redactSession(world.store, parseSessionId(session), request);
}

/** Seqs of the records of a session, archived ones included, that say `word`. */
function seqsWith(world: PackedStore, session: string, word: string): readonly number[] {
  const reader = world.store.read(session);
  try {
    return [...reader.history()]
      .filter(({ bytes, type }) => type !== 'log.summary' && Buffer.from(bytes).includes(word))
      .map(({ seq }) => seq);
  } finally {
    reader.close();
  }
}

/** Files of the search index that hold `word`, of which a dictionary leaves out what the term before begins with too. */
function filesWith(world: PackedStore, word: string): readonly string[] {
  const rest = word.slice(3);
  return world.fs
    .list('/store/search')
    .filter(({ kind }) => kind === 'file')
    .map(({ name }) => name)
    .filter((name) => Buffer.from(world.fs.contentOf(`/store/search/${name}`)).includes(rest));
}

async function filled(): Promise<PackedStore> {
  const world = await PackedStore.open();
  const words = ['alpha', 'unmistakable', 'gamma', 'delta', 'epsilon', 'inimitable'];
  for (const [at, word] of words.entries()) {
    await world.append('s-1', turnOf(at + 1, word));
    await world.append('s-2', turnOf(at + 1, `other ${word.slice(0, 3)}`));
    await world.catchUp();
    await world.follower.sealing.maintain();
  }
  await world.follower.sealing.maintain('everything');
  return world;
}

test('Q-36 supersede, evict with archive, drop, redact, remove, restore: each equals a fresh index, statistics included; after redact no file below search/ holds a term that only the redacted text had', async () => {
  const world = await filled();
  await expectFresh(world);
  // Superseded: a later snapshot of an item that is sealed.
  await world.append('s-1', [
    { type: 'item.completed', item: { id: 'm-3', type: 'agent_message', text: 'done otherwise' } },
  ]);
  await expectFresh(world);
  // Cut, with an archive: all of it is still found.
  await evict(world, 's-1', { maxEvents: 30, target: 0.9 });
  expect(world.store.read('s-1').state.evicted?.toSeq).toBeGreaterThan(16);
  const before = await expectFresh(world);
  // Redacted in the archive, with what was made of it; then the snapshot that had superseded others.
  const going = seqsWith(world, 's-1', 'unmistakable');
  expect([going.length, filesWith(world, 'unmistakable').length > 0]).toEqual([5, true]);
  await redact(world, 's-1', ...going);
  await purgePackedIndex(world.store);
  expect(filesWith(world, 'unmistakable')).toEqual([]);
  world.reopen();
  expect((await expectFresh(world)).length).toBeLessThan(before.length);
  // In the log itself, the last snapshot only: those before it count again.
  const last = seqsWith(world, 's-1', 'done inimitable');
  expect(last.length).toBe(1);
  await redact(world, 's-1', ...last);
  await expectFresh(world);
  const rest = seqsWith(world, 's-1', 'inimitable');
  await redact(world, 's-1', ...rest);
  await purgePackedIndex(world.store);
  expect(filesWith(world, 'inimitable')).toEqual([]);
  expect(filesWith(world, 'epsilon').length).toBeGreaterThan(0);
  world.reopen();
  await expectFresh(world);
  // Dropped, removed, and made a session again.
  await evict(world, 's-2', { maxEvents: 20, archive: 'drop' });
  await expectFresh(world);
  const { trash } = await deleteSession(world.store, 's-2');
  await expectFresh(world);
  await restoreSession(world.store, trash);
  await expectFresh(world);
});

/** A turn whose snapshots are of few items, some of them begun, completed or called in turns before. */
function entangledTurn(random: SeededRandom): readonly object[] {
  const snapshots = Array.from({ length: 1 + random.below(5) }, (): object => {
    const id = random.below(3);
    const type = ['item.started', 'item.updated', 'item.completed'][random.below(3)];
    const said = { type: 'agent_message', text: random.below(6) === 0 ? '' : `done ${random.below(90)}` };
    const called = {
      type: 'tool_invocation',
      tool_name: `tool-${random.below(3)}`,
      arguments: { command: 'ask' },
    };
    const output = {
      type: 'tool_output',
      call_id: `call-${random.below(2)}`,
      output: `out ${random.below(90)}`,
    };
    return (
      [
        { type, item: { ...said, id: `m-${id}` } },
        { type, item: { ...called, id: `call-${random.below(2)}`, status: 'completed' } },
        { type, item: { ...output, id: `o-${id}`, status: 'completed' } },
      ][random.below(3)] ?? {}
    );
  });
  return [{ type: 'turn.started' }, ...snapshots, { type: 'turn.completed', usage: noUsage }];
}

const noUsage = { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 };

test.each(['gzip', 'drop'] as const)(
  'items that reach over what is evicted with %s: what counts of them is what counts in a fresh index',
  async (archive) => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = new SeededRandom(seed);
      const world = await PackedStore.open();
      for (let round = 0; round < 4; round += 1) {
        for (let turn = 1 + random.below(3); turn > 0; turn -= 1)
          await world.append('s-1', entangledTurn(random));
        if (random.below(2) === 0) await world.catchUp();
        if (random.below(2) === 0) await world.follower.sealing.maintain('everything');
        if (random.below(2) === 0) await evict(world, 's-1', { maxEvents: 4 + random.below(12), archive });
        await expectFresh(world);
      }
    }
  },
  60_000,
);
