import { createHash } from 'node:crypto';
import { SeededRandom } from '@turnlog/testkit';
import { RawJson } from '../src/json-text.js';
import { KeySet } from '../src/key-set.js';
import { importKey } from '../src/record-emitter.js';
import { SourceObject } from '../src/source-object.js';
import { SourceValue } from '../src/source-value.js';
import { claudeFiles } from './claude-files.js';
import { corpusBytes, hasCorpus, sayWithoutCorpus } from './stream-lines.js';

sayWithoutCorpus('source-value');

function objectOf(text: string | Uint8Array): SourceObject {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return new SourceObject(bytes, { start: 0, end: bytes.length }, 1, 0);
}

/** The same value, which is looked for in the bytes. */
function soughtIn(object: SourceObject): SourceValue {
  return new SourceValue({ bytes: object.bytes, isAsStringified: false }, object.value, object.span);
}

function passedText(value: SourceValue): string {
  const passed = value.passed();
  return passed instanceof RawJson ? `json ${passed.text}` : `text ${passed}`;
}

/** Everything that a value and those inside of it say, to some depth. */
function sayings(value: SourceValue, levels: number): readonly unknown[] {
  const own = [value.text, passedText(value), value.names, value.elements.length, value.span];
  if (levels === 0) return own;
  const inner = [...value.names.map((name) => value.member(name)), ...value.elements];
  return [own, ...inner.map((each) => (each === undefined ? null : sayings(each, levels - 1)))];
}

test('a value says the same whether it is looked for in the bytes or not', () => {
  const object = objectOf('{"a":{"b":[1,"x\\n",{"c":null}],"d":"é😀"},"e":-1.5,"f":{}}');
  expect(object.isAsStringified).toBe(true);
  const whole = object.at();
  expect(whole === undefined ? null : sayings(whole, 4)).toEqual(sayings(soughtIn(object), 4));
  expect(object.at('a', 'b')?.elements[2]?.member('c')?.value).toBeNull();
  expect(object.at('a', 'b', 'c')).toBeUndefined();
  expect(object.at('a', 'toString')).toBeUndefined();
  expect(object.at('e')?.member('length')).toBeUndefined();
});

const unusual: readonly (readonly [name: string, text: string, path: readonly string[], passed: string])[] = [
  ['blanks', '{"a": {"b" : 1 }}', ['a'], 'json {"b" : 1 }'],
  ['a carriage return', '{"a":[1,\r2]}', ['a'], 'json [1, 2]'],
  ['a number with a nought', '{"a":{"cost":1.0}}', ['a'], 'json {"cost":1.0}'],
  ['a number too long', '{"a":12345678901234567890}', ['a'], 'json 12345678901234567890'],
  ['no number of ours', '{"a":1e400}', ['a'], 'json 1e400'],
  ['a minus', '{"a":-0}', ['a'], 'json -0'],
  ['an escape too many', '{"a":"\\u0041\\/"}', ['a'], 'json "\\u0041\\/"'],
  ['names that are numbers', '{"b":1,"a":{"z":1,"7":2}}', ['a'], 'json {"z":1,"7":2}'],
  ['a name twice', '{"a":{"x":1},"a":{"x":[2]}}', ['a', 'x'], 'json [2]'],
  ['a prototype', '{"__proto__":{"x":1},"a":0}', ['__proto__'], 'json {"x":1}'],
  ['half a character', '{"a":{"b":"\\ud83d"}}', ['a'], 'json {"b":"\\ud83d"}'],
];

test.each(unusual)('%s: what is passed on is what stands in the source', (_, text, path, passed) => {
  const object = objectOf(text);
  const found = object.at(...path);
  expect(found === undefined ? null : passedText(found)).toBe(passed);
  const whole = object.at();
  expect(whole === undefined ? null : sayings(whole, 3)).toEqual(sayings(soughtIn(object), 3));
});

test('a value that is nested very deep is passed on as text', () => {
  const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  for (const [levels, kind] of [
    [64, 'json'],
    [65, 'text'],
  ] as const) {
    const object = objectOf(`{"a":${nested(levels)}}`);
    expect(object.isAsStringified).toBe(true);
    const found = object.at('a');
    expect(found === undefined ? null : passedText(found)).toBe(`${kind} ${nested(levels)}`);
    expect(passedText(soughtIn(object).member('a') ?? soughtIn(object))).toBe(`${kind} ${nested(levels)}`);
  }
});

if (hasCorpus) {
  test('the values of real transcripts are the same both ways', () => {
    let stringified = 0;
    let others = 0;
    for (const path of claudeFiles) {
      for (const line of Buffer.from(corpusBytes('claude', ...path))
        .toString()
        .split('\n')) {
        // Long lines say nothing more, and a line of two objects is none.
        if (!line.startsWith('{') || line.length > 100_000 || line.includes('}{"')) continue;
        const object = objectOf(line);
        if (object.isAsStringified) stringified += 1;
        else others += 1;
        const whole = object.at();
        expect(whole === undefined ? null : sayings(whole, 3)).toEqual(sayings(soughtIn(object), 3));
      }
    }
    expect(stringified).toBeGreaterThan(others);
  });
}

test('the key of an event is the first 128 bits of a digest', () => {
  for (let ordinal = 0; ordinal < 300; ordinal += 1) {
    const digest = createHash('sha256').update(`codex\0id\0${ordinal}`).digest();
    const expected = `im1:${digest.subarray(0, 16).toString('base64url')}`;
    expect(importKey('codex', 'id', ordinal)).toBe(expected);
  }
});

test('a set of keys holds what was added, whatever form a key has', () => {
  const random = new SeededRandom(5);
  const keys = Array.from(
    { length: 2_000 },
    () => `im1:${Buffer.from(random.bytes(16)).toString('base64url')}`,
  );
  const others = ['', 'im1:', 'im1:short', `im1:${'!'.repeat(22)}`, `im1:${'A'.repeat(23)}`, 'another key'];
  const all = [...keys, ...others, `im1:${'A'.repeat(22)}`];
  const set = new KeySet();
  for (const [at, key] of all.entries()) {
    expect(set.has(key)).toBe(false);
    if (at % 2 === 0) set.add(key);
  }
  expect(all.map((key) => set.has(key))).toEqual(all.map((_, at) => at % 2 === 0));
  // Two keys that differ in any of the bits that count are two keys.
  for (let bit = 0; bit < 64; bit += 1) {
    const bytes = Buffer.alloc(16, 0x5a);
    const one = new KeySet();
    one.add(`im1:${bytes.toString('base64url')}`);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
    expect(one.has(`im1:${bytes.toString('base64url')}`)).toBe(false);
  }
});
