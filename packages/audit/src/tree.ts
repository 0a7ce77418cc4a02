import { nodeHash, type TreeHead } from '@turnlog/log';

/**
 * Roots of ranges of a hash tree (RFC 6962, section 2.1), gathered while its leaves pass by once. A proof is a list of
 * such roots, so it is made in one reading and the memory of its own length.
 */

/** The leaves `[from, to)` of a tree: one of the subtrees that the tree is made of. */
export interface LeafRange {
  readonly from: number;
  readonly to: number;
}

/** The root over `size` leaves. */
export interface TreeRoot {
  readonly size: number;
  /** 64 lower-case hex digits. */
  readonly root: string;
}

/** The largest power of two below `size`, which is at least 2: where a tree of that size is split. */
export function splitOf(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** The perfect subtrees that a frontier of `size` leaves is made of, largest first. */
export function perfectRanges(size: number): readonly LeafRange[] {
  const ranges: LeafRange[] = [];
  for (let from = 0; from < size; ) {
    let width = 1;
    while (width * 2 <= size - from) width *= 2;
    ranges.push({ from, to: from + width });
    from += width;
  }
  return ranges;
}

interface Subtree {
  readonly from: number;
  readonly width: number;
  readonly hash: string;
}

/** The subtrees of one range, as far as it has been read. */
class RangeBuilder {
  readonly #range: LeafRange;
  #subtrees: Subtree[] = [];
  #next: number;
  #isBroken = false;

  constructor(range: LeafRange) {
    this.#range = range;
    this.#next = range.from;
  }

  /** Takes a subtree; one that lies outside is passed over, and one that sticks out cannot be used. */
  add(from: number, width: number, hash: string): void {
    const { from: start, to: end } = this.#range;
    if (from >= end || from + width <= start) return;
    if (from !== this.#next || from + width > end) {
      this.#isBroken = true;
      return;
    }
    this.#next = from + width;
    let merged: Subtree = { from, width, hash };
    for (let last = this.#subtrees.at(-1); last !== undefined; last = this.#subtrees.at(-1)) {
      if (last.width !== merged.width || (last.from - start) % (2 * last.width) !== 0) break;
      this.#subtrees.pop();
      merged = { from: last.from, width: 2 * last.width, hash: nodeHash(last.hash, merged.hash) };
    }
    this.#subtrees.push(merged);
  }

  /** Null when not all of the range could be had. */
  root(): string | null {
    if (this.#isBroken || this.#next !== this.#range.to) return null;
    let root: string | null = null;
    for (const { hash } of [...this.#subtrees].reverse()) root = root === null ? hash : nodeHash(hash, root);
    return root;
  }
}

/** Gathers the roots of ranges, which must not overlap, from leaves and from the frontier of what was evicted. */
export class RangeRoots {
  readonly #builders: readonly RangeBuilder[];
  readonly #order: readonly number[];
  readonly #ranges: readonly LeafRange[];
  /** The first range, in the order of the leaves, that is not behind us. */
  #at = 0;

  constructor(ranges: readonly LeafRange[]) {
    this.#ranges = ranges;
    this.#builders = ranges.map((range) => new RangeBuilder(range));
    this.#order = [...ranges.keys()].sort((left, right) => this.#from(left) - this.#from(right));
  }

  /** What stands for the evicted leaves: subtrees, the first one first. */
  addFrontier({ size, frontier }: TreeHead): void {
    for (const [position, { from, to }] of perfectRanges(size).entries()) {
      const hash = frontier[position];
      if (hash === undefined) return;
      for (const builder of this.#builders) builder.add(from, to - from, hash);
    }
  }

  /** Leaves come in their order. */
  addLeaf(index: number, hash: string): void {
    for (; this.#at < this.#order.length; this.#at += 1) {
      const position = this.#order[this.#at] ?? 0;
      const range = this.#ranges[position];
      if (range === undefined || index < range.from) return;
      if (index < range.to) {
        this.#builders[position]?.add(index, 1, hash);
        return;
      }
    }
  }

  /** One root for each range, in the order they were asked for; null when one could not be had. */
  roots(): readonly string[] | null {
    const roots: string[] = [];
    for (const builder of this.#builders) {
      const root = builder.root();
      if (root === null) return null;
      roots.push(root);
    }
    return roots;
  }

  #from(position: number): number {
    return this.#ranges[position]?.from ?? 0;
  }
}
