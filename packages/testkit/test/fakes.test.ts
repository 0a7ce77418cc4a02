import { createNodeFileSystem } from '@turnlog/fs';
import { createSeededIds, FakeClock, FakeHost, makeTemporaryDirectory, SeededRandom } from '@turnlog/testkit';

test('a waiting clock ends sleeps in their order, when they are due', async () => {
  const clock = new FakeClock();
  const order: string[] = [];
  clock.after(30, () => order.push('after 30'));
  const sleeps = [20, 10].map((ms) => clock.sleep(ms).then(() => order.push(`slept ${ms}`)));
  clock.advance(9);
  await Promise.resolve();
  expect(order).toEqual([]);
  clock.advance(11);
  await Promise.all(sleeps);
  expect(order).toEqual(['slept 10', 'slept 20']);
  clock.advance(10);
  expect(order.at(-1)).toBe('after 30');
  expect([clock.monotonicMs(), clock.waitingCount]).toEqual([30, 0]);
});

test('a sleep ends with its signal and leaves no timer', async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const asleep = clock.sleep(1_000, controller.signal);
  controller.abort();
  await asleep;
  expect(clock.waitingCount).toBe(0);
});

test('the wall clock may step back, the monotonic one does not', () => {
  const clock = new FakeClock();
  const nowMs = clock.now();
  clock.advance(5);
  clock.setNow(nowMs - 60_000);
  clock.advance(5);
  expect([clock.now() - nowMs, clock.monotonicMs()]).toEqual([-59_995, 10]);
});

test('a skipping clock moves with each sleep', async () => {
  const clock = new FakeClock('skips');
  await clock.sleep(3_600_000);
  expect(clock.monotonicMs()).toBe(3_600_000);
});

test('ids and random numbers repeat with the seed', () => {
  const names = (seed: number): string[] => {
    const ids = createSeededIds(seed);
    return Array.from({ length: 10 }, () => ids.randomHex(8));
  };
  expect(names(1)).toEqual(names(1));
  expect(names(1)).not.toEqual(names(2));
  expect(new Set(names(1)).size).toBe(10);
  const random = new SeededRandom(1);
  const counts = [0, 0, 0, 0];
  for (let draw = 0; draw < 4_000; draw += 1) {
    const drawn = random.below(4);
    counts[drawn] = (counts[drawn] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeGreaterThan(850);
});

test('processes of one machine see each other', () => {
  const processes = new Map<number, string | null>();
  const one = new FakeHost({ pid: 1 }, processes);
  const two = new FakeHost({ pid: 2 }, processes);
  let isFlushed = false;
  two.onExit(() => {
    isFlushed = true;
  });
  expect([one.isAlive(2), one.startOf(2)]).toEqual([true, '20']);
  two.exit();
  expect([one.isAlive(2), one.startOf(2), isFlushed]).toEqual([false, null, true]);
});

test('a temporary directory is private, and gone with all it held', () => {
  const fs = createNodeFileSystem();
  const directory = makeTemporaryDirectory();
  fs.makeDirectory(`${directory.path}/a`);
  fs.open(`${directory.path}/a/file`, 'create').close();
  expect(fs.status(directory.path)?.mode).toBe(0o700);
  directory.remove();
  expect(fs.status(directory.path)).toBeNull();
});
