import { join } from 'node:path';
import { formatTimestamp, type LogRemovedEvent } from '@turnlog/events';
import { errnoOf, type FileSystem, isTurnlogError, sha256Hex } from '@turnlog/kernel';
import { type LogReader, logNames, openLogReader } from '@turnlog/log';
import type { LedgerRemoval } from './ledger-facts.js';

/** What a session directory holds, as its log says it. */
export interface SessionState {
  readonly status: 'active' | 'completed';
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly events: number;
  readonly turns: number;
  /** Of the log. */
  readonly bytes: number;
  readonly lastTsMs: number | null;
  readonly forkedFrom: string | null;
  /** No records, no damage, nothing in archive and derived. */
  readonly isEmpty: boolean;
  /** Bytes and no record, or the files of a log that is gone: nothing is known of its age. */
  readonly isUnreadable: boolean;
  /** Null when no manifest can be believed. */
  readonly generation: string | null;
  /** Null when it was not asked for. */
  readonly tree: { readonly size: number; readonly root: string } | null;
}

const noLog: Omit<SessionState, 'isEmpty' | 'isUnreadable'> = {
  status: 'active',
  firstSeq: 0,
  lastSeq: 0,
  events: 0,
  turns: 0,
  bytes: 0,
  lastTsMs: null,
  forkedFrom: null,
  generation: null,
  tree: { size: 0, root: sha256Hex(new Uint8Array(0)) },
};

/**
 * Reads the state of the session `id` in `directory`, which may lie in the trash. Nothing is created, locked or
 * changed; a manifest is believed where the log confirms it.
 *
 * @param tree `hashed` where the tree is needed, which costs reading what no manifest covers.
 * @throws TURNLOG_UNSAFE_PATH, TURNLOG_IO.
 */
export function readSessionState(
  fs: FileSystem,
  directory: string,
  id: string,
  tree: 'hashed' | 'none',
): SessionState {
  let reader: LogReader;
  try {
    reader = openLogReader(fs, directory, id, { tree, unreadable: 'show' });
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_NOT_FOUND')) throw error;
    const hasLeftOvers = fs.status(join(directory, logNames.manifest)) !== null || holdsMore(fs, directory);
    return { ...noLog, isEmpty: !hasLeftOvers, isUnreadable: hasLeftOvers };
  }
  try {
    return stateOf(reader, holdsMore(fs, directory));
  } finally {
    reader.close();
  }
}

function stateOf(reader: LogReader, holdsDerived: boolean): SessionState {
  const { lifecycle, damage, facts, firstSeq, order, newestTsMs, evicted } = reader.state;
  const { session } = facts.forkedFrom ?? {};
  const hasNoRecords = lifecycle.eventCount === 0 && evicted === null;
  return {
    status: lifecycle.status,
    firstSeq: firstSeq ?? 0,
    lastSeq: order.highestSeq,
    events: lifecycle.eventCount,
    turns: lifecycle.open?.turn ?? lifecycle.turnCount,
    bytes: reader.length,
    lastTsMs: newestTsMs,
    forkedFrom: typeof session === 'string' ? session : null,
    isEmpty: hasNoRecords && damage.count === 0 && !holdsDerived,
    isUnreadable: hasNoRecords && damage.count > 0,
    generation: reader.generation,
    tree: reader.tree,
  };
}

/** Whether archive or derived hold anything. */
function holdsMore(fs: FileSystem, directory: string): boolean {
  return [logNames.archive, logNames.derived].some((name) => {
    try {
      return fs.list(join(directory, name)).length > 0;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return false;
      throw error;
    }
  });
}

const generationCharacters = 32;

/**
 * The generation that a removal is recorded with. A log without a manifest that can be believed has none, and gets
 * the first digits of the root of its tree: the same records always give the same.
 */
export function generationOf({ generation, tree }: SessionState): string {
  return generation ?? (tree?.root ?? '').slice(0, generationCharacters);
}

/** What the ledger is told of a removal; `state` must have been read with its tree. */
export function removedEvent(
  id: string,
  state: SessionState,
  reason: LogRemovedEvent['reason'],
  trash: string,
): LogRemovedEvent {
  return {
    type: 'log.removed',
    session_id: id,
    generation: generationOf(state),
    reason,
    first_seq: state.firstSeq,
    last_seq: state.lastSeq,
    events: state.events,
    turns: state.turns,
    bytes: state.bytes,
    last_ts: lastTsOf(state),
    tree: state.tree ?? { size: 0, root: '' },
    trash,
  };
}

function lastTsOf({ lastTsMs }: SessionState): string | null {
  return lastTsMs === null ? null : formatTimestamp(lastTsMs);
}

/** Whether a removal in the ledger speaks of just this state: nothing came to the session since. */
export function isRemovalOf(removal: LedgerRemoval, state: SessionState): boolean {
  return (
    removal.generation === generationOf(state) &&
    removal.lastSeq === state.lastSeq &&
    removal.events === state.events &&
    removal.bytes === state.bytes
  );
}
