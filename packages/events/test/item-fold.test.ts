import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  decodeRecord,
  evolveItems,
  type FoldedItem,
  type ItemsState,
  initialItems,
  listCalls,
  listItems,
  strayOutputs,
  type UnknownEvent,
  unansweredCalls,
} from '../src/index.js';
import { goldenBytes, jsonOf, linesOf, sharedBytes, sharedRoot } from './wire-files.js';

type Kind = 'started' | 'updated' | 'completed';

function itemEvent(kind: Kind, item: unknown): UnknownEvent {
  return { type: `item.${kind}`, item };
}

function fold(events: readonly (UnknownEvent | null)[], from = initialItems<number>()): ItemsState<number> {
  return events.reduce((state, event, index) => evolveItems(state, event, index + 1), from);
}

const invocation = (id: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  id,
  type: 'tool_invocation',
  tool_name: 'shell',
  status: 'in_progress',
  ...more,
});
const output = (callId: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: `${callId}:output`,
  type: 'tool_output',
  call_id: callId,
  output: 'o',
  status: 'completed',
  ...more,
});

function shown(item: FoldedItem<number>): readonly unknown[] {
  return [item.id, item.type, item.item, item.firstPosition, item.position, item.recordCount];
}

describe('C-11 items are snapshots', () => {
  test('C-11 records of one id are one item, the last one wins whole, and each keeps its first place', () => {
    const state = fold([
      itemEvent('started', { id: 'a', type: 'agent_message', text: 'h', src: { line: 1 } }),
      itemEvent('started', { id: 'b', type: 'plan', text: 'p' }),
      { type: 'error', message: 'between' },
      itemEvent('updated', { id: 'a', type: 'agent_message', text: 'hel' }),
      itemEvent('completed', { id: 'a', type: 'agent_message', text: 'hello' }),
      itemEvent('updated', { id: 'a', type: 'agent_message', text: 'hello!' }),
    ]);
    expect(listItems(state).map(shown)).toEqual([
      ['a', 'agent_message', { id: 'a', type: 'agent_message', text: 'hello!' }, 1, 6, 4],
      ['b', 'plan', { id: 'b', type: 'plan', text: 'p' }, 2, 2, 1],
    ]);
  });

  test('C-11 a call that appears several times under one id counts once', () => {
    const state = fold([
      itemEvent('started', invocation('c')),
      itemEvent('started', invocation('c')),
      itemEvent('updated', invocation('c')),
      itemEvent('completed', invocation('c', { status: 'completed' })),
      itemEvent('completed', invocation('c', { status: 'completed', outcome: 'success' })),
    ]);
    expect(listCalls(state)).toHaveLength(1);
    expect(listCalls(state)[0]?.call.item).toMatchObject({ outcome: 'success' });
  });

  test('C-11 an item.started behind the completion of its id begins a new item, and nothing else does', () => {
    const events = [
      itemEvent('started', invocation('c', { tool_name: 'one' })),
      itemEvent('completed', invocation('c', { tool_name: 'one', status: 'completed' })),
      itemEvent('updated', invocation('c', { tool_name: 'one', status: 'completed', outcome: 'error' })),
      itemEvent('started', invocation('c', { tool_name: 'two' })),
      itemEvent('started', invocation('c', { tool_name: 'two' })),
      itemEvent('completed', invocation('c', { tool_name: 'two', status: 'failed' })),
      itemEvent('completed', invocation('c', { tool_name: 'two', status: 'failed', outcome: 'error' })),
    ];
    expect(
      listItems(fold(events)).map(({ item, position, firstPosition, recordCount }) => [
        Reflect.get(item, 'tool_name'),
        firstPosition,
        position,
        recordCount,
      ]),
    ).toEqual([
      ['one', 1, 3, 3],
      ['two', 4, 7, 4],
    ]);
  });

  test('C-11 the fold agrees with a naive one over any records, and leaves every earlier state as it was', () => {
    const record = fc.record({
      kind: fc.constantFrom<Kind>('started', 'updated', 'completed'),
      id: fc.constantFrom('a', 'b', 'c', '__proto__'),
      text: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 120 }), fc.nat(), (records, cut) => {
        const naive: { id: string; text: number; first: number; last: number; isDone: boolean }[] = [];
        records.forEach(({ kind, id, text }, index) => {
          const present = naive.findLast((item) => item.id === id);
          if (present === undefined || (present.isDone && kind === 'started')) {
            naive.push({ id, text, first: index + 1, last: index + 1, isDone: kind === 'completed' });
          } else {
            Object.assign(present, { text, last: index + 1, isDone: present.isDone || kind === 'completed' });
          }
        });
        const events = records.map(({ kind, id, text }) => itemEvent(kind, { id, type: 'x', text }));
        const short = fold(events.slice(0, cut % (events.length + 1)));
        const before = listItems(short).map(shown);
        const whole = fold(events);
        expect(
          listItems(whole).map(({ id, item, firstPosition, position, isCompleted }) => ({
            id,
            text: Reflect.get(item, 'text'),
            first: firstPosition,
            last: position,
            isDone: isCompleted,
          })),
        ).toEqual(naive);
        // Two futures of one state do not see each other.
        const one = evolveItems(short, itemEvent('started', { id: 'new', type: 'one' }), 0);
        const other = evolveItems(short, itemEvent('started', { id: 'new', type: 'other' }), 0);
        expect([one, other].map((state) => listItems(state).at(-1)?.type)).toEqual(['one', 'other']);
        expect(
          listItems(evolveItems(one, itemEvent('updated', { id: 'new', type: 'two' }), 0)).at(-1)?.type,
        ).toBe('two');
        expect(listItems(short).map(shown)).toEqual(before);
      }),
    );
  });
});

