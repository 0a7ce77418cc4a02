import { type FileSystem, isTurnlogError, TurnlogError } from '@turnlog/kernel';
import {
  emptyTree,
  evictedLeaves,
  headerIn,
  type LogReader,
  leafBlocks,
  leafBytes,
  logPaths,
  type TreeHead,
} from '@turnlog/log';
import { type ConsistencyProof, consistencyRanges, type InclusionProof, inclusionRanges } from './proofs.js';
import { type LeafRange, RangeRoots, type TreeRoot } from './tree.js';

/**
 * Roots of ranges of all leaves that a log has ever had. What was evicted is made of its frontier where that is enough,
 * and of its leaves, in archives or kept by themselves, where it is not.
 *
 * @throws TURNLOG_GONE when hashes that are needed are not there any more.
 */
export function rangeRootsOf(
  fs: FileSystem,
  reader: LogReader,
  ranges: readonly LeafRange[],
): readonly string[] {
  if (ranges.length === 0) return [];
  const header = headerIn(reader.source, reader.length);
  const before = header?.tree ?? emptyTree;
  const fromFrontier = new RangeRoots(ranges);
  fromFrontier.addFrontier(before);
  addFile(fromFrontier, reader, before);
  const quick = fromFrontier.roots();
  if (quick !== null) return quick;
  const all = new RangeRoots(ranges);
  let index = 0;
  for (const block of evictedLeaves(fs, logPaths(reader.directory), header)) {
    for (const leaf of hexLeaves(block)) {
      all.addLeaf(index, leaf);
      index += 1;
    }
  }
  addFile(all, reader, before);
  const roots = all.roots();
  if (roots !== null) return roots;
  throw new TurnlogError('TURNLOG_GONE', {
    details: { path: reader.directory },
    message: 'hashes that the proof needs are not there',
  });
}

function addFile(roots: RangeRoots, reader: LogReader, before: TreeHead): void {
  let index = before.size;
  for (const block of leafBlocks(reader.source, reader.length)) {
    for (const leaf of hexLeaves(block)) {
      roots.addLeaf(index, leaf);
      index += 1;
    }
  }
}

/** The leaves in a block of 32 bytes each, as 64 hex digits. */
export function* hexLeaves(block: Uint8Array): Iterable<string> {
  const hex = Buffer.from(block.buffer, block.byteOffset, block.length).toString('hex');
  for (let at = 0; at < hex.length; at += 2 * leafBytes) yield hex.slice(at, at + 2 * leafBytes);
}

/** The record of seq `seq` as a leaf: where it stands, and its hash. */
export interface FoundLeaf {
  readonly index: number;
  readonly seq: number;
  readonly leaf: string;
}

/**
 * Finds a record by its seq in all that can be read of a log, archives included.
 *
 * @throws TURNLOG_NOT_FOUND; TURNLOG_GONE when its record was dropped.
 */
export function findLeaf(reader: LogReader, seq: number): FoundLeaf {
  const header = headerIn(reader.source, reader.length);
  let index: number | null = null;
  for (const record of reader.history()) {
    if (record.type === 'log.evicted' && record.offset === 0) {
      index = treeSizeIn(record.readEvent());
      continue;
    }
    index ??= 0;
    if (record.seq === seq) return { index, seq, leaf: record.leaf() };
    index += 1;
  }
  const isGone = header !== null && seq < reader.firstReadableSeq;
  throw new TurnlogError(isGone ? 'TURNLOG_GONE' : 'TURNLOG_NOT_FOUND', {
    details: { sessionId: reader.sessionId, seq, firstSeq: reader.firstReadableSeq },
    message: isGone ? `the record of seq ${seq} was dropped` : `the log has no record of seq ${seq}`,
  });
}

function treeSizeIn(event: unknown): number {
  const tree: unknown = typeof event === 'object' && event !== null && 'tree' in event ? event.tree : null;
  const size: unknown = typeof tree === 'object' && tree !== null && 'size' in tree ? tree.size : null;
  return typeof size === 'number' ? size : 0;
}

/** The proof that the record of `seq` is in the log as it is now. */
export function proveInclusion(fs: FileSystem, reader: LogReader, seq: number): InclusionProof {
  const { index, leaf } = findLeaf(reader, seq);
  const { size, root } = headOf(reader);
  return { index, seq, leaf, size, root, path: rangeRootsOf(fs, reader, inclusionRanges(index, size)) };
}

/**
 * The proof that the log of size `to` goes on from that of size `from`. The heads are those of two packs.
 *
 * @throws TURNLOG_GONE when hashes are missing.
 */
export function proveConsistency(
  fs: FileSystem,
  reader: LogReader,
  from: TreeRoot,
  to: TreeRoot,
): ConsistencyProof {
  return { from, to, path: rangeRootsOf(fs, reader, consistencyRanges(from.size, to.size)) };
}

/** Size and root of the whole tree, as the log itself gives them. */
function headOf(reader: LogReader): TreeRoot {
  if (reader.tree !== null) return reader.tree;
  throw new TurnlogError('TURNLOG_INTERNAL', { details: { path: reader.directory } });
}

/** Whether an error says that hashes or records of evicted turns are not there any more. */
export function isGone(error: unknown): error is TurnlogError {
  return isTurnlogError(error, 'TURNLOG_GONE');
}
