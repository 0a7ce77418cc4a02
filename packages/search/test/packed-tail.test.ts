import { limits } from '@turnlog/kernel';
import { countTokens } from '@turnlog/search';
import fc from 'fast-check';
import { TailPostings } from '../src/packed/tail-postings.js';

/** What a tail says of each chunk: how often it holds each of its tokens. */
function countsIn(tail: TailPostings, chunkCount: number): readonly ReadonlyMap<string, number>[] {
  const counts = Array.from({ length: chunkCount }, () => new Map<string, number>());
  for (const [term, text] of tail.terms.texts.entries()) {
    const df = tail.df(term);
    const [ordinals, tfs] = [new Uint32Array(df + 2), new Uint32Array(df + 2)];
    tail.read(term, ordinals, tfs, 1);
    expect([ordinals[0], ordinals[df + 1]]).toEqual([0, 0]);
    for (let at = 1; at <= df; at += 1) counts[ordinals[at] ?? -1]?.set(text, tfs[at] ?? 0);
    expect([...ordinals.subarray(1, df + 1)]).toEqual(
      [...new Set(ordinals.subarray(1, df + 1))].sort(byValue),
    );
  }
  return counts;
}

const byValue = (left: number, right: number): number => left - right;

const pieces = fc.constantFrom(
  ...[
    'a',
    'B',
    'foo',
    'Bar',
    'HTTP',
    'x1',
    '9',
    '_',
    '-',
    '.',
    '/',
    '\\',
    ':',
    '::',
    '@',
    '#',
    '+',
    ' ',
    '\n',
  ],
  ...[
    'é',
    'е',
    '用户',
    '語',
    '한',
    'ภา',
    '🚀',
    '🇩🇪',
    '\u200b',
    'C++',
    'v1.2',
    'deadbeef12',
    'ﬁ',
    '__proto__',
  ],
  'x'.repeat(limits.knownTokenUnitsMax + 6),
);
const textsOf = (piece: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.array(
    fc.array(piece, { maxLength: 30 }).map((list) => list.join('')),
    { maxLength: 300 },
  );
const texts = textsOf(pieces);
/** Bytes as they come, and more of those that decide where a compound ends. */
const asciiTexts = textsOf(
  fc.oneof(
    fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCharCode(code)),
    fc.constantFrom(...'aZ9_-./\\:@#+ ', '::', '++', 'C', 'fooBar', 'deadbeef12', 'x'.repeat(11)),
  ),
);

test.each([
  ['any text', texts],
  ['text in ASCII', asciiTexts],
])('a tail counts of %s by number what the tokenizer gives as text, whatever came before', (_name, given) => {
  fc.assert(
    fc.property(given, fc.boolean(), fc.integer({ min: 1, max: 50 }), (chunks, isForgetful, askedEach) => {
      const tail = new TailPostings();
      for (const [ordinal, text] of chunks.entries()) {
        expect(tail.addText(ordinal, text)).toBe(countTokens(text).len);
        if (isForgetful && ordinal % 7 === 0) tail.terms.forget();
        if (ordinal % askedEach === 0) expect(tail.df(0)).toBeLessThanOrEqual(ordinal + 1);
      }
      expect(countsIn(tail, chunks.length)).toEqual(chunks.map((text) => countTokens(text).terms));
    }),
    { numRuns: 60 },
  );
});

test('what is sorted in pieces while chunks and questions come is what is sorted at once', () => {
  const tail = new TailPostings();
  const words = (ordinal: number): string => `all all w${ordinal % 7} ${'x '.repeat(200)}`;
  let ordinal = 0;
  for (; ordinal < 1_000; ordinal += 1) tail.addText(ordinal, words(ordinal));
  let pauses = 0;
  for (const _pausing of tail.sort()) {
    tail.addText(ordinal, words(ordinal));
    ordinal += 1;
    pauses += 1;
    if (pauses === 2) expect(tail.df(tail.terms.find('all'))).toBe(ordinal);
  }
  expect(pauses).toBeGreaterThan(4);
  expect(countsIn(tail, ordinal)).toEqual(
    Array.from({ length: ordinal }, (_, at) => countTokens(words(at)).terms),
  );
});

test('a term of very many chunks is read back whole, and words that are too many to be known are counted too', () => {
  const tail = new TailPostings();
  const chunkCount = 1_200;
  for (let ordinal = 0; ordinal < chunkCount; ordinal += 1) {
    const own = Array.from({ length: 60 }, (_, at) => `w${ordinal * 60 + at}`).join(' ');
    expect(tail.addText(ordinal, `all all ${own}`)).toBe(62);
  }
  expect(chunkCount * 60).toBeGreaterThan(limits.knownCompoundsMax);
  const term = tail.terms.find('all');
  const [ordinals, tfs] = [new Uint32Array(chunkCount), new Uint32Array(chunkCount)];
  tail.read(term, ordinals, tfs, 0);
  expect(tail.df(term)).toBe(chunkCount);
  expect(ordinals).toEqual(Uint32Array.from({ length: chunkCount }, (_, ordinal) => ordinal));
  expect(new Set(tfs)).toEqual(new Set([2]));
  expect(tail.terms.count).toBe(1 + chunkCount * 60);
});
