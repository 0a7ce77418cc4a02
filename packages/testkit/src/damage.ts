import { sha256Hex, sha256Text } from '@turnlog/kernel';
import { enumerateImages, type Image } from './damage-images.js';
import { ModelDirectory, type ModelNode } from './model-directory.js';
import { ModelFile, type NodeFacts } from './model-file.js';
import { ModelFileSystem } from './model-fs.js';
import { SeededRandom } from './seed.js';

export interface DamageLimits {
  /** At most so many disks are made; beyond, combinations are sampled. By default 256. */
  readonly disksMax?: number;
  /** At most so many images of one file are made; beyond, they are sampled. By default 256. */
  readonly imagesMax?: number;
  /** Digests of disks that need not be given again; those given are added. By default none. */
  readonly seen?: Set<string>;
}

/** One thing a crash decides: how many changes of a table were kept, or which image of a file. */
interface Axis {
  readonly count: number;
}

interface TableAxis extends Axis {
  readonly directory: ModelDirectory;
}

interface ImageAxis extends Axis {
  readonly file: ModelFile;
  /** Content and digest of each. The first kept nothing of what was pending, the last kept all. */
  readonly images: readonly Image[];
}

/**
 * The disks a crash at this moment may leave behind: of each directory a prefix of the pending changes, and of
 * each file one of the images of `enumerateImages`, in combination. Each disk is a file system of its own whose
 * durable and visible state are the same; equal disks are given once, the order depends on the seed only.
 *
 * The bound: the product of all choices when that is at most `disksMax`. Otherwise nothing kept, everything
 * kept, each single choice through all its values with the others at nothing and at everything, and random
 * combinations until `disksMax` were tried.
 */
export function* enumerateDisks(
  model: ModelFileSystem,
  seed: number,
  limits: DamageLimits = {},
): Generator<ModelFileSystem, void, undefined> {
  const disksMax = limits.disksMax ?? 256;
  const random = new SeededRandom(seed);
  const { tables, images } = collectAxes(model.root, random, limits.imagesMax ?? 256);
  const axes: readonly Axis[] = [...tables, ...images];
  const seen = limits.seen ?? new Set<string>();
  let triedCount = 0;
  for (const choice of choices(axes, disksMax, random)) {
    if (triedCount >= disksMax) return;
    triedCount += 1;
    const disk = buildDisk(model, tables, images, choice, seen);
    if (disk !== null) yield disk;
  }
}

/** A disk of its own that holds, durably, all that programs see on this one now. */
export function copyDisk(model: ModelFileSystem): ModelFileSystem {
  const root = copyTree(
    model.root,
    (directory) => directory.visible,
    (file) => (file.pending.length === 0 ? file.durable : file.visible),
  );
  return new ModelFileSystem(model.options, { root, nextInode: model.nextInode });
}

/** Of images that many disks share, each is hashed once. */
const digests = new WeakMap<Uint8Array, string>();

function digestOf(image: Uint8Array): string {
  let digest = digests.get(image);
  if (digest === undefined) {
    digest = sha256Hex(image);
    digests.set(image, digest);
  }
  return digest;
}

/** Of what programs see in a file on which nothing is pending. */
export function imageDigestOf(file: ModelFile): string {
  return digestOf(file.pending.length === 0 ? file.durable : file.visible);
}

function collectAxes(
  root: ModelDirectory,
  random: SeededRandom,
  imagesMax: number,
): { tables: readonly TableAxis[]; images: readonly ImageAxis[] } {
  const tables: TableAxis[] = [];
  const images: ImageAxis[] = [];
  const seen = new Set<ModelNode>();
  const visit = (node: ModelNode): void => {
    if (seen.has(node)) return;
    seen.add(node);
    if (node.kind === 'file') {
      const list = imagesOf(node, random, imagesMax);
      images.push({ file: node, images: list, count: list.length });
    }
    if (node.kind !== 'directory') return;
    if (node.pending.length > 0) tables.push({ directory: node, count: node.pending.length + 1 });
    for (const child of everyChild(node)) visit(child);
  };
  visit(root);
  return { tables, images };
}

function imagesOf(file: ModelFile, random: SeededRandom, imagesMax: number): readonly Image[] {
  if (file.pending.length > 0) return enumerateImages(file, random, imagesMax);
  return [{ bytes: file.durable, digest: digestOf(file.durable) }];
}

/** What any disk may hold in this directory: the children of the durable table and those of each change. */
function* everyChild(directory: ModelDirectory): Generator<ModelNode, void, undefined> {
  yield* directory.durable.values();
  for (const change of directory.pending) {
    for (const [, node] of change.sets) if (node !== null) yield node;
  }
}

/** Vectors with one number per axis. */
function* choices(
  axes: readonly Axis[],
  disksMax: number,
  random: SeededRandom,
): Generator<readonly number[], void, undefined> {
  const product = axes.reduce((count, axis) => Math.min(count * axis.count, disksMax + 1), 1);
  if (product <= disksMax) {
    yield* everyChoice(axes);
    return;
  }
  const nothing = axes.map(() => 0);
  const everything = axes.map((axis) => axis.count - 1);
  yield nothing;
  yield everything;
  for (const [position, axis] of axes.entries()) {
    for (let value = 0; value < axis.count; value += 1) {
      yield everything.with(position, value);
      yield nothing.with(position, value);
    }
  }
  for (;;) yield axes.map((axis) => random.below(axis.count));
}

