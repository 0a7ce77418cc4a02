import { idsOf, message, turn, withStore } from './support.js';

test('what was appended is found, and what is appended next as well', async () => {
  await withStore(async (place) => {
    await place.write('a', turn(message('i-1', 'rust cargo tool')));
    await place.write('b', turn(message('i-1', 'cargo build')));
    const mirror = await place.mirror();
    expect(await mirror.catchUp()).toEqual({
      isComplete: true,
      failed: [],
      degraded: [],
      needsRebuild: false,
    });
    expect(idsOf(mirror, 'cargo')).toEqual(['b:2', 'a:2']);
    await place.write('a', turn(message('i-2', 'cargo again')));
    expect((await mirror.catchUp()).isComplete).toBe(true);
    expect([...idsOf(mirror, 'cargo')].sort()).toEqual(['a:2', 'a:5', 'b:2']);
    expect((await mirror.check()).difference).toBeNull();
  });
});
