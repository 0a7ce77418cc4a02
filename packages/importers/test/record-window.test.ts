import { SeededRandom } from '@turnlog/testkit';
import { DigestSet } from '../src/digest-set.js';
import { RecordWindow, type SourcePiece } from '../src/record-window.js';
import { sourceTimeMs } from '../src/source-time.js';
import { linesOf } from './stream-lines.js';

function windowOf(bytes: Uint8Array, isFinal: boolean, offset = 0, line = 1): RecordWindow {
  const source = {
    read: (into: Uint8Array, at: number): number => {
      const piece = bytes.subarray(at, at + into.length);
      into.set(piece);
      return piece.length;
    },
  };
  return new RecordWindow(source, { from: { offset, line }, to: bytes.length, isFinal });
}

function piecesOf(window: RecordWindow): readonly SourcePiece[] {
  const pieces: SourcePiece[] = [];
  for (let piece = window.next(); piece !== null; piece = window.next()) pieces.push(piece);
  return pieces;
}

const text = (bytes: string): Uint8Array => new TextEncoder().encode(bytes);

test('looking ahead tells records, the end of a final source, and that more may come', () => {
  const bytes = linesOf({ n: 1 }, 'no record', { n: 2 });
  for (const [isFinal, beyond] of [
    [true, 'end'],
    [false, 'later'],
  ] as const) {
    const window = windowOf(bytes, isFinal);
    expect(window.peek(2)).toMatchObject({ value: { n: 2 } });
    expect(window.peek(3)).toBe(beyond);
    expect(window.next()).toMatchObject({ kind: 'object', object: { value: { n: 1 } } });
    expect(window.peek(1)).toMatchObject({ value: { n: 2 } });
    expect(window.peek(2)).toBe(beyond);
  }
});

test('nobody looks farther than 1,024 records or 8 MiB, wherever the reader stands', () => {
  const many = windowOf(linesOf(...Array.from({ length: 1_100 }, (_, n) => ({ n }))), true);
  many.next();
  expect(many.peek(1_024)).toMatchObject({ value: { n: 1_024 } });
  expect(many.peek(1_025)).toBe('limit');
  expect(many.peek(1)).toMatchObject({ value: { n: 1 } });

  const large = linesOf(...Array.from({ length: 12 }, (_, n) => ({ n, pad: 'x'.repeat(1_000_000) })));
  const fresh = windowOf(large, true);
  fresh.next();
  const direct = Array.from({ length: 11 }, (_, n) => typeof fresh.peek(n + 1));
  // One that has read farther for an earlier record answers the same.
  const used = windowOf(large, true);
  for (let n = 1; used.peek(n) !== 'limit'; n += 1) expect(n).toBeLessThan(12);
  while (used.next()?.kind !== 'object') expect(used).toBeDefined();
  expect(Array.from({ length: 11 }, (_, n) => typeof used.peek(n + 1))).toEqual(direct);
  expect(direct.filter((kind) => kind === 'object')).toHaveLength(9);
});

const cuts: readonly (readonly [
  name: string,
  bytes: string,
  waits: readonly string[],
  final: readonly string[],
])[] = [
  ['a whole object without its line end', '{"a":1}', ['object'], ['object']],
  ['a cut one', '{"a":1}\n{"a":', ['object', 'framing'], ['object', 'framing', 'torn-tail']],
  ['an object and a cut one on a line', '{"a":1}{"b"', ['object'], ['object', 'torn-tail']],
  ['what is no record, before its line end', '[1]', [], ['not-a-record']],
  [
    'blanks and a mark',
    '\ufeff \t\r\n{"a":1} \n',
    ['framing', 'framing', 'object', 'framing', 'framing'],
    ['framing', 'framing', 'object', 'framing', 'framing'],
  ],
];

test.each(cuts)('%s: waits, or is judged when the source is final', (_name, bytes, waits, final) => {
  const kinds = (pieces: readonly SourcePiece[]): readonly string[] =>
    pieces.map((piece) => (piece.kind === 'refused' ? piece.reason : piece.kind));
  expect(kinds(piecesOf(windowOf(text(bytes), false)))).toEqual(waits);
  expect(kinds(piecesOf(windowOf(text(bytes), true)))).toEqual(final);
});

test('pieces follow each other without gaps, and reading on from any of them gives the rest', () => {
  const bytes = text('\ufeff{"a":1}{"b":2} x\n\n {"c":"\u2028"}\r\n{"d":[[[1]]]}\n{"e"');
  const all = piecesOf(windowOf(bytes, true));
  let at = 0;
  for (const { start, end } of all) {
    expect(start.offset).toBe(at);
    at = end.offset;
  }
  expect(at).toBe(bytes.length);
  for (const [index, { end }] of all.entries()) {
    const rest = piecesOf(windowOf(bytes, true, end.offset, end.line));
    expect(rest.map(({ kind, start }) => [kind, start])).toEqual(
      all.slice(index + 1).map(({ kind, start }) => [kind, start]),
    );
  }
});

test('values nested deeper than a reader builds are refused, one piece only', () => {
  const deep = `{"d":${'['.repeat(600)}${']'.repeat(600)}}`;
  const pieces = piecesOf(windowOf(text(`${deep}{"a":1}\n`), false));
  expect(pieces.map((piece) => (piece.kind === 'refused' ? piece.reason : piece.kind))).toEqual([
    'too-deep',
    'object',
    'framing',
  ]);
});

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

test('a set of digests is the set of their first eight bytes', () => {
  const random = new SeededRandom(1);
  const set = new DigestSet();
  const plain = new Set<string>();
  const entries = Array.from({ length: 3_000 }, (_, n) =>
    n === 0 ? '0'.repeat(16) : hexOf(random.bytes(8)),
  );
  for (const entry of [...entries, ...entries.slice(0, 50)]) {
    expect(set.add(`${entry}${hexOf(random.bytes(24))}`)).toBe(!plain.has(entry));
    plain.add(entry);
  }
  const restored = DigestSet.fromBytes(set.toBytes());
  expect([set.size, restored.size, set.copy().size]).toEqual([plain.size, plain.size, plain.size]);
  expect(entries.every((entry) => restored.has(entry) && set.copy().has(entry))).toBe(true);
  expect(set.has(hexOf(random.bytes(8)))).toBe(false);
  const stored = new Set(hexOf(set.toBytes()).match(/.{16}/g));
  expect(stored).toEqual(plain);
  const half = new DigestSet();
  for (const entry of entries.slice(0, 1_000)) half.add(entry);
  expect([set.countMissingIn(half), half.countMissingIn(set)]).toEqual([2_000, 0]);
  half.addAll(set);
  expect([half.size, set.countMissingIn(half)]).toEqual([plain.size, 0]);
  const none = new DigestSet();
  none.addAll(new DigestSet());
  expect([none.size, none.has('0'.repeat(16))]).toEqual([0, false]);
});

test('times are RFC 3339, or numbers of seconds or milliseconds of this century', () => {
  expect(sourceTimeMs(946_684_800)).toBe(Date.UTC(2000, 0, 1));
  expect(sourceTimeMs(946_684_800_000)).toBe(Date.UTC(2000, 0, 1));
  expect(sourceTimeMs(1_775_000_000.5)).toBe(1_775_000_000_500);
  for (const value of [
    946_684_799,
    4_102_444_800_000,
    -1,
    1e20,
    Number.NaN,
    '',
    'yesterday',
    null,
    {},
    '2026-02-30T10:00:00Z',
  ]) {
    expect(sourceTimeMs(value)).toBeNull();
  }
});
