import type { RedactedLeaf } from './pack.js';
import type { RemovedSession } from './removed-session.js';

/** What a verification comes to. The exit code of each is the answer to scripts. */
export type Verdict = 'verified' | 'mismatch' | 'missing' | 'unproven' | 'invalid-pack' | 'bad-signature';

export const verdictExits: Readonly<Record<Verdict, 0 | 1 | 3 | 4>> = {
  verified: 0,
  mismatch: 1,
  missing: 1,
  unproven: 1,
  'invalid-pack': 3,
  'bad-signature': 4,
};

/** How much the verdict is worth: whose word it is. */
export type Assurance = 'self-attested' | 'signed-unknown-key' | 'signed-trusted-key' | 'witnessed';

/** Whether it can be told that nothing is missing at the end: only a pack or a trusted root says where that is. */
export type Completeness = 'proven' | 'cannot-prove';

/** What the bytes tell of a file that is not as packed. */
export type Diagnosis = 'shorter' | 'edited' | 'transformed' | 'replaced' | 'unreadable';

export type MismatchReason =
  | 'content'
  /** The records are as packed, and what stands between them is not. */
  | 'between-records'
  | 'other-session'
  | 'counts'
  | 'damage'
  | 'redaction-unexplained'
  | 'manifest'
  | 'asset'
  /** Allowed unless everything has to be exactly as packed. */
  | 'not-exact';

export interface Mismatch {
  /** Relative to the session; null where it is about the session itself. */
  readonly path: string | null;
  readonly reason: MismatchReason;
  readonly diagnosis: Diagnosis | null;
  /** The first record that differs: its leaf number, seq, and place in the file; null where that is not known. */
  readonly index: number | null;
  readonly seq: number | null;
  readonly offset: number | null;
  /** How many of the packed records are gone from the end, and how many are there unchanged; null where not known. */
  readonly leavesGone: number | null;
  readonly leavesIntact: number | null;
  /** What was done to the file, where undoing it gives what was packed. */
  readonly transform: string | null;
}

export function mismatchAt(
  path: string | null,
  reason: MismatchReason,
  more: Partial<Mismatch> = {},
): Mismatch {
  return {
    path,
    reason,
    diagnosis: null,
    index: null,
    seq: null,
    offset: null,
    leavesGone: null,
    leavesIntact: null,
    transform: null,
    ...more,
  };
}

/** What was found of the tree of the log. */
export interface TreeFinding {
  /** As packed; null without a pack that has a tree. */
  readonly size: number | null;
  readonly root: string | null;
  /** Root over as many of the present records; null when it cannot be had. */
  readonly recomputed: string | null;
  readonly grownBy: number;
  /** How many of the records have left the file by now. */
  readonly evicted: number;
  readonly redacted: readonly RedactedLeaf[];
}

/** Everything that a verification found; the verdict follows from it. */
export interface Findings {
  readonly sessionId: string | null;
  readonly packSha256: string | null;
  readonly tree: TreeFinding;
  readonly mismatches: readonly Mismatch[];
  readonly missing: readonly string[];
  readonly unproven: readonly string[];
  readonly unaccounted: readonly string[];
  readonly stale: readonly string[];
  readonly completeness: Completeness;
  readonly assurance: Assurance;
  /** Of a session that is missing because it was removed: what the ledger says of it. */
  readonly removed: RemovedSession | null;
  /** Why the pack is none; null when it is one. */
  readonly invalid: string | null;
  /** Why a signature does not count; null when none fails. */
  readonly badSignature: string | null;
}

export const noTree: TreeFinding = {
  size: null,
  root: null,
  recomputed: null,
  grownBy: 0,
  evicted: 0,
  redacted: [],
};

export const nothingFound: Findings = {
  sessionId: null,
  packSha256: null,
  tree: noTree,
  mismatches: [],
  missing: [],
  unproven: [],
  unaccounted: [],
  stale: [],
  completeness: 'cannot-prove',
  assurance: 'self-attested',
  removed: null,
  invalid: null,
  badSignature: null,
};

/** The verdict on what was found: the worst of what holds. */
export function verdictOn(found: Findings): Verdict {
  if (found.invalid !== null) return 'invalid-pack';
  if (found.badSignature !== null) return 'bad-signature';
  if (found.mismatches.length > 0) return 'mismatch';
  if (found.missing.length > 0) return 'missing';
  return found.unproven.length > 0 ? 'unproven' : 'verified';
}

/** With `exact`, what is otherwise only told counts as a difference. */
export function exactly(found: Findings, logPath: string): Findings {
  const grown = found.tree.grownBy > 0 ? [mismatchAt(logPath, 'not-exact')] : [];
  const others = [...found.stale, ...found.unaccounted].map((path) => mismatchAt(path, 'not-exact'));
  return { ...found, mismatches: [...found.mismatches, ...grown, ...others] };
}
