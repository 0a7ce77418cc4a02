import { createHash } from 'node:crypto';
import {
  consistencyRanges,
  type InclusionProof,
  inclusionRanges,
  isLeafOf,
  RangeRoots,
  type TreeRoot,
  verifyConsistency,
  verifyInclusion,
} from '@turnlog/audit';
import { leafHash, MerkleFrontier, nodeHash, treeRoot } from '@turnlog/log';
import { SeededRandom } from '@turnlog/testkit';
import fc from 'fast-check';

const lineOf = (n: number, salt: number): Buffer => Buffer.from(`{"n":${n},"salt":${salt}}`);
const leafOf = (bytes: Buffer): string => leafHash(bytes, 0, bytes.length);
const leavesOf = (count: number, salt: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => leafOf(lineOf(at, salt)));

function headOf(leaves: readonly string[]): TreeRoot {
  const frontier = new MerkleFrontier();
  for (const leaf of leaves) frontier.add(leaf);
  return { size: leaves.length, root: treeRoot(frontier.head()) };
}

function rootsOf(leaves: readonly string[], ranges: ReturnType<typeof inclusionRanges>): readonly string[] {
  const roots = new RangeRoots(ranges);
  for (const [index, leaf] of leaves.entries()) roots.addLeaf(index, leaf);
  return roots.roots() ?? [];
}

function inclusionOf(leaves: readonly string[], index: number): InclusionProof {
  const path = rootsOf(leaves, inclusionRanges(index, leaves.length));
  return { index, seq: index + 1, leaf: leaves[index] ?? '', ...headOf(leaves), path };
}

/** The definition of RFC 6962 word by word; perfect subtrees are remembered, so that every size can be looked at. */
class DefinedTree {
  readonly #lines: readonly Buffer[];
  readonly #perfect = new Map<string, Buffer>();

  constructor(lines: readonly Buffer[]) {
    this.#lines = lines;
  }

  root(size: number): string {
    return (size === 0 ? createHash('sha256').digest() : this.#hash(0, size)).toString('hex');
  }

  #hash(from: number, to: number): Buffer {
    const key = `${from}-${to}`;
    const width = to - from;
    const known = this.#perfect.get(key);
    if (known !== undefined) return known;
    let half = 1;
    while (half * 2 < width) half *= 2;
    const parts =
      width === 1
        ? [Buffer.of(0), this.#lines[from] ?? Buffer.alloc(0)]
        : [Buffer.of(1), this.#hash(from, from + half), this.#hash(from + half, to)];
    const hash = createHash('sha256').update(Buffer.concat(parts)).digest();
    if (half * 2 === width || width === 1) this.#perfect.set(key, hash);
    return hash;
  }
}

test('A-2 random logs of 0 to 5,000 records: the incremental root is the recomputed one at every size', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5_000 }), fc.nat(1_000_000), (count, salt) => {
      const lines = Array.from({ length: count }, (_, at) => lineOf(at, salt));
      const defined = new DefinedTree(lines);
      const frontier = new MerkleFrontier();
      for (let size = 0; size <= count; size += 1) {
        if (treeRoot(frontier.head()) !== defined.root(size)) throw new Error(`another root at size ${size}`);
        const next = lines[size];
        if (next !== undefined) frontier.add(leafOf(next));
      }
    }),
    { numRuns: 12 },
  );
});

