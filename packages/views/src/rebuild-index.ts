import { formatTimestamp } from '@turnlog/events';
import { checkDirectory } from '@turnlog/fs';
import { errnoOf, type JsonObject, logicalDigest, type SessionId } from '@turnlog/kernel';
import {
  type LogReader,
  type LogState,
  logPaths,
  openLogReader,
  type TurnSummary,
  turnBaseOf,
} from '@turnlog/log';
import type { Store } from '@turnlog/store';
import { firstDifference } from './internal/first-difference.js';
import type { PartReport } from './rebuild-check.js';

/**
 * Whether manifest and turn index say what the log says: what they lead a reader to is compared with a reading of
 * the whole log that looks at nothing else. Hash tree and keys are not looked at here.
 */
export function checkIndex(store: Store, id: SessionId): PartReport {
  const { fs } = store.environment;
  const reader = store.read(id);
  try {
    const isThere = fs.status(logPaths(reader.directory).manifest) !== null;
    // A manifest that does not fit is not evidence of anything: readers pass over it, and the next writer replaces it.
    if (reader.generation === null)
      return report(isThere ? 'stale' : 'absent', null, scanned(store, id, reader));
    return report('equal', saidBy(reader), scanned(store, id, reader));
  } finally {
    reader.close();
  }
}

function scanned(store: Store, id: SessionId, reader: LogReader): JsonObject {
  // Where records are missing in front, only what was known before says how turns are numbered.
  const foreignTurnBase = (): number => (reader.state.isPrefixMissing ? turnBaseOf(reader.state) : 1);
  const whole = openLogReader(store.environment.fs, reader.directory, id, { foreignTurnBase });
  try {
    return saidBy(whole);
  } finally {
    whole.close();
  }
}

function report(
  found: 'equal' | 'stale' | 'absent',
  published: JsonObject | null,
  rebuilt: JsonObject,
): PartReport {
  const difference = published === null ? null : firstDifference(published, rebuilt);
  return {
    part: 'index',
    name: 'index',
    outcome: difference === null ? found : 'different',
    digest: logicalDigest(rebuilt),
    publishedDigest: published === null ? null : logicalDigest(published),
    difference,
    isPublished: false,
  };
}

/** What a reader knows of the log, without generation. */
function saidBy(reader: LogReader): JsonObject {
  return { state: stateJson(reader.state), turns: [...reader.turns()].map(turnJson) };
}

function stateJson(state: LogState): JsonObject {
  const { lifecycle, facts, evicted, head, tail } = state;
  return {
    bytes: state.length,
    turn_count: lifecycle.turnCount,
    event_count: lifecycle.eventCount,
    status: lifecycle.status,
    in_turn: lifecycle.open !== null,
    turn_base: turnBaseOf(state),
    first_seq: state.firstSeq,
    last_seq: state.order.highestSeq,
    first_ts: timeText(state.firstTsMs),
    last_ts: timeText(state.newestTsMs),
    head: head === null ? null : [head.offset, head.length],
    tail: tail === null ? null : [tail.offset, tail.length],
    damage: [state.damage.count, state.damage.bytes],
    evicted: evicted === null ? null : [evicted.toSeq, evicted.events, evicted.turns, evicted.lastTurn],
    unordered: state.unorderedCount,
    keys: state.keyCount,
    workspaces: facts.workspaces,
    agent: facts.agent ?? null,
    forked_from: facts.forkedFrom === undefined ? null : JSON.stringify(facts.forkedFrom),
    title: facts.title ?? null,
    tags: facts.tags ?? null,
    archived: facts.archived ?? null,
  };
}

function turnJson(turn: TurnSummary): JsonObject {
  return {
    turn: turn.turn,
    status: turn.status,
    start: turn.start,
    end: turn.end,
    first_seq: turn.firstSeq,
    last_seq: turn.lastSeq,
    events: turn.events,
    ts: timeText(turn.tsMs),
    end_ts: timeText(turn.endTsMs),
  };
}

function timeText(tsMs: number | null): string | null {
  return tsMs === null ? null : formatTimestamp(tsMs);
}

/**
 * Makes manifest and turn index anew: without its turn index a log is read whole by the writer that opens it next,
 * which publishes what it found, and the generation stays. The index is dropped under the lock.
 *
 * @throws TURNLOG_LOCKED when a writer holds the session; TURNLOG_IO and others as `Store.open`.
 */
export async function rebuildIndex(store: Store, id: SessionId): Promise<void> {
  const { fs, locks, ownership } = store.environment;
  const directory = store.sessionDirectory(id);
  const lock = await locks.acquire(directory, { mode: 'owned', waitMs: 0, onLost: () => undefined });
  try {
    lock.check();
    checkDirectory(fs, logPaths(directory).index, ownership.uid);
    fs.removeFile(logPaths(directory).turns);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  } finally {
    await lock.release();
  }
  const session = await store.open(id);
  await session.close();
}
