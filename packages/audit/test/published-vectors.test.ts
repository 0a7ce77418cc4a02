import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkNote,
  consistencyRanges,
  inclusionRanges,
  noteKeyId,
  parseNote,
  proveConsistency,
  RangeRoots,
  verdictExits,
  verdictOn,
  verifyConsistency,
  verifyInclusion,
  verifyPack,
} from '@turnlog/audit';
import { createNodeFileSystem } from '@turnlog/fs';
import { type LogReader, leafHash, MerkleFrontier, openLogReader, treeRoot } from '@turnlog/log';
import {
  evictedVectors,
  forgedVectors,
  noteVectors,
  redactedVectors,
  treeVectors,
  vectorsFolder,
} from './vectors.js';
import { AuditWorld, lineV } from './world.js';

const tree = treeVectors();

/** The values that the specification itself prints. */
const printed = {
  leaf0: '0d947e6db4aa285ec1569a89e45de18b5428e846cff527f3c2aeec272f60a606',
  root7: '15dd5de5ca5f8823634f3ddde5bda368288b2c839082205eef3ab6b559e35a40',
  root8R: '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
};

const hashOf = (bytes: Buffer): string => leafHash(bytes, 0, bytes.length);

function rootsOf(
  leaves: readonly string[],
  ranges: ReturnType<typeof inclusionRanges>,
): readonly string[] | null {
  const roots = new RangeRoots(ranges);
  for (const [index, leaf] of leaves.entries()) roots.addLeaf(index, leaf);
  return roots.roots();
}

test('A-1 tree.json: leaves, roots and frontiers of sizes 0 to 70, and set R', () => {
  expect(tree.lines.map((line) => hashOf(Buffer.from(line)))).toEqual(tree.leaves);
  expect(tree.lines).toEqual(tree.lines.map((_, at) => lineV(at + 1)));
  expect([tree.leaves[0], tree.sizes[7]?.root]).toEqual([printed.leaf0, printed.root7]);
  const frontier = new MerkleFrontier();
  for (const { size, root, frontier: hashes } of tree.sizes) {
    const head = frontier.head();
    expect([head.size, treeRoot(head), head.frontier]).toEqual([size, root, hashes]);
    const next = tree.leaves[size];
    if (next !== undefined) frontier.add(next);
  }
  const reference = new MerkleFrontier();
  for (const [at, { root }] of tree.rfc6962.roots.entries()) {
    reference.add(hashOf(Buffer.from(tree.rfc6962.inputs[at] ?? '', 'hex')));
    expect(treeRoot(reference.head())).toBe(root);
  }
  expect(tree.rfc6962.roots.at(-1)?.root).toBe(printed.root8R);
});

test('A-1 tree.json: every proof of sizes up to 17 is made the same, and accepted', () => {
  for (const proof of tree.inclusion) {
    expect(rootsOf(tree.leaves, inclusionRanges(proof.index, proof.size))).toEqual(proof.path);
    expect(verifyInclusion(proof)).toBe(true);
  }
  for (const proof of tree.consistency) {
    expect(rootsOf(tree.leaves, consistencyRanges(proof.from.size, proof.to.size))).toEqual(proof.path);
    expect(verifyConsistency(proof)).toBe(true);
  }
  expect([tree.inclusion.length, tree.consistency.length]).toEqual([153, 153]);
});

/** A log of V that was cut, with what is left of the records before. */
function cutLog(header: string, cut: number): AuditWorld {
  const world = new AuditWorld();
  world.plantLog(
    `${header}\n${tree.lines
      .slice(cut)
      .map((line) => `${line}\n`)
      .join('')}`,
  );
  return world;
}

const read = (world: AuditWorld): LogReader =>
  openLogReader(world.fs, world.directory(), 's-1', { tree: 'hashed' });

test('A-1 evicted.json: roots and proofs across the cut with archive, with hashes, with neither', async () => {
  for (const vector of evictedVectors()) {
    const { cut, header, roots, with_neither: neither, with_leaves: leaves } = vector;
    const world = cutLog(header, cut);
    let reader = read(world);
    for (const { size, root } of roots.filter((each) => each.size >= cut)) {
      expect(reader.root(size)).toEqual({ size, root });
    }
    const head = (size: number) => ({ size, root: roots.find((each) => each.size === size)?.root ?? '' });
    const proved = (from: number) => proveConsistency(world.fs, reader, head(from), head(70)).path;
    expect(proved(cut)).toEqual(neither.consistency.path);
    const missing = expect.objectContaining({ code: 'TURNLOG_GONE' });
    if (cut > 1) expect(() => reader.root(cut - 1)).toThrow(missing);
    reader.close();
    world.disk.plantDirectory(world.path('archive'));
    world.plant(`archive/leaves-${cut}.bin`, Buffer.from(vector.leaves_file, 'base64'));
    reader = read(world);
    for (const { size, root } of roots) expect(reader.root(size)).toEqual({ size, root });
    expect(proved(leaves.consistency.from)).toEqual(leaves.consistency.path);
    reader.close();
  }
});

