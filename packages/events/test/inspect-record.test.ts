import { decodeRecord, inspectRecord, parseEvent, peekRecord } from '../src/index.js';
import { goldenBytes, lineOf, linesOf, utf8 } from './wire-files.js';

function inspectText(text: string, isFirstRecord = false): ReturnType<typeof inspectRecord> {
  const bytes = utf8(text);
  return inspectRecord(bytes, 0, bytes.length, isFirstRecord);
}

function itemLine(item: string): string {
  return lineOf(`{"type":"item.completed","item":${item}}`);
}

const usage = '{"input_tokens":1,"cached_input_tokens":0,"cache_creation_tokens":0,"output_tokens":0}';

const valid: readonly (readonly [title: string, line: string])[] = [
  [
    'C-42 usage without cache_creation_tokens',
    lineOf('{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":2}}'),
  ],
  ['C-42 usage with null members', lineOf('{"type":"turn.completed","usage":{"input_tokens":null}}')],
  ['C-42 no running sessions', lineOf(`{"type":"turn.completed","usage":${usage}}`)],
  [
    'C-42 running sessions null',
    lineOf(`{"type":"turn.completed","usage":${usage},"in_progress_exec_sessions":null}`),
  ],
  [
    'C-42 a compact boundary without segment members',
    lineOf(
      '{"type":"thread.compact_boundary","thread_id":"t","trigger":"auto","mode":"local","original_message_count":9,"compacted_message_count":2}',
    ),
  ],
  ['C-42 a blocked turn with its message only', lineOf('{"type":"turn.blocked","message":"m"}')],
  [
    'C-42 a line without number and time',
    '{"schema_version":"0.1.0","event":{"type":"error","message":"m"}}',
  ],
  [
    'C-19 unknown members in kept',
    lineOf(
      '{"type":"log.redacted","leaf":"0","original_type":"x","length":1,"redacted_at":"t","kept":{"usage":{"a":[1]}}}',
    ),
  ],
  [
    'C-19 unknown members in damage',
    lineOf(
      '{"type":"log.recovered","reason":"torn_tail","damage":[{"kind":"k","offset":0,"length":1,"sha256":"h","more":{"a":1}}],"open_turn":null}',
    ),
  ],
];

test.each(valid)('%s: no fault', (_title, line) => {
  expect(inspectText(line)).toEqual({ flags: [], faults: [] });
  const bytes = utf8(line);
  expect(peekRecord(bytes, 0, bytes.length)).toHaveProperty('type');
});

test('C-19 carried records take unknown members, and readers keep what they do not know', () => {
  const golden = goldenBytes('golden.jsonl');
  const first = new TextDecoder().decode(golden.subarray(0, linesOf(golden)[0]?.end));
  const line = first.replace('"carried":[{', '"carried":[{"more":{"a":1},');
  expect(line).not.toBe(first);
  expect(inspectText(line, true)).toEqual({ flags: [], faults: [] });
  const bytes = utf8(line);
  expect(decodeRecord(bytes, 0, bytes.length).event).toMatchObject({
    carried: [{ more: { a: 1 }, seq: 21 }],
  });
});

