import fc from 'fast-check';
import {
  decodeRecord,
  evolveMatrices,
  initialMatrices,
  inspectRecord,
  listMatrices,
  type MatricesState,
  matrixOf,
  peekRecord,
  type UnknownEvent,
} from '../src/index.js';
import { goldenBytes, lineOf, linesOf, utf8 } from './wire-files.js';

type Members = Readonly<Record<string, unknown>>;

const taskSpec = (id: string, more: Members = {}): Members => ({
  id,
  instructions: 'do it',
  workspace: '.',
  access: 'read',
  checks: ['pnpm test'],
  timeout_secs: 30,
  ...more,
});
const attempt = (id: string, more: Members = {}): Members => ({
  id,
  worker_id: `w-${id}`,
  phase: 'execute',
  generation: null,
  launch_requested: true,
  outcome: null,
  cleanup_confirmed: false,
  evidence: [],
  ...more,
});
const done: Members = { outcome: 'success', cleanup_confirmed: true };
const task = (id: string, attempts: readonly Members[], more: Members = {}): Members => ({
  id,
  status: 'assigned',
  attempts,
  automatic_retries: 0,
  ...more,
});
const proof = (attemptId: string, more: Members = {}): Members => ({
  command: 'pnpm test',
  attempt_id: attemptId,
  worker_id: `w-${attemptId}`,
  generation: 'g',
  event_id: `e-${attemptId}`,
  exit_code: 0,
  cancelled: false,
  ...more,
});
const verification = (id: string, evidence: readonly Members[], more: Members = {}): Members =>
  attempt(id, { phase: 'verify', generation: 'g', ...done, evidence, ...more });

interface Snapshot extends UnknownEvent {
  readonly type: 'matrix.updated';
}

function snapshot(
  revision: number,
  specs: readonly Members[],
  tasks: readonly Members[],
  more: Members = {},
): Snapshot {
  return {
    type: 'matrix.updated',
    spec: { id: 'mx', tasks: specs },
    lifecycle: 'running',
    tasks,
    generation: null,
    revision,
    ...more,
  };
}

interface Replayed {
  readonly state: MatricesState<number>;
  /** `position rule place` of everything that was flagged. */
  readonly flagged: readonly string[];
}

function replay(events: readonly UnknownEvent[]): Replayed {
  const flagged: string[] = [];
  let state = initialMatrices<number>();
  events.forEach((event, index) => {
    state = evolveMatrices(state, event, index + 1);
    for (const { rule, place } of state.flagged?.faults ?? []) flagged.push(`${index + 1} ${rule} ${place}`);
  });
  return { state, flagged };
}

const five = ['a', 'b', 'c', 'd', 'e'];
const six = [...five, 'f'];
const verified = (evidence: readonly Members[], more: Members = {}): Snapshot =>
  snapshot(
    1,
    [taskSpec('a', { checks: ['one', 'two'] })],
    [task('a', [attempt('x', done), verification('v', evidence, more)], { status: 'verified' })],
    { generation: 'g' },
  );
const one = proof('v', { command: 'one', event_id: '1' });
const two = proof('v', { command: 'two', event_id: '2' });
const unproven = ['1 verified-without-evidence /tasks/0/status'];