test.each(['explained', 'unexplained', 'silent'] as const)(
  'A-1 redacted.json, %s: the tree is that of the lines that were there, and who says so is told',
  async (name) => {
    const vectors = redactedVectors();
    const { lines, roots, redacted, unexplained } = vectors[name];
    const world = new AuditWorld();
    world.plantLog(vectors.original.lines.map((line) => `${line}\n`).join(''));
    const { pack } = await world.pack();
    expect(pack.own?.tree).toMatchObject({ size: 7, root: vectors.original.root });
    world.plantLog(lines.map((line) => `${line}\n`).join(''));
    const reader = read(world);
    for (const { size, root } of roots) expect(reader.root(size)).toEqual({ size, root });
    reader.close();
    const found = await world.verify();
    expect(found.tree.redacted).toEqual(
      redacted.map(({ index, seq, statement_seq: statementSeq }) => ({ index, seq, statementSeq })),
    );
    const told = found.mismatches.filter(({ reason }) => reason === 'redaction-unexplained');
    expect(told.map(({ index, seq }) => ({ index, seq }))).toEqual(unexplained);
    expect(await world.exit()).toBe(unexplained.length === 0 ? 0 : 1);
  },
);

test('A-1 redacted.json: two lines that differ in their salt alone have different leaves, which stay when they go', () => {
  const { lines, leaves, redacted, root } = redactedVectors().salted;
  const worlds = [lines, redacted].map((each) => {
    const world = new AuditWorld();
    world.plantLog(each.map((line) => `${line}\n`).join(''));
    return world;
  });
  expect(new Set(leaves).size).toBe(2);
  for (const world of worlds) {
    const reader = read(world);
    expect([...reader.records()].map((record) => record.leaf())).toEqual(leaves);
    expect(reader.root(2)).toEqual({ size: 2, root });
    reader.close();
  }
});

test('A-1 notes.json: each note says what it should to each key', () => {
  const { keys, notes, checkpoint } = noteVectors();
  for (const { name, key_id: id, public: key } of keys)
    expect(noteKeyId(name, Buffer.from(key, 'hex'))).toBe(id);
  for (const { what, note, checks } of notes) {
    const parsed = parseNote(Buffer.from(note));
    const found = keys.map(({ name, public: key }) => checkNote(parsed, name, Buffer.from(key, 'hex')));
    expect([what, found]).toEqual([what, checks]);
    if (what !== 'altered text') expect(parsed.checkpoint).toEqual(checkpoint);
  }
});

test('A-1 proofs-forged.json: nothing but the originals is accepted', () => {
  const { inclusion, consistency } = forgedVectors();
  for (const { what, proof, trusted, accept } of inclusion) {
    expect([what, verifyInclusion(proof, trusted)]).toEqual([what, accept]);
  }
  for (const { what, proof, trusted, accept } of consistency) {
    expect([what, verifyConsistency(proof, trusted)]).toEqual([what, accept]);
  }
});

interface Expected {
  readonly verdict: string;
  readonly exit: number;
  readonly grown_by?: number;
  readonly missing?: readonly string[];
  readonly mismatch?: Readonly<Record<string, unknown>>;
}

test.each(readdirSync(join(vectorsFolder, 'packs')))('A-1 packs/%s: the verdict', async (name) => {
  const folder = join(vectorsFolder, 'packs', name);
  const expected: Expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
  expect(existsSync(join(folder, 'session'))).toBe(true);
  const found = await verifyPack(createNodeFileSystem(), {
    directory: join(folder, 'session'),
    sessionId: null,
    nowMs: 0,
  });
  const verdict = verdictOn(found);
  expect([verdict, verdictExits[verdict]]).toEqual([expected.verdict, expected.exit]);
  if (expected.grown_by !== undefined && name !== 'without-tree')
    expect(found.tree.grownBy).toBe(expected.grown_by);
  if (expected.missing !== undefined) expect(found.missing).toEqual(expected.missing);
  if (expected.mismatch === undefined) return;
  const [first] = found.mismatches;
  const members = { ...first, leaves_gone: first?.leavesGone, leaves_intact: first?.leavesIntact };
  expect(members).toMatchObject(expected.mismatch);
});

test('the vectors are those that the generator gives, which shares no code with the product', () => {
  const generator = join(vectorsFolder, '..', 'generate.mjs');
  expect(readFileSync(generator, 'utf8')).not.toMatch(/@turnlog|packages\//);
  execFileSync(process.execPath, [generator, '--check'], { stdio: 'pipe' });
});
