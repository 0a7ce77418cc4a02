import { errnoOf, type FileSystem, isTurnlogError } from '@turnlog/kernel';
import { evictedLeaves, logNames, logPaths, MerkleFrontier, treeRoot } from '@turnlog/log';
import { diagnoseLog } from './diagnose-log.js';
import { openGuarded } from './guarded-files.js';
import type { HashWorkers } from './leaf-hasher.js';
import { hexLeaves, isGone } from './leaf-roots.js';
import { rootIn, type Walked, type WalkOptions, walkLongLog } from './log-walk.js';
import type { OwnPart, Pack, PackEntry, RedactedLeaf } from './pack.js';
import { type PresentLog, presentFile, putTogether } from './present-log.js';
import { RedactedLeaves } from './redacted-leaves.js';
import { transformOf } from './transforms.js';
import { type Mismatch, mismatchAt, noTree, type TreeFinding } from './verdict.js';

/** What was found of the log itself. */
export interface LogFinding {
  readonly tree: TreeFinding;
  readonly mismatches: readonly Mismatch[];
  readonly missing: readonly string[];
  readonly unproven: readonly string[];
  /** Whether the packed records are all there, unchanged. */
  readonly isIntact: boolean;
  /** Whether the log was added to, cut or redacted since. */
  readonly hasChanged: boolean;
  /** What is redacted in what was read, and what is said of it; null when nothing was. */
  readonly redacted: RedactedLeaves | null;
}

const nothing: LogFinding = {
  tree: noTree,
  mismatches: [],
  missing: [],
  unproven: [],
  isIntact: false,
  hasChanged: false,
  redacted: null,
};

/** What reading the log once gave. */
export interface LogReading {
  readonly walked: Walked;
  readonly redacted: RedactedLeaves;
  /** Digest of as many bytes as were packed; null where those bytes cannot be had any more. */
  readonly sha256: string | null;
  readonly firstSeq: number | null;
  /** The highest seq of the packed records. */
  readonly lastSeq: number;
  /** Root over the packed records; null when there are fewer. */
  readonly root: string | null;
}

/**
 * Compares the log in `directory` with what `pack` says of it. One reading of the file; another one only to say what
 * is wrong with it.
 */
export async function verifyLog(
  fs: FileSystem,
  directory: string,
  packed: Omit<LogComparison, 'present'>,
): Promise<LogFinding> {
  const { pack, entry } = packed;
  const opened = openGuarded(fs, directory, entry.path);
  if (opened.kind === 'absent') return { ...nothing, tree: packedTree(pack.own), missing: [entry.path] };
  if (opened.kind === 'unsafe') {
    return { ...nothing, tree: packedTree(pack.own), mismatches: [unreadable(entry.path)] };
  }
  const present = presentFile(opened.file);
  try {
    if (present.length === 0) return { ...nothing, tree: packedTree(pack.own), missing: [entry.path] };
    return await verifyPresent(fs, directory, { ...packed, present });
  } finally {
    present.close();
  }
}

function packedTree({ tree }: OwnPart): TreeFinding {
  return { ...noTree, size: tree.size, root: tree.root };
}

function unreadable(path: string): Mismatch {
  return mismatchAt(path, 'content', { diagnosis: 'unreadable' });
}

/** What is compared with what. */
export interface LogComparison {
  readonly pack: Pack & { readonly own: OwnPart };
  readonly entry: PackEntry;
  readonly present: PresentLog;
  readonly workers: HashWorkers | undefined;
}

async function verifyPresent(
  fs: FileSystem,
  directory: string,
  comparison: LogComparison,
): Promise<LogFinding> {
  const { pack, present } = comparison;
  const { size, evicted } = pack.own.tree;
  const leftSince = (present.header?.tree.size ?? 0) > evicted;
  // The header stands for what has left: as long as it covers no more than what was packed, nothing else is needed.
  if (!leftSince || (present.header?.tree.size ?? 0) <= size) return await compare(comparison, present);
  try {
    const older = putTogether(fs, logPaths(directory), present, evicted);
    if (older !== null) {
      try {
        return await compare(comparison, older);
      } finally {
        older.close();
      }
    }
    return await fromLeaves(fs, directory, comparison);
  } catch (error) {
    return unreadableHistory(comparison, error);
  }
}

