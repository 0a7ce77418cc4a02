import { sink } from './heap.js';

/**
 * The numbers from 0 to `count` - 1 in an order of which only as much is found out as is asked for: whoever looks at
 * the first few of very many does not wait for all to be sorted. `compare` is negative when its left number comes first.
 */
export function* lazyOrder(
  count: number,
  compare: (left: number, right: number) => number,
): Generator<number, void, void> {
  const heap = new Uint32Array(count);
  for (let at = 0; at < count; at += 1) heap[at] = at;
  for (let at = (count >> 1) - 1; at >= 0; at -= 1) sink(heap, at, count, compare);
  for (let size = count; size > 0; size -= 1) {
    yield heap[0] ?? 0;
    heap[0] = heap[size - 1] ?? 0;
    sink(heap, 0, size - 1, compare);
  }
}
