import { SeededRandom } from '@turnlog/testkit';
import { lazyOrder } from '../src/lazy-order.js';

test('numbers come in the order that is asked for, and no more of it is found out than is looked at', () => {
  const random = new SeededRandom(3);
  for (const count of [0, 1, 2, 3, 64, 1_000]) {
    const values = Array.from({ length: count }, () => random.below(50));
    const compare = (left: number, right: number): number =>
      (values[left] ?? 0) - (values[right] ?? 0) || left - right;
    expect([...lazyOrder(count, compare)]).toEqual([...values.keys()].sort(compare));
  }
  let comparisons = 0;
  const order = lazyOrder(4_096, (left, right) => {
    comparisons += 1;
    return right - left;
  });
  expect(order.next().value).toBe(4_095);
  // Two for each number that has others below it; a sort takes twelve for each.
  expect(comparisons).toBeLessThan(2 * 4_096);
});
