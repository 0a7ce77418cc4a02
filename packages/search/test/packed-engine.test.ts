import type { WriterLocks } from '@turnlog/kernel';
import { Store } from '@turnlog/store';
import { packedEngine } from '../src/packed/packed-engine.js';
import { PackedStore, turnOf } from './packed-store.js';

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A store in which whoever writes the index waits until `release` is called. */
async function heldUp(): Promise<{ world: PackedStore; store: Store; release: () => void }> {
  const world = await PackedStore.open();
  for (let turn = 1; turn <= 200; turn += 1) await world.append('a', turnOf(turn, `word${turn}`));
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { locks } = world.machine;
  const acquire: WriterLocks['acquire'] = async (directory, request) => {
    await gate;
    return await locks.acquire(directory, request);
  };
  const store = new Store(
    { ...world.machine, locks: { acquire, inspect: (directory) => locks.inspect(directory) } },
    world.root,
    '/',
  );
  return { world, store, release };
}

test('what is written goes on behind an answer that may not wait for it, and is written in the end', async () => {
  const { world, store, release } = await heldUp();
  const engine = await packedEngine(store).open();
  let isCaughtUp = false;
  const catchingUp = engine.catchUp(500).then((caughtUp) => {
    isCaughtUp = true;
    return caughtUp;
  });
  for (let turn = 0; turn < 200; turn += 1) await turnOfTheLoop();
  expect(isCaughtUp).toBe(false);
  world.clock.advance(500);
  expect(await catchingUp).toEqual({
    behind: { events: 0, bytes: 0, sessions: 0 },
    failed: [],
    isFull: false,
  });
  expect(world.newFollower().index.segments.length).toBe(0);
  // The next one finds it under way, and need not wait for it either.
  await world.append('a', turnOf(201, 'later'));
  const second = engine.catchUp(500);
  for (let turn = 0; turn < 200; turn += 1) await turnOfTheLoop();
  world.clock.advance(500);
  expect((await second).behind.bytes).toBe(0);
  release();
  await engine.settled?.();
  expect(world.newFollower().index.segments.length).toBe(1);
  expect(world.clock.waitingCount).toBe(0);
  engine.close();
});

test('a search that is closed while its index is written leaves the index as it was', async () => {
  const { world, store, release } = await heldUp();
  const engine = await packedEngine(store).open();
  const catchingUp = engine.catchUp(500);
  for (let turn = 0; turn < 200; turn += 1) await turnOfTheLoop();
  world.clock.advance(500);
  await catchingUp;
  engine.close();
  release();
  await engine.settled?.();
  expect(world.newFollower().index.segments.length).toBe(0);
  expect((await packedEngine(world.store).open()).index.state).toEqual({ kind: 'ready' });
});
