import { limits } from '@turnlog/kernel';
import fc from 'fast-check';
import { eventRule } from '../src/event-shapes.js';
import { encodeEvent, encodeRawEvent, encodeRecord, inspectRecord } from '../src/index.js';
import { isStoredAsGiven } from '../src/internal/as-given.js';
import { writeEvent } from '../src/internal/event-writer.js';
import { utf8 } from './wire-files.js';

function invalid(place: string, rule: string): Error {
  return expect.objectContaining({ code: 'TURNLOG_INVALID_EVENT', details: { place, rule } });
}

/** An application event, which may hold anything, with `value` as its member `v`. */
function app(value: unknown): unknown {
  return { type: 'x.acme.note', v: value };
}

const usage = { input_tokens: 1, cached_input_tokens: 0, cache_creation_tokens: 0, output_tokens: 2 };

const written: readonly (readonly [title: string, event: unknown, text: string])[] = [
  [
    'C-2 no blanks, members as given',
    app({ b: 1, a: [true, null] }),
    '{"type":"x.acme.note","v":{"b":1,"a":[true,null]}}',
  ],
  ['C-2 the type comes first', { v: 1, type: 'x.n' }, '{"type":"x.n","v":1}'],
  [
    'C-2 known members in the order of the table, others behind',
    { extra: 1, message: 'm', type: 'turn.failed', completed_at: 't' },
    '{"type":"turn.failed","completed_at":"t","message":"m","extra":1}',
  ],
  [
    'C-2 an optional member behind its place',
    { type: 'turn.failed', message: 'm', completed_at: 't' },
    '{"type":"turn.failed","completed_at":"t","message":"m"}',
  ],
  [
    'C-2 the head of an item stands before its type',
    { type: 'item.updated', item: { text: 'a', type: 'plan', id: 'i', x: 0 } },
    '{"type":"item.updated","item":{"id":"i","type":"plan","text":"a","x":0}}',
  ],
  [
    'C-2 unset members are left out',
    { type: 'turn.failed', completed_at: null, message: 'm', usage: undefined },
    '{"type":"turn.failed","message":"m"}',
  ],
  [
    'C-2 defaults are written',
    {
      type: 'turn.completed',
      usage: { output_tokens: 2, input_tokens: null },
      in_progress_exec_sessions: [],
    },
    '{"type":"turn.completed","usage":{"input_tokens":0,"cached_input_tokens":0,"cache_creation_tokens":0,"output_tokens":2}}',
  ],
  [
    'C-2 defaults of a blocked turn',
    { type: 'turn.blocked', message: 'm' },
    '{"type":"turn.blocked","message":"m","blocked_streak":0,"blocked_total":0,"consecutive_cap":0,"total_cap":0,"recovery_active":false}',
  ],
  [
    'C-2 null is written where it is a value',
    {
      type: 'matrix.updated',
      spec: { id: 'm', tasks: [], resources: { b: 1, a: 2, 10: 3, 9: 4 } },
      lifecycle: 'created',
      tasks: [],
      generation: null,
      revision: 1,
    },
    '{"type":"matrix.updated","spec":{"id":"m","tasks":[],"resources":{"10":3,"9":4,"a":2,"b":1}},"lifecycle":"created","tasks":[],"generation":null,"revision":1}',
  ],
  [
    'C-2 strings as JSON.stringify escapes them',
    app('"\\\n\u0007é🦊'),
    '{"type":"x.acme.note","v":"\\"\\\\\\n\\u0007é🦊"}',
  ],
  [
    'C-2 line separators are escaped',
    app('\u0085 \u2028 \u2029'),
    '{"type":"x.acme.note","v":"\\u0085 \\u2028 \\u2029"}',
  ],
  ['C-2 line separators in names too', app({ '\u2028': 1 }), '{"type":"x.acme.note","v":{"\\u2028":1}}'],
  ['C-2 half a pair is written as its escape', app('a\ud83d b'), '{"type":"x.acme.note","v":"a\\ud83d b"}'],
  ['C-3 undefined members are left out', app({ a: undefined, b: 1 }), '{"type":"x.acme.note","v":{"b":1}}'],
  ['C-3 a date', app(new Date(0)), '{"type":"x.acme.note","v":"1970-01-01T00:00:00.000Z"}'],
  ['C-3 an impossible date', app(new Date(Number.NaN)), '{"type":"x.acme.note","v":null}'],
  ['C-3 toJSON', app({ toJSON: (name: string) => ({ name }) }), '{"type":"x.acme.note","v":{"name":"v"}}'],
  ['C-3 toJSON of the event', { toJSON: () => ({ type: 'x.n' }) }, '{"type":"x.n"}'],
  [
    'C-3 boxed values',
    app([Object(1), Object('a'), Object(false)]),
    '{"type":"x.acme.note","v":[1,"a",false]}',
  ],
  ['C-3 BigInt as digits', app(2_512_292_042_121_000_001n), '{"type":"x.acme.note","v":2512292042121000001}'],
  [
    'C-3 BigInt in a known member',
    { type: 'turn.completed', usage: { ...usage, output_tokens: 2n ** 64n - 1n } },
    '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"cache_creation_tokens":0,"output_tokens":18446744073709551615}}',
  ],
  ['C-3 minus zero becomes zero', app(-0), '{"type":"x.acme.note","v":0}'],
  [
    'C-3 own members named like those of every object',
    app(JSON.parse('{"__proto__":{"a":1},"constructor":2}')),
    '{"type":"x.acme.note","v":{"__proto__":{"a":1},"constructor":2}}',
  ],
];

