import { redactSession } from '@turnlog/audit';
import type { CapOptions } from '@turnlog/log';
import { purgePackedIndex } from '@turnlog/search';
import { deleteSession, parseSessionId, restoreSession } from '@turnlog/store';
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