const rows: readonly (readonly [
  title: string,
  events: readonly UnknownEvent[],
  flagged: readonly string[],
])[] = [
  [
    'a matrix under way',
    [
      snapshot(
        1,
        five.map((id) => taskSpec(id)),
        five.map((id) => task(id, [attempt(id)])),
      ),
    ],
    [],
  ],
  [
    'the spec never changes',
    [
      snapshot(1, [taskSpec('a')], []),
      snapshot(2, [taskSpec('a', { instructions: 'do another thing' })], []),
      // The first spec stays the one that counts.
      snapshot(3, [taskSpec('a')], []),
    ],
    ['2 spec-changed /spec'],
  ],
  [
    'what may be left out of a spec, and the order of its members, are no change',
    [
      snapshot(1, [taskSpec('a')], []),
      snapshot(2, [taskSpec('a', { dependencies: [], resources: {}, inputs: [], replay_safe: false })], []),
      snapshot(3, [], [], { spec: { tasks: [taskSpec('a')], resources: {}, id: 'mx' } }),
      snapshot(4, [Object.fromEntries(Object.entries(taskSpec('a')).reverse())], []),
    ],
    [],
  ],
  [
    'a member that nobody knows is part of the spec',
    [snapshot(1, [taskSpec('a')], []), snapshot(2, [taskSpec('a', { mood: 'new' })], [])],
    ['2 spec-changed /spec'],
  ],
  [
    'the revision rises above all before',
    [snapshot(2, [], []), snapshot(2, [], []), snapshot(1, [], []), snapshot(2, [], []), snapshot(9, [], [])],
    ['2 revision-not-risen /revision', '3 revision-not-risen /revision', '4 revision-not-risen /revision'],
  ],
  [
    'at most five attempts are active',
    [
      snapshot(
        1,
        six.map((id) => taskSpec(id)),
        six.map((id) => task(id, [attempt(id)])),
      ),
    ],
    ['1 active-attempts /tasks/5/attempts/0'],
  ],
  [
    'an attempt is active until its clean-up is confirmed, whatever its outcome',
    [
      snapshot(
        1,
        six.map((id) => taskSpec(id)),
        six.map((id) => task(id, [attempt(id, { outcome: 'failed' })])),
      ),
      snapshot(
        2,
        six.map((id) => taskSpec(id)),
        six.map((id) => task(id, [attempt(id, done)])),
      ),
    ],
    ['1 active-attempts /tasks/5/attempts/0'],
  ],
  [
    'a writer runs alone',
    [
      snapshot(
        1,
        [taskSpec('a'), taskSpec('b', { access: 'write' })],
        [task('a', [attempt('a')]), task('b', [])],
      ),
      snapshot(
        2,
        [taskSpec('a'), taskSpec('b', { access: 'write' })],
        [task('a', []), task('b', [attempt('b')])],
      ),
      snapshot(
        3,
        [taskSpec('a'), taskSpec('b', { access: 'write' })],
        [task('a', [attempt('a')]), task('b', [attempt('b')])],
      ),
    ],
    ['3 writer-alone /tasks/1/attempts/0'],
  ],
  [
    'named resources are not overcommitted',
    [3, 2].map((cpu, index) =>
      snapshot(
        index + 1,
        [taskSpec('a', { resources: { cpu: 2 } }), taskSpec('b', { resources: { cpu: 1 } })],
        [task('a', [attempt('a')]), task('b', [attempt('b')])],
        {
          spec: {
            id: `mx-${cpu}`,
            tasks: [taskSpec('a', { resources: { cpu: 2 } }), taskSpec('b', { resources: { cpu: 1 } })],
            resources: { cpu },
          },
        },
      ),
    ),
    ['2 resource-overcommitted /tasks/1/attempts/0'],
  ],
  [
    'what no capacity is stated for cannot be used, also under the names of every object',
    [snapshot(1, [taskSpec('a', { resources: { constructor: 1 } })], [task('a', [attempt('a')])])],
    ['1 resource-overcommitted /tasks/0/attempts/0'],
  ],
  [
    'what is over holds no resource',
    [snapshot(1, [taskSpec('a', { resources: { cpu: 9 } })], [task('a', [attempt('a', done)])])],
    [],
  ],
  [
    'attempt ids are unique',
    [
      snapshot(
        1,
        [taskSpec('a'), taskSpec('b')],
        [task('a', [attempt('x', done)]), task('b', [attempt('x', { worker_id: 'w2' })])],
      ),
    ],
    ['1 attempt-id-repeated /tasks/1/attempts/0/id'],
  ],
  [
    'worker ids are unique',
    [snapshot(1, [taskSpec('a')], [task('a', [attempt('x', done), attempt('y', { worker_id: 'w-x' })])])],
    ['1 worker-id-repeated /tasks/0/attempts/1/worker_id'],
  ],
  [
    'at most one automatic retry',
    [0, 1, 2].map((count) =>
      snapshot(count + 1, [taskSpec('a')], [task('a', [], { status: 'queued', automatic_retries: count })]),
    ),
    ['3 automatic-retries /tasks/0/automatic_retries'],
  ],
  ['verified with evidence for each check', [verified([one, two])], []],
  ['verified, the evidence in another order', [verified([two, one])], []],
  [
    'verified without any attempt',
    [snapshot(1, [taskSpec('a')], [task('a', [], { status: 'verified' })], { generation: 'g' })],
    unproven,
  ],
  ['verified with less evidence than checks', [verified([one])], unproven],
  ['verified with more', [verified([one, two, { ...two, event_id: '3' }])], unproven],
  ['verified with one check proven twice', [verified([one, { ...one, event_id: '2' }])], unproven],
  ['verified with one event as proof of two checks', [verified([one, { ...two, event_id: '1' }])], unproven],
  ['verified by a command that failed', [verified([one, { ...two, exit_code: 1 }])], unproven],
  ['verified by a command without exit code', [verified([one, { ...two, exit_code: null }])], unproven],
  ['verified by a cancelled command', [verified([one, { ...two, cancelled: true }])], unproven],
  ['verified by evidence of an older generation', [verified([one, { ...two, generation: 'f' }])], unproven],
  ['verified by evidence of another attempt', [verified([one, { ...two, attempt_id: 'x' }])], unproven],
  ['verified by evidence of another worker', [verified([one, { ...two, worker_id: 'x' }])], unproven],
  [
    'verified in a generation that is no longer the present one',
    [
      verified(
        [one, two].map((entry) => ({ ...entry, generation: 'f' })),
        { generation: 'f' },
      ),
    ],
    unproven,
  ],
  ['verified by an attempt of an older generation', [verified([one, two], { generation: 'f' })], unproven],
  ['verified by an attempt that failed', [verified([one, two], { outcome: 'failed' })], unproven],
  ['verified by an attempt that only executed', [verified([one, two], { phase: 'execute' })], unproven],
  [
    'verified while nothing has a generation',
    [
      snapshot(
        1,
        [taskSpec('a')],
        [
          task('a', [verification('v', [proof('v', { generation: null })], { generation: null })], {
            status: 'verified',
          }),
        ],
      ),
    ],
    unproven,
  ],
  [
    'verified by an attempt that may still run',
    [verified([one, two], { cleanup_confirmed: false })],
    unproven,
  ],
  [
    'verified although the spec has no such task',
    [snapshot(1, [], [task('a', [verification('v', [])], { status: 'verified' })], { generation: 'g' })],
    unproven,
  ],
  [
    'a snapshot that does not say of what',
    [snapshot(1, [], [], { spec: { tasks: [] } })],
    ['1 spec-id-missing /spec/id'],
  ],
];

