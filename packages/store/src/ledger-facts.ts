import { effectiveRecords, type LogRecord } from '@turnlog/log';

/** A pin as the ledger has it. */
export interface LedgerPin {
  readonly sessionId: string;
  readonly reason: string;
  readonly pinnedAt: string | null;
}

/** What was said last of something in the trash. */
export type RemovalFate = 'removed' | 'restored' | 'purged';

/** A removal as the ledger has it. */
export interface LedgerRemoval {
  /** Where the ledger says it. */
  readonly seq: number;
  /** The name in `trash/`. */
  readonly trash: string;
  readonly sessionId: string;
  readonly generation: string;
  readonly reason: string;
  readonly lastSeq: number;
  readonly events: number;
  readonly turns: number;
  readonly bytes: number;
  readonly lastTs: string | null;
  /** Its tree as it was removed; null when the ledger does not say. */
  readonly tree: { readonly size: number; readonly root: string } | null;
  readonly removedAt: string | null;
  readonly fate: RemovalFate;
}

/** What the ledger says of pins and removals. A directory that exists is a session, whatever stands here. */
export interface LedgerFacts {
  readonly lastSeq: number;
  readonly pins: ReadonlyMap<string, LedgerPin>;
  /** By name in the trash, in the order of the ledger. */
  readonly removals: ReadonlyMap<string, LedgerRemoval>;
}

export const emptyLedger: LedgerFacts = { lastSeq: 0, pins: new Map(), removals: new Map() };

/** The part of a record that the fold needs. */
export type LedgerRecord = Pick<LogRecord, 'seq' | 'ts' | 'type' | 'readEvent' | 'leaf'>;

/**
 * Reads a ledger from its start. What is of another family, or of no form of ours, is passed over, and so is what
 * stands in a frame that was never committed.
 */
export function foldLedger(records: Iterable<LedgerRecord>, lastSeq: number): LedgerFacts {
  const pins = new Map<string, LedgerPin>();
  const removals = new Map<string, LedgerRemoval>();
  for (const { record } of effectiveRecords(records)) {
    if (!record.type.startsWith('log.')) continue;
    const event: Members = { ...record.readEvent() };
    foldPin(pins, record, event);
    foldRemoval(removals, record, event);
  }
  return { lastSeq, pins, removals };
}

type Members = Readonly<Record<string, unknown>>;

function foldPin(pins: Map<string, LedgerPin>, { type, ts }: LedgerRecord, event: Members): void {
  const sessionId = textOf(event['session_id']);
  if (sessionId === null) return;
  if (type === 'log.unpinned') pins.delete(sessionId);
  if (type === 'log.pinned') {
    pins.set(sessionId, { sessionId, reason: textOf(event['reason']) ?? '', pinnedAt: ts });
  }
}

function foldRemoval(removals: Map<string, LedgerRemoval>, record: LedgerRecord, event: Members): void {
  const trash = textOf(event['trash']);
  if (trash === null) return;
  const known = removals.get(trash);
  switch (record.type) {
    case 'log.removed':
      if (known === undefined) removals.set(trash, removalOf(trash, record, event));
      return;
    case 'log.restored':
      if (known !== undefined) removals.set(trash, { ...known, fate: 'restored' });
      return;
    case 'log.purged':
      if (known !== undefined) removals.set(trash, { ...known, fate: 'purged' });
  }
}

function removalOf(trash: string, { seq, ts }: LedgerRecord, event: Members): LedgerRemoval {
  return {
    seq,
    trash,
    sessionId: textOf(event['session_id']) ?? '',
    generation: textOf(event['generation']) ?? '',
    reason: textOf(event['reason']) ?? '',
    lastSeq: countOf(event['last_seq']),
    events: countOf(event['events']),
    turns: countOf(event['turns']),
    bytes: countOf(event['bytes']),
    lastTs: textOf(event['last_ts']),
    tree: treeOf(event['tree']),
    removedAt: ts,
    fate: 'removed',
  };
}

function treeOf(value: unknown): LedgerRemoval['tree'] {
  if (typeof value !== 'object' || value === null) return null;
  const { size, root }: Members = { ...value };
  return typeof size === 'number' && typeof root === 'string' ? { size, root } : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

/**
 * The idempotency key of a removal: `remove:<id>:<generation>`. A generation outlives restoring and appending, so
 * one that was removed before gets a number as well: the n-th removal of it is always named alike.
 */
export function removalKey(facts: LedgerFacts, sessionId: string, generation: string): string {
  let count = 1;
  for (const removal of facts.removals.values()) {
    if (removal.sessionId === sessionId && removal.generation === generation) count += 1;
  }
  const key = `remove:${sessionId}:${generation}`;
  return count === 1 ? key : `${key}:${count}`;
}

/** The newest removal of a session that the ledger has; null when it has none. */
export function newestRemoval(facts: LedgerFacts, sessionId: string): LedgerRemoval | null {
  let newest: LedgerRemoval | null = null;
  for (const removal of facts.removals.values()) {
    if (removal.sessionId === sessionId) newest = removal;
  }
  return newest;
}
