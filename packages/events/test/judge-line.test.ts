import fc from 'fast-check';
import { type DamageKind, judgeLine, type LinePiece, lifecycleKindOf, peekRecord } from '../src/index.js';
import { lineOf, utf8 } from './wire-files.js';

function peekText(text: string): ReturnType<typeof peekRecord> {
  const bytes = utf8(text);
  return peekRecord(bytes, 0, bytes.length);
}

test('C-8 five types are lifecycle types, and turn.blocked is not one', () => {
  expect(
    ['thread.started', 'thread.completed', 'turn.started', 'turn.completed', 'turn.failed'].map(
      lifecycleKindOf,
    ),
  ).toEqual(['thread-started', 'thread-completed', 'turn-started', 'turn-completed', 'turn-failed']);
  for (const type of ['turn.blocked', 'thread.compact_boundary', 'turn', 'Turn.started', '', 'toString']) {
    expect(lifecycleKindOf(type)).toBe('other');
  }
});

const notRecords: readonly (readonly [title: string, line: string, kind: DamageKind])[] = [
  ['C-31 a text that does not end', '"', 'unreadable'],
  ['C-31 half a word', 'tru', 'unreadable'],
  ['C-31 a cut line', lineOf('{"type":"error"'), 'unreadable'],
  ['C-31 text behind', `${lineOf('{"type":"error"}')} tail`, 'unreadable'],
  ['C-31 two texts', `${lineOf('{"type":"error"}')} {}`, 'unreadable'],
  ['C-31 a byte-order mark', `\ufeff${lineOf('{"type":"error"}')}`, 'unreadable'],
  ['C-31 another blank', `\u00a0${lineOf('{"type":"error"}')}`, 'unreadable'],
  [
    'C-31 broken although version and event come first',
    '{"schema_version":"a","event":{"type":"x"},"b":[1}',
    'unreadable',
  ],
  ['C-31 broken although a member came twice', '{"event":1,"event":2', 'unreadable'],
  ['C-32 a list', '[{"schema_version":"a","event":{"type":"x"}}]', 'not-a-record'],
  ['C-32 a text', '"schema_version"', 'not-a-record'],
  ['C-32 a number', '12', 'not-a-record'],
  ['C-32 null', 'null', 'not-a-record'],
  ['C-32 no version', '{"event":{"type":"x"}}', 'not-a-record'],
  ['C-32 a version that is a number', '{"schema_version":18,"event":{"type":"x"}}', 'not-a-record'],
  ['C-32 no event', '{"schema_version":"a"}', 'not-a-record'],
  ['C-32 an event that is a text', '{"schema_version":"a","event":"x"}', 'not-a-record'],
  ['C-32 an event that is a list', '{"schema_version":"a","event":[]}', 'not-a-record'],
  ['C-32 no type', '{"schema_version":"a","event":{}}', 'not-a-record'],
  [
    'C-32 no type in the last of two events',
    '{"schema_version":"a","event":{"type":"x"},"event":{}}',
    'not-a-record',
  ],
  ['C-32 a type deeper down only', '{"schema_version":"a","event":{"b":{"type":"x"}}}', 'not-a-record'],
  ['C-32 a type that is null', '{"schema_version":"a","event":{"type":null}}', 'not-a-record'],
  [
    'C-32 schema_version twice',
    '{"schema_version":"a","schema_version":"a","event":{"type":"x"}}',
    'duplicate-key',
  ],
  ['C-32 seq twice', '{"schema_version":"a","seq":1,"seq":1,"event":{"type":"x"}}', 'duplicate-key'],
  ['C-32 ts twice', '{"schema_version":"a","ts":1,"ts":1,"event":{"type":"x"}}', 'duplicate-key'],
  ['C-32 key twice', '{"schema_version":"a","key":1,"key":1,"event":{"type":"x"}}', 'duplicate-key'],
  ['C-32 salt twice', '{"schema_version":"a","salt":1,"salt":1,"event":{"type":"x"}}', 'duplicate-key'],
  ['C-32 event twice', '{"schema_version":"a","event":{"type":"x"},"event":{"type":"x"}}', 'duplicate-key'],
  ['C-32 type twice', '{"schema_version":"a","event":{"type":"x","type":"x"}}', 'duplicate-key'],
  [
    'C-32 seq twice, once in escapes',
    '{"schema_version":"a","seq":1,"\\u0073eq":1,"event":{"type":"x"}}',
    'duplicate-key',
  ],
  ['C-33 thread.started without thread_id', lineOf('{"type":"thread.started"}'), 'lifecycle'],
  ['C-33 thread.started with a number', lineOf('{"type":"thread.started","thread_id":1}'), 'lifecycle'],
  ['C-33 turn.completed without usage', lineOf('{"type":"turn.completed"}'), 'lifecycle'],
  ['C-33 usage null', lineOf('{"type":"turn.completed","usage":null}'), 'lifecycle'],
  ['C-33 usage a list', lineOf('{"type":"turn.completed","usage":[]}'), 'lifecycle'],
  ['C-33 turn.failed without message', lineOf('{"type":"turn.failed"}'), 'lifecycle'],
  ['C-33 message null', lineOf('{"type":"turn.failed","message":null}'), 'lifecycle'],
  [
    'C-33 the last of two messages counts',
    lineOf('{"type":"turn.failed","message":"m","message":1}'),
    'lifecycle',
  ],
  ['C-33 a type in escapes', lineOf('{"type":"turn\\u002efailed"}'), 'lifecycle'],
];

