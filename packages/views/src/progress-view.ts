import { formatTimestamp } from '@turnlog/events';
import type { JsonObject } from '@turnlog/kernel';
import {
  evolveKnownMatrices,
  type Matrices,
  matricesFrom,
  matricesJson,
  noMatrices,
  tasksOf,
} from './internal/matrices.js';
import { ownMember, ownText } from './internal/members.js';
import { boolean, list, member, number, orNull, text } from './internal/stored-value.js';
import { VersionedMap } from './internal/versioned-map.js';
import { countedType, type View, type ViewRecord } from './view.js';

/**
 * What `derived/progress.json` says. Its members `session_id`, `goal`, `milestones`, `confidence`, `stalled_since` and
 * `updated_at` have the shape of VT Code's progress ledger; it is derived, where that one is overwritten in place:
 *
 * - A goal is what `turn.started` names for a task; turns without one belong to the goal of nobody.
 * - Elapsed time is that of its turns, each from its first to its newest known time, and counted once, when the turn
 *   ends; repeated records add nothing. Unknown times add nothing, and no time is negative.
 * - Milestones are the tasks of the matrices.
 * - `stalled_since` is when the first of the turns began that, up to now, did not complete; `confidence` is the share
 *   of the last ten turns that completed.
 */
export interface Goal {
  /** Null for turns that name no task. */
  readonly taskId: string | null;
  readonly goal: string | null;
  readonly completed: number;
  readonly failed: number;
  readonly interrupted: number;
  readonly elapsedMs: number;
}

interface PresentTurn {
  readonly turn: number;
  readonly taskId: string | null;
  readonly startMs: number | null;
  readonly endMs: number | null;
}

type Outcome = 'completed' | 'failed' | 'interrupted';

export interface ProgressState {
  readonly sessionId: string;
  readonly goals: VersionedMap<string | null, Goal>;
  /** The goal that was named last. */
  readonly goal: string | null;
  readonly present: PresentTurn | null;
  /** Of the last turns, the newest last: whether they completed. */
  readonly recent: readonly boolean[];
  readonly stalledSinceMs: number | null;
  readonly isStalled: boolean;
  readonly newestMs: number | null;
  readonly matrices: Matrices;
}

const recentTurnsMax = 10;

export const progressView: View<ProgressState> = {
  name: 'progress',
  version: 1,
  initial: (sessionId) => ({
    sessionId,
    goals: VersionedMap.empty(),
    goal: null,
    present: null,
    recent: [],
    stalledSinceMs: null,
    isStalled: false,
    newestMs: null,
    matrices: noMatrices,
  }),
  evolve: (state, record) => {
    const turned = evolveTurn(state, record);
    const matrices = evolveKnownMatrices(turned.matrices, record);
    const newestMs = later(turned.newestMs, record.tsMs);
    return { ...turned, matrices, newestMs };
  },
  toJson: stateJson,
  fromJson: stateFrom,
  toDocument: progressDocument,
};

function evolveTurn(state: ProgressState, record: ViewRecord): ProgressState {
  const { turn, tsMs } = record;
  const settled = state.present !== null && state.present.turn !== turn ? ended(state, 'interrupted') : state;
  // No record behind the end of a turn is in it, so no turn ends twice.
  if (turn === null) return settled;
  const present = settled.present ?? { turn, taskId: null, startMs: tsMs, endMs: tsMs };
  const moved = { ...present, startMs: present.startMs ?? tsMs, endMs: later(present.endMs, tsMs) };
  const next = { ...settled, present: moved };
  switch (countedType(record)) {
    case 'turn.started':
      return withGoal(next, moved, ownMember(record.readEvent(), 'context'));
    case 'turn.completed':
      return ended(next, 'completed');
    case 'turn.failed':
      return ended(next, 'failed');
    default:
      return next;
  }
}

function withGoal(state: ProgressState, present: PresentTurn, context: unknown): ProgressState {
  const taskId = ownText(context, 'task_id');
  const goal = ownText(context, 'goal');
  const known = goalOf(state, taskId);
  const goals = state.goals.set(taskId, { ...known, goal: goal ?? known.goal });
  return { ...state, goals, goal: goal ?? known.goal ?? state.goal, present: { ...present, taskId } };
}

function goalOf({ goals }: ProgressState, taskId: string | null): Goal {
  const none = { taskId, goal: null, completed: 0, failed: 0, interrupted: 0, elapsedMs: 0 };
  return goals.get(taskId) ?? none;
}