/** What evicted records are proved by cannot be read, or is not there. */
function unreadableHistory({ pack, present }: LogComparison, error: unknown): LogFinding {
  const tree = { ...packedTree(pack.own), evicted: present.header?.tree.size ?? 0 };
  if (isGone(error)) return { ...nothing, tree, unproven: ['tree'], hasChanged: true };
  if (!isTurnlogError(error, 'TURNLOG_IO') || errnoOf(error) !== null) throw error;
  const { path } = error.details;
  const name = typeof path === 'string' ? path.slice(path.lastIndexOf('/') + 1) : logNames.events;
  return { ...nothing, tree, mismatches: [unreadable(`${logNames.archive}/${name}`)], hasChanged: true };
}

/** Reads a log once with everything that is compared. */
async function readForVerdict({ pack, entry, workers }: LogComparison, log: PresentLog): Promise<LogReading> {
  const { tree } = pack.own;
  const redacted = new RedactedLeaves();
  const headerSize = log.header?.tree.size ?? 0;
  let firstSeq: number | null = null;
  let lastSeq = 0;
  const walk: WalkOptions = {
    source: log.source,
    to: log.length,
    digestTo: Math.min(entry.bytes, log.length),
    wanted: {
      rootsAt: log.isPutTogether && headerSize > tree.size ? [tree.size, headerSize] : [tree.size],
      marks: { each: tree.marks?.each ?? 1, until: tree.size },
    },
    onHeader: (header) => {
      lastSeq = header?.toSeq ?? 0;
    },
    onLeaf: (leaf) => {
      redacted.note(leaf);
      const { index, record } = leaf;
      if (index >= tree.size) return;
      if (index === tree.evicted) firstSeq = record.seq;
      lastSeq = Math.max(lastSeq, record.seq);
    },
  };
  const walked = await walkLongLog(walk, workers);
  const isSameFile = walked.evicted === tree.evicted;
  return {
    walked,
    redacted,
    sha256: isSameFile ? walked.sha256 : null,
    firstSeq,
    lastSeq,
    root: rootIn(walked, tree.size),
  };
}

async function compare(comparison: LogComparison, log: PresentLog): Promise<LogFinding> {
  const { pack, entry, present } = comparison;
  const { tree } = pack.own;
  const reading = await readForVerdict(comparison, log);
  const { walked, redacted } = reading;
  const evicted = present.header?.tree.size ?? 0;
  const grownBy = Math.max(walked.tree.size - tree.size, 0);
  const listed = redacted.list(tree.size);
  const finding: LogFinding = {
    ...nothing,
    tree: { size: tree.size, root: tree.root, recomputed: reading.root, grownBy, evicted, redacted: listed },
    hasChanged: grownBy > 0 || evicted > tree.evicted || isRedactedSince(listed, pack.own),
    redacted,
    unproven: redacted.isOverLimit ? ['redacted'] : [],
  };
  if (reading.root !== tree.root) {
    return { ...finding, mismatches: [await diagnoseLog(comparison, log, reading)] };
  }
  const mismatches = [
    ...(await betweenRecords(comparison, log, reading, listed)),
    ...unexplained(redacted.list(), entry.path),
    ...counts(pack, entry.path, reading),
    ...history(log, walked),
  ];
  return { ...finding, mismatches, isIntact: true };
}

function isRedactedSince(listed: readonly RedactedLeaf[], { redacted }: OwnPart): boolean {
  const known = new Set(redacted.map(({ index }) => index));
  return listed.some(({ index }) => !known.has(index));
}