test.each(notRecords)('%s is damage', (_title, line, kind) => {
  expect(peekText(line)).toBe(kind);
});

const threadCompleted: Readonly<Record<string, unknown>> = {
  type: 'thread.completed',
  thread_id: 't',
  session_id: 's',
  subtype: 'success',
  outcome_code: 'o',
  usage: {},
  num_turns: 0,
};

test('C-33 thread.completed needs its six members in their form', () => {
  expect(peekText(lineOf(JSON.stringify(threadCompleted)))).toMatchObject({ kind: 'thread-completed' });
  for (const name of Object.keys(threadCompleted).filter((member) => member !== 'type')) {
    for (const value of [undefined, null, [], -1, 1.5]) {
      expect(peekText(lineOf(JSON.stringify({ ...threadCompleted, [name]: value })))).toBe('lifecycle');
    }
  }
  for (const turns of ['1.0', '1e3', '-0', '"1"']) {
    const text = JSON.stringify(threadCompleted).replace('"num_turns":0', `"num_turns":${turns}`);
    expect(peekText(lineOf(text))).toBe('lifecycle');
  }
});

const records: readonly (readonly [title: string, event: string, kind: string])[] = [
  ['C-33 turn.started needs nothing', '{"type":"turn.started"}', 'turn-started'],
  [
    'C-33 faults in optional members',
    '{"type":"turn.started","context":5,"token_breakdown":[]}',
    'turn-started',
  ],
  [
    'C-33 faults in inner members',
    '{"type":"turn.completed","usage":{"input_tokens":"many"}}',
    'turn-completed',
  ],
  ['C-33 unknown members', '{"type":"turn.failed","message":"m","mood":{}}', 'turn-failed'],
  [
    'C-33 unknown enum values',
    '{"type":"thread.completed","thread_id":"t","session_id":"s","subtype":"exploded","outcome_code":"o","usage":{},"num_turns":3}',
    'thread-completed',
  ],
  ['C-33 other types need nothing', '{"type":"item.completed"}', 'other'],
];

test.each(records)('%s', (_title, event, kind) => {
  expect(peekText(lineOf(event))).toMatchObject({ kind });
});

test('a redacted record counts as what it was, and owes none of its members', () => {
  expect(peekText(lineOf('{"type":"log.redacted","original_type":"turn\\u002ecompleted"}'))).toMatchObject({
    type: 'log.redacted',
    kind: 'turn-completed',
  });
  expect(peekText(lineOf('{"type":"log.redacted","original_type":7}'))).toMatchObject({ kind: 'other' });
});

test('C-31 bytes that are not UTF-8 read as U+FFFD, and blanks may stand around the text', () => {
  const line = utf8(`\t ${lineOf('{"type":"x.?"}')} \r`);
  line[line.indexOf(0x3f)] = 0xff;
  const before = Uint8Array.from(line);
  expect(peekRecord(line, 0, line.length)).toMatchObject({ type: 'x.\ufffd' });
  expect(line).toEqual(before);
});

test('C-32 members are found in any order and through escapes', () => {
  const text =
    '{"\\u0065vent":{"message":"m","\\u0074ype":"turn\\u002eblocked"},"k":0,"ts":"t","seq":3,"key":"\\u006b","schema_version":"0\\u002e1"}';
  expect(peekText(text)).toEqual({
    type: 'turn.blocked',
    kind: 'other',
    statedSeq: 3,
    hasSeq: true,
    ts: 't',
    hasTs: true,
    key: 'k',
    schemaVersion: '0.1',
    hasAssetWord: false,
    nestingLevels: 2,
    eventStart: 14,
    eventEnd: text.indexOf('},') + 1,
  });
});

function judge(text: string, highestSeq = 0, isTerminated = true): readonly string[] {
  const bytes = utf8(`##${text}##`);
  const pieces = judgeLine(bytes, 2, bytes.length - 2, { highestSeq, isTerminated });
  return pieces.map((piece) => shown(piece));
}

