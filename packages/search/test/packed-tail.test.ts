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
const texts = fc.array(
  fc.array(pieces, { maxLength: 30 }).map((list) => list.join('')),
  { maxLength: 300 },
);

test('a tail counts by number what the tokenizer gives as text, whatever came before', () => {
  fc.assert(
    fc.property(texts, fc.boolean(), (chunks, isForgetful) => {
      const tail = new TailPostings();
      for (const [ordinal, text] of chunks.entries()) {
        expect(tail.addText(ordinal, text)).toBe(countTokens(text).len);
        if (isForgetful && ordinal % 7 === 0) tail.terms.forget();
      }
      expect(countsIn(tail, chunks.length)).toEqual(chunks.map((text) => countTokens(text).terms));
    }),
    { numRuns: 60 },
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