const flagged: readonly (readonly [title: string, line: string, flags: readonly string[]])[] = [
  ['an unknown event', lineOf('{"type":"brand.new","v":{}}'), ['unknown-type']],
  ['a known event without a table', lineOf('{"type":"memory.saved","v":1.5}'), []],
  ['an unknown item', itemLine('{"id":"i","type":"hologram"}'), ['unknown-item']],
  [
    'an unknown enum value',
    itemLine('{"id":"i","type":"file_change","changes":[{"path":"p","kind":"rename"}],"status":"completed"}'),
    ['unknown-enum'],
  ],
  [
    'an unknown optional enum value',
    itemLine('{"id":"i","type":"tool_invocation","tool_name":"t","status":"completed","outcome":"eaten"}'),
    ['unknown-enum'],
  ],
  [
    'an unknown part',
    lineOf('{"type":"user.message","id":"u","origin":"prompt","content":[{"type":"hologram"}]}'),
    ['unknown-enum'],
  ],
  [
    'a type behind the other members',
    lineOf('{"item":{"text":"a","id":"i","type":"plan"},"type":"item.completed"}'),
    [],
  ],
  ['a type in escapes', lineOf('{"\\u0074ype":"err\\u006fr","message":"m"}'), []],
  [
    'a number no double holds',
    lineOf('{"type":"x.n","v":9007199254740993}'),
    ['inexact-number', 'unknown-type'],
  ],
  ['a safe number', lineOf('{"type":"memory.saved","v":9007199254740991}'), []],
  ['-0', lineOf('{"type":"memory.saved","v":-0}'), ['inexact-number']],
  ['1e400', lineOf('{"type":"memory.saved","v":1e400}'), ['inexact-number']],
  ['1e3', lineOf('{"type":"memory.saved","v":1e3}'), ['inexact-number']],
  ['1e+21', lineOf('{"type":"memory.saved","v":1e+21}'), []],
  ['half a pair', lineOf('{"type":"memory.saved","v":"\\ud83d\\u0041"}'), ['lone-surrogate']],
  ['the second half alone', lineOf('{"type":"memory.saved","v":"\\udd8a"}'), ['lone-surrogate']],
  ['half a pair in a name', lineOf('{"type":"memory.saved","\\ud83d":1}'), ['lone-surrogate']],
  ['a whole pair', lineOf('{"type":"memory.saved","v":"\\ud83e\\uDD8A\\\\ud83d"}'), []],
  ['a member twice', lineOf('{"type":"memory.saved","v":{"a":1,"\\u0061":2}}'), ['duplicate-member']],
  [
    'a member twice in the envelope',
    '{"schema_version":"a","x":1,"x":2,"event":{"type":"memory.saved"}}',
    ['duplicate-member'],
  ],
  ['the same name in two objects', lineOf('{"type":"memory.saved","v":[{"a":1},{"a":1}]}'), []],
  [
    'names of every object',
    lineOf('{"type":"memory.saved","__proto__":1,"constructor":2,"hasOwnProperty":3}'),
    [],
  ],
  [
    'a fraction for an integer',
    lineOf('{"type":"permission.resolved","tool_name":"t","decision":"allow","wait_ms":9.0}'),
    ['inexact-number', 'invalid'],
  ],
  ['512 levels', lineOf(`{"type":"memory.saved","v":${'['.repeat(510)}${']'.repeat(510)}}`), []],
  ['513 levels', lineOf(`{"type":"memory.saved","v":${'['.repeat(511)}${']'.repeat(511)}}`), ['too-deep']],
  [
    'a million levels',
    lineOf(`{"type":"memory.saved","v":${'[{"a":'.repeat(500_000)}1${'}]'.repeat(500_000)}}`),
    ['too-deep'],
  ],
];

test.each(flagged)('flags of %s', (_title, line, flags) => {
  expect(inspectText(line).flags).toEqual(flags);
});

test('the levels that are decoded are those that are not flagged', () => {
  for (const [levels, isDecoded] of [
    [510, true],
    [511, false],
  ] as const) {
    const bytes = utf8(lineOf(`{"type":"x.n","v":${'['.repeat(levels)}${']'.repeat(levels)}}`));
    const record = peekRecord(bytes, 0, bytes.length);
    if (typeof record === 'string') throw new Error(record);
    expect(parseEvent(bytes, record.eventStart, record.eventEnd) !== null).toBe(isDecoded);
    if (isDecoded) expect(decodeRecord(bytes, 0, bytes.length).event.type).toBe('x.n');
    else
      expect(() => decodeRecord(bytes, 0, bytes.length)).toThrow(
        expect.objectContaining({ code: 'TURNLOG_TOO_DEEP' }),
      );
  }
  const bytes = utf8(lineOf(`{"type":"x.n","v":"${'['.repeat(600)}"}`));
  expect(decodeRecord(bytes, 0, bytes.length).event).toEqual({ type: 'x.n', v: '['.repeat(600) });
});

test('bytes that are not UTF-8 are flagged', () => {
  const bad: readonly (readonly number[])[] = [
    [0xff],
    [0x80],
    [0xc0, 0x80],
    [0xc3],
    [0xe0, 0x80, 0x80],
    [0xed, 0xa6, 0x9c],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf0, 0x9f, 0xa6],
  ];
  for (const sequence of bad) {
    const text = lineOf(`{"type":"memory.saved","v":"${'?'.repeat(sequence.length)}"}`);
    const bytes = utf8(text);
    bytes.set(sequence, text.indexOf('?'));
    expect(inspectRecord(bytes, 0, bytes.length, false).flags).toEqual(['invalid-utf8']);
  }
  expect(inspectText(lineOf('{"type":"memory.saved","é語🦊\u{10ffff}":"\ud7ff\ue000"}')).flags).toEqual([]);
});

