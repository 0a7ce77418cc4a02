import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readSchemas } from './published-schemas.js';
import { type Direction, type SchemaBreak, schemaBreaks } from './schema-breaks.js';

const frozen = resolve(__dirname, '../../../test/golden/schemas');

/** People write configuration files and we read them; everything else is ours. */
const directionOf = (file: string): Direction => (file === 'config-file.json' ? 'read' : 'written');

const byVersion = (left: string, right: string): number => left.localeCompare(right, 'en', { numeric: true });

/**
 * What came beside the rows that were there, in answer to flags and settings that were not: nobody who reads the older
 * rows meets them without asking.
 */
const asked: readonly SchemaBreak[] = [
  // Settings that are numbers; those that were there keep the type that they had.
  { place: 'config-get.json#line(1)/value', what: 'retyped' },
  // What lies in the trash, with `sessions --trash`.
  { place: 'sessions.json#line', what: 'another alternative' },
];

test.each(readdirSync(frozen).sort(byVersion))('I-1 the schemas only add to those of %s', (release) => {
  const before = readSchemas(join(frozen, release));
  expect(before.size).toBeGreaterThan(20);
  expect(schemaBreaks(before, readSchemas(), directionOf)).toEqual(asked);
});

type Change = (schema: Readonly<Record<string, unknown>>) => unknown;

const base = {
  $defs: {
    line: { anyOf: [{ $ref: '#/$defs/row' }, { $ref: 'common.json#/$defs/sum' }] },
    row: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
  },
  type: 'object',
  required: ['id', 'rows', 'state'],
  properties: {
    id: { type: ['string', 'null'] },
    time: { type: 'string', pattern: '^\\d+$' },
    state: { enum: ['on', 'off'] },
    version: { const: 1 },
    rows: { type: 'array', items: { $ref: '#/$defs/row' } },
    counts: { type: 'object', additionalProperties: { type: 'integer' } },
    maybe: { anyOf: [{ type: 'null' }, { $ref: 'common.json#/$defs/sum' }] },
  },
};
const common = { $defs: { sum: { type: 'object', properties: { count: { type: 'integer' } } } } };

/** The schema with another value for one member, found by its path; undefined takes it away. */
function withMember(value: unknown, path: readonly string[], change: Change | undefined): unknown {
  const [name = '', ...rest] = path;
  const members = Object.entries(Object(value));
  if (rest.length > 0) {
    return Object.fromEntries(
      members.map(([each, inner]) => [each, each === name ? withMember(inner, rest, change) : inner]),
    );
  }
  const kept = members.filter(([each]) => each !== name);
  const old = Object(value)[name];
  return Object.fromEntries(change === undefined ? kept : [...kept, [name, change(old)]]);
}

const set = (verb: unknown, shared: unknown = common): ReadonlyMap<string, unknown> =>
  new Map([
    ['common.json', shared],
    ['verb.json', verb],
  ]);

const breaksOf = (after: ReadonlyMap<string, unknown>, direction: Direction): readonly SchemaBreak[] =>
  schemaBreaks(set(base), after, () => direction);

const to =
  (value: unknown): Change =>
  () =>
    value;

type Row = readonly [
  what: string,
  path: readonly string[],
  change: Change | undefined,
  written: readonly SchemaBreak[],
  read: readonly SchemaBreak[],
];

const only = (place: string, what: SchemaBreak['what']): readonly SchemaBreak[] => [{ place, what }];

const rows: readonly Row[] = [
  ['nothing', ['title'], to('another'), [], []],
  ['a new member', ['properties', 'new'], to({ type: 'string' }), [], []],
  [
    'a member that is gone',
    ['properties', 'time'],
    undefined,
    only('verb.json/time', 'removed'),
    only('verb.json/time', 'removed'),
  ],
  [
    'another type',
    ['properties', 'time', 'type'],
    to('integer'),
    only('verb.json/time', 'retyped'),
    only('verb.json/time', 'retyped'),
  ],
  [
    'one type more',
    ['properties', 'time', 'type'],
    to(['string', 'null']),
    only('verb.json/time', 'retyped'),
    [],
  ],
  ['one type less', ['properties', 'id', 'type'], to('string'), [], only('verb.json/id', 'retyped')],
  ['any type', ['properties', 'id', 'type'], undefined, only('verb.json/id', 'retyped'), []],
  [
    'a member not promised any more',
    ['required'],
    to(['id', 'rows']),
    only('verb.json/state', 'no longer promised'),
    [],
  ],
  [
    'a member newly required',
    ['required'],
    to(['id', 'rows', 'state', 'time']),
    [],
    only('verb.json/time', 'newly required'),
  ],
  [
    'one value more',
    ['properties', 'state', 'enum'],
    to(['on', 'off', 'new']),
    only('verb.json/state', 'other values'),
    [],
  ],
  [
    'one value less',
    ['properties', 'state', 'enum'],
    to(['on']),
    [],
    only('verb.json/state', 'other values'),
  ],
  [
    'another constant',
    ['properties', 'version', 'const'],
    to(2),
    only('verb.json/version', 'other values'),
    only('verb.json/version', 'other values'),
  ],
  [
    'another form of text',
    ['properties', 'time', 'pattern'],
    to('^x$'),
    only('verb.json/time', 'other text'),
    only('verb.json/time', 'other text'),
  ],
  ['no member of any other name', ['additionalProperties'], to(false), [], only('verb.json', 'closed')],
  [
    'another type in a map',
    ['properties', 'counts', 'additionalProperties', 'type'],
    to('string'),
    only('verb.json/counts/*', 'retyped'),
    only('verb.json/counts/*', 'retyped'),
  ],
  [
    'one alternative more',
    ['properties', 'maybe', 'anyOf'],
    (old) => [...Object.values(old), { type: 'string' }],
    only('verb.json/maybe', 'another alternative'),
    [],
  ],
  [
    'one alternative less',
    ['properties', 'maybe', 'anyOf'],
    to([{ type: 'null' }]),
    [],
    only('verb.json/maybe(2)', 'removed'),
  ],
  [
    'no lines',
    ['$defs', 'line'],
    undefined,
    only('verb.json#line', 'removed'),
    only('verb.json#line', 'removed'),
  ],
];

test.each(rows)(
  'I-1 a change that is %s: told where it breaks what we write, and what we read',
  (_what, path, change, written, read) => {
    const after = set(withMember(base, path, change));
    expect(breaksOf(after, 'written')).toEqual(written);
    expect(breaksOf(after, 'read')).toEqual(read);
  },
);

test('I-1 a break is found behind references, in lists and in lines, and a file that is gone', () => {
  const retyped = { id: { type: 'integer' } };
  const row = withMember(base, ['$defs', 'row', 'properties'], to(retyped));
  const what = 'retyped';
  expect(breaksOf(set(row), 'written')).toEqual([
    { place: 'verb.json/rows/[]/id', what },
    { place: 'verb.json#line(1)/id', what },
  ]);
  const sum = { $defs: { sum: { type: 'object', properties: {} } } };
  expect(breaksOf(set(base, sum), 'written')).toEqual([
    { place: 'verb.json/maybe(2)/count', what: 'removed' },
    { place: 'verb.json#line(2)/count', what: 'removed' },
  ]);
  expect(breaksOf(new Map([['common.json', common]]), 'written')).toEqual([
    { place: 'verb.json', what: 'removed' },
  ]);
});