/** The state after the end of the present turn: the one place where time is added. */
function ended(state: ProgressState, outcome: Outcome): ProgressState {
  const { present } = state;
  if (present === null) return state;
  const known = goalOf(state, present.taskId);
  const goal = { ...known, [outcome]: known[outcome] + 1, elapsedMs: known.elapsedMs + elapsedOf(present) };
  const hasCompleted = outcome === 'completed';
  return {
    ...state,
    goals: state.goals.set(present.taskId, goal),
    present: null,
    recent: [...state.recent, hasCompleted].slice(-recentTurnsMax),
    stalledSinceMs: hasCompleted ? null : state.isStalled ? state.stalledSinceMs : present.startMs,
    isStalled: !hasCompleted,
  };
}

function elapsedOf({ startMs, endMs }: PresentTurn): number {
  // The end is the newest time, so none is negative.
  return startMs === null || endMs === null ? 0 : endMs - startMs;
}

function later(known: number | null, tsMs: number | null): number | null {
  return known === null || (tsMs !== null && tsMs > known) ? tsMs : known;
}

/** The goals with the time of the present turn as well. */
export function goalsNow(state: ProgressState): readonly Goal[] {
  const { present } = state;
  if (present === null) return state.goals.values();
  const goal = goalOf(state, present.taskId);
  return state.goals
    .set(present.taskId, { ...goal, elapsedMs: goal.elapsedMs + elapsedOf(present) })
    .values();
}

/** Statuses of tasks as those of milestones; one that is not known stays as it is stored. */
const milestoneStatuses: ReadonlyMap<string, string> = new Map([
  ['queued', 'pending'],
  ['assigned', 'in_progress'],
  ['executed', 'in_progress'],
  ['verified', 'done'],
  ['failed', 'blocked'],
  ['interrupted', 'blocked'],
  ['timed_out', 'blocked'],
  ['cleanup_uncertain', 'blocked'],
]);

function progressDocument(state: ProgressState): JsonObject {
  const goals = goalsNow(state);
  const completed = state.recent.filter(Boolean).length;
  return {
    session_id: state.sessionId,
    goal: state.goal ?? '',
    milestones: tasksOf(state.matrices).map(({ id, description, status }) => ({
      id,
      description,
      status: status === null ? 'pending' : (milestoneStatuses.get(status) ?? status),
    })),
    confidence: state.recent.length === 0 ? 1 : Math.round((completed / state.recent.length) * 100) / 100,
    stalled_since: timeText(state.stalledSinceMs),
    // A text there; what is unknown is empty, and no time of 1970.
    updated_at: timeText(state.newestMs) ?? '',
    elapsed_ms: goals.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0),
    open_turn: state.present?.turn ?? null,
    goals: goals.map(goalJson),
  };
}

function timeText(tsMs: number | null): string | null {
  return tsMs === null ? null : formatTimestamp(tsMs);
}

function goalJson({ taskId, goal, completed, failed, interrupted, elapsedMs }: Goal): JsonObject {
  return { task_id: taskId, goal, completed, failed, interrupted, elapsed_ms: elapsedMs };
}

function goalFrom(value: unknown): Goal {
  return {
    taskId: orNull(member(value, 'task_id'), text),
    goal: orNull(member(value, 'goal'), text),
    completed: number(member(value, 'completed')),
    failed: number(member(value, 'failed')),
    interrupted: number(member(value, 'interrupted')),
    elapsedMs: number(member(value, 'elapsed_ms')),
  };
}

function stateJson(state: ProgressState): JsonObject {
  const { present } = state;
  return {
    session_id: state.sessionId,
    goals: state.goals.values().map(goalJson),
    goal: state.goal,
    present:
      present === null
        ? null
        : { turn: present.turn, task_id: present.taskId, start_ms: present.startMs, end_ms: present.endMs },
    recent: state.recent,
    stalled_since_ms: state.stalledSinceMs,
    stalled: state.isStalled,
    newest_ms: state.newestMs,
    matrices: matricesJson(state.matrices),
  };
}

function stateFrom(json: unknown): ProgressState {
  const goals = list(member(json, 'goals')).map(goalFrom);
  return {
    sessionId: text(member(json, 'session_id')),
    goals: VersionedMap.from(goals.map((goal) => [goal.taskId, goal])),
    goal: orNull(member(json, 'goal'), text),
    present: orNull(member(json, 'present'), presentFrom),
    recent: list(member(json, 'recent')).map(boolean),
    stalledSinceMs: orNull(member(json, 'stalled_since_ms'), number),
    isStalled: boolean(member(json, 'stalled')),
    newestMs: orNull(member(json, 'newest_ms'), number),
    matrices: matricesFrom(member(json, 'matrices')),
  };
}

function presentFrom(value: unknown): PresentTurn {
  return {
    turn: number(member(value, 'turn')),
    taskId: orNull(member(value, 'task_id'), text),
    startMs: orNull(member(value, 'start_ms'), number),
    endMs: orNull(member(value, 'end_ms'), number),
  };
}
