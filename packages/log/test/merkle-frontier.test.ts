import { createHash } from 'node:crypto';
import { naiveRoot } from '@turnlog/testkit';
import { emptyTree, frontierLength, leafHash, MerkleFrontier, treeRoot } from '../src/merkle-frontier.js';

const leavesOf = (count: number): readonly Buffer[] =>
  Array.from({ length: count }, (_, index) => Buffer.from(`line ${index} ${'é'.repeat(index % 5)}`));

function grown(lines: readonly Buffer[], from = new MerkleFrontier()): MerkleFrontier {
  for (const line of lines) from.add(leafHash(line, 0, line.length));
  return from;
}

test('the tree of nothing is the hash of nothing', () => {
  expect(treeRoot(emptyTree)).toBe(createHash('sha256').digest('hex'));
});

test('the well-known test tree of certificate transparency logs', () => {
  // The leaves and roots that implementations of RFC 6962 test each other with.
  const leaves = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ];
  const roots = [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ];
  const tree = new MerkleFrontier();
  for (const [index, leaf] of leaves.entries()) {
    grown([Buffer.from(leaf, 'hex')], tree);
    expect(treeRoot(tree.head())).toBe(roots[index]);
  }
});

test('every size to 130 has the root of the recursive definition, grown at once or from any head', () => {
  for (let size = 0; size <= 130; size += 1) {
    const lines = leavesOf(size);
    const head = grown(lines).head();
    expect([size, treeRoot(head)]).toEqual([size, naiveRoot(lines).toString('hex')]);
    expect(head.frontier).toHaveLength(frontierLength(size));
    const half = size >> 1;
    const resumed = grown(lines.slice(half), new MerkleFrontier(grown(lines.slice(0, half)).head()));
    expect(resumed.head()).toEqual(head);
  }
});

test('a head is a copy: growing the tree does not change it', () => {
  const tree = grown(leavesOf(3));
  const head = tree.head();
  const root = treeRoot(head);
  grown(leavesOf(5), tree);
  expect(treeRoot(head)).toBe(root);
  tree.restart(head);
  expect([tree.size, treeRoot(tree.head())]).toEqual([3, root]);
});

test('a leaf is the hash of its own bytes, wherever they lie, also of a long line', () => {
  const line = Buffer.alloc(100_000, 'x');
  const expected = createHash('sha256').update(Uint8Array.of(0)).update(line).digest('hex');
  expect(leafHash(Buffer.concat([Buffer.from('ab'), line, Buffer.from('c')]), 2, 100_002)).toBe(expected);
});
