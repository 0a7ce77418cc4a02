// The hash tree of RFC 6962 and its proofs.

import { concat, digest, hex, isCount, isHash, sha256, unhex } from './bytes.mjs';

export const leafHash = (line) => digest('SHA-256', concat([0], line));
const nodeHash = (left, right) => digest('SHA-256', concat([1], left, right));

const half = (size) => Math.floor(size / 2);

/** How many subtrees the frontier of so many leaves has. */
export const ones = (size) => (size === 0 ? 0 : (size % 2) + ones(half(size)));

export const emptyTree = { size: 0, frontier: [] };

/**
 * The root of a tree: behind `size` leaves, of which the frontier is left, come `leaves`. On each level the nodes that are
 * made of those are neighbours; where the size has a one, the peak stands before them, and what has no neighbour behind
 * it is a peak of the whole.
 */
export async function rootOf({ size, frontier }, leaves = []) {
  let [root, nodes, peaks] = [null, leaves, frontier.map(unhex)];
  for (let [before, whole] = [size, size + leaves.length]; whole > 0; [before, whole] = [half(before), half(whole)]) {
    const known = before % 2 === 1 ? [peaks.pop(), ...nodes] : nodes;
    if (whole % 2 === 1) root = root === null ? known.at(-1) : await nodeHash(known.at(-1), root);
    nodes = await Promise.all(Array.from({ length: half(known.length) }, (_, at) => nodeHash(known[2 * at], known[2 * at + 1])));
  }
  return root === null ? await sha256(new Uint8Array(0)) : hex(root);
}

/** What a node and a path give (RFC 9162, 2.1.3 and 2.1.4): the root of an earlier tree that ends there, and of all. */
async function fold(index, size, start, path) {
  let [nodes, old, now] = [path.map(unhex), start, start];
  for (let [at, last] = [index, size - 1]; last > 0; [at, last] = [half(at), half(last)]) {
    // Without a neighbour a node goes up as it is.
    if (at % 2 === 0 && at === last) continue;
    const node = nodes.shift() ?? [];
    [old, now] = at % 2 === 1 ? [await nodeHash(node, old), await nodeHash(node, now)] : [old, await nodeHash(now, node)];
  }
  return nodes.length === 0 ? [hex(old), hex(now)] : [];
}

const isPath = (path, size) => Array.isArray(path) && path.every(isHash) && path.length <= Math.log2(size) + 2;

/** Whether a tree head is one, and that which the verifier brings: a root says nothing of its size by itself. */
export const isHead = ({ size, root }, known) => isCount(size) && isHash(root) && size === known.size && root === known.root;

export async function verifyInclusion(proof, trusted = proof) {
  const { index, seq, leaf, size, root, path } = proof;
  if (!isHead(proof, trusted) || ![index, seq].every(isCount) || !isHash(leaf) || !isPath(path, size)) return false;
  return index < size && (await fold(index, size, unhex(leaf), path))[1] === root;
}

export async function verifyConsistency({ from, to, path }, trusted = { from, to }) {
  if (!isHead(from, trusted.from) || !isHead(to, trusted.to) || !isPath(path, to.size)) return false;
  if (from.size === 0 || from.size >= to.size) return from.size > 0 && path.length === 0 && isHead(from, to);
  const [first = '', ...rest] = ones(from.size) === 1 ? [from.root, ...path] : path;
  // Both trees have the largest subtree that the earlier one ends with; the way up begins there.
  const width = Number(BigInt(from.size) & -BigInt(from.size));
  const [old, now] = await fold(from.size / width - 1, Math.ceil(to.size / width), unhex(first), rest);
  return first !== '' && old === from.root && now === to.root;
}
