import { encodeRawEvent } from '../src/index.js';

function invalid(place: string, rule: string): Error {
  return expect.objectContaining({ code: 'TURNLOG_INVALID_EVENT', details: { place, rule } });
}

const raw: readonly (readonly [title: string, text: string, stored: string])[] = [
  [
    'C-4 numbers, order and repeated members stay',
    '{"v":2512292042121000001,"type":"x.n","v":[-0,1e400,1.0]}',
    '{"v":2512292042121000001,"type":"x.n","v":[-0,1e400,1.0]}',
  ],
  [
    'C-4 blanks and separators stay',
    ' { "type" : "x.n", "v":"\u2028\u0085" }\t',
    ' { "type" : "x.n", "v":"\u2028\u0085" }\t',
  ],
  ['C-4 line ends between tokens become blanks', '{\r\n"type":\n"x.n"}\r', '{  "type": "x.n"} '],
  ['C-4 escaped line ends stay', '{"type":"x.n","v":"\\n\\r"}', '{"type":"x.n","v":"\\n\\r"}'],
  ['C-4 escapes stay', '{"type":"x\\u002en","v":"\\ud83d"}', '{"type":"x\\u002en","v":"\\ud83d"}'],
  [
    'C-4 half a pair, which has no bytes, becomes its escape',
    '{"type":"x.n","v":"\ud83d"}',
    '{"type":"x.n","v":"\\ud83d"}',
  ],
  ['C-4 an invalid member of a known event', '{"type":"error"}', '{"type":"error"}'],
];

test.each(raw)('%s', (_title, text, stored) => {
  expect(encodeRawEvent(text).text).toBe(stored);
});

const rawRefused: readonly (readonly [title: string, text: string, rule: string])[] = [
  ['C-4 text that does not parse', '{"type":"x.n"', 'unreadable'],
  ['C-4 a line end inside of a string', '{"type":"x.n","v":"a\nb"}', 'unreadable'],
  ['C-4 text behind the object', '{"type":"x.n"}{}', 'unreadable'],
  ['C-4 a byte-order mark', '\ufeff{"type":"x.n"}', 'unreadable'],
  ['C-4 nothing', '', 'unreadable'],
  ['C-4 a list', '[{"type":"x.n"}]', 'not-a-record'],
  ['C-4 no type', '{"v":1}', 'not-a-record'],
  ['C-4 a type that is a number', '{"type":1}', 'not-a-record'],
  ['C-4 two types', '{"type":"x.n","\\u0074ype":"x.m"}', 'duplicate-key'],
  ['C-4 a lifecycle event without its members', '{"type":"turn\\u002ecompleted","usage":[]}', 'lifecycle'],
];

test.each(rawRefused)('%s is refused', (_title, text, rule) => {
  expect(() => encodeRawEvent(text)).toThrow(invalid('', rule));
});
