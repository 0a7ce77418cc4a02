import { type LifecycleKind, lifecycleKindOf } from '@turnlog/events';
import {
  type ClosedTurn,
  initialLifecycle,
  type LifecycleState,
  raiseTurnCount,
  step,
  turnOfLast,
} from '../src/lifecycle.js';

/** Steps through records of ten bytes each, seqs from 1 on; gives the state and what was closed on the way. */
function run(
  kinds: readonly LifecycleKind[],
  from: LifecycleState = initialLifecycle,
): { readonly state: LifecycleState; readonly closed: readonly ClosedTurn[] } {
  let state = from;
  const closed: ClosedTurn[] = [];
  for (const kind of kinds) {
    const place = state.eventCount;
    state = step(state, kind, {
      start: place * 10,
      end: place * 10 + 10,
      seq: place + 1,
      tsMs: place * 1_000,
    });
    if (state.closed !== null) closed.push(state.closed);
  }
  return { state, closed };
}

const shapes = (turns: readonly ClosedTurn[]): unknown =>
  turns.map(({ turn, status, start, end, events, upto }) => [turn, status, start, end, events, upto]);

describe('T-53 the table of the state machine', () => {
  const before: readonly (readonly [name: string, kinds: readonly LifecycleKind[]])[] = [
    ['outside turns', []],
    ['in a turn', ['turn-started']],
    ['completed', ['thread-completed']],
  ];
  const rows: readonly (readonly [LifecycleKind, string, object, readonly unknown[]])[] = [
    ['thread-started', 'outside turns', { turnCount: 0, status: 'active', open: null }, []],
    [
      'thread-started',
      'in a turn',
      { turnCount: 0, status: 'active', open: { turn: 1, end: 20, events: 2 } },
      [],
    ],
    ['thread-started', 'completed', { turnCount: 0, status: 'active', open: null }, []],
    [
      'turn-started',
      'outside turns',
      { turnCount: 0, status: 'active', open: { turn: 1, start: 0, events: 1 } },
      [],
    ],
    [
      'turn-started',
      'in a turn',
      { turnCount: 1, status: 'active', open: { turn: 2, start: 10, firstSeq: 2, events: 1 } },
      [[1, 'interrupted', 0, 10, 1, 1]],
    ],
    ['turn-started', 'completed', { turnCount: 0, status: 'active', open: { turn: 1, start: 10 } }, []],
    ['turn-completed', 'outside turns', { turnCount: 0, status: 'active', open: null }, []],
    [
      'turn-completed',
      'in a turn',
      { turnCount: 1, status: 'active', open: null },
      [[1, 'completed', 0, 20, 2, 2]],
    ],
    ['turn-completed', 'completed', { turnCount: 0, status: 'completed', open: null }, []],
    ['turn-failed', 'outside turns', { turnCount: 0, status: 'active', open: null }, []],
    [
      'turn-failed',
      'in a turn',
      { turnCount: 1, status: 'active', open: null },
      [[1, 'failed', 0, 20, 2, 2]],
    ],
    ['turn-failed', 'completed', { turnCount: 0, status: 'completed', open: null }, []],
    ['thread-completed', 'outside turns', { turnCount: 0, status: 'completed', open: null }, []],
    [
      'thread-completed',
      'in a turn',
      { turnCount: 1, status: 'completed', open: null },
      [[1, 'interrupted', 0, 10, 1, 1]],
    ],
    ['thread-completed', 'completed', { turnCount: 0, status: 'completed', open: null }, []],
    ['other', 'outside turns', { turnCount: 0, status: 'active', open: null }, []],
    [
      'other',
      'in a turn',
      { turnCount: 0, status: 'active', open: { turn: 1, end: 20, lastSeq: 2, events: 2 } },
      [],
    ],
    ['other', 'completed', { turnCount: 0, status: 'completed', open: null }, []],
  ];

  test.each(rows)('T-53 %s %s', (kind, where, expected, closed) => {
    const earlier = run(before.find(([name]) => name === where)?.[1] ?? []).state;
    const { state, closed: found } = run([kind], earlier);
    expect(state).toMatchObject({ ...expected, eventCount: earlier.eventCount + 1 });
    expect(shapes(found)).toEqual(closed);
  });

  test('T-53 numbers rise by one, whatever ends a turn, and entry.events counts the records in its range', () => {
    const kinds: readonly LifecycleKind[] = [
      ...(['turn-started', 'other', 'turn-completed'] as const),
      ...(['turn-started', 'turn-failed', 'other'] as const),
      ...(['turn-started', 'thread-completed'] as const),
      ...(['turn-started', 'turn-started', 'turn-completed'] as const),
    ];
    const { state, closed } = run(kinds);
    expect(closed.map(({ turn }) => turn)).toEqual([1, 2, 3, 4, 5]);
    expect(state).toMatchObject({ turnCount: 5, open: null, status: 'active', eventCount: 11 });
    for (const { start, end, events } of closed) expect(events).toBe((end - start) / 10);
  });
});

