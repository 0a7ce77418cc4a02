import { parseQuery, type QuerySyntax } from '../src/parse-query.js';

function terms(text: string, syntax: QuerySyntax = 'query'): readonly string[] {
  return parseQuery(text, syntax).terms.map((term) => (term.kind === 'prefix' ? `${term.text}*` : term.text));
}

const literal: readonly (readonly [text: string, terms: readonly string[]])[] = [
  ['multi-agent', ['multi-agent', 'multi', 'agent']],
  ['a:b', ['a:b', 'a', 'b']],
  ['NEAR(', ['near']],
  ['"quoted" -not +plus word*', ['quoted', 'not', 'plus', 'word']],
  ['session:x role:user', ['session:x', 'session', 'x', 'role:user', 'role', 'user']],
  ['*', []],
  ['cargo cargo', ['cargo']],
];

test.each(literal)('B131: literal %s is text, whatever stands in it', (text, expected) => {
  const parsed = parseQuery(text, 'literal');
  expect(parsed.terms.map((term) => term.text)).toEqual(expected);
  expect([parsed.required, parsed.excluded, [...parsed.filters]]).toEqual([[], [], []]);
});

test('forms of the query syntax', () => {
  expect(
    parseQuery('disk +full "no space" -warning -"out of" conf* role:user role:agent since:7d', 'query'),
  ).toEqual({
    terms: [
      { kind: 'token', text: 'disk' },
      { kind: 'token', text: 'full' },
      { kind: 'token', text: 'no' },
      { kind: 'token', text: 'space' },
      { kind: 'prefix', text: 'conf' },
    ],
    whole: null,
    required: [['full'], ['no', 'space']],
    excluded: [['warning'], ['out', 'of']],
    filters: new Map([
      ['role', ['user', 'agent']],
      ['since', ['7d']],
    ]),
    text: 'disk',
  });
});

test.each([
  ['an unbalanced quote', '"disk full', ['disk', 'full']],
  ['a lone plus', '+ disk', ['disk']],
  ['a lone minus', '- disk', ['disk']],
  ['a lone star', '* disk', ['disk']],
  ['one character and a star', 'd* disk', ['d', 'disk']],
  ['an unknown field', 'disk:full', ['disk:full', 'disk', 'full']],
  ['a field without a value', 'role: disk', ['role', 'disk']],
  [
    'an operator of another engine',
    'disk AND full OR NEAR(x y)',
    ['disk', 'and', 'full', 'or', 'near', 'x', 'y'],
  ],
])('%s is text', (_name, text, expected) => {
  expect(terms(text)).toEqual(expected);
});

test('a quoted value of a filter may hold blanks', () => {
  expect([...parseQuery('path:"my dir/a.ts" x', 'query').filters]).toEqual([['path', ['my dir/a.ts']]]);
});

test('one identifier is known as such, with filters beside it, and nothing else is', () => {
  expect(parseQuery('user_id', 'literal').whole).toBe('user_id');
  expect(parseQuery('user_id role:user', 'query').whole).toBe('user_id');
  for (const text of ['user_id x', '+user_id', '"user_id"', 'user', 'user_id y*']) {
    expect([text, parseQuery(text, 'query').whole]).toEqual([text, null]);
  }
});

test('a single sign of a script without spaces stands for all that begins with it', () => {
  expect(terms('食', 'literal')).toEqual(['食*']);
});

test('a query that only excludes, and one that is too long, are refused', () => {
  expect(() => parseQuery('-a -"b c"', 'query')).toThrow(
    expect.objectContaining({ code: 'TURNLOG_NOTHING_TO_SEARCH' }),
  );
  expect(() => parseQuery('x'.repeat(4_097), 'literal')).toThrow(
    expect.objectContaining({ code: 'TURNLOG_QUERY_TOO_LONG' }),
  );
  // Code points count, not their halves.
  expect(parseQuery('𝒳'.repeat(4_096), 'literal').terms).toHaveLength(1);
});
