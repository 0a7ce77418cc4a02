import { TurnlogError } from '@turnlog/kernel';
import { FakeClock } from '@turnlog/testkit';
import { MirrorWatch } from '../src/mirror-watch.js';
import { SessionRest } from '../src/session-rest.js';
import { withStore } from './support.js';

const error = new TurnlogError('TURNLOG_IO', { details: {} });

test('a session that fails is left alone for a second, then twice as long each time, up to an hour, until it recovers', () => {
  const clock = new FakeClock();
  const rest = new SessionRest(clock);
  expect(rest.isResting('a')).toBe(false);
  const rests: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    expect(rest.note([{ session: 'a', error }]).map(({ session }) => session)).toEqual(['a']);
    let seconds = 0;
    for (; rest.isResting('a'); seconds += 1) clock.advance(1_000);
    rests.push(seconds);
  }
  expect(rests).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600, 3_600]);
  // Named while it rests, and no more when it was tried and has not failed.
  rest.note([{ session: 'a', error }]);
  expect(rest.note([{ session: 'b', error }]).map(({ session }) => session)).toEqual(['a', 'b']);
  clock.advance(3_600_000);
  expect(rest.note([])).toEqual([]);
  rest.note([{ session: 'a', error }]);
  clock.advance(1_000);
  expect(rest.isResting('a')).toBe(false);
});

test('a rebuild that fails is tried again after a minute, then twice as long each time, up to an hour', async () => {
  await withStore(async (place) => {
    const mirror = await place.mirror();
    const broken = { isComplete: false, failed: [], degraded: ['broken'], needsRebuild: true };
    jest.spyOn(mirror, 'catchUp').mockResolvedValue(broken);
    const rebuild = jest.spyOn(mirror, 'rebuild').mockRejectedValue(error);
    let ended = (): void => undefined;
    const watch = new MirrorWatch(place.store, mirror, { onRound: () => ended() });
    const round = async (): Promise<void> =>
      await new Promise<void>((resolve) => {
        ended = resolve;
        watch.wake();
      });
    await round();
    const minutes: number[] = [];
    for (let tried = 1; tried <= 8; tried += 1) {
      const calls = rebuild.mock.calls.length;
      for (let waited = 0; rebuild.mock.calls.length === calls; waited += 1) {
        minutes[tried - 1] = waited;
        place.clock.advance(60_000);
        await round();
      }
    }
    expect(minutes.map((minute) => minute + 1)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    await watch.close();
  });
});
