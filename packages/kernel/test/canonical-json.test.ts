import { canonicalJson, type JsonValue, logicalDigest, sha256Hex } from '@turnlog/kernel';
import fc from 'fast-check';

const rows: readonly (readonly [name: string, value: JsonValue, text: string])[] = [
  [
    'members by code units',
    { b: 1, a: 2, é: 3, '€': 4, '\u{1f600}': 5, '﬩': 6 },
    '{"a":2,"b":1,"é":3,"€":4,"😀":5,"﬩":6}',
  ],
  ['members that look like numbers', { 10: 1, 9: 2, a: 3 }, '{"10":1,"9":2,"a":3}'],
  ['nested', { z: [{ b: null, a: true }, []], y: {} }, '{"y":{},"z":[{"a":true,"b":null},[]]}'],
  [
    'whole numbers of any size',
    [18_446_744_073_709_551_615n, 9_007_199_254_740_993n],
    '[18446744073709551615,9007199254740993]',
  ],
  ['numbers', [1, -0, 0.1, 1e21], '[1,0,0.1,1e+21]'],
  ['text', 'a"b\\\n\u2028\ud800', '"a\\"b\\\\\\n\u2028\\ud800"'],
];

test.each(rows)('%s', (_name, value, text) => {
  expect(canonicalJson(value)).toBe(text);
  expect(logicalDigest(value)).toBe(sha256Hex(Buffer.from(text)));
});

test('the order in which members were added does not matter, their values do', () => {
  expect(logicalDigest({ a: 1, b: 2 })).toBe(logicalDigest({ b: 2, a: 1 }));
  expect(logicalDigest({ a: 1, b: 2 })).not.toBe(logicalDigest({ a: 2, b: 1 }));
  expect(logicalDigest([1, 2])).not.toBe(logicalDigest([2, 1]));
});

test('B46 names that every object has are members like any other', () => {
  const value = JSON.parse('{"toString":1,"__proto__":{"x":2},"constructor":3}') as JsonValue;
  expect(canonicalJson(value)).toBe('{"__proto__":{"x":2},"constructor":3,"toString":1}');
});

test('what was read from JSON keeps its value, and a second time changes nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value as JsonValue);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(JSON.parse(text) as JsonValue)).toBe(text);
    }),
  );
});

test('a value nested too deep is refused, and one that JSON has no text for is a defect', () => {
  const nested = (levels: number): JsonValue => {
    let value: JsonValue = 1;
    for (let level = 1; level < levels; level += 1) value = [value];
    return value;
  };
  expect(canonicalJson(nested(512))).toHaveLength(2 * 511 + 1);
  expect(() => canonicalJson(nested(513))).toThrow(expect.objectContaining({ code: 'TURNLOG_TOO_DEEP' }));
  expect(() => canonicalJson(Number.NaN)).toThrow('no such number');
});