test.each(rows)('C-10 %s', (_title, events, flagged) => {
  expect(replay(events).flagged).toEqual(flagged);
  // Flagged or not, each is a record, and the newest one is what the matrix is.
  for (const event of events) {
    const line = utf8(lineOf(JSON.stringify(event)));
    expect(peekRecord(line, 0, line.length)).toMatchObject({ type: 'matrix.updated' });
  }
  const last = events.at(-1);
  const id = Reflect.get(last?.['spec'] as object, 'id') as string | undefined;
  if (id !== undefined) expect(matrixOf(replay(events).state, id)?.snapshot).toBe(last);
});

test('C-10 the newest snapshot of each spec id counts, in the order of the file, flagged or not', () => {
  const other = { ...snapshot(1, [], []), spec: { id: 'other', tasks: [] } };
  const stale = snapshot(3, [taskSpec('changed')], []);
  const { state, flagged } = replay([
    { type: 'error', message: 'm' },
    snapshot(4, [], []),
    other,
    snapshot(5, [], []),
    stale,
    { type: 'turn.started' },
  ]);
  expect(
    listMatrices(state).map(({ id, position, faults }) => [id, position, faults.map(({ rule }) => rule)]),
  ).toEqual([
    ['mx', 5, ['spec-changed', 'revision-not-risen']],
    ['other', 3, []],
  ]);
  expect(matrixOf(state, 'mx')?.snapshot).toBe(stale);
  expect(matrixOf(state, 'none')).toBeNull();
  expect(flagged).toEqual(['5 spec-changed /spec', '5 revision-not-risen /revision']);
  expect(state.flagged).toBeNull();
});