test('an output stays with its call when the id is used again before it ends, and follows another call id', () => {
  const events = [
    itemEvent('completed', invocation('c', { tool_name: 'one' })),
    itemEvent('started', output('c')),
    itemEvent('started', invocation('c', { tool_name: 'two' })),
    itemEvent('completed', output('c')),
    itemEvent('started', invocation('d', { tool_name: 'three' })),
  ];
  const counts = (given: readonly UnknownEvent[]): readonly number[] =>
    listCalls(fold(given)).map(({ outputs }) => outputs.length);
  expect(counts(events)).toEqual([1, 0, 0]);
  expect(counts([...events, itemEvent('updated', { ...output('d'), id: 'c:output' })])).toEqual([0, 0, 1]);
});

test('an output belongs to the newest call of its id by then', () => {
  const state = fold([
    itemEvent('completed', output('gone')),
    itemEvent('started', invocation('c', { tool_name: 'one' })),
    itemEvent('started', output('c', { output: '', status: 'in_progress' })),
    itemEvent('completed', output('c', { output: 'first' })),
    itemEvent('completed', invocation('c', { tool_name: 'one', status: 'completed' })),
    itemEvent('started', invocation('c', { tool_name: 'two' })),
    itemEvent('started', output('c', { output: 'second' })),
    itemEvent('completed', { ...output('c'), id: 'more', output: 'third' }),
  ]);
  expect(
    listCalls(state).map(({ call, outputs }) => [
      Reflect.get(call.item, 'tool_name'),
      outputs.map(({ item }) => Reflect.get(item, 'output')),
    ]),
  ).toEqual([
    ['one', ['first']],
    ['two', ['second', 'third']],
  ]);
  expect(strayOutputs(state).map(({ id, position }) => [id, position])).toEqual([['gone:output', 1]]);
});

