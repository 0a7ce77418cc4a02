import { assert, sha256Hex } from '@turnlog/kernel';

/**
 * The hash tree of a log (RFC 6962, section 2.1) in the form that can grow: the roots of the perfect subtrees
 * of the leaves so far, largest first. One leaf costs one hash of the line and, on average, one of two nodes.
 */

/** An immutable copy: the tree head over `size` leaves. */
export interface TreeHead {
  readonly size: number;
  /** Roots of the perfect subtrees, largest first, each 64 hex digits. */
  readonly frontier: readonly string[];
}

export const emptyTree: TreeHead = { size: 0, frontier: [] };

const leafPrefix = 0x00;
const nodePrefix = 0x01;
const hashBytes = 32;

let leafScratch = new Uint8Array(4_096);
leafScratch[0] = leafPrefix;

/**
 * Leaf hash of bytes[start, end) = one line without its 0x0A, in hex. Hashes are text throughout: a short string
 * costs the collector far less than a buffer of its own.
 */
export function leafHash(bytes: Uint8Array, start: number, end: number): string {
  return start > 0 ? hashInPlace(bytes, start, end) : hashCopy(bytes, start, end);
}

/** Lends the byte in front of the line, most often the 0x0A of the line before, to the prefix: nothing is copied. */
function hashInPlace(bytes: Uint8Array, start: number, end: number): string {
  const lent = bytes[start - 1] as number;
  bytes[start - 1] = leafPrefix;
  const hash = sha256Hex(bytes.subarray(start - 1, end));
  bytes[start - 1] = lent;
  return hash;
}

function hashCopy(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start + 1;
  if (leafScratch.length < length) {
    leafScratch = new Uint8Array(length * 2);
    leafScratch[0] = leafPrefix;
  }
  leafScratch.set(bytes.subarray(start, end), 1);
  return sha256Hex(leafScratch.subarray(0, length));
}

const nodeScratch = Buffer.alloc(1 + 2 * hashBytes);
nodeScratch[0] = nodePrefix;

/** Hash of the inner node over two subtrees, each of 64 hex digits. */
export function nodeHash(left: string, right: string): string {
  nodeScratch.write(left, 1, 'hex');
  nodeScratch.write(right, 1 + hashBytes, 'hex');
  return sha256Hex(nodeScratch);
}

/** Root over all leaves: the fold of the frontier from the right; of no leaves, SHA-256 of nothing. */
export function treeRoot(head: TreeHead): string {
  let root: string | null = null;
  for (let index = head.frontier.length - 1; index >= 0; index -= 1) {
    const subtree = head.frontier[index] as string;
    root = root === null ? subtree : nodeHash(subtree, root);
  }
  return root ?? sha256Hex(new Uint8Array(0));
}

export class MerkleFrontier {
  #size: number;
  #subtrees: string[];

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

  /** Adds one leaf, given its hash of 64 hex digits. */
  add(leaf: string): void {
    assert(leaf.length === 2 * hashBytes, 'a leaf hash has 64 hex digits');
    let hash = leaf;
    // A subtree of the same size stands to the left for each low one-bit of the size so far.
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      hash = nodeHash(this.#subtrees.pop() as string, hash);
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
