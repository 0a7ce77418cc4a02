import { join } from 'node:path';
import { type FileSystem, isTurnlogError, RunningSha256 } from '@turnlog/kernel';
import {
  type ArchivedPart,
  archivedParts,
  type EvictionHeader,
  emptyTree,
  evictedLeaves,
  logNames,
  logPaths,
  MerkleFrontier,
  OpenArchive,
  partLeaves,
  treeRoot,
} from '@turnlog/log';
import { openGuarded } from './guarded-files.js';
import { hexLeaves } from './leaf-roots.js';
import { presentFile } from './present-log.js';
import type { RedactedLeaves } from './redacted-leaves.js';
import type { Mismatch } from './verdict.js';

/**
 * An archive that is not as it was packed may be one whose records were redacted since, or one whose header leads to
 * such: then it still holds the same leaves, and something was said about each that is only a hash now (AU-24).
 */

/** What is left of the mismatches when redactions have explained what they can. */
export interface Explained {
  readonly mismatches: readonly Mismatch[];
  /** Archives that are others than those that were packed, and hold what those held. */
  readonly redacted: readonly string[];
}

/**
 * Looks at archives among `mismatches`; `noted` is what the reading of the log has told so far, and learns what the
 * archives hold.
 */
export function explainArchives(
  fs: FileSystem,
  directory: string,
  mismatches: readonly Mismatch[],
  noted: RedactedLeaves,
): Explained {
  const isCandidate = ({ path, reason, diagnosis }: Mismatch): boolean =>
    path?.startsWith(`${logNames.archive}/`) === true && reason === 'content' && diagnosis === 'replaced';
  const header = mismatches.some(isCandidate) ? headerOf(fs, directory) : null;
  if (header === null || !noted.isStatedBefore(header.tree.size)) return { mismatches, redacted: [] };
  const sound = soundParts(fs, directory, header, noted);
  const isExplained = (mismatch: Mismatch): boolean =>
    isCandidate(mismatch) && sound.has(mismatch.path ?? '');
  return {
    mismatches: mismatches.filter((mismatch) => !isExplained(mismatch)),
    redacted: mismatches.filter(isExplained).flatMap(({ path }) => (path === null ? [] : [path])),
  };
}

function headerOf(fs: FileSystem, directory: string): EvictionHeader | null {
  const opened = openGuarded(fs, directory, logNames.events);
  if (opened.kind !== 'file') return null;
  const present = presentFile(opened.file);
  try {
    return present.header;
  } finally {
    present.close();
  }
}

/** Paths of the archives that hold what the headers of the log say, and the leaves that it had. */
function soundParts(
  fs: FileSystem,
  directory: string,
  header: EvictionHeader,
  noted: RedactedLeaves,
): ReadonlySet<string> {
  const paths = logPaths(directory);
  const sound = new Set<string>();
  try {
    for (const part of archivedParts(fs, paths, header)) {
      const path = join(logNames.archive, part.name);
      if (isAsNamed(fs, directory, part) && holdsItsLeaves(fs, directory, header, part, noted))
        sound.add(path);
    }
  } catch (error) {
    // What cannot be unpacked, or is gone, explains nothing.
    if (!isTurnlogError(error, 'TURNLOG_IO') && !isTurnlogError(error, 'TURNLOG_GONE')) throw error;
  }
  return sound;
}

/** Whether its content has the digest that the header of the log, or of the next archive, names. */
function isAsNamed(fs: FileSystem, directory: string, part: ArchivedPart): boolean {
  const named = part.namedBy?.archive ?? null;
  if (named === null) return true;
  const open = new OpenArchive(fs, logPaths(directory), part);
  try {
    const digest = new RunningSha256();
    const block = new Uint8Array(65_536);
    let offset = 0;
    for (let count = open.source.read(block, 0); count > 0; count = open.source.read(block, offset)) {
      digest.update(block.subarray(0, count));
      offset += count;
    }
    return offset === named.raw_bytes && digest.digestHex() === named.raw_sha256;
  } finally {
    open.close();
  }
}

/** Whether its records are the leaves that the log had there; what it says of redactions is noted on the way. */
function holdsItsLeaves(
  fs: FileSystem,
  directory: string,
  header: EvictionHeader,
  part: ArchivedPart,
  noted: RedactedLeaves,
): boolean {
  const paths = logPaths(directory);
  const tree = new MerkleFrontier(part.begins?.tree ?? emptyTree);
  // Behind records that were dropped no header names it: then the hashes that are left tell.
  const kept = part.namedBy === null ? keptLeaves(fs, directory, header, tree.size) : null;
  let isSame = true;
  for (const { index, record } of partLeaves(fs, paths, part)) {
    const hash = record.leaf();
    if (kept !== null) isSame &&= kept.next().value === hash;
    noted.note({ index, record, hash: () => hash });
    tree.add(hash);
  }
  return isSame && (part.namedBy === null || treeRoot(tree.head()) === treeRoot(part.namedBy.tree));
}

function* keptLeaves(
  fs: FileSystem,
  directory: string,
  header: EvictionHeader,
  from: number,
): Generator<string, void, void> {
  let index = 0;
  for (const block of evictedLeaves(fs, logPaths(directory), header)) {
    for (const leaf of hexLeaves(block)) {
      if (index >= from) yield leaf;
      index += 1;
    }
  }
}
