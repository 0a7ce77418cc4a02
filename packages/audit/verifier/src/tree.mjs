// The hash tree of RFC 6962 and its proofs.

import { concat, digest, hex, isCount, isHash, sha256, unhex } from './bytes.mjs';

export const leafHash = (line) => digest('SHA-256', concat([0], line));
const nodeHash = (left, right) => digest('SHA-256', concat([1], left, right));

const half = (size) => Math.floor(size / 2);

/** How many subtrees the frontier of so many leaves has. */
export const ones = (size) => (size === 0 ? 0 : (size % 2) + ones(half(size)));

/**
 * The tree level by level, as far as its nodes are known: behind `size` leaves, of which the frontier is left, come
 * `leaves`. On each level the known nodes are neighbours: where the size has a one, the peak stands before them.
 */
export async function treeOf({ size, frontier }, leaves) {
  const [levels, peaks] = [[], frontier.map(unhex)];
  for (let [rest, nodes] = [size, leaves]; nodes.length + peaks.length > 0; rest = half(rest)) {
    const known = rest % 2 === 1 ? [peaks.pop(), ...nodes] : nodes;
    levels.push({ from: rest - (rest % 2), nodes: known });
    nodes = await Promise.all(Array.from({ length: half(known.length) }, (_, at) => nodeHash(known[2 * at], known[2 * at + 1])));
  }
  return levels;
}

/** The root over the first `size` leaves, folded from the right; null where it cannot be had. */
export async function rootAt(levels, size) {
  let root = null;
  for (let [rest, level] = [size, 0]; rest > 0; [rest, level] = [half(rest), level + 1]) {
    const node = rest % 2 === 0 ? root : levels[level]?.nodes[rest - 1 - levels[level].from];
    if (node === undefined) return null;
    if (rest % 2 === 1) root = root === null ? node : await nodeHash(node, root);
  }
  return root === null ? await sha256(new Uint8Array(0)) : hex(root);
}

/** What a node and a path give (RFC 9162, 2.1.3 and 2.1.4): the root of an earlier tree that ends there, and of all. */
async function fold(index, size, start, path) {
  let [at, last, old, now] = [index, size - 1, start, start];
  for (const node of path.map(unhex)) {
    if (last === 0) return [];
    if (at % 2 === 1 || at === last) {
      [old, now] = [await nodeHash(node, old), await nodeHash(node, now)];
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else now = await nodeHash(now, node);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 ? [hex(old), hex(now)] : [];
}

const isPath = (path, size) => Array.isArray(path) && path.every(isHash) && path.length <= Math.log2(size) + 2;

/** Whether a tree head is one, and that which the verifier brings: a root says nothing of its size by itself. */
export const isHead = ({ size, root }, trusted) =>
  isCount(size) && isHash(root) && size === trusted.size && root === trusted.root;

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