function* everyChoice(axes: readonly Axis[]): Generator<readonly number[], void, undefined> {
  const choice = axes.map(() => 0);
  for (;;) {
    yield [...choice];
    let position = 0;
    // Counts up, one digit per axis.
    for (; position < axes.length; position += 1) {
      const next = (choice[position] ?? 0) + 1;
      choice[position] = next < (axes[position]?.count ?? 0) ? next : 0;
      if (choice[position] !== 0) break;
    }
    if (position === axes.length) return;
  }
}

/**
 * Null for a choice no disk makes, a node that left one directory without having arrived in the other or a directory
 * in two places, and for a disk that was seen.
 */
function buildDisk(
  model: ModelFileSystem,
  tables: readonly TableAxis[],
  images: readonly ImageAxis[],
  choice: readonly number[],
  seen: Set<string>,
): ModelFileSystem | null {
  const kept = new Map(tables.map((axis, position) => [axis.directory, choice[position] ?? 0]));
  if (losesNode(kept) || doublesDirectory(kept)) return null;
  const chosen = new Map(
    images.map((axis, position) => [axis.file, axis.images[choice[tables.length + position] ?? 0]]),
  );
  const tableOf = (directory: ModelDirectory): ReadonlyMap<string, ModelNode> =>
    directory.tableAfter(kept.get(directory) ?? 0);
  // Most choices make a disk that was seen: it is described before anything is copied.
  const digest = digestOfTree(model.root, tableOf, (file) => chosen.get(file)?.digest);
  if (seen.has(digest)) return null;
  seen.add(digest);
  const root = copyTree(model.root, tableOf, (file) => chosen.get(file)?.bytes ?? file.durable);
  return new ModelFileSystem(model.options, { root, nextInode: model.nextInode });
}

function digestOfTree(
  root: ModelDirectory,
  tableOf: (directory: ModelDirectory) => ReadonlyMap<string, ModelNode>,
  digestOfFile: (file: ModelFile) => string | undefined,
): string {
  const parts: string[] = [];
  const visited = new Set<ModelNode>();
  const visit = (directory: ModelDirectory, path: string): void => {
    for (const [name, node] of tableOf(directory)) {
      const at = `${path}/${name}`;
      parts.push(node.kind === 'file' ? `${at} ${digestOfFile(node)}\n` : `${at} ${node.kind}\n`);
      if (node.kind !== 'directory' || visited.has(node)) continue;
      visited.add(node);
      visit(node, at);
    }
  };
  visit(root, '');
  return sha256Text(parts.sort().join(''), 'hex');
}

/** A tree of its own; what had two names has two. */
function copyTree(
  root: ModelDirectory,
  tableOf: (directory: ModelDirectory) => ReadonlyMap<string, ModelNode>,
  imageOf: (file: ModelFile) => Uint8Array,
): ModelDirectory {
  const copies = new Map<ModelNode, ModelNode>();
  const copy = (node: ModelNode): ModelNode => {
    const known = copies.get(node);
    if (known !== undefined) return known;
    const made = copyNode(node);
    copies.set(node, made);
    return made;
  };
  const copyNode = (node: ModelNode): ModelNode => {
    if (node.kind === 'link') return node;
    if (node.kind === 'file') return new ModelFile(copyFacts(node), imageOf(node));
    return copyDirectory(node);
  };
  const copyDirectory = (directory: ModelDirectory): ModelDirectory => {
    const table = new Map<string, ModelNode>();
    for (const [name, node] of tableOf(directory)) table.set(name, copy(node));
    return new ModelDirectory(copyFacts(directory), table);
  };
  return copyDirectory(root);
}

function losesNode(kept: ReadonlyMap<ModelDirectory, number>): boolean {
  for (const [directory, changeCount] of kept) {
    for (const { after } of directory.pending.slice(0, changeCount)) {
      if (after === null) continue;
      const arrivals = after.directory.pending.slice(0, kept.get(after.directory) ?? 0);
      const isPending = after.directory.pending.includes(after.change);
      if (isPending && !arrivals.includes(after.change)) return true;
    }
  }
  return false;
}

/**
 * Whether a directory would have arrived in one place without having left the other. A file may have two names after
 * a crash; a directory has one parent, which it names itself, so file systems move it in one step or let their check
 * take one of the names away.
 */
function doublesDirectory(kept: ReadonlyMap<ModelDirectory, number>): boolean {
  for (const [directory, changeCount] of kept) {
    for (const { after } of directory.pending.slice(changeCount)) {
      if (after === null || !after.change.sets.some(([, node]) => node?.kind === 'directory')) continue;
      const isPending = after.directory.pending.includes(after.change);
      const arrivals = after.directory.pending.slice(0, kept.get(after.directory) ?? 0);
      if (!isPending || arrivals.includes(after.change)) return true;
    }
  }
  return false;
}

function copyFacts(node: ModelFile | ModelDirectory): NodeFacts {
  return { ...node.facts };
}