/** The records are as packed: the bytes around them must be so as well, or the difference has a reason. */
async function betweenRecords(
  { pack, entry }: LogComparison,
  log: PresentLog,
  { sha256, walked, redacted }: LogReading,
  listed: readonly RedactedLeaf[],
): Promise<readonly Mismatch[]> {
  if (sha256 === entry.sha256) return [];
  const found = new Map<string, number>();
  const keyOf = ({ kind, length, sha256: digest }: OwnPart['damage'][number]): string =>
    `${kind} ${length} ${digest}`;
  for (const damage of walked.damage) found.set(keyOf(damage), (found.get(keyOf(damage)) ?? 0) + 1);
  const isCut = sha256 === null;
  const changed = pack.own.damage.filter((damage) => {
    const left = found.get(keyOf(damage)) ?? 0;
    found.set(keyOf(damage), left - 1);
    return left <= 0;
  });
  // What has left the file took its damage along.
  if (changed.length > 0 && !isCut) {
    return changed.map(({ offset }) => mismatchAt(entry.path, 'damage', { diagnosis: 'edited', offset }));
  }
  if (isCut || isRedactedSince(listed, pack.own)) return [];
  // The header of a log says anew what its archives hold when records in them are redacted.
  if (redacted.isStatedBefore(walked.evicted, pack.own.tree.size)) return [];
  const transform = await transformOf(log.source, log.length, entry, 'beginning');
  const diagnosis = transform === null ? 'edited' : 'transformed';
  return [mismatchAt(entry.path, 'between-records', { diagnosis, transform })];
}

/** Records that somebody has taken out without saying so. */
export function unexplained(redacted: readonly RedactedLeaf[], path: string): readonly Mismatch[] {
  return redacted
    .filter(({ statementSeq }) => statementSeq === null)
    .map(({ index, seq }) =>
      mismatchAt(path, 'redaction-unexplained', { diagnosis: 'replaced', index, seq }),
    );
}

function counts(
  pack: Pack & { readonly own: OwnPart },
  path: string,
  reading: LogReading,
): readonly Mismatch[] {
  const { tree, firstSeq, lastSeq } = pack.own;
  const isFirstSeen = reading.firstSeq !== null || tree.size === tree.evicted;
  const isRight =
    pack.eventCount === tree.size - tree.evicted &&
    lastSeq === reading.lastSeq &&
    (!isFirstSeen || firstSeq === reading.firstSeq);
  return isRight ? [] : [mismatchAt(path, 'counts')];
}

/** Archives that were put in front must lead to the state that the present header speaks of. */
function history(log: PresentLog, walked: Walked): readonly Mismatch[] {
  const { header } = log;
  if (!log.isPutTogether || header === null) return [];
  const found = rootIn(walked, header.tree.size);
  if (found === treeRoot(header.tree)) return [];
  return [mismatchAt(logNames.archive, 'content', { diagnosis: 'edited' })];
}

/** Where the records were dropped their hashes are left. */
async function fromLeaves(fs: FileSystem, directory: string, comparison: LogComparison): Promise<LogFinding> {
  const { pack, present } = comparison;
  const { header } = present;
  const { tree: packed } = pack.own;
  const tree = new MerkleFrontier();
  let root: string | null = null;
  for (const block of evictedLeaves(fs, logPaths(directory), header)) {
    for (const leaf of hexLeaves(block)) {
      tree.add(leaf);
      if (tree.size === packed.size) root = treeRoot(tree.head());
    }
  }
  const reading = await readForVerdict(comparison, present);
  const finding: LogFinding = {
    ...nothing,
    tree: {
      size: packed.size,
      root: packed.root,
      recomputed: root,
      grownBy: Math.max(reading.walked.tree.size - packed.size, 0),
      evicted: header?.tree.size ?? 0,
      redacted: reading.redacted.list(packed.size),
    },
    hasChanged: true,
    redacted: reading.redacted,
  };
  const isWhole = header !== null && treeRoot(tree.head()) === treeRoot(header.tree);
  if (root === packed.root && isWhole) return { ...finding, isIntact: true };
  const path = isWhole ? comparison.entry.path : logNames.archive;
  return { ...finding, mismatches: [mismatchAt(path, 'content', { diagnosis: 'replaced' })] };
}
