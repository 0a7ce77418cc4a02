import { sink } from './heap.js';
import { compareSortKeys, type SortKey } from './sort-key.js';

/** The best so many chunks, worst on top of a heap. */
export class BestChunks<Chunk extends SortKey> {
  readonly #capacity: number;
  readonly #heap: Chunk[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The worst of them when there are as many as are wanted; null before. */
  get last(): Chunk | null {
    return this.#heap.length < this.#capacity ? null : (this.#heap[0] ?? null);
  }

  /** Whether a hit of that tier and score may be among them; ids decide between equals. */
  wants(tier: 0 | 1, score: number): boolean {
    const last = this.last;
    return last === null || tier > last.tier || (tier === last.tier && score >= last.score);
  }

  offer(hit: Chunk): void {
    const heap = this.#heap;
    if (heap.length < this.#capacity) {
      heap.push(hit);
      this.#up(heap.length - 1);
      return;
    }
    const worst = heap[0];
    if (worst === undefined || compareSortKeys(hit, worst) >= 0) return;
    heap[0] = hit;
    sink(heap, 0, heap.length, compareWorst);
  }

  sorted(): readonly Chunk[] {
    return [...this.#heap].sort(compareSortKeys);
  }

  #up(from: number): void {
    const heap = this.#heap;
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      const [child, above] = [heap[at], heap[parent]];
      if (child === undefined || above === undefined || compareSortKeys(child, above) <= 0) return;
      heap[at] = above;
      heap[parent] = child;
      at = parent;
    }
  }
}

/** The worst first. */
function compareWorst(left: SortKey, right: SortKey): number {
  return compareSortKeys(right, left);
}
