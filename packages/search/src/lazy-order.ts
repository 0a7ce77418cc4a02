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

/** Puts the number at `from` in its place among those below it. */
function sink(
  heap: Uint32Array,
  from: number,
  size: number,
  compare: (left: number, right: number) => number,
): void {
  const moved = heap[from] ?? 0;
  let at = from;
  for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
    const right = child + 1;
    if (right < size && compare(heap[right] ?? 0, heap[child] ?? 0) < 0) child = right;
    const first = heap[child] ?? 0;
    if (compare(moved, first) <= 0) break;
    heap[at] = first;
    at = child;
  }
  heap[at] = moved;
}
