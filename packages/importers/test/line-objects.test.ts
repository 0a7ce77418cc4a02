import { detectSource } from '../src/index.js';
import { memberSpans, passedOn, RawJson, textOf, writeJson } from '../src/json-text.js';
import { lineParts } from '../src/line-objects.js';

const encoder = new TextEncoder();

function partsOf(text: string): readonly (readonly [kind: string, text: string])[] {
  const bytes = encoder.encode(text);
  return lineParts(bytes, 0, bytes.length).map((part) => [
    part.kind === 'refused' ? part.reason : part.kind,
    new TextDecoder().decode(bytes.subarray(part.start, part.end)),
  ]);
}

const rows: readonly (readonly [text: string, parts: readonly (readonly [string, string])[]])[] = [
  ['{"a":1}', [['object', '{"a":1}']]],
  [' {"a":1}\t\r', [['object', '{"a":1}']]],
  ['', []],
  [' \r', []],
  [
    '{"a":1}{"b":"}{"}',
    [
      ['object', '{"a":1}'],
      ['object', '{"b":"}{"}'],
    ],
  ],
  [
    '{"a":1} {"b":2}',
    [
      ['object', '{"a":1}'],
      ['object', '{"b":2}'],
    ],
  ],
  [
    '{"a":1}{"b":',
    [
      ['object', '{"a":1}'],
      ['bad-json', '{"b":'],
    ],
  ],
  [
    '{"a":1}x',
    [
      ['object', '{"a":1}'],
      ['bad-json', 'x'],
    ],
  ],
  ['Reading prompt from stdin...', [['bad-json', 'Reading prompt from stdin...']]],
  ['[1,2]', [['not-a-record', '[1,2]']]],
  ['null', [['not-a-record', 'null']]],
  [`${'['.repeat(600)}${']'.repeat(600)}`, [['not-a-record', `${'['.repeat(600)}${']'.repeat(600)}`]]],
  [
    `{"a":${'['.repeat(600)}${']'.repeat(600)}}`,
    [['too-deep', `{"a":${'['.repeat(600)}${']'.repeat(600)}}`]],
  ],
];

test.each(rows)('the parts of %j', (text, parts) => {
  expect(partsOf(text)).toEqual(parts);
});

test('a value that is passed on keeps its text: big numbers, minus zero, order, escapes', () => {
  const text = '{"n":2512292042121000001,"z":-0,"e":1e400,"d":1.0,"\\u0061":"\\ud800","2":1,"1":2}';
  const bytes = encoder.encode(`{"input":${text}}`);
  const span = memberSpans(bytes, { start: 0, end: bytes.length }).get('input');
  const passed = passedOn(bytes, span ?? { start: 0, end: 0 });
  expect(passed).toEqual(new RawJson(text));
  expect(writeJson({ type: 'x', arguments: passed, left: undefined })).toBe(
    `{"type":"x","arguments":${text}}`,
  );
});

test('a value nested deeper than 64 levels is passed on as text', () => {
  for (const [levels, isText] of [
    [64, false],
    [65, true],
  ] as const) {
    const text = '['.repeat(levels) + ']'.repeat(levels);
    const bytes = encoder.encode(text);
    const passed = passedOn(bytes, { start: 0, end: bytes.length });
    expect(typeof passed === 'string').toBe(isText);
    expect(JSON.parse(writeJson(passed))).toEqual(isText ? text : JSON.parse(text));
  }
});

test('of a name given twice the last counts, and names are compared with their escapes decoded', () => {
  const bytes = encoder.encode('{"a":1,"\\u0061":{"b":2},"__proto__":3}');
  const spans = memberSpans(bytes, { start: 0, end: bytes.length });
  expect([...spans].map(([name, span]) => [name, textOf(bytes, span)])).toEqual([
    ['a', '{"b":2}'],
    ['__proto__', '3'],
  ]);
});

const heads: readonly (readonly [kind: string, name: string, head: string])[] = [
  ['vtcode', 'x', '{"schema_version":"0.2.0","event":{"type":"thread.started","thread_id":"t"}}\n'],
  ['vtcode', 'events.jsonl', '{"schema_version":"0.18.0","seq":1,"event":{"type":"turn.started"}}\n'],
  ['events', 'x', '{"schema_version":"0.18.0","seq":1,"event":{"type":"turn.started"}}\n'],
  ['events', 'x', '{"event":{"type":"x.y.z"},"key":"k"}\n'],
  ['codex-exec', 'x', '\uFEFFReading prompt from stdin...\n\n{"type":"thread.started","thread_id":"t"}\n'],
  ['codex-exec', 'harness-session-1.jsonl', '{"type":"error","message":"m"}'],
  ['claude-stream', 'x', '{"type":"system","subtype":"init","session_id":"s"}\n'],
  ['claude-stream', 'x', '{"type":"assistant","message":{},"session_id":"s"}\n'],
  ['unknown', 'x', '{"type":"assistant","message":{},"sessionId":"s"}\n'],
  ['unknown', 'x', '{"type":"session_meta","payload":{}}\n'],
  ['unknown', 'events.jsonl', '[]\n'],
  ['unknown', 'x', ''],
  ['unknown', 'x', '{"schema_version":"0.2.0","event":'],
];

test.each(heads)('%s is what %s holds in %j', (kind, name, head) => {
  expect(detectSource(encoder.encode(head), name)).toBe(kind);
});
