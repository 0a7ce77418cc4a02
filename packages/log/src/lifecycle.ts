import type { LifecycleKind } from '@turnlog/events';

/**
 * The state machine of turns. Append and scan call the same `step`, so that a log read again gives what was
 * true when it was written. Pure: no clock, no file.
 */

export type SessionStatus = 'active' | 'completed';
export type ClosedStatus = 'completed' | 'failed' | 'interrupted';

/** A turn and the bytes it lies in: `[start, end)`, every record in between belonging to it. */
export interface OpenTurn {
  readonly turn: number;
  readonly start: number;
  readonly end: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly events: number;
  /** Time of the first and the last record in milliseconds since the epoch; null when unknown. */
  readonly tsMs: number | null;
  readonly endTsMs: number | null;
}

export interface ClosedTurn extends OpenTurn {
  readonly status: ClosedStatus;
  /** Records of the file, its header not counted, up to `end`. */
  readonly upto: number;
}

export interface LifecycleState {
  /** The highest closed turn ever. */
  readonly turnCount: number;
  readonly open: OpenTurn | null;
  readonly status: SessionStatus;
  /** Records in the file, its header not counted. */
  readonly eventCount: number;
  /** The turn that the last step closed; null when it closed none. */
  readonly closed: ClosedTurn | null;
}

/** Where a record lies: `[start, end)` in bytes, its 0x0A included where it has one. */
export interface RecordSpan {
  readonly start: number;
  readonly end: number;
  readonly seq: number;
  readonly tsMs: number | null;
}

export const initialLifecycle: LifecycleState = {
  turnCount: 0,
  open: null,
  status: 'active',
  eventCount: 0,
  closed: null,
};

/** The state after one more record. */
export function step(state: LifecycleState, kind: LifecycleKind, span: RecordSpan): LifecycleState {
  switch (kind) {
    case 'turn-started':
      return openTurn(state, span);
    case 'turn-completed':
      return closeWith(state, 'completed', span);
    case 'turn-failed':
      return closeWith(state, 'failed', span);
    case 'thread-completed':
      return completeThread(state);
    case 'thread-started':
      return extend(state, 'active', span);
    case 'other':
      return extend(state, state.status, span);
  }
}

/** The state when turns up to `lastTurn` are known to have been used: their numbers are not given again. */
export function raiseTurnCount(state: LifecycleState, lastTurn: number): LifecycleState {
  return lastTurn <= state.turnCount ? state : { ...state, turnCount: lastTurn };
}

/** The turn that the record of the last step, which ends at `end`, belongs to; null when it stands outside turns. */
export function turnOfLast(state: LifecycleState, end: number): number | null {
  if (state.open !== null && state.open.end === end) return state.open.turn;
  if (state.closed !== null && state.closed.end === end) return state.closed.turn;
  return null;
}

function openTurn(state: LifecycleState, span: RecordSpan): LifecycleState {
  const closed = state.open === null ? null : close(state.open, 'interrupted', state.eventCount);
  const turnCount = closed === null ? state.turnCount : Math.max(state.turnCount, closed.turn);
  const open: OpenTurn = {
    turn: turnCount + 1,
    start: span.start,
    end: span.end,
    firstSeq: span.seq,
    lastSeq: span.seq,
    events: 1,
    tsMs: span.tsMs,
    endTsMs: span.tsMs,
  };
  return { turnCount, open, status: 'active', eventCount: state.eventCount + 1, closed };
}

function extended(open: OpenTurn, span: RecordSpan): OpenTurn {
  return {
    turn: open.turn,
    start: open.start,
    end: span.end,
    firstSeq: open.firstSeq,
    lastSeq: span.seq,
    events: open.events + 1,
    tsMs: open.tsMs,
    endTsMs: span.tsMs,
  };
}

function extend(state: LifecycleState, status: SessionStatus, span: RecordSpan): LifecycleState {
  return {
    turnCount: state.turnCount,
    open: state.open === null ? null : extended(state.open, span),
    status,
    eventCount: state.eventCount + 1,
    closed: null,
  };
}

function closeWith(state: LifecycleState, status: ClosedStatus, span: RecordSpan): LifecycleState {
  if (state.open === null) return extend(state, state.status, span);
  const eventCount = state.eventCount + 1;
  const closed = close(extended(state.open, span), status, eventCount);
  return {
    turnCount: Math.max(state.turnCount, closed.turn),
    open: null,
    status: state.status,
    eventCount,
    closed,
  };
}

function completeThread(state: LifecycleState): LifecycleState {
  const closed = state.open === null ? null : close(state.open, 'interrupted', state.eventCount);
  const turnCount = closed === null ? state.turnCount : Math.max(state.turnCount, closed.turn);
  return { turnCount, open: null, status: 'completed', eventCount: state.eventCount + 1, closed };
}

function close(open: OpenTurn, status: ClosedStatus, upto: number): ClosedTurn {
  return {
    turn: open.turn,
    start: open.start,
    end: open.end,
    firstSeq: open.firstSeq,
    lastSeq: open.lastSeq,
    events: open.events,
    tsMs: open.tsMs,
    endTsMs: open.endTsMs,
    status,
    upto,
  };
}