test('A-2 any inclusion and any consistency proof of random logs verifies', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.nat(), fc.nat(), (count, first, second) => {
      const leaves = leavesOf(count, first % 1_000);
      const proof = inclusionOf(leaves, first % count);
      expect(verifyInclusion(proof, headOf(leaves))).toBe(true);
      expect(isLeafOf(proof, lineOf(first % count, first % 1_000))).toBe(true);
      const from = headOf(leaves.slice(0, (second % count) + 1));
      const to = headOf(leaves);
      const path = rootsOf(leaves, consistencyRanges(from.size, to.size));
      expect(verifyConsistency({ from, to, path }, { from, to })).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test('AU-5: from the frontier of an eviction and what came later all later proofs can be made, and no others', () => {
  const leaves = leavesOf(70, 1);
  for (const cut of [1, 2, 3, 4, 7, 8, 31, 64]) {
    const frontier = new MerkleFrontier();
    for (const leaf of leaves.slice(0, cut)) frontier.add(leaf);
    const gathered = (ranges: ReturnType<typeof inclusionRanges>): readonly string[] | null => {
      const roots = new RangeRoots(ranges);
      roots.addFrontier(frontier.head());
      for (const [at, leaf] of leaves.slice(cut).entries()) roots.addLeaf(cut + at, leaf);
      return roots.roots();
    };
    for (let index = cut; index < 70; index += 1) {
      const ranges = inclusionRanges(index, 70);
      expect(gathered(ranges)).toEqual(rootsOf(leaves, ranges));
      const consistency = consistencyRanges(index, 70);
      expect(gathered(consistency)).toEqual(rootsOf(leaves, consistency));
    }
    if (cut > 2) expect(gathered(inclusionRanges(0, 70))).toBeNull();
  }
});

/** A hex text with one bit flipped. */
function flip(text: string, random: SeededRandom): string {
  const at = random.below(text.length);
  const digit = Number.parseInt(text[at] ?? '0', 16) ^ (1 << random.below(4));
  return `${text.slice(0, at)}${digit.toString(16)}${text.slice(at + 1)}`;
}

interface Forged {
  readonly proof: InclusionProof;
  readonly record: Buffer;
}

type Forgery = (good: Forged, leaves: readonly string[], random: SeededRandom) => Forged;

const changed = (good: Forged, change: Partial<InclusionProof>): Forged => ({
  ...good,
  proof: { ...good.proof, ...change },
});

/** The forgeries of an inclusion proof. */
const forgeries: readonly Forgery[] = [
  (good, _leaves, random) => changed(good, { leaf: flip(good.proof.leaf, random) }),
  (good, _leaves, random) => changed(good, { root: flip(good.proof.root, random) }),
  (good, _leaves, random) => {
    const at = random.below(Math.max(good.proof.path.length, 1));
    return changed(good, {
      path: good.proof.path.map((hash, here) => (here === at ? flip(hash, random) : hash)),
    });
  },
  (good, _leaves, random) => changed(good, { index: good.proof.index ^ (1 << random.below(12)) }),
  (good, _leaves, random) => changed(good, { size: good.proof.size ^ (1 << random.below(12)) }),
  (good) => changed(good, { path: good.proof.path.slice(1) }),
  (good) => changed(good, { path: good.proof.path.slice(0, -1) }),
  (good, _leaves, random) => changed(good, { path: [...good.proof.path, flip(good.proof.root, random)] }),
  (good) => changed(good, { path: [...good.proof.path.slice(0, 1), ...good.proof.path] }),
  (good) => changed(good, { path: [...good.proof.path].reverse() }),
  (good, leaves) => changed(good, { path: inclusionOf(leaves, good.proof.index ^ 1).path }),
  (good) => changed(good, { index: good.proof.index + 1 }),
  (good) => changed(good, { index: good.proof.index - 1 }),
  (good) => changed(good, { size: good.proof.size + 1 }),
  (good) => changed(good, { size: good.proof.size - 1 }),
  (good) => changed(good, { size: 0 }),
  (good) => changed(good, { index: good.proof.size + good.proof.index }),
  // Prefixes exchanged, and an inner node offered as a record of 64 bytes.
  (good, leaves) => {
    const [left = '', right = ''] = leaves;
    return {
      proof: { ...good.proof, leaf: nodeHash(left, right) },
      record: Buffer.from(left + right, 'hex'),
    };
  },
  (good) => ({
    ...good,
    record: Buffer.from(good.proof.leaf + (good.proof.path[0] ?? good.proof.leaf), 'hex'),
  }),
  (good) => changed(good, { path: Array.from({ length: 64 }, () => good.proof.root) }),
  (good, _leaves, random) => ({
    ...good,
    record: Buffer.concat([good.record, Buffer.of(random.below(256))]),
  }),
];

const text = (value: unknown): string => JSON.stringify(value);

/** How many forged proofs a run tries: 20,000, or what a long run asks for. */
const forgedCount = Number(process.env['TURNLOG_FORGED_PROOFS'] ?? 20_000);

test('A-3 of 20,000 forged proofs, or of as many as a long run asks for, none is accepted', () => {
  const random = new SeededRandom(Number(process.env['TURNLOG_TEST_SEED']));
  let inclusions = 0;
  let consistencies = 0;
  const made: { leaves: readonly string[]; head: TreeRoot; salt: number }[] = [];
  for (let at = 0; at < 40; at += 1) {
    const count = 2 + random.below(300);
    made.push({ leaves: leavesOf(count, at), head: headOf(leavesOf(count, at)), salt: at });
  }
  for (let run = 0; inclusions + consistencies < forgedCount; run += 1) {
    const log = made[run % made.length];
    if (log === undefined) continue;
    const { leaves, head, salt } = log;
    const index = random.below(leaves.length);
    const good: Forged = { proof: inclusionOf(leaves, index), record: lineOf(index, salt) };
    const accepts = ({ proof, record }: Forged): boolean =>
      verifyInclusion(proof, head) && isLeafOf(proof, record);
    expect(accepts(good)).toBe(true);
    for (const forge of forgeries) {
      const forged = forge(good, leaves, random);
      if (text(forged.proof) === text(good.proof) && forged.record.equals(good.record)) continue;
      inclusions += 1;
      if (accepts(forged)) throw new Error(`accepted: ${text(forged.proof)} for ${text(good.proof)}`);
    }
    consistencies += forgeConsistency(leaves, head, random);
  }
  expect(Math.min(inclusions, consistencies)).toBeGreaterThan(forgedCount / 5);
  process.stdout.write(`figure: forged proofs: ${inclusions + consistencies}\n`);
});

function forgeConsistency(leaves: readonly string[], to: TreeRoot, random: SeededRandom): number {
  const from = headOf(leaves.slice(0, 1 + random.below(leaves.length)));
  const path = rootsOf(leaves, consistencyRanges(from.size, to.size));
  const good = { from, to, path };
  const heads = { from, to };
  expect(verifyConsistency(good, heads)).toBe(true);
  const at = random.below(Math.max(path.length, 1));
  const forged = [
    { ...good, from: { ...from, root: flip(from.root, random) } },
    { ...good, to: { ...to, root: flip(to.root, random) } },
    { ...good, path: path.map((hash, here) => (here === at ? flip(hash, random) : hash)) },
    { ...good, path: path.slice(1) },
    { ...good, path: [...path, from.root] },
    { ...good, path: [...path.slice(0, 1), ...path] },
    { ...good, path: [...path].reverse() },
    { ...good, from: { ...from, size: from.size + 1 } },
    { ...good, from: { ...from, size: 0 } },
    { ...good, from: { ...from, size: to.size + 1 } },
    { ...good, to: { ...to, size: to.size + 1 } },
    { ...good, to: { ...to, size: to.size - 1 } },
    { from: to, to, path: [to.root] },
    { ...good, path: Array.from({ length: 64 }, () => to.root) },
  ];
  let count = 0;
  for (const proof of forged) {
    if (text(proof) === text(good)) continue;
    count += 1;
    if (verifyConsistency(proof, heads)) throw new Error(`accepted: ${text(proof)} for ${text(good)}`);
  }
  // Equal sizes allow no nodes, also where both heads are the verifier's own.
  expect(verifyConsistency({ from: to, to, path: [to.root] }, { from: to, to })).toBe(false);
  return count;
}
