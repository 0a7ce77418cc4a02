import { frontierLength, isCount, isSha256Hex, leafHash, nodeHash } from '@turnlog/log';
import { type LeafRange, splitOf, type TreeRoot } from './tree.js';

/**
 * Proofs of RFC 6962: that a record is in a log, and that a log goes on from an earlier state of itself. Making one is
 * choosing ranges; checking one is linear in its length, and what it says of itself allocates nothing.
 */

/** That a leaf is in the tree over `size` leaves. */
export interface InclusionProof extends TreeRoot {
  readonly index: number;
  readonly seq: number;
  readonly leaf: string;
  readonly path: readonly string[];
}

/** That the tree over `to.size` leaves begins with that over `from.size`. */
export interface ConsistencyProof {
  readonly from: TreeRoot;
  readonly to: TreeRoot;
  readonly path: readonly string[];
}

/** The ranges whose roots prove that leaf `index` is among `size`, from the leaf upwards (RFC 6962, 2.1.1). */
export function inclusionRanges(index: number, size: number): readonly LeafRange[] {
  const ranges: LeafRange[] = [];
  for (let from = 0, to = size; to - from > 1; ) {
    const middle = from + splitOf(to - from);
    if (index < middle) {
      ranges.unshift({ from: middle, to });
      to = middle;
    } else {
      ranges.unshift({ from, to: middle });
      from = middle;
    }
  }
  return ranges;
}

/** The ranges whose roots prove that `size` leaves begin with the first `earlier` of them (RFC 6962, 2.1.2). */
export function consistencyRanges(earlier: number, size: number): readonly LeafRange[] {
  if (earlier === 0 || earlier === size) return [];
  const ranges: LeafRange[] = [];
  let from = 0;
  let to = size;
  // The subtree that ends with the earlier tree; it is given unless it is that tree itself, whose root is known.
  while (to !== earlier) {
    const middle = from + splitOf(to - from);
    if (earlier <= middle) {
      ranges.unshift({ from: middle, to });
      to = middle;
    } else {
      ranges.unshift({ from, to: middle });
      from = middle;
    }
  }
  return from === 0 ? ranges : [{ from, to }, ...ranges];
}

/** How many hashes a path in a tree of `size` leaves has at most. */
function pathLengthMax(size: number): number {
  let length = 0;
  for (let width = 1; width < size; width *= 2) length += 1;
  return length;
}

function areHashes(values: readonly unknown[]): boolean {
  return values.every(isSha256Hex);
}

/**
 * Whether `proof` shows that its leaf stands at its index in the tree with the head `trusted`, which the verifier brings:
 * a root says nothing of its size by itself. Without one the head is taken from the proof, which then shows only that it
 * agrees with itself.
 */
export function verifyInclusion(proof: InclusionProof, trusted: TreeRoot = proof): boolean {
  const { index, size, root, leaf, path } = proof;
  if (!isCount(index) || !isCount(size) || !isCount(proof.seq) || index >= size) return false;
  if (size !== trusted.size || root !== trusted.root) return false;
  if (path.length > pathLengthMax(size) || !areHashes([leaf, root]) || !areHashes(path)) return false;
  return foldsToRoot(proof);
}

/** The check of RFC 9162, section 2.1.3.2: leaf and path give the root, and the path is as long as it has to be. */
function foldsToRoot({ index, size, root, leaf, path }: InclusionProof): boolean {
  let at = index;
  let last = size - 1;
  let hash = leaf;
  for (const sibling of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash);
      // Levels on which the last subtree has no neighbour.
      while (at % 2 === 0 && at !== 0) [at, last] = [halved(at), halved(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [at, last] = [halved(at), halved(last)];
  }
  return last === 0 && hash === root;
}

/** Whether the record of the proof is the line in `bytes`, without its 0x0A. */
export function isLeafOf(proof: Pick<InclusionProof, 'leaf'>, bytes: Uint8Array): boolean {
  return leafHash(bytes, 0, bytes.length) === proof.leaf;
}

/** Whether the later head goes on from the earlier one. Both are the verifier's own, or else those of the proof. */
export function verifyConsistency(
  proof: ConsistencyProof,
  trusted: Pick<ConsistencyProof, 'from' | 'to'> = proof,
): boolean {
  const { from, to, path } = proof;
  if (!isCount(from.size) || !isCount(to.size) || from.size === 0 || from.size > to.size) return false;
  if (!isSameRoot(from, trusted.from) || !isSameRoot(to, trusted.to)) return false;
  if (!areHashes([from.root, to.root]) || path.length > pathLengthMax(to.size) + 1) return false;
  if (!areHashes(path)) return false;
  if (from.size === to.size) return path.length === 0 && from.root === to.root;
  return foldsToBoth(proof);
}

/** The check of RFC 9162, section 2.1.4.2: the path gives both roots. */
function foldsToBoth({ from, to, path }: ConsistencyProof): boolean {
  const steps = frontierLength(from.size) === 1 ? [from.root, ...path] : path;
  const [first, ...rest] = steps;
  if (first === undefined) return false;
  let at = from.size - 1;
  let last = to.size - 1;
  while (at % 2 === 1) [at, last] = [halved(at), halved(last)];
  let earlier = first;
  let later = first;
  for (const node of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      earlier = nodeHash(node, earlier);
      later = nodeHash(node, later);
      while (at % 2 === 0 && at !== 0) [at, last] = [halved(at), halved(last)];
    } else {
      later = nodeHash(later, node);
    }
    [at, last] = [halved(at), halved(last)];
  }
  return last === 0 && earlier === from.root && later === to.root;
}

function isSameRoot(left: TreeRoot, right: TreeRoot): boolean {
  return left.size === right.size && left.root === right.root;
}

/** Sizes go beyond what bit operations keep. */
function halved(value: number): number {
  return Math.floor(value / 2);
}