function shown(piece: LinePiece): string {
  const place = `${piece.start - 2}-${piece.end - 2}`;
  if (piece.verdict === 'damage') return `${place} ${piece.kind}`;
  const marks = `${piece.isSalvaged ? ' salvaged' : ''}${piece.isUnterminated ? ' unterminated' : ''}`;
  return `${place} record ${piece.record.statedSeq}${marks}`;
}

const whole = lineOf('{"type":"error","message":"m"}', 5);
const next = lineOf('{"type":"error","message":"n"}', 6);
const stub = '{"schema_version":"0.18.0","seq":4,"ts';
const w = whole.length;
const s = stub.length;

const lines: readonly (readonly [
  title: string,
  text: string,
  terminated: readonly string[],
  open: readonly string[],
])[] = [
  ['nothing', '', ['0-0 blank'], []],
  ['blanks', ' \t\r', ['0-3 blank'], ['0-3 torn-tail']],
  ['zeros', '\0\0\0', ['0-3 nul-run'], ['0-3 nul-run']],
  [
    'zeros before a record',
    `\0\0${whole}`,
    ['0-2 nul-run', `2-${w + 2} record 5`],
    ['0-2 nul-run', `2-${w + 2} record 5 unterminated`],
  ],
  ['zeros before blanks', '\0\0\r', ['0-2 nul-run', '2-3 blank'], ['0-2 nul-run', '2-3 torn-tail']],
  [
    'zeros before a stub',
    `\0${stub}`,
    ['0-1 nul-run', `1-${s + 1} unreadable`],
    ['0-1 nul-run', `1-${s + 1} torn-tail`],
  ],
  ['a record', whole, [`0-${w} record 5`], [`0-${w} record 5 unterminated`]],
  ['a record with blanks', ` ${whole}\r`, [`0-${w + 2} record 5`], [`0-${w + 2} record 5 unterminated`]],
  ['a stub', stub, [`0-${s} unreadable`], [`0-${s} torn-tail`]],
  ['JSON that is no record', '{"a":1}', ['0-7 not-a-record'], ['0-7 torn-tail']],
  [
    'C-34 a stub and a record',
    stub + whole,
    [`0-${s} fused-stub`, `${s}-${s + w} record 5 salvaged`],
    [`0-${s} fused-stub`, `${s}-${s + w} record 5 salvaged unterminated`],
  ],
  [
    'C-34 a record and a stub',
    whole + stub,
    [`0-${w} record 5 salvaged`, `${w}-${w + s} fused-stub`],
    [`0-${w} record 5 salvaged`, `${w}-${w + s} torn-tail`],
  ],
  [
    'C-34 two records',
    whole + next,
    [`0-${w} record 5 salvaged`, `${w}-${2 * w} record 6 salvaged`],
    [`0-${w} record 5 salvaged`, `${w}-${2 * w} record 6 salvaged unterminated`],
  ],
  [
    'C-34 two records with a blank between',
    `${whole} ${next}`,
    [`0-${w + 1} record 5 salvaged`, `${w + 1}-${2 * w + 1} record 6 salvaged`],
    [`0-${w + 1} record 5 salvaged`, `${w + 1}-${2 * w + 1} record 6 salvaged unterminated`],
  ],
  [
    'C-34 the same record twice',
    whole + whole,
    [`0-${w} record 5 salvaged`, `${w}-${2 * w} fused-stub`],
    [`0-${w} record 5 salvaged`, `${w}-${2 * w} torn-tail`],
  ],
  [
    'C-34 text before a record',
    `tail${whole}`,
    ['0-4 fused-stub', `4-${w + 4} record 5 salvaged`],
    ['0-4 fused-stub', `4-${w + 4} record 5 salvaged unterminated`],
  ],
  ['C-34 text behind a record', `${whole}tail`, [`0-${w + 4} unreadable`], [`0-${w + 4} torn-tail`]],
  ['C-34 two stubs', stub + stub, [`0-${2 * s} unreadable`], [`0-${2 * s} torn-tail`]],
  [
    'C-34 a record with members in another order first',
    `{"seq":5,"schema_version":"a","event":{"type":"x"}}${next}`,
    ['0-51 record 5 salvaged', `51-${51 + w} record 6 salvaged`],
    ['0-51 record 5 salvaged', `51-${51 + w} record 6 salvaged unterminated`],
  ],
];

test.each(lines)('%s', (_title, text, terminated, open) => {
  expect(judge(text)).toEqual(terminated);
  expect(judge(text, 0, false)).toEqual(open);
});