const answers: readonly (readonly [
  title: string,
  events: readonly UnknownEvent[],
  unanswered: readonly string[],
])[] = [
  ['started only', [itemEvent('started', invocation('c'))], ['c']],
  ['named by its own call id', [itemEvent('started', invocation('c', { tool_call_id: 'x' }))], ['x']],
  ['updated only', [itemEvent('updated', invocation('c'))], ['c']],
  ['completed', [itemEvent('completed', invocation('c', { status: 'completed' }))], []],
  [
    'refused',
    [itemEvent('completed', invocation('c', { status: 'failed', outcome: 'permission_rejected' }))],
    [],
  ],
  ['with an output', [itemEvent('started', invocation('c')), itemEvent('completed', output('c'))], []],
  [
    'with an output that was cut short',
    [itemEvent('started', invocation('c')), itemEvent('started', output('c', { status: 'in_progress' }))],
    ['c'],
  ],
  [
    'with the output of another',
    [
      itemEvent('started', invocation('c')),
      itemEvent('started', invocation('d')),
      itemEvent('completed', output('d')),
    ],
    ['c'],
  ],
  ['with a status that is not known', [itemEvent('updated', invocation('c', { status: 'paused' }))], ['c']],
  ['of a server', [itemEvent('started', { id: 'm', type: 'mcp_tool_call', tool_name: 't' })], ['m']],
  [
    'a command',
    [itemEvent('started', { id: 'k', type: 'command_execution', command: 'ls', status: 'in_progress' })],
    ['k'],
  ],
  ['a message is no call', [itemEvent('started', { id: 'a', type: 'agent_message', text: '' })], []],
  [
    'an id used again: the first was answered, the second was not',
    [
      itemEvent('started', invocation('c')),
      itemEvent('completed', invocation('c', { status: 'completed' })),
      itemEvent('started', invocation('c')),
    ],
    ['c'],
  ],
];

test.each(answers)('calls without an answer are listed: %s', (_title, events, unanswered) => {
  expect(unansweredCalls(fold(events)).map(({ callId }) => callId)).toEqual(unanswered);
});

test('records that describe no item are counted, and change nothing else', () => {
  const state = fold([
    itemEvent('started', { id: 'a', type: 'plan', text: 'p' }),
    itemEvent('updated', { type: 'plan', text: 'p' }),
    itemEvent('updated', { id: 'a' }),
    itemEvent('updated', { id: 1, type: 'plan' }),
    itemEvent('updated', 'a'),
    { type: 'item.completed' },
    null,
    { type: 'item.exploded', item: { id: 'a', type: 'plan', text: 'q' } },
  ]);
  expect(listItems(state).map(shown)).toEqual([['a', 'plan', { id: 'a', type: 'plan', text: 'p' }, 1, 1, 1]]);
  expect(state.namelessCount).toBe(6);
});

test('the items of the golden log', () => {
  const golden = goldenBytes('golden.jsonl');
  const events = linesOf(golden).map(({ start, end }) => decodeRecord(golden, start, end).event);
  const state = fold(events as readonly UnknownEvent[]);
  const items = events.flatMap((event) =>
    event.type.startsWith('item.') ? [Reflect.get(event, 'item')] : [],
  );
  const ids = [...new Set(items.map((item: unknown) => Reflect.get(item as object, 'id')))];
  expect(listItems(state).map(({ id }) => id)).toEqual(ids);
  expect(listCalls(state).every(({ isAnswered }) => isAnswered)).toBe(true);
  expect(strayOutputs(state)).toEqual([]);
});

if (existsSync(join(sharedRoot, 'cases'))) {
  test('B94 the call that the end of the log left without an answer is listed', () => {
    const bytes = sharedBytes('cases', 'B94-orphan-tool-call', 'events.jsonl');
    const expected = jsonOf<{ orphanCalls: string[] }>(
      sharedBytes('cases', 'B94-orphan-tool-call', 'expected.json'),
    );
    const events = linesOf(bytes).map(({ start, end }) => decodeRecord(bytes, start, end).event);
    const calls = unansweredCalls(fold(events as readonly UnknownEvent[]));
    expect(calls.map(({ callId }) => callId)).toEqual(expected.orphanCalls);
    expect(calls.map(({ call }) => [call.id, call.position])).toEqual([['i4', 4]]);
  });
}
