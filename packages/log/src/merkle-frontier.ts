import { assert, sha256 } from '@turnlog/kernel';

/**
 * The hash tree of a log (RFC 6962, section 2.1) in the form that can grow: the roots of the perfect subtrees
 * of the leaves so far, largest first. One leaf costs one hash of the line and, on average, one of two nodes.
 */

/** An immutable copy: the tree head over `size` leaves. */
export interface TreeHead {
  readonly size: number;
  /** Roots of the perfect subtrees, largest first, 32 bytes each. */
  readonly frontier: readonly Uint8Array[];
}

export const emptyTree: TreeHead = { size: 0, frontier: [] };

const leafPrefix = 0x00;
const nodePrefix = 0x01;
const hashBytes = 32;

let leafScratch = new Uint8Array(4_096);
leafScratch[0] = leafPrefix;

/** Leaf hash of bytes[start, end) = one line without its 0x0A. */
export function leafHash(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const length = end - start + 1;
  if (leafScratch.length < length) {
    leafScratch = new Uint8Array(length * 2);
    leafScratch[0] = leafPrefix;
  }
  leafScratch.set(bytes.subarray(start, end), 1);
  return sha256(leafScratch.subarray(0, length));
}

const nodeScratch = new Uint8Array(1 + 2 * hashBytes);
nodeScratch[0] = nodePrefix;

function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  nodeScratch.set(left, 1);
  nodeScratch.set(right, 1 + hashBytes);
  return sha256(nodeScratch);
}

/** Root over all leaves: the fold of the frontier from the right; of no leaves, SHA-256 of nothing. */
export function treeRoot(head: TreeHead): Uint8Array {
  let root: Uint8Array | null = null;
  for (let index = head.frontier.length - 1; index >= 0; index -= 1) {
    const subtree = head.frontier[index] as Uint8Array;
    root = root === null ? subtree : nodeHash(subtree, root);
  }
  return root ?? sha256(new Uint8Array(0));
}

export class MerkleFrontier {
  #size: number;
  #subtrees: Uint8Array[];

  constructor(head: TreeHead = emptyTree) {
    this.#size = head.size;
    this.#subtrees = [...head.frontier];
  }

  /** Goes on from `head`, forgetting all leaves so far. */
  restart(head: TreeHead): void {
    this.#size = head.size;
    this.#subtrees = [...head.frontier];
  }

  get size(): number {
    return this.#size;
  }

  /** Adds one leaf, given its hash of 32 bytes. */
  add(leaf: Uint8Array): void {
    assert(leaf.length === hashBytes, 'a leaf hash has 32 bytes');
    let hash = leaf;
    // A subtree of the same size stands to the left for each low one-bit of the size so far.
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      hash = nodeHash(this.#subtrees.pop() as Uint8Array, hash);
    }
    this.#subtrees.push(hash);
    this.#size += 1;
  }

  head(): TreeHead {
    return { size: this.#size, frontier: [...this.#subtrees] };
  }
}

/** How many subtrees the frontier of `size` leaves has: one per one-bit. */
export function frontierLength(size: number): number {
  let count = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2;
  return count;
}