test.each(written)('%s', (_title, event, text) => {
  expect(encodeEvent(event).text).toBe(text);
  expect(writeEvent(event, eventRule).includes('\n')).toBe(false);
});

const cycle: { type: string; v: unknown } = { type: 'x.n', v: null };
cycle.v = [cycle];
const holed: unknown[] = [1, 2];
delete holed[0];

const refused: readonly (readonly [title: string, event: unknown, place: string, rule: string])[] = [
  ['C-3 NaN', app(Number.NaN), '/v', 'finite number'],
  ['C-3 infinity', app([Number.POSITIVE_INFINITY]), '/v/0', 'finite number'],
  ['C-3 minus infinity', app(Number.NEGATIVE_INFINITY), '/v', 'finite number'],
  ['C-3 a function', app({ f: () => 1 }), '/v/f', 'no function'],
  ['C-3 a symbol', app(Symbol('s')), '/v', 'no symbol'],
  ['C-3 undefined in a list', app([undefined]), '/v/0', 'no undefined'],
  ['C-3 a hole in a list', app(holed), '/v/0', 'no hole in a list'],
  ['C-3 a Map', app(new Map()), '/v', 'object'],
  ['C-3 a Set', app({ s: new Set() }), '/v/s', 'object'],
  ['C-3 bytes', app(new Uint8Array(2)), '/v', 'object'],
  ['C-3 an error', app(new Error('e')), '/v', 'object'],
  ['C-3 a cycle', cycle, '/v/0', 'cycle'],
  ['C-2 a type that needs an escape', { type: 'x."' }, '/type', 'no escape'],
  ['C-2 a type with a line separator', { type: 'x.\u2028' }, '/type', 'no escape'],
];

test.each(refused)('%s is refused', (_title, event, place, rule) => {
  expect(() => encodeEvent(event)).toThrow(invalid(place, rule));
});

