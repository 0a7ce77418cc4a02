import { pointerOf } from './internal/json-pointer.js';
import { ownList, ownMember, ownText } from './internal/loose-value.js';

/** Rules that one snapshot of a matrix keeps by itself, whatever came before it (C-10). */
export type MatrixSnapshotRule =
  | 'active-attempts'
  | 'writer-alone'
  | 'resource-overcommitted'
  | 'attempt-id-repeated'
  | 'worker-id-repeated'
  | 'automatic-retries'
  | 'verified-without-evidence';

/** A broken rule, and where in the event: a JSON pointer. */
export interface MatrixFault<Rule extends string = MatrixSnapshotRule> {
  readonly place: string;
  readonly rule: Rule;
}

const activeAttemptsMax = 5;
const automaticRetriesMax = 1;

/** An attempt with what surrounds it. */
interface PlacedAttempt {
  readonly attempt: unknown;
  /** The specification of its task; undefined when there is none of that id. */
  readonly spec: unknown;
  readonly place: string;
}

/** The rules that a `matrix.updated` breaks by itself. Members of another form than the table's break none. */
export function matrixSnapshotFaults(snapshot: unknown): readonly MatrixFault[] {
  const attempts = attemptsOf(snapshot);
  return [
    ...activeFaults(snapshot, attempts.filter(isActive)),
    ...repeatFaults(attempts, 'id', 'attempt-id-repeated'),
    ...repeatFaults(attempts, 'worker_id', 'worker-id-repeated'),
    ...taskFaults(snapshot),
  ];
}

function attemptsOf(snapshot: unknown): readonly PlacedAttempt[] {
  const specs = specsOf(snapshot);
  return ownList(snapshot, 'tasks').flatMap((task, taskAt) => {
    const spec = specs.get(ownMember(task, 'id'));
    return ownList(task, 'attempts').map((attempt, at) => {
      return { attempt, spec, place: pointerOf(['tasks', taskAt, 'attempts', at]) };
    });
  });
}

/** The specifications of the tasks by id, the first where one stands twice. */
function specsOf(snapshot: unknown): ReadonlyMap<unknown, unknown> {
  const specs = ownList(ownMember(snapshot, 'spec'), 'tasks');
  return new Map(specs.toReversed().map((spec) => [ownMember(spec, 'id'), spec]));
}

/**
 * Whether work of an attempt may still be going on: until its clean-up is confirmed. An outcome alone does not end
 * it, because what it started may still run.
 */
function isActive({ attempt }: PlacedAttempt): boolean {
  return ownMember(attempt, 'cleanup_confirmed') === false;
}

function activeFaults(snapshot: unknown, active: readonly PlacedAttempt[]): readonly MatrixFault[] {
  const faults: MatrixFault[] = [];
  const sixth = active[activeAttemptsMax];
  if (sixth !== undefined) faults.push({ place: sixth.place, rule: 'active-attempts' });
  const writer = active.find(({ spec }) => ownMember(spec, 'access') === 'write');
  if (writer !== undefined && active.length > 1) faults.push({ place: writer.place, rule: 'writer-alone' });
  return [...faults, ...resourceFaults(snapshot, active)];
}

function resourceFaults(snapshot: unknown, active: readonly PlacedAttempt[]): readonly MatrixFault[] {
  const capacities = ownMember(ownMember(snapshot, 'spec'), 'resources');
  const used = new Map<string, number>();
  const faults: MatrixFault[] = [];
  for (const { spec, place } of active) {
    for (const [name, wanted] of amountsOf(ownMember(spec, 'resources'))) {
      const before = used.get(name) ?? 0;
      const capacity = ownMember(capacities, name);
      const limit = typeof capacity === 'number' ? capacity : 0;
      used.set(name, before + wanted);
      if (before <= limit && before + wanted > limit) faults.push({ place, rule: 'resource-overcommitted' });
    }
  }
  return faults;
}

function amountsOf(resources: unknown): readonly (readonly [name: string, wanted: number])[] {
  if (typeof resources !== 'object' || resources === null) return [];
  return Object.entries(resources).filter(([, wanted]) => typeof wanted === 'number');
}

function repeatFaults(
  attempts: readonly PlacedAttempt[],
  member: 'id' | 'worker_id',
  rule: MatrixSnapshotRule,
): readonly MatrixFault[] {
  const seen = new Set<string>();
  return attempts.flatMap(({ attempt, place }) => {
    const id = ownText(attempt, member);
    if (id === null || !seen.has(id)) {
      if (id !== null) seen.add(id);
      return [];
    }
    return [{ place: `${place}/${member}`, rule }];
  });
}

function taskFaults(snapshot: unknown): readonly MatrixFault[] {
  const specs = specsOf(snapshot);
  const generation = ownText(snapshot, 'generation');
  return ownList(snapshot, 'tasks').flatMap((task, at) => {
    const faults: MatrixFault[] = [];
    const retries = ownMember(task, 'automatic_retries');
    if (typeof retries === 'number' && retries > automaticRetriesMax) {
      faults.push({ place: pointerOf(['tasks', at, 'automatic_retries']), rule: 'automatic-retries' });
    }
    const isVerified = ownMember(task, 'status') === 'verified';
    if (isVerified && !isProven(task, specs.get(ownMember(task, 'id')), generation)) {
      faults.push({ place: pointerOf(['tasks', at, 'status']), rule: 'verified-without-evidence' });
    }
    return faults;
  });
}

/**
 * Whether the last attempt of a task proves that it is verified: it verified the present generation, succeeded, is
 * over, and its evidence matches the checks one to one.
 */
function isProven(task: unknown, spec: unknown, generation: string | null): boolean {
  const attempt = ownList(task, 'attempts').at(-1);
  const isVerification =
    generation !== null &&
    ownMember(attempt, 'phase') === 'verify' &&
    ownMember(attempt, 'outcome') === 'success' &&
    ownMember(attempt, 'cleanup_confirmed') === true &&
    ownMember(attempt, 'generation') === generation;
  if (!isVerification || spec === undefined) return false;
  const evidence = ownList(attempt, 'evidence');
  return evidence.every((entry) => isSound(entry, attempt)) && isOneToOne(ownList(spec, 'checks'), evidence);
}

/** Whether a command of just this attempt, in its generation, ran to its end and went well. */
function isSound(entry: unknown, attempt: unknown): boolean {
  return (
    ownMember(entry, 'attempt_id') === ownMember(attempt, 'id') &&
    ownMember(entry, 'worker_id') === ownMember(attempt, 'worker_id') &&
    ownMember(entry, 'generation') === ownMember(attempt, 'generation') &&
    ownMember(entry, 'exit_code') === 0 &&
    ownMember(entry, 'cancelled') === false
  );
}

/** Whether each check has one command of its own and no command is left; the order is free. */
function isOneToOne(checks: readonly unknown[], evidence: readonly unknown[]): boolean {
  const events = new Set(evidence.map((entry) => ownMember(entry, 'event_id')));
  if (checks.length !== evidence.length || events.size !== evidence.length) return false;
  const open = new Map<unknown, number>();
  for (const check of checks) open.set(check, (open.get(check) ?? 0) + 1);
  for (const entry of evidence) {
    const command = ownMember(entry, 'command');
    const left = (open.get(command) ?? 0) - 1;
    if (left < 0) return false;
    open.set(command, left);
  }
  return true;
}
