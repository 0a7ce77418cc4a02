import { deleteSession } from '@turnlog/store';
import { PackedStore, turnOf } from './packed-store.js';

async function expectFresh(world: PackedStore): Promise<readonly string[]> {
  const { followed, fresh } = await world.states();
  expect(followed).toEqual(fresh);
  return followed;
}

test('what is appended is found after the next catching up, and nothing is behind', async () => {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'alpha'));
  const first = await world.catchUp();
  expect(first).toEqual({ behind: { events: 0, bytes: 0, sessions: 0 }, failed: [] });
  expect((await expectFresh(world)).length).toBe(4);
  await world.append('s-1', turnOf(2, 'beta'));
  await world.append('s-2', turnOf(1, 'gamma'));
  await world.catchUp();
  expect((await expectFresh(world)).length).toBe(12);
});
