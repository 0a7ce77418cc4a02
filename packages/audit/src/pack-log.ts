import { formatTimestamp } from '@turnlog/events';
import { type LogEnvironment, type LogReader, treeRoot } from '@turnlog/log';
import { AssetReferences } from './asset-references.js';
import { HashingSource } from './hashing-source.js';
import type { HashWorkers } from './leaf-hasher.js';
import { decodeMarks, encodeMarks, leavesPerMark } from './leaf-marks.js';
import { isGone, rangeRootsOf } from './leaf-roots.js';
import type { MarksWanted } from './leaf-tree.js';
import { type Leaf, type WalkOptions, walkLog, walkLongLog } from './log-walk.js';
import type { OwnPart, Pack, PackEntry, PreviousPack } from './pack.js';
import type { PackSnapshot } from './pack-snapshot.js';
import { consistencyRanges, verifyConsistency } from './proofs.js';
import { RedactedLeaves } from './redacted-leaves.js';
import { type LeafRange, RangeRoots, type TreeRoot } from './tree.js';

/** A pack that was made before, with the digest of its bytes. */
export interface EarlierPack {
  readonly pack: Pack;
  readonly sha256: string;
}

/** What a pack says of a log. */
export interface PackedLog {
  readonly own: OwnPart;
  readonly bytes: number;
  readonly sha256: string;
  readonly eventCount: number;
  /** How many bytes were looked at for the tree. */
  readonly walkedBytes: number;
}

export interface PackingWay {
  readonly mode: 'since-last' | 'deep';
  readonly workers: HashWorkers | undefined;
}

/**
 * Reads the log of a snapshot. Where an earlier pack holds its beginning, and the digest says that this is unchanged,
 * only what came since is looked at for the tree; `deep` looks at everything.
 */
export async function packLog(
  env: LogEnvironment,
  snapshot: PackSnapshot,
  earlier: EarlierPack | null,
  { mode, workers }: PackingWay,
): Promise<PackedLog> {
  const { reader, cut } = snapshot;
  const source = new HashingSource(reader.source, cut);
  const base = mode === 'deep' ? null : goOnFrom(snapshot, source, earlier);
  const each = leavesPerMark(reader.state.lifecycle.eventCount);
  const gathered = new Gathered(base?.own ?? null);
  const walk: WalkOptions = {
    to: cut,
    wanted: { marks: { each, until: Number.POSITIVE_INFINITY, ...marksBefore(base) } },
    onLeaf: (leaf) => gathered.note(leaf),
    // What was hashed to know the earlier pack again is not hashed a second time.
    ...(base === null
      ? { source: reader.source, digestTo: cut }
      : { source, from: { state: reader.stateAtLine(base.bytes, base.own.lastSeq), tree: base.own.tree } }),
  };
  const walked = await walkLongLog(walk, workers);
  const { tree } = walked;
  const root = { size: tree.size, root: treeRoot(tree) };
  const evicted = base?.own.tree.evicted ?? walked.evicted;
  const { newestTsMs } = reader.state;
  return {
    own: {
      tree: { ...root, frontier: tree.frontier, evicted, marks: encodeMarks(each, walked.marks) },
      firstSeq: base?.own.firstSeq ?? gathered.firstSeq,
      lastSeq: walked.highestSeq,
      lastTs: newestTsMs === null ? null : formatTimestamp(newestTsMs),
      generation: reader.generation,
      damage: walked.damage.map(({ offset, length, kind, sha256 }) => ({ offset, length, kind, sha256 })),
      redacted: gathered.redacted.list(),
      assets: gathered.assets.list(),
      previous: earlier === null ? null : previousOf(env, snapshot, earlier, { base, to: root }),
      isLive: !snapshot.isLocked,
      sessions: null,
    },
    bytes: cut,
    sha256: walked.sha256 ?? source.digestHex(),
    eventCount: tree.size - evicted,
    walkedBytes: cut - (base?.bytes ?? 0),
  };
}

/** What is known of the log up to where an earlier pack ends. */
interface Base {
  readonly bytes: number;
  readonly own: OwnPart;
}

/** Null when the log has to be read from its start. */
function goOnFrom(
  { reader, cut }: PackSnapshot,
  source: HashingSource,
  earlier: EarlierPack | null,
): Base | null {
  const own = earlier?.pack.own ?? null;
  const entry = earlier?.pack.entries.find(({ role }) => role === 'canonical');
  if (own === null || entry === undefined || own.generation === null || own.generation !== reader.generation)
    return null;
  // Damage and redactions are told with what surrounds them, so such a log is read as a whole.
  if (own.damage.length > 0 || own.redacted.length > 0 || reader.state.damage.count > 0) return null;
  if (!goOnWith(own, leavesPerMark(reader.state.lifecycle.eventCount))) return null;
  if (entry.bytes > cut || entry.bytes === 0 || !isUnchanged(source, entry)) return null;
  return { bytes: entry.bytes, own };
}

/** What an earlier pack marked of the leaves that it held. */
function marksBefore(base: Base | null): Pick<MarksWanted, 'before'> {
  const marks = base?.own.tree.marks ?? null;
  return marks === null ? {} : { before: decodeMarks(marks) };
}

/** Whether marks of this width can be added to. */
function goOnWith({ tree }: OwnPart, each: number): boolean {
  return tree.marks?.each === each && (tree.size - tree.evicted) % each === 0;
}

function isUnchanged(source: HashingSource, entry: PackEntry): boolean {
  source.hashTo(entry.bytes);
  return source.hashedBytes === entry.bytes && source.digestSoFar() === entry.sha256;
}

/** What is collected while the leaves go by. */
class Gathered {
  readonly redacted = new RedactedLeaves();
  readonly assets: AssetReferences;
  firstSeq: number | null = null;

  constructor(base: OwnPart | null) {
    this.assets = new AssetReferences(base?.assets);
  }

  note(leaf: Leaf): void {
    this.firstSeq ??= leaf.record.seq;
    this.redacted.note(leaf);
    this.assets.note(leaf.record);
  }
}

/** The earlier pack with the proof that the log goes on from it; null when it does not, or when that cannot be shown. */
function previousOf(
  { fs }: LogEnvironment,
  { reader, cut }: PackSnapshot,
  { pack, sha256 }: EarlierPack,
  { base, to }: { readonly base: Base | null; readonly to: TreeRoot },
): PreviousPack | null {
  const { own } = pack;
  if (own === null || own.tree.size === 0 || own.tree.size > to.size) return null;
  const from = { size: own.tree.size, root: own.tree.root };
  const ranges = consistencyRanges(from.size, to.size);
  try {
    const consistency =
      base === null ? rangeRootsOf(fs, reader, ranges) : rangeRootsSince(reader, cut, base, ranges);
    if (consistency === null || !verifyConsistency({ from, to, path: consistency })) return null;
    return { packSha256: sha256, ...from, consistency };
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** From what the earlier pack holds of the leaves, and those that came since. */
function rangeRootsSince(
  reader: LogReader,
  cut: number,
  { bytes, own }: Base,
  ranges: readonly LeafRange[],
): readonly string[] | null {
  const roots = new RangeRoots(ranges);
  roots.addFrontier(own.tree);
  walkLog({
    source: reader.source,
    to: cut,
    from: { state: reader.stateAtLine(bytes, own.lastSeq), tree: own.tree },
    onLeaf: (leaf) => roots.addLeaf(leaf.index, leaf.hash()),
  });
  return roots.roots();
}
