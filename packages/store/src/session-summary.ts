import { formatTimestamp } from '@turnlog/events';
import { type ErrorCode, errnoOf, isTurnlogError, type LockHolder } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { type LogReader, type LogState, openLogReader, readPublishedState } from '@turnlog/log';

/** Why a session cannot be read. */
export interface SessionError {
  readonly code: ErrorCode;
  readonly message: string;
  /** What the operating system said; null when it was not asked, or had no objection. */
  readonly errno: string | null;
}

/** One line of a list of sessions: what the log itself says, or why it cannot be read. */
export interface SessionSummary {
  /** The name of the directory, whatever the files in it say. */
  readonly id: string;
  readonly title: string | null;
  readonly agent: string | null;
  readonly tags: readonly string[];
  readonly isArchived: boolean;
  /** Every workspace on record, the newest last. */
  readonly workspaces: readonly string[];
  /** Number of the highest turn, an open one included. */
  readonly turns: number;
  /** Records in the file. */
  readonly events: number;
  readonly firstSeq: number | null;
  /** 0 in an empty log. */
  readonly lastSeq: number;
  readonly status: 'active' | 'completed' | 'unreadable';
  readonly inTurn: boolean;
  /** Known times only; null when there is none. */
  readonly firstTs: string | null;
  readonly lastTs: string | null;
  readonly bytes: number;
  readonly damage: { readonly count: number; readonly bytes: number };
  /** Who holds the writer lock: null nobody, `unknown` when that could not be told. */
  readonly writer: LockHolder | 'unknown' | null;
  /** Null when the log was read. */
  readonly error: SessionError | null;
}

const unread: Omit<SessionSummary, 'id' | 'error' | 'writer'> = {
  title: null,
  agent: null,
  tags: [],
  isArchived: false,
  workspaces: [],
  turns: 0,
  events: 0,
  firstSeq: null,
  lastSeq: 0,
  status: 'unreadable',
  inTurn: false,
  firstTs: null,
  lastTs: null,
  bytes: 0,
  damage: { count: 0, bytes: 0 },
};

/**
 * The summary of the session in `directory`. A manifest is believed where the log has the length it names, see
 * `readPublishedState`; otherwise the log is opened, which costs what came since the last publish. Whatever goes
 * wrong becomes the summary's error, never a throw: one bad session must not hide the others.
 */
export function summarizeSession(env: LogEnvironment, id: string, directory: string): SessionSummary {
  const writer = inspectWriter(env, directory);
  let reader: LogReader;
  try {
    const published = readPublishedState(env.fs, directory, id, env.ownership.uid);
    if (published !== null) return summaryOf(id, published, writer);
    reader = openLogReader(env.fs, directory, id);
  } catch (error) {
    return { ...unread, id, writer, error: describeError(error) };
  }
  try {
    return summaryOf(id, reader.state, writer);
  } finally {
    reader.close();
  }
}

/** A summary of what could not be looked into. */
export function unreadableSession(id: string, error: unknown): SessionSummary {
  return { ...unread, id, writer: null, error: describeError(error) };
}

/** Spelled out: ten thousand of them put together from parts would cost more than reading what they say. */
function summaryOf(id: string, state: LogState, writer: SessionSummary['writer']): SessionSummary {
  const { lifecycle, facts } = state;
  return {
    id,
    title: facts.title ?? null,
    agent: facts.agent ?? null,
    tags: facts.tags ?? unread.tags,
    isArchived: facts.archived ?? false,
    workspaces: facts.workspaces,
    turns: lifecycle.open?.turn ?? lifecycle.turnCount,
    events: lifecycle.eventCount,
    firstSeq: state.firstSeq,
    lastSeq: state.order.highestSeq,
    status: lifecycle.status,
    inTurn: lifecycle.open !== null,
    firstTs: state.firstTsMs === null ? null : formatTimestamp(state.firstTsMs),
    lastTs: state.newestTsMs === null ? null : formatTimestamp(state.newestTsMs),
    bytes: state.length,
    damage: { count: state.damage.count, bytes: state.damage.bytes },
    writer,
    error: null,
  };
}

function inspectWriter(env: LogEnvironment, directory: string): SessionSummary['writer'] {
  try {
    return env.locks.inspect(directory);
  } catch (error) {
    // The log itself may still be read; `doctor` says what is wrong with the lock.
    if (isTurnlogError(error)) return 'unknown';
    throw error;
  }
}

/** Errors of Turnlog become text; anything else is a defect and goes on its way. */
function describeError(error: unknown): SessionError {
  if (!isTurnlogError(error)) throw error;
  return { code: error.code, message: error.message, errno: errnoOf(error) };
}
