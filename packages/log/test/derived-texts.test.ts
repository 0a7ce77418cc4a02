import { createTestMachine, FakeClock, ModelFileSystem } from '@turnlog/testkit';
import fc from 'fast-check';
import { encodeManifest, parseManifest } from '../src/manifest.js';
import { openOwnedLog } from '../src/owned-log.js';
import {
  encodeIndexHeader,
  encodeIndexMark,
  encodeIndexTurn,
  followsTurn,
  markAt,
  parseIndexHeader,
  parseIndexLine,
} from '../src/turn-index.js';

type Tree = { [name: string]: unknown };

async function publishedManifest(): Promise<string> {
  const clock = new FakeClock('skips');
  const fs = new ModelFileSystem({ clock });
  const log = await openOwnedLog(createTestMachine({ fs, clock }), '/s-1', 's-1');
  log.append({ raw: '{"type":"turn.started"}' }, { key: 'k' });
  log.append({ raw: '{"type":"turn.completed","usage":{}}' });
  log.append({ raw: '{"type":"run.started","program":"p","workspace":"/w","agent":"primary"}' });
  log.append({ raw: '{"type":"turn.started"}' });
  await log.close();
  return Buffer.from(fs.contentOf('/s-1/manifest.json')).toString();
}

test('a manifest that is parsed and written again is the same text', async () => {
  const text = await publishedManifest();
  const manifest = parseManifest(text);
  expect(manifest).not.toBeNull();
  if (manifest !== null) expect(encodeManifest(manifest)).toBe(text);
});

/** The text with one member of one of its two objects replaced, or removed. */
function changed(text: string, place: 'top' | 'own', name: string, value: unknown): string {
  const manifest = JSON.parse(text) as Tree & { turnlog: Tree };
  const target = place === 'top' ? manifest : manifest.turnlog;
  if (value === undefined) delete target[name];
  else target[name] = value;
  return JSON.stringify(manifest);
}

test('a manifest with any member missing or of another type is no evidence', async () => {
  const text = await publishedManifest();
  const parsed = JSON.parse(text) as Tree & { turnlog: Tree };
  // Two are for other programs, one may say anything, and which session it is of is asked elsewhere.
  const unchecked = ['created_at', 'updated_at', 'agent', 'session_id'];
  const members = [
    ...Object.keys(parsed).map((name) => ['top', name] as const),
    ...Object.keys(parsed.turnlog).map((name) => ['own', name] as const),
  ].filter(([, name]) => !unchecked.includes(name));
  const cases = members.flatMap(([place, name]) =>
    [undefined, 5.5, -1, '', 'x', 2 ** 53, [null], { v: 1 }].map((value) => [place, name, value] as const),
  );
  const believed = cases.filter(
    ([place, name, value]) => parseManifest(changed(text, place, name, value)) !== null,
  );
  expect(cases.length).toBeGreaterThan(150);
  expect(believed).toEqual([]);
});

test.each([
  '',
  '{',
  'null',
  '[]',
  '5',
  '"s"',
  '{"__proto__":{"schema_version":1}}',
  '{"turnlog":{"__proto__":{"v":1}}}',
])('the text %j is no manifest, no header and no line', (text) => {
  expect(parseManifest(text)).toBeNull();
  expect(parseIndexHeader(text)).toBeNull();
  expect(parseIndexLine(text)).toBeNull();
});

test('parsing never throws, whatever the text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      parseManifest(text);
      parseIndexHeader(text);
      parseIndexLine(text);
    }),
    { numRuns: 1_000 },
  );
});

const count = fc.nat({ max: 2 ** 31 });
const time = fc.option(fc.integer({ min: 0, max: 253_402_300_799_999 }));
const anyTurn = fc
  .record({
    turn: count,
    status: fc.constantFrom('completed' as const, 'failed' as const, 'interrupted' as const),
    start: count,
    firstSeq: count,
    lastSeq: count,
    events: fc.integer({ min: 1, max: 2 ** 31 }),
    upto: count,
    tsMs: time,
    endTsMs: time,
  })
  .map((turn) => ({ ...turn, end: turn.start + turn.events }));

test('lines of the turn index are read as they were written', () => {
  fc.assert(
    fc.property(anyTurn, count, count, (turn, mark, at) => {
      expect(parseIndexLine(encodeIndexTurn(turn).trimEnd())).toEqual({ kind: 'turn', turn });
      expect(parseIndexLine(encodeIndexMark({ mark, at }).trimEnd())).toEqual({
        kind: 'mark',
        mark: { mark, at },
      });
    }),
  );
  const header = { sessionId: 's-7', generation: 'ab'.repeat(16) as never, turnBase: 4 };
  expect(parseIndexHeader(encodeIndexHeader(header).trimEnd())).toEqual(header);
});

test.each([
  ['an end beyond what a double holds', '"end":9007199254740993'],
  ['an end before its start', '"end":1'],
  ['no events', '"events":0'],
  ['a status of an open turn', '"status":"open"'],
  ['a negative seq', '"first_seq":-1'],
  ['a time that is a number', '"ts":5'],
])('a turn with %s is no line', (_name, member) => {
  const name = member.slice(0, member.indexOf(':'));
  const good = encodeIndexTurn({
    turn: 4,
    status: 'completed',
    start: 10,
    end: 20,
    firstSeq: 1,
    lastSeq: 2,
    events: 2,
    upto: 2,
    tsMs: null,
    endTsMs: null,
  });
  expect(parseIndexLine(good)).not.toBeNull();
  const bad = good.replace(new RegExp(`${name}:("[a-z]+"|null|[0-9]+)`), member);
  expect(bad).not.toBe(good);
  expect(parseIndexLine(bad)).toBeNull();
});

test('a turn follows another when its number is the next and it lies behind', () => {
  const turn = {
    turn: 4,
    status: 'completed',
    start: 10,
    end: 20,
    firstSeq: 1,
    lastSeq: 2,
    events: 2,
    upto: 2,
    tsMs: null,
    endTsMs: null,
  } as const;
  const next = { ...turn, turn: 5, start: 20, end: 30, upto: 4 };
  expect(followsTurn(null, turn, 4)).toBe(true);
  expect(followsTurn(null, turn, 1)).toBe(false);
  expect(followsTurn(turn, next, 4)).toBe(true);
  expect(followsTurn(turn, { ...next, turn: 6 }, 4)).toBe(false);
  expect(followsTurn(turn, { ...next, start: 19 }, 4)).toBe(false);
  expect(followsTurn(turn, { ...next, upto: 2 }, 4)).toBe(false);
});

test('a mark is set by the first record at or behind the border of a MiB, once', () => {
  const mib = 1_048_576;
  expect(markAt(-1, 0, 1)).toBeNull();
  expect(markAt(0, mib - 1, 2)).toBeNull();
  expect(markAt(mib - 1, mib, 3)).toEqual({ mark: 3, at: mib });
  expect(markAt(mib, mib + 1, 4)).toBeNull();
  expect(markAt(mib + 1, 5 * mib + 7, 5)).toEqual({ mark: 5, at: 5 * mib + 7 });
});
