import fc from 'fast-check';
import { type JsonToken, JsonTokenizer } from '../src/index.js';

function tokensOf(bytes: Uint8Array, start = 0, end: number = bytes.length): readonly JsonToken[] {
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, start, end);
  const tokens: JsonToken[] = [];
  do tokens.push(tokenizer.next());
  while (tokens.at(-1) !== 'end' && tokens.at(-1) !== 'error');
  return tokens;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function isTaken(bytes: Uint8Array): boolean {
  return tokensOf(bytes).at(-1) === 'end';
}

function isParsed(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

test('tokens come in the order of the text, with place and depth', () => {
  const bytes = utf8(' {"a":[1,"b\\n",{}],"é":true} ');
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  const seen: string[] = [];
  for (let token = tokenizer.next(); token !== 'end'; token = tokenizer.next()) {
    const text = new TextDecoder().decode(bytes.subarray(tokenizer.start, tokenizer.end));
    seen.push(`${token} ${text} ${tokenizer.depth}`);
  }
  expect(seen).toEqual([
    'object-start { 1',
    'key "a" 1',
    'array-start [ 2',
    'number 1 2',
    'string "b\\n" 2',
    'object-start { 3',
    'object-end } 2',
    'array-end ] 1',
    'key "é" 1',
    'literal true 1',
    'object-end } 0',
  ]);
  expect(tokenizer.deepest).toBe(3);
});

test('a string is plain when it holds no escape and no byte from 0x80 on', () => {
  for (const [text, isPlain] of [
    ['"a ~"', true],
    ['""', true],
    ['"a\\u0041"', false],
    ['"\\n"', false],
    ['"é"', false],
  ] as const) {
    const bytes = utf8(text);
    const tokenizer = new JsonTokenizer();
    tokenizer.reset(bytes, 0, bytes.length);
    expect([tokenizer.next(), tokenizer.isPlain]).toEqual(['string', isPlain]);
  }
});

test('a lone byte 0x80 in a string is taken and not plain', () => {
  const bytes = Uint8Array.from([0x22, 0x80, 0x22]);
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  expect([tokenizer.next(), tokenizer.isPlain]).toEqual(['string', false]);
});

test('an error is met again and again, at its place', () => {
  const bytes = utf8('{"a":x}');
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  expect([tokenizer.next(), tokenizer.next(), tokenizer.next(), tokenizer.next()]).toEqual([
    'object-start',
    'key',
    'error',
    'error',
  ]);
});

test('what lies outside of the given range is not looked at', () => {
  const bytes = utf8('"12"');
  expect(tokensOf(bytes, 1, 3)).toEqual(['number', 'end']);
  expect(tokensOf(bytes, 0, 3)).toEqual(['error']);
  expect(tokensOf(utf8('"\\u0041"'), 0, 6)).toEqual(['error']);
  expect(tokensOf(utf8('true'), 0, 3)).toEqual(['error']);
  expect(tokensOf(utf8('1.5'), 0, 2)).toEqual(['error']);
});

test('a container is passed over whole, or its fault is met', () => {
  const bytes = utf8('[[1,{"a":[]}],2]');
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  expect([tokenizer.next(), tokenizer.next(), tokenizer.skipContainer()]).toEqual([
    'array-start',
    'array-start',
    true,
  ]);
  expect([tokenizer.depth, tokenizer.next(), tokenizer.end]).toEqual([1, 'number', 15]);
  tokenizer.reset(utf8('[[1,}'), 0, 5);
  expect([tokenizer.next(), tokenizer.skipContainer()]).toEqual(['array-start', false]);
});

const edges: readonly string[] = [
  '',
  ' ',
  '0',
  '-0',
  '01',
  '-',
  '+1',
  '.5',
  '1.',
  '1.0',
  '1e',
  '1e+',
  '1E-9',
  '1e400',
  '0x1',
  'NaN',
  'Infinity',
  'true',
  'tru',
  'nulL',
  'null ',
  '"',
  '"\\',
  '"\\u12',
  '"\\u12g4"',
  '"\\x"',
  '"\t"',
  '"\u007f"',
  '"\u2028"',
  '[',
  ']',
  '[]',
  '[,]',
  '[1,]',
  '[1 2]',
  '[1,2]',
  '{',
  '{}',
  '{,}',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{"a":1}',
  '{a:1}',
  '{1:1}',
  '{"a":1 "b":2}',
  '[}',
  '{]',
  '[]]',
  '{}{}',
  '1 1',
  '\ufeff1',
  '\u00a01',
  '\v1',
  '\f1',
  '\r\n\t 1',
  "'a'",
  '{"a":1,"a":2}',
  '/**/1',
  '1//',
];

test.each(edges)('%j is taken when JSON.parse takes it', (text) => {
  expect(isTaken(utf8(text))).toBe(isParsed(utf8(text)));
});

test('every byte alone, in a string, after a backslash and between tokens is judged as JSON.parse judges it', () => {
  for (let byte = 0; byte < 256; byte += 1) {
    for (const frame of ['?', '"?"', '"\\?"', '[1?]', '[1?2]', '"a?']) {
      const bytes = utf8(frame);
      bytes[frame.indexOf('?')] = byte;
      expect([byte, frame, isTaken(bytes)]).toEqual([byte, frame, isParsed(bytes)]);
    }
  }
});

const spaced = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, '\t'))
  .map(([value, space]) => utf8(JSON.stringify(value, null, space)));

test('generated texts are taken as JSON.parse takes them', () => {
  fc.assert(
    fc.property(spaced, (bytes) => {
      expect(isTaken(bytes)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

const mutation = fc.record({
  kind: fc.constantFrom('set', 'insert', 'delete', 'cut', 'double'),
  at: fc.nat(),
  byte: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...utf8('{}[]:,"\\ 0-.eEu'))),
});

function mutated(bytes: Uint8Array, kind: string, place: number, byte: number): Uint8Array {
  const at = place % (bytes.length + 1);
  const [head, tail] = [[...bytes.subarray(0, at)], [...bytes.subarray(at)]];
  if (kind === 'insert') return Uint8Array.from([...head, byte, ...tail]);
  if (kind === 'set') return Uint8Array.from([...head, byte, ...tail.slice(1)]);
  if (kind === 'delete') return Uint8Array.from([...head, ...tail.slice(1)]);
  return Uint8Array.from(kind === 'cut' ? head : [...head, ...head, ...tail]);
}

test('mutated texts are taken exactly when JSON.parse takes them', () => {
  const met = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(spaced, fc.array(mutation, { minLength: 1, maxLength: 3 }), (bytes, mutations) => {
      const given = mutations.reduce((text, { kind, at, byte }) => mutated(text, kind, at, byte), bytes);
      const isWanted = isParsed(given);
      if (isWanted) met.taken += 1;
      else met.refused += 1;
      expect(isTaken(given)).toBe(isWanted);
    }),
    { numRuns: 5_000 },
  );
  expect(Math.min(met.taken, met.refused)).toBeGreaterThan(100);
});

test('nesting costs no stack', () => {
  const levels = 2_000_000;
  const tokenizer = new JsonTokenizer();
  const bytes = new Uint8Array(2 * levels).fill(0x5b, 0, levels).fill(0x5d, levels);
  tokenizer.reset(bytes, 0, bytes.length);
  tokenizer.next();
  expect([tokenizer.skipContainer(), tokenizer.next(), tokenizer.deepest]).toEqual([true, 'end', levels]);
});
