import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createRandomIds, createSystemClock } from '@turnlog/fs';

const clock = createSystemClock();

test('a sleep takes its time, and ends at once when its signal is aborted', async () => {
  const startMs = clock.monotonicMs();
  await clock.sleep(20);
  expect(clock.monotonicMs() - startMs).toBeGreaterThanOrEqual(19);
  const controller = new AbortController();
  const asleep = clock.sleep(60_000, controller.signal);
  controller.abort();
  await asleep;
  await clock.sleep(60_000, controller.signal);
  expect(clock.monotonicMs() - startMs).toBeLessThan(10_000);
});

test('a timer comes once, or not at all when it is cancelled', async () => {
  let count = 0;
  clock.after(1, () => {
    count += 1;
  });
  const cancel = clock.after(1, () => {
    count += 10;
  });
  cancel();
  await clock.sleep(20);
  expect(count).toBe(1);
});

test('random names have the asked length and differ', () => {
  const ids = createRandomIds();
  const names = new Set(Array.from({ length: 100 }, () => ids.randomHex(8)));
  expect(names.size).toBe(100);
  for (const name of names) expect(name).toMatch(/^[0-9a-f]{16}$/);
  for (let round = 0; round < 100; round += 1) expect([0, 1, 2]).toContain(ids.randomBelow(3));
});

test('L-14, L-18: at exit callbacks run while the lock is still held, also after one that throws', () => {
  const child = spawnSync(process.execPath, [join(__dirname, 'children', 'exit-order.mjs')], {
    encoding: 'utf8',
  });
  expect(child.stderr).toBe('');
  expect(child.stdout.trimEnd().split('\n')).toEqual(['first, lock held: true', 'second, lock held: true']);
  expect(child.status).toBe(1);
});
