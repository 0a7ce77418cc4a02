import { join } from 'node:path';
import { type FileSystem, isTurnlogError, limits } from '@turnlog/kernel';
import { logNames, type Manifest, parseManifest, readTextIfThere, treeRoot } from '@turnlog/log';
import { openGuarded } from './guarded-files.js';
import { type Leaf, rootIn, walkLongLog } from './log-walk.js';
import { presentFile } from './present-log.js';
import { RedactedLeaves } from './redacted-leaves.js';
import { type Findings, type Mismatch, mismatchAt, nothingFound } from './verdict.js';
import type { VerifyRequest } from './verify-pack.js';

/**
 * What can be said of a log without any pack: whether it agrees with itself, and with what its manifest says of it. It
 * cannot be told whether something is missing at its end.
 */
export async function verifyAlone(
  fs: FileSystem,
  { directory, sessionId, require: required, workers }: VerifyRequest,
): Promise<Findings> {
  const missingPack = required?.pack === true ? ['audit-pack.json'] : [];
  const badSignature = required?.signature === true ? 'no signature by a trusted key' : null;
  const base = { ...nothingFound, sessionId, badSignature };
  const opened = openGuarded(fs, directory, logNames.events);
  if (opened.kind === 'absent') return { ...base, missing: [...missingPack, logNames.events] };
  if (opened.kind === 'unsafe') {
    const mismatches = [mismatchAt(logNames.events, 'content', { diagnosis: 'unreadable' })];
    return { ...base, mismatches, missing: missingPack };
  }
  const present = presentFile(opened.file);
  try {
    if (present.length === 0) return { ...base, missing: [...missingPack, logNames.events] };
    const manifest = manifestOf(fs, directory);
    const redacted = new RedactedLeaves();
    const walk = {
      source: present.source,
      to: present.length,
      wanted: { rootsAt: manifest === null ? [] : [manifest.tree.size] },
      onLeaf: (leaf: Leaf): void => redacted.note(leaf),
    };
    const walked = await walkLongLog(walk, workers);
    const listed = redacted.list();
    const unexplained = listed
      .filter(({ statementSeq }) => statementSeq === null)
      .map(({ index, seq }) =>
        mismatchAt(logNames.events, 'redaction-unexplained', { diagnosis: 'replaced', index, seq }),
      );
    const mismatches = [
      ...unexplained,
      ...manifestFaults(manifest, rootIn(walked, manifest?.tree.size ?? -1)),
    ];
    const tree = {
      size: null,
      root: null,
      recomputed: treeRoot(walked.tree),
      grownBy: 0,
      evicted: walked.evicted,
      redacted: listed,
    };
    return { ...base, tree, mismatches, missing: missingPack };
  } finally {
    present.close();
  }
}

function manifestOf(fs: FileSystem, directory: string): Manifest | null {
  try {
    const text = readTextIfThere(fs, join(directory, logNames.manifest), limits.smallFileBytesMax);
    return text === null ? null : parseManifest(text);
  } catch (error) {
    // Something that is no file: then the log stands for itself.
    if (isTurnlogError(error, 'TURNLOG_UNSAFE_PATH')) return null;
    throw error;
  }
}

/** A manifest of another rewrite has another size evicted, so only the root at its size is compared. */
function manifestFaults(manifest: Manifest | null, root: string | null): readonly Mismatch[] {
  if (manifest === null || root === treeRoot(manifest.tree)) return [];
  return [mismatchAt(logNames.events, 'manifest', { diagnosis: root === null ? 'shorter' : 'edited' })];
}