const faulty: readonly (readonly [title: string, line: string, place: string, rule: string])[] = [
  [
    'null for a defaulted member',
    lineOf('{"type":"turn.blocked","message":"m","total_cap":null}'),
    '/event/total_cap',
    'not null',
  ],
  ['a missing member', lineOf('{"type":"error"}'), '/event/message', 'required'],
  ['null', lineOf('{"type":"error","message":null}'), '/event/message', 'not null'],
  [
    'null in a list',
    itemLine('{"id":"i","type":"web_search","query":"q","results":["a",null]}'),
    '/event/item/results/1',
    'not null',
  ],
  [
    'a number in a list of texts',
    itemLine('{"id":"i","type":"web_search","query":"q","results":[1]}'),
    '/event/item/results/0',
    'str',
  ],
  [
    'an object for a list',
    itemLine('{"id":"i","type":"web_search","query":"q","results":{}}'),
    '/event/item/results',
    'list',
  ],
  [
    'a text for an object',
    lineOf('{"type":"turn.failed","message":"m","usage":"u"}'),
    '/event/usage',
    'object',
  ],
  ['a list for an object', lineOf('{"type":"item.started","item":[]}'), '/event/item', 'object'],
  ['true for a text', lineOf('{"type":"error","message":true}'), '/event/message', 'str'],
  [
    'a text for a bool',
    lineOf(
      '{"type":"plan.approval.resolved","thread_id":"t","turn_id":"u","decision":"execute","automatic":"yes"}',
    ),
    '/event/automatic',
    'bool',
  ],
  [
    'a sign',
    lineOf('{"type":"turn.completed","usage":{"input_tokens":-1}}'),
    '/event/usage/input_tokens',
    'u64',
  ],
  [
    '2^64',
    lineOf('{"type":"turn.completed","usage":{"input_tokens":18446744073709551616}}'),
    '/event/usage/input_tokens',
    'u64',
  ],
  [
    '2^31',
    itemLine('{"id":"i","type":"tool_output","call_id":"c","exit_code":2147483648,"status":"failed"}'),
    '/event/item/exit_code',
    'i32',
  ],
  [
    'a map of texts',
    lineOf(
      '{"type":"log.summary","id":"s","from_seq":1,"to_seq":1,"events":1,"turns":1,"event_types":{"a/b~c":"1"},"facts":[],"by":"b"}',
    ),
    '/event/event_types/a~1b~0c',
    'u64',
  ],
  ['an item without id', itemLine('{"type":"hologram"}'), '/event/item/id', 'required'],
  [
    'a number for a nullable text',
    lineOf('{"type":"log.recovered","reason":"gap","damage":[],"open_turn":"1"}'),
    '/event/open_turn',
    'u64',
  ],
  [
    'a missing nullable member',
    lineOf('{"type":"log.recovered","reason":"gap","damage":[]}'),
    '/event/open_turn',
    'required',
  ],
  ['a key that is a number', '{"schema_version":"a","key":1,"event":{"type":"memory.saved"}}', '/key', 'str'],
];

test.each(faulty)('%s is a fault with place and rule', (_title, line, place, rule) => {
  const { flags, faults } = inspectText(line);
  expect(flags).toContain('invalid');
  expect(faults).toEqual([{ place, rule }]);
});

test('negative exit codes, -2^31 included, are fine', () => {
  for (const code of [-1, -2_147_483_648, 2_147_483_647]) {
    expect(
      inspectText(
        itemLine(`{"id":"i","type":"tool_output","call_id":"c","exit_code":${code},"status":"failed"}`),
      ).faults,
    ).toEqual([]);
  }
});

test('at most a hundred faults are listed', () => {
  const { flags, faults } = inspectText(
    itemLine(`{"id":"i","type":"web_search","query":"q","results":[${'1,'.repeat(500)}1]}`),
  );
  expect([flags, faults.length]).toEqual([['invalid'], 100]);
});

test('log.evicted is misplaced but in the first record', () => {
  const golden = goldenBytes('golden.jsonl');
  const end = linesOf(golden)[0]?.end ?? 0;
  expect(inspectRecord(golden, 0, end, true).flags).toEqual([]);
  expect(inspectRecord(golden, 0, end, false).flags).toEqual(['misplaced']);
});

test('what is no record cannot be inspected or decoded', () => {
  const bytes = utf8(lineOf('{"type":"turn.completed"}'));
  const refusal: Error = expect.objectContaining({
    code: 'TURNLOG_INVALID_EVENT',
    details: { place: '', rule: 'lifecycle' },
  });
  expect(() => inspectRecord(bytes, 0, bytes.length, true)).toThrow(refusal);
  expect(() => decodeRecord(bytes, 0, bytes.length)).toThrow(refusal);
});

test('unknown values are decoded as they stand', () => {
  const line = lineOf(
    '{"type":"permission.resolved","tool_name":"t","decision":"ask_again","wait_ms":null,"mood":"x"}',
  );
  const bytes = utf8(line);
  expect(decodeRecord(bytes, 0, bytes.length).event).toEqual({
    type: 'permission.resolved',
    tool_name: 't',
    decision: 'ask_again',
    wait_ms: null,
    mood: 'x',
  });
});
