import { createRedactor } from '@turnlog/store';
import { plantSecrets } from '@turnlog/testkit';
import fc from 'fast-check';

const redactor = createRedactor({ key: Buffer.alloc(32, 7), userPatterns: ['acme-\\d{2,4}'] });

/** Pieces of what the finders look for, so that random texts come close to secrets, and touch them. */
const pieces: readonly string[] = [
  ...plantSecrets(21, 3).map(({ text }) => text),
  ...plantSecrets(14, 4).flatMap(({ secrets }) => secrets.slice(0, 1)),
  ...[
    'password',
    'key',
    'token=',
    'api_key: ',
    'secret',
    '--token ',
    'Authorization: ',
    'Bearer ',
    'Cookie: a=',
    'acme-123',
  ],
  ...[
    '"',
    "'",
    '\\',
    '\\"',
    '\\u0041',
    '\\n',
    '\n',
    ' ',
    ',',
    ';',
    '&',
    '=',
    ':',
    '://',
    '@',
    '?key=',
    '...',
    '(',
    ')',
    '-',
    '_',
  ],
  ...[
    '[redacted:key:01234567]',
    '[redacted:',
    ']',
    '{',
    '}',
    '[',
    '${',
    '<',
    '>',
    'eyJ',
    '.',
    '-----BEGIN PRIVATE KEY-----',
    '\ud800',
    'é',
  ],
];
const nearText = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 12 })
  .map((parts) => parts.join(''));
const loneSurrogates = fc.string({
  unit: fc.constantFrom('\ud800', '\udfff', 'a', '\ud83d\ude00', '\u2028', '\0'),
});
const text = fc.oneof(nearText, loneSurrogates, fc.string());
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(text, fc.constantFrom('password', 'name', 'value', '__proto__', 'key')),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;

test('text: twice is as once', () => {
  fc.assert(
    fc.property(text, (original) => {
      const once = redactor.text(original);
      expect(redactor.text(once)).toBe(once);
    }),
    { numRuns: 3_000 },
  );
});

test('a name that is redacted itself announces the same before and after it', () => {
  const first = plantSecrets(200, 5).find(({ name }) => name === 'model key, long prefix')?.secrets[0] ?? '';
  expect(first.length).toBeGreaterThan(60);
  for (const name of [`${first}&${first} key`, `${first}api_key`, `sort${first} sortkey`]) {
    for (const value of ['!!!!!!"#', 'aB3dE5gH7jK9mN1pQ3sT5', 'abcdefgh']) {
      const once = redactor.jsonText(JSON.stringify({ [name]: value })).text;
      expect(redactor.jsonText(once).text).toBe(once);
    }
  }
});

test('value and jsonText: no throw, twice is as once, and both say the same', () => {
  fc.assert(
    fc.property(json, (original) => {
      const line = JSON.stringify(original);
      const left = redactor.jsonText(line);
      expect(redactor.jsonText(left.text)).toEqual({ text: left.text, changed: false });
      const value = redactor.value(JSON.parse(line) as unknown);
      expect(JSON.parse(left.text)).toEqual(value);
      expect(redactor.value(value)).toEqual(value);
      expect(Buffer.from(redactor.jsonBytes(Buffer.from(line)).bytes).toString()).toBe(left.text);
    }),
    { numRuns: 500 },
  );
});

/** A JSON text without what its strings say: structure, blanks and numbers as they are written. */
const withoutStrings = (line: string): string => line.replace(/"(?:[^"\\]|\\.)*"/g, '""');
const number = fc.oneof(
  fc.constantFrom('-0', '1e400', '2512292042121000001', '1.0', '0.1E+2'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const blank = fc.constantFrom('', ' ', '\t', '\r\n');

test('structure, blanks and numbers of a JSON text stay as they are written; what is not changed stays whole', () => {
  const member = fc.tuple(
    blank,
    text,
    blank,
    fc.oneof(
      number,
      text.map((one) => JSON.stringify(one)),
    ),
    blank,
  );
  fc.assert(
    fc.property(fc.array(member, { maxLength: 8 }), (members) => {
      const parts = members.map(
        ([a, name, b, value, c]) => `${a}${JSON.stringify(name)}${b}:${c}${value}${a}`,
      );
      const line = `{${parts.join(',')}}`;
      const left = redactor.jsonText(line);
      expect(withoutStrings(left.text)).toBe(withoutStrings(line));
      expect(left.changed).toBe(left.text !== line);
      const strings = (of: string): readonly string[] => of.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
      const after = strings(left.text);
      strings(line).forEach((one, at) => {
        if (!after[at]?.includes('[redacted:')) expect(after[at]).toBe(one);
      });
    }),
    { numRuns: 500 },
  );
});

test('half pairs survive, in texts and beside a secret', () => {
  fc.assert(
    fc.property(loneSurrogates, (odd) => {
      expect(redactor.text(odd)).toBe(odd);
      expect(redactor.value([odd])).toEqual([odd]);
      const left = redactor.text(`${odd} password=hunter22x ${odd}`);
      expect(left.startsWith(`${odd} password=[redacted:assign:`)).toBe(true);
      expect(left.endsWith(`] ${odd}`)).toBe(true);
    }),
  );
});

test('bytes that are no JSON and no UTF-8 throw nothing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const left = redactor.jsonBytes(bytes);
      if (!left.changed) expect(left.bytes).toBe(bytes);
    }),
  );
});
