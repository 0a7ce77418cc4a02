import type { RemovedSession } from './removed-session.js';
import { type Findings, type Mismatch, verdictExits, verdictOn } from './verdict.js';

/** A verdict with everything that it rests on, as documents of the interface have it. */
export function findingsJson(found: Findings): Readonly<Record<string, unknown>> {
  const verdict = verdictOn(found);
  const { tree } = found;
  return {
    verdict,
    exit: verdictExits[verdict],
    session_id: found.sessionId,
    pack_sha256: found.packSha256,
    tree: {
      size: tree.size,
      root: tree.root,
      recomputed: tree.recomputed,
      grown_by: tree.grownBy,
      evicted: tree.evicted,
      redacted: tree.redacted.map(({ index, seq, statementSeq }) => ({
        index,
        seq,
        statement_seq: statementSeq,
      })),
    },
    mismatches: found.mismatches.map(mismatchJson),
    missing: found.missing,
    unproven: found.unproven,
    unaccounted: found.unaccounted,
    stale: found.stale,
    completeness: found.completeness,
    assurance: found.assurance,
    reason: found.invalid ?? found.badSignature,
    ...(found.removed === null ? {} : { removed: removedJson(found.removed) }),
  };
}

function mismatchJson(mismatch: Mismatch): Readonly<Record<string, unknown>> {
  const { path, reason, diagnosis, index, seq, offset, leavesGone, leavesIntact, transform } = mismatch;
  return {
    path,
    reason,
    diagnosis,
    index,
    seq,
    offset,
    leaves_gone: leavesGone,
    leaves_intact: leavesIntact,
    transform,
  };
}

function removedJson(removed: RemovedSession): Readonly<Record<string, unknown>> {
  return {
    ledger_seq: removed.ledgerSeq,
    removed_at: removed.removedAt,
    reason: removed.reason,
    fate: removed.fate,
    size: removed.size,
    root: removed.root,
    size_agrees: removed.isSizeAsPacked,
    root_agrees: removed.isRootAsPacked,
  };
}
