import { KeyedSlots } from './internal/keyed-slots.js';
import { isLooseObject, ownList, ownMember, ownText } from './internal/loose-value.js';
import { isSameValue } from './internal/same-value.js';
import { type MatrixFault, type MatrixSnapshotRule, matrixSnapshotFaults } from './matrix-rules.js';
import type { MatrixUpdatedEvent } from './thread-event.js';
import type { TurnlogEvent, UnknownEvent } from './turnlog-event.js';

/** The rules of C-10: those of one snapshot, and those between snapshots of one matrix. */
export type MatrixRule = MatrixSnapshotRule | 'spec-changed' | 'revision-not-risen' | 'spec-id-missing';

/** A matrix as its newest snapshot has it. A snapshot that breaks a rule is a record all the same. */
export interface MatrixState<Position> {
  readonly id: string;
  readonly snapshot: MatrixUpdatedEvent;
  readonly position: Position;
  /** What the newest snapshot breaks. */
  readonly faults: readonly MatrixFault<MatrixRule>[];
}

interface MatrixEntry<Position> extends MatrixState<Position> {
  /** Specification of the first snapshot: no later one may have another. */
  readonly spec: unknown;
  /** The highest revision so far; null when none was a number. */
  readonly highestRevision: number | null;
}

/** A snapshot that breaks rules. */
export interface FlaggedMatrix<Position> {
  readonly position: Position;
  /** Null when it does not say of which matrix it is. */
  readonly id: string | null;
  readonly faults: readonly MatrixFault<MatrixRule>[];
}

/** What the events so far say of matrices. A later state never changes an earlier one. */
export interface MatricesState<Position> {
  readonly entries: KeyedSlots<MatrixEntry<Position>>;
  /** Whether an event has been seen: an eviction counts as the first one only. */
  readonly hasBegun: boolean;
  /** What the last event breaks; null when it breaks nothing. */
  readonly flagged: FlaggedMatrix<Position> | null;
}

/** Before the first event. */
export function initialMatrices<Position>(): MatricesState<Position> {
  return { entries: KeyedSlots.empty(), hasBegun: false, flagged: null };
}

/**
 * The matrices after one more event of a log (C-10): the newest snapshot of each `spec.id`, in the order of the
 * file. What an eviction took out and carries in its header comes before all kept ones, so the first event of the
 * log has to be given, whatever it is.
 *
 * @param event null when it is nested too deep to be read.
 */
export function evolveMatrices<Position>(
  state: MatricesState<Position>,
  event: TurnlogEvent | UnknownEvent | null,
  position: Position,
): MatricesState<Position> {
  const begun: MatricesState<Position> =
    state.hasBegun && state.flagged === null ? state : { ...state, hasBegun: true, flagged: null };
  if (event === null) return begun;
  if (event.type === 'matrix.updated') return withSnapshot(begun, event, position);
  return event.type === 'log.evicted' && !state.hasBegun ? withCarried(begun, event, position) : begun;
}

/** Each matrix as it is now, in the order they were first seen in. */
export function listMatrices<Position>(state: MatricesState<Position>): readonly MatrixState<Position>[] {
  return [...state.entries.values()].map(shownState);
}

/** One matrix as it is now; null when there is none of that id. */
export function matrixOf<Position>(state: MatricesState<Position>, id: string): MatrixState<Position> | null {
  const slot = state.entries.newest(id);
  const entry = slot === null ? null : state.entries.at(slot);
  return entry === null ? null : shownState(entry);
}

function shownState<Position>(entry: MatrixEntry<Position>): MatrixState<Position> {
  const { id, snapshot, position, faults } = entry;
  return { id, snapshot, position, faults };
}

function isSnapshot(value: unknown): value is MatrixUpdatedEvent {
  return isLooseObject(value) && ownText(value, 'type') === 'matrix.updated';
}

function withCarried<Position>(
  state: MatricesState<Position>,
  header: unknown,
  position: Position,
): MatricesState<Position> {
  let next = state;
  for (const carried of ownList(header, 'carried')) {
    const event = ownMember(carried, 'event');
    if (isSnapshot(event)) next = { ...withSnapshot(next, event, position), flagged: null };
  }
  return next;
}

function withSnapshot<Position>(
  state: MatricesState<Position>,
  event: unknown,
  position: Position,
): MatricesState<Position> {
  const id = ownText(ownMember(event, 'spec'), 'id');
  if (id === null || !isSnapshot(event)) {
    const faults = [{ place: '/spec/id', rule: 'spec-id-missing' as const }];
    return { ...state, flagged: { position, id: null, faults } };
  }
  const slot = state.entries.newest(id);
  const before = slot === null ? null : state.entries.at(slot);
  const entry = entryOf(id, event, before, position);
  const flagged = entry.faults.length === 0 ? null : { position, id, faults: entry.faults };
  const entries = slot === null ? state.entries.add(id, entry) : state.entries.replace(slot, entry);
  return { ...state, entries, flagged };
}

function entryOf<Position>(
  id: string,
  snapshot: MatrixUpdatedEvent,
  before: MatrixEntry<Position> | null,
  position: Position,
): MatrixEntry<Position> {
  const spec = before === null ? ownMember(snapshot, 'spec') : before.spec;
  const revision = revisionOf(snapshot);
  const highest = before?.highestRevision ?? null;
  return {
    id,
    snapshot,
    position,
    faults: [...sequenceFaults(snapshot, before), ...matrixSnapshotFaults(snapshot)],
    spec,
    highestRevision: highest === null || (revision !== null && revision > highest) ? revision : highest,
  };
}

function sequenceFaults<Position>(
  snapshot: MatrixUpdatedEvent,
  before: MatrixEntry<Position> | null,
): readonly MatrixFault<MatrixRule>[] {
  if (before === null) return [];
  const faults: MatrixFault<MatrixRule>[] = [];
  const isSame = isSameValue(withDefaults(before.spec), withDefaults(ownMember(snapshot, 'spec')));
  if (!isSame) faults.push({ place: '/spec', rule: 'spec-changed' });
  const revision = revisionOf(snapshot);
  const hasRisen =
    before.highestRevision === null || (revision !== null && revision > before.highestRevision);
  if (!hasRisen) faults.push({ place: '/revision', rule: 'revision-not-risen' });
  return faults;
}

function revisionOf(snapshot: unknown): number | null {
  const revision = ownMember(snapshot, 'revision');
  return typeof revision === 'number' ? revision : null;
}

/** A specification with what may be left out written in, so that leaving it out is no change. */
function withDefaults(spec: unknown): unknown {
  if (!isLooseObject(spec)) return spec;
  const tasks = ownList(spec, 'tasks').map((task) => {
    if (!isLooseObject(task)) return task;
    return { dependencies: [], resources: {}, replay_safe: false, inputs: [], ...task };
  });
  return { resources: {}, ...spec, tasks };
}