test('T-54 a completion without a start, twice: counted, no turn', () => {
  const { state, closed } = run(['turn-completed', 'turn-completed']);
  expect(state).toEqual({ turnCount: 0, open: null, status: 'active', eventCount: 2, closed: null });
  expect(closed).toEqual([]);
});

test('turn.started twice, then a completion: n is interrupted at its last record, n + 1 is completed', () => {
  const { closed } = run(['turn-started', 'other', 'turn-started', 'other', 'turn-completed']);
  expect(shapes(closed)).toEqual([
    [1, 'interrupted', 0, 20, 2, 2],
    [2, 'completed', 20, 50, 3, 5],
  ]);
  expect(closed[0]).toMatchObject({ firstSeq: 1, lastSeq: 2, tsMs: 0, endTsMs: 1_000 });
});

test('thread.completed inside the first turn: the turn counts, is interrupted before it, and the session is completed', () => {
  const { state, closed } = run(['thread-started', 'turn-started', 'other', 'thread-completed']);
  expect(state).toMatchObject({ turnCount: 1, status: 'completed', eventCount: 4, open: null });
  expect(shapes(closed)).toEqual([[1, 'interrupted', 10, 30, 2, 3]]);
});

describe('T-58 the kind of each contract type', () => {
  const kinds: readonly (readonly [title: string, type: string, kind: LifecycleKind])[] = [
    ['T-58 thread.started', 'thread.started', 'thread-started'],
    ['T-58 thread.completed', 'thread.completed', 'thread-completed'],
    ['T-58 turn.started', 'turn.started', 'turn-started'],
    ['T-58 turn.completed', 'turn.completed', 'turn-completed'],
    ['T-58 turn.failed', 'turn.failed', 'turn-failed'],
    ...[
      'thread.compact_boundary',
      'turn.blocked',
      'item.started',
      'item.updated',
      'item.completed',
      'plan.delta',
      'plan.updated',
      'context.cleared',
      'permission.mode_changed',
      'matrix.updated',
      'interjected',
      'error',
      'user.message',
      'log.recovered',
      'log.evicted',
      'run.started',
      'tool.called',
      'turn.Started',
      '',
    ].map((type): readonly [string, string, LifecycleKind] => [
      `T-58 ${type === '' ? 'no type' : type}`,
      type,
      'other',
    ]),
  ];

  test.each(kinds)('%s', (_title, type, kind) => {
    expect(lifecycleKindOf(type)).toBe(kind);
  });
});

test('turns that were used elsewhere raise the count, never lower it, and the next one follows', () => {
  const raised = raiseTurnCount(initialLifecycle, 7);
  expect(raised.turnCount).toBe(7);
  expect(raiseTurnCount(raised, 3)).toBe(raised);
  expect(run(['turn-started'], raised).state.open?.turn).toBe(8);
});

test('a record belongs to the turn that holds its end', () => {
  const turns = (kinds: readonly LifecycleKind[]): number | null =>
    turnOfLast(run(kinds).state, kinds.length * 10);
  expect(turns(['other'])).toBeNull();
  expect(turns(['turn-started'])).toBe(1);
  expect(turns(['turn-started', 'turn-completed'])).toBe(1);
  expect(turns(['turn-started', 'thread-completed'])).toBeNull();
  expect(turns(['turn-started', 'turn-started'])).toBe(2);
});
