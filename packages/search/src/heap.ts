/** A list or typed array of which the first so many are a heap. */
interface Heap<Value> {
  [place: number]: Value;
}

/**
 * Puts the value at `from` in its place among those below it in a heap of `size`, whose first one comes before all
 * others. `compare` is negative when its left value comes first.
 */
export function sink<Value>(
  heap: Heap<Value>,
  from: number,
  size: number,
  compare: (left: Value, right: Value) => number,
): void {
  for (let at = from; ; ) {
    const first = firstBelow(heap, at, size, compare);
    const [moved, below] = [heap[at], heap[first]];
    if (first >= size || moved === undefined || below === undefined || compare(moved, below) <= 0) return;
    heap[at] = below;
    heap[first] = moved;
    at = first;
  }
}

/** The place of the one of the two below `at` that comes first; `size` or more when there is none. */
function firstBelow<Value>(
  heap: Heap<Value>,
  at: number,
  size: number,
  compare: (left: Value, right: Value) => number,
): number {
  const left = 2 * at + 1;
  const [first, second] = [heap[left], heap[left + 1]];
  const isRight =
    left + 1 < size && first !== undefined && second !== undefined && compare(second, first) < 0;
  return isRight ? left + 1 : left;
}
