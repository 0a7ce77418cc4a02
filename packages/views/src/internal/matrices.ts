import { evolveMatrices, initialMatrices, listMatrices, type MatricesState } from '@turnlog/events';
import type { JsonObject } from '@turnlog/kernel';
import type { ViewRecord } from '../view.js';
import { isPlainObject, ownList, ownMember, ownText } from './members.js';
import { list, member, number, WrongShape } from './stored-value.js';

/** The newest snapshot of each matrix, and of it what is needed to say how far its tasks are. */
export type Matrices = MatricesState<number>;

export const noMatrices: Matrices = initialMatrices();

export function evolveKnownMatrices(state: Matrices, record: ViewRecord): Matrices {
  const isOfUse = record.type === 'matrix.updated' || record.type === 'log.evicted';
  // Others are told as well, because only the first record of a log may carry older snapshots.
  if (!isOfUse) return state.hasBegun ? state : evolveMatrices(state, { type: record.type }, record.seq);
  return evolveMatrices(state, record.readEvent(), record.seq);
}

/** A task of a matrix as it is now. */
export interface MatrixTaskNow {
  readonly id: string;
  readonly description: string;
  readonly checks: readonly string[];
  /** As it is stored; null when the snapshot does not say. */
  readonly status: string | null;
}

export function tasksOf(state: Matrices): readonly MatrixTaskNow[] {
  return listMatrices(state).flatMap(({ snapshot }) => {
    const statuses = new Map(
      ownList(snapshot, 'tasks').map((task) => [ownText(task, 'id'), ownText(task, 'status')]),
    );
    return ownList(ownMember(snapshot, 'spec'), 'tasks').flatMap((task): readonly MatrixTaskNow[] => {
      const id = ownText(task, 'id');
      if (id === null) return [];
      const checks = ownList(task, 'checks').filter((check) => typeof check === 'string');
      return [
        { id, description: ownText(task, 'instructions') ?? '', checks, status: statuses.get(id) ?? null },
      ];
    });
  });
}

export function matricesJson(state: Matrices): JsonObject {
  return {
    begun: state.hasBegun,
    snapshots: listMatrices(state).map(({ snapshot, position }) => ({
      seq: position,
      event: slim(snapshot),
    })),
  };
}

function slim(snapshot: unknown): JsonObject {
  const spec = ownMember(snapshot, 'spec');
  const tasks = ownList(spec, 'tasks').map((task) => ({
    id: ownText(task, 'id'),
    instructions: ownText(task, 'instructions'),
    checks: ownList(task, 'checks').filter((check) => typeof check === 'string'),
  }));
  const statuses = ownList(snapshot, 'tasks').map((task) => ({
    id: ownText(task, 'id'),
    status: ownText(task, 'status'),
  }));
  return { type: 'matrix.updated', spec: { id: ownText(spec, 'id'), tasks }, tasks: statuses };
}

export function matricesFrom(json: unknown): Matrices {
  let state = noMatrices;
  if (member(json, 'begun') === true) state = evolveMatrices(state, { type: 'begun' }, 0);
  for (const entry of list(member(json, 'snapshots'))) {
    const event = member(entry, 'event');
    if (!isSnapshot(event)) throw new WrongShape('no snapshot');
    state = evolveMatrices(state, event, number(member(entry, 'seq')));
  }
  return state;
}

function isSnapshot(
  value: unknown,
): value is { readonly type: 'matrix.updated'; readonly [name: string]: unknown } {
  return isPlainObject(value) && ownText(value, 'type') === 'matrix.updated';
}