test('what an eviction carries comes before what was kept, from the first record alone', () => {
  const golden = goldenBytes('golden.jsonl');
  const events = linesOf(golden).map(({ start, end }) => decodeRecord(golden, start, end).event);
  const { state, flagged } = replay(events as readonly UnknownEvent[]);
  expect(
    listMatrices(state).map(({ id, position, snapshot: { revision } }) => [id, position, revision]),
  ).toEqual([
    ['mx-0', 1, 9],
    ['mx-1', 27, 3],
  ]);
  expect(flagged).toEqual([]);
  const moved = replay([{ type: 'error', message: 'm' }, events[0] as UnknownEvent]);
  expect(listMatrices(moved.state)).toEqual([]);
  const after = { ...snapshot(9, [], []), spec: { id: 'mx-0', tasks: [], resources: {} } };
  expect(replay([events[0] as UnknownEvent, after]).flagged).toEqual(['2 revision-not-risen /revision']);
  // It was flagged where it stood; the header that carries it breaks nothing.
  const broken = replay([{ type: 'log.evicted', carried: [{ event: verified([]) }] }]);
  expect(broken.flagged).toEqual([]);
  expect(matrixOf(broken.state, 'mx')?.faults.map(({ rule }) => rule)).toEqual(['verified-without-evidence']);
});

/** Whether a JSON pointer leads to a value, or to a member that the value before it lacks. */
function placeExists(value: unknown, place: string): boolean {
  const names = place.split('/').slice(1);
  let at: unknown = value;
  for (const name of names.slice(0, -1)) at = Reflect.get(at as object, name);
  return typeof at === 'object' && at !== null;
}

test('members of any form break no fold, and each fault says where it lies', () => {
  const value = fc.oneof(
    fc.constantFrom(null, 0, 'a', true),
    fc.constant([null, [], {}]),
    fc.constant({ id: {} }),
  );
  const loosely = <T>(given: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 5, arbitrary: given }, { weight: 1, arbitrary: value });
  const listOf = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
    loosely(fc.array(loosely(fc.record(members, { requiredKeys: [] })), { maxLength: 3 }));
  const id = loosely(fc.constantFrom('a', 'b', '__proto__'));
  const resources = loosely(fc.dictionary(fc.constantFrom('cpu', '__proto__'), loosely(fc.nat({ max: 3 }))));
  const access = loosely(fc.constantFrom('read', 'write'));
  const attempts = listOf({
    id,
    worker_id: id,
    cleanup_confirmed: loosely(fc.boolean()),
    evidence: listOf({ command: id }),
  });
  const event = fc.record(
    {
      spec: loosely(
        fc.record({ id, tasks: listOf({ id, access, resources, checks: loosely(fc.array(id)) }), resources }),
      ),
      tasks: listOf({
        id,
        status: loosely(fc.constant('verified')),
        attempts,
        automatic_retries: loosely(fc.nat(3)),
      }),
      generation: id,
      revision: loosely(fc.nat({ max: 3 })),
    },
    { requiredKeys: [] },
  );
  const rules = new Set<string>();
  fc.assert(
    fc.property(fc.array(event, { maxLength: 4 }), (events) => {
      const given = events.map((members) => ({ ...members, type: 'matrix.updated' }));
      const before = JSON.stringify(given);
      for (const { snapshot: found, faults } of listMatrices(replay(given).state)) {
        for (const { rule, place } of faults) {
          rules.add(rule);
          expect(placeExists(found, place)).toBe(true);
        }
      }
      expect(JSON.stringify(given)).toBe(before);
    }),
    { numRuns: 2_000 },
  );
  expect(rules.size).toBeGreaterThan(5);
  const line = utf8(lineOf(JSON.stringify(snapshot(1, [], [], { revision: 'high' }))));
  expect(inspectRecord(line, 0, line.length, false).flags).toContain('invalid');
});