const broken: readonly (readonly [title: string, event: unknown, place: string, rule: string])[] = [
  ['no object', 'turn.started', '', 'object'],
  ['a list', [], '', 'object'],
  ['null', null, '', 'object'],
  ['nothing', undefined, '', 'object'],
  ['no type', { message: 'm' }, '/type', 'required'],
  ['a type that is no text', { type: 7 }, '/type', 'str'],
  ['a required member missing', { type: 'error' }, '/message', 'required'],
  ['null for a required member', { type: 'error', message: null }, '/message', 'not null'],
  ['a number for a text', { type: 'error', message: 1 }, '/message', 'str'],
  [
    'null for a defaulted member',
    { type: 'turn.blocked', message: 'm', total_cap: null },
    '/total_cap',
    'not null',
  ],
  [
    'a negative count',
    { type: 'turn.completed', usage: { ...usage, output_tokens: -1 } },
    '/usage/output_tokens',
    'u64',
  ],
  [
    'a fraction',
    { type: 'turn.completed', usage: { ...usage, output_tokens: 1.5 } },
    '/usage/output_tokens',
    'u64',
  ],
  [
    '2^64',
    { type: 'turn.completed', usage: { ...usage, output_tokens: 2n ** 64n } },
    '/usage/output_tokens',
    'u64',
  ],
  [
    'a text for a number',
    { type: 'turn.completed', usage: { output_tokens: '1' } },
    '/usage/output_tokens',
    'u64',
  ],
  [
    '256 in one byte',
    {
      type: 'context.reset',
      thread_id: 't',
      turn_id: 'u',
      trigger: 'x',
      plan_preserved: true,
      previous_context_usage_percent: 256,
      tool_budget_reset: false,
    },
    '/previous_context_usage_percent',
    'u8',
  ],
  ['no item', { type: 'item.started' }, '/item', 'required'],
  ['an item without id', { type: 'item.started', item: { type: 'hologram' } }, '/item/id', 'required'],
  ['an item without type', { type: 'item.started', item: { id: 'i' } }, '/item/type', 'required'],
  [
    'a broken part',
    { type: 'user.message', id: 'u', origin: 'prompt', content: [{ type: 'text' }] },
    '/content/0/text',
    'required',
  ],
  [
    'a turn base of 0',
    {
      type: 'log.imported',
      source: { kind: 'k', session_id: 's', bytes: 1, sha256: 'h' },
      records: 1,
      damage_count: 0,
      turn_base: 0,
      schema_versions: [],
    },
    '/turn_base',
    'u64 from 1',
  ],
  [
    'five running sessions',
    { type: 'turn.completed', usage, in_progress_exec_sessions: ['1', '2', '3', '4', '5'] },
    '/in_progress_exec_sessions',
    'at most 4',
  ],
];

test.each(broken)('a known event with %s is refused with place and rule', (_title, event, place, rule) => {
  expect(() => encodeEvent(event)).toThrow(invalid(place, rule));
});

test('names of a map are written in the order of their bytes', () => {
  const names = { '\u{1f98a}': 1, '\uffff': 2, é: 3, z: 4, zz: 5, '': 6 };
  const { text } = encodeEvent({ ...summary, event_types: names });
  expect(text).toContain('"event_types":{"":6,"z":4,"zz":5,"é":3,"\uffff":2,"\u{1f98a}":1}');
});

const summary = {
  type: 'log.summary',
  id: 's',
  from_seq: 1,
  to_seq: 1,
  events: 1,
  turns: 1,
  facts: [],
  by: 'b',
};

function summaryOf(facts: readonly string[]): unknown {
  return {
    type: 'log.summary',
    id: 's',
    from_seq: 1,
    to_seq: 1,
    events: 1,
    turns: 1,
    event_types: {},
    facts,
    by: 'b',
  };
}

test('lists that a writer bounds are refused beyond their bound and taken up to it', () => {
  const fact = 'ä'.repeat(256);
  const most = Array.from({ length: 32 }, () => fact);
  expect(encodeEvent(summaryOf(most)).type).toBe('log.summary');
  expect(() => encodeEvent(summaryOf([...most, 'one more']))).toThrow(invalid('/facts', 'at most 32'));
  expect(() => encodeEvent(summaryOf([`${fact}a`]))).toThrow(invalid('/facts', 'each at most 512 bytes'));
});

test('unknown values and additive members are taken', () => {
  for (const event of [
    { type: 'permission.resolved', tool_name: 'sh', decision: 'ask_again', wait_ms: 1 },
    { type: 'item.completed', item: { id: 'i', type: 'hologram', beam: 3 } },
    { type: 'journal.begin', frame: 'f', fence: null, kind: 'plan' },
    { type: 'x.acme.anything' },
  ]) {
    expect(encodeEvent(event).text).toBe(JSON.stringify(event));
  }
});