test('C-34 only a number above all before makes a piece a record', () => {
  const [stubPiece, recordPiece] = [`0-${s} fused-stub`, `${s}-${s + w} record 5 salvaged`];
  expect(judge(stub + whole, 4)).toEqual([stubPiece, recordPiece]);
  expect(judge(stub + whole, 5)).toEqual([`0-${s + w} unreadable`]);
  const unnumbered = '{"schema_version":"0.1.0","event":{"type":"error"}}';
  expect(judge(stub + unnumbered)).toEqual([`0-${s + unnumbered.length} unreadable`]);
  expect(judge(next + whole)).toEqual([`0-${w} record 6 salvaged`, `${w}-${2 * w} fused-stub`]);
});

test('C-34 a line that is damage of another kind is cut as well, and keeps its kind when nothing is found', () => {
  const twice = lineOf('{"type":"error"},"event":{"type":"error"}', 4);
  expect(judge(twice)).toEqual([`0-${twice.length} duplicate-key`]);
  const within = `{"a":${whole}}`;
  expect(judge(within)).toEqual([`0-${within.length} not-a-record`]);
});

test('C-34 more than 64 places are too many', () => {
  const head = '{"schema_version":';
  expect(judge(head.repeat(63) + whole)).toHaveLength(64);
  const bytes = head.length * 64 + w;
  expect(judge(head.repeat(64) + whole)).toEqual([`0-${bytes} unreadable`]);
});

test('no other line end cuts a line (B37, B42)', () => {
  const text = lineOf('{"type":"error","message":"a\u2028b\u2029c\u0085d\\u000be"}', 5);
  expect(judge(`${text}\r`)).toEqual([`0-${utf8(text).length + 1} record 5`]);
});

/** What JSON.parse makes of the line, by the same words. */
function verdictByParse(bytes: Uint8Array): 'record' | 'unreadable' | 'other' {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return error instanceof SyntaxError ? 'unreadable' : 'other';
  }
  return isRecordValue(value) ? 'record' : 'other';
}

function isRecordValue(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const version: unknown = Reflect.get(value, 'schema_version');
  const event: unknown = Reflect.get(value, 'event');
  if (typeof version !== 'string' || typeof event !== 'object' || event === null) return false;
  return !Array.isArray(event) && typeof Reflect.get(event, 'type') === 'string';
}

test('peeking agrees with JSON.parse on what is JSON and what is a record', () => {
  const members = fc.dictionary(
    fc.constantFrom('type', 'message', 'usage', 'a', '\u2028'),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const event = fc.oneof(
    members,
    members.map((value) => ({ ...value, type: 'x.n' })),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const line = fc
    .record(
      {
        schema_version: fc.oneof(fc.constant('0.18.0'), fc.jsonValue({ maxDepth: 1 })),
        seq: fc.nat(),
        event,
      },
      { requiredKeys: [] },
    )
    .map((value) => utf8(JSON.stringify(value)));
  const mutation = fc.record({
    at: fc.nat(),
    byte: fc.integer({ min: 0, max: 255 }),
    isCut: fc.boolean(),
    isChanged: fc.boolean(),
  });
  const met = new Set<string>();
  fc.assert(
    fc.property(line, mutation, (bytes, { at, byte, isCut, isChanged }) => {
      const place = at % bytes.length;
      if (isChanged) bytes[place] = byte;
      const given = isCut && isChanged ? bytes.subarray(0, place) : bytes;
      const peeked = peekRecord(given, 0, given.length);
      const byParse = verdictByParse(given);
      met.add(byParse);
      if (peeked === 'duplicate-key') return;
      const own = typeof peeked === 'string' && peeked !== 'lifecycle' ? peeked : 'record';
      expect(own === 'not-a-record' ? 'other' : own).toBe(byParse);
    }),
    { numRuns: 2_000 },
  );
  expect([...met].sort()).toEqual(['other', 'record', 'unreadable']);
});

test('pieces are in order, do not overlap and cover the line, whatever it holds', () => {
  const part = fc.constantFrom(
    whole,
    next,
    stub,
    '\0',
    ' ',
    'x',
    '"',
    lineOf('{"type":"turn.completed"}', 9),
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 6 }),
      fc.nat({ max: 7 }),
      fc.boolean(),
      (parts, highestSeq, isTerminated) => {
        const bytes = utf8(parts.join(''));
        let at = 0;
        let highest = highestSeq;
        for (const piece of judgeLine(bytes, 0, bytes.length, { highestSeq, isTerminated })) {
          expect(piece.start).toBe(at);
          at = piece.end;
          if (piece.verdict === 'damage' || !piece.isSalvaged) continue;
          expect(piece.record.statedSeq).toBeGreaterThan(highest);
          highest = piece.record.statedSeq ?? highest;
        }
        expect(at).toBe(bytes.length);
      },
    ),
    { numRuns: 500 },
  );
});
