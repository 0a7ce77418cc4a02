import type { LedgerRemoval } from '@turnlog/store';

/** What the ledger says of a session that was removed, held against a pack of it (AU-29). */
export interface RemovedSession {
  /** The record of the ledger that says it. */
  readonly ledgerSeq: number;
  readonly removedAt: string | null;
  readonly reason: string;
  readonly fate: LedgerRemoval['fate'];
  /** Its tree when it was removed; null when the ledger does not say. */
  readonly size: number | null;
  readonly root: string | null;
  /** Whether nothing had come since the pack was made, and whether the records were those of the pack. */
  readonly isSizeAsPacked: boolean;
  readonly isRootAsPacked: boolean;
}

export function removedSession(
  removal: LedgerRemoval,
  packed: { readonly size: number; readonly root: string } | null,
): RemovedSession {
  const { seq, removedAt, reason, fate, tree } = removal;
  return {
    ledgerSeq: seq,
    removedAt,
    reason,
    fate,
    size: tree?.size ?? null,
    root: tree?.root ?? null,
    isSizeAsPacked: tree !== null && tree.size === packed?.size,
    isRootAsPacked: tree !== null && tree.root === packed?.root,
  };
}