test('C-60 our members on contract items follow the members of the table and are no fault', () => {
  const items = [
    {
      id: 'o',
      type: 'tool_output',
      call_id: 'i',
      output: 'x',
      status: 'completed',
      content: [{ type: 'text', text: 'x' }],
      attachments: [],
      truncated: { bytes: 1 },
    },
    { id: 'a', type: 'agent_message', text: 'x', provider: { any: [1] }, src: { line: 1 } },
    { id: 'm', type: 'mcp_tool_call', tool_name: 't', server: 's' },
  ];
  for (const item of items) {
    const encoded = encodeEvent({ type: 'item.completed', item });
    expect(encoded.text).toBe(JSON.stringify({ type: 'item.completed', item }));
    const line = encodeRecord({ seq: 1, ts: null }, encoded);
    expect(inspectRecord(line, 0, line.length - 1, true)).toEqual({ flags: [], faults: [] });
  }
});

test('a redacted record counts as what it was', () => {
  const event = {
    type: 'log.redacted',
    leaf: '0',
    original_type: 'turn.completed',
    length: 1,
    redacted_at: 't',
  };
  expect(encodeEvent(event)).toMatchObject({ type: 'log.redacted', kind: 'turn-completed' });
  expect(encodeRawEvent(JSON.stringify(event))).toMatchObject({
    type: 'log.redacted',
    kind: 'turn-completed',
  });
  expect(encodeEvent({ type: 'turn.started' }).kind).toBe('turn-started');
  expect(encodeRawEvent('{"type":"turn\\u002estarted"}')).toMatchObject({
    type: 'turn.started',
    kind: 'turn-started',
  });
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

test('nesting counts the envelope and the event, and a million levels overflow nothing', () => {
  const tooDeep: Error = expect.objectContaining({
    code: 'TURNLOG_TOO_DEEP',
    details: { nestingLevelsMax: 100 },
  });
  const most = limits.writerNestingLevelsMax - 2;
  expect(encodeEvent(app(nested(most))).type).toBe('x.acme.note');
  expect(encodeRawEvent(JSON.stringify(app(nested(most)))).type).toBe('x.acme.note');
  expect(() => encodeEvent(app(nested(most + 1)))).toThrow(tooDeep);
  expect(() => encodeEvent(app({ toJSON: () => nested(most + 1) }))).toThrow(tooDeep);
  expect(() => encodeRawEvent(JSON.stringify(app(nested(most + 1))))).toThrow(tooDeep);
  expect(() => encodeEvent(app(nested(1_000_000)))).toThrow(tooDeep);
  const deepText = `{"type":"x.n","v":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
  expect(() => encodeRawEvent(deepText)).toThrow(tooDeep);
});

test('a value that unfolds to more than a line can hold ends early', () => {
  let folded: unknown = ['leaf'];
  for (let level = 0; level < 60; level += 1) folded = [folded, folded];
  const tooLarge: Error = expect.objectContaining({ code: 'TURNLOG_RECORD_TOO_LARGE' });
  expect(() => encodeEvent(app(folded))).toThrow(tooLarge);
  expect(() => encodeEvent(app('a'.repeat(limits.writerLineBytesMax + 1)))).toThrow(tooLarge);
  expect(() => encodeRawEvent(`{"type":"x.n","v":"${'a'.repeat(limits.writerLineBytesMax)}"}`)).toThrow(
    tooLarge,
  );
});

test('the fast path and the careful path write the same text', () => {
  const anything = fc.jsonValue({ maxDepth: 4 });
  const event = fc
    .record({
      type: fc.constantFrom('x.n', 'error', 'turn.failed', 'user.message'),
      message: fc.string(),
      extra: anything,
    })
    .map((value): unknown => value);
  let fastCount = 0;
  fc.assert(
    fc.property(event, (value) => {
      if (!isStoredAsGiven(value, eventRule)) return;
      fastCount += 1;
      expect(writeEvent(value, eventRule)).toBe(JSON.stringify(value));
    }),
  );
  expect(fastCount).toBeGreaterThan(10);
});

test('what is written needs no second writing', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
      fc.boolean(),
      (members, isKnown) => {
        const event = { ...members, type: isKnown ? 'error' : 'x.n', message: 'm' };
        const { text } = encodeEvent(event);
        expect(utf8(text).includes(0x0a)).toBe(false);
        expect(encodeEvent(JSON.parse(text)).text).toBe(text);
      },
    ),
  );
});
