import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { decodeRecord, inspectRecord } from '../src/index.js';
import { jsonOf, type ReadPiece, readFileOf, sharedBytes, sharedRoot } from './wire-files.js';

interface Expected {
  readonly events: number;
  readonly lastSeq?: number;
  readonly seqs?: readonly number[];
  readonly damage?: readonly { readonly kind: string; readonly offset: number; readonly length: number }[];
  readonly invalidUtf8Lines?: readonly number[];
  readonly loneSurrogateSeqs?: readonly number[];
  readonly tooDeep?: readonly number[];
  readonly invalidTs?: readonly number[];
  readonly lastActivity?: string;
  readonly mustContain?: readonly string[];
}

const files: readonly (readonly [title: string, folder: string, file: string])[] = [
  ['B01 torn tail', 'B01-torn-tail', 'events.jsonl'],
  ['B02 no final newline', 'B02-no-final-newline', 'events.jsonl'],
  ['B04 stub fused with the next record', 'B04-stub-fused-with-next', 'events.jsonl'],
  ['B05 cut prefix, then the full copy', 'B05-cut-prefix-then-full-copy', 'events.jsonl'],
  ['B06 zeros as a line', 'B06-nul-block', 'events.jsonl'],
  ['B06 zeros before a record', 'B06-nul-block', 'events-variant-glued.jsonl'],
  ['B10 cut inside a character', 'B10-cut-inside-utf8', 'events.jsonl'],
  ['B37 other line separators', 'B37-unicode-line-separators', 'events.jsonl'],
  ['B40 half surrogate pairs', 'B40-lone-surrogates', 'events.jsonl'],
  ['B44 big integers', 'B44-big-integers', 'events.jsonl'],
  ['B46 names of every object', 'B46-proto-keys', 'events.jsonl'],
  ['B48 deep nesting', 'B48-deep-nesting', 'events.jsonl'],
  ['B49 bad times', 'B49-bad-timestamps', 'events.jsonl'],
];

function isDigestKept(folder: string, file: string): boolean {
  const digest = createHash('sha256')
    .update(sharedBytes('cases', folder, file))
    .digest('hex');
  const sums = new TextDecoder().decode(sharedBytes('cases', 'SHA256SUMS'));
  return sums.split('\n').some((line) => line.startsWith(digest) && line.endsWith(`${folder}/${file}`));
}

function recordsWith(bytes: Uint8Array, pieces: readonly ReadPiece[], flag: string): readonly ReadPiece[] {
  return pieces.filter(
    ({ piece, isFirstRecord }) =>
      piece.verdict === 'record' &&
      inspectRecord(bytes, piece.start, piece.end, isFirstRecord).flags.some((found) => found === flag),
  );
}

function checkContent(bytes: Uint8Array, records: readonly ReadPiece[], expected: Expected): void {
  const seqs = (flag: string) => recordsWith(bytes, records, flag).map(({ seq }) => seq);
  const lines = recordsWith(bytes, records, 'invalid-utf8').map(({ line }) => line);
  expect(lines).toEqual(expected.invalidUtf8Lines ?? []);
  expect(seqs('lone-surrogate')).toEqual(expected.loneSurrogateSeqs ?? []);
  expect(seqs('too-deep')).toEqual(expected.tooDeep ?? []);
  expect(seqs('invalid')).toEqual([]);
  for (const text of expected.mustContain ?? []) {
    expect(seqs('inexact-number')).toEqual([1]);
    expect(new TextDecoder().decode(bytes)).toContain(text);
  }
}

if (existsSync(join(sharedRoot, 'cases'))) {
  test.each(files)('%s', (_title, folder, file) => {
    expect(isDigestKept(folder, file)).toBe(true);
    const bytes = sharedBytes('cases', folder, file);
    const expected = jsonOf<Expected>(sharedBytes('cases', folder, 'expected.json'));
    const { pieces, state } = readFileOf(bytes);
    const records = pieces.filter(({ piece }) => piece.verdict === 'record');
    const damage = pieces.flatMap(({ piece }) =>
      piece.verdict === 'damage'
        ? [{ kind: piece.kind, offset: piece.start, length: piece.end - piece.start }]
        : [],
    );
    expect(records).toHaveLength(expected.events);
    expect(damage).toEqual(expected.damage ?? []);
    if (expected.seqs !== undefined) expect(records.map(({ seq }) => seq)).toEqual(expected.seqs);
    if (expected.lastSeq !== undefined) expect(state.highestSeq).toBe(expected.lastSeq);
    const timeless = records.filter(({ tsMs }) => tsMs === null).map(({ seq }) => seq);
    expect(timeless).toEqual(expected.invalidTs ?? []);
    if (expected.lastActivity !== undefined) expect(state.lastTsMs).toBe(Date.parse(expected.lastActivity));
    checkContent(bytes, records, expected);
  });

  test('B46 members named __proto__ are values and touch nothing else', () => {
    const bytes = sharedBytes('cases', 'B46-proto-keys', 'events.jsonl');
    const { event } = decodeRecord(bytes, 0, bytes.indexOf(0x0a));
    expect(JSON.stringify(event)).toContain('"__proto__":{"polluted":true}');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
} else {
  test('the case files are not here', () => {
    expect(existsSync(join(sharedRoot, 'cases'))).toBe(false);
  });
}
