import { chunksOf, indexedPart } from '@turnlog/search';
import { SeededRandom } from '@turnlog/testkit';
import fc from 'fast-check';

const mebibyte = 1_048_576;
const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Whether a text can be cut off here: no pair of surrogates is parted. */
function isBoundary(text: string, at: number): boolean {
  const [before, behind] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return !(before >= 0xd800 && before <= 0xdbff && behind >= 0xdc00 && behind <= 0xdfff);
}

function checkChunks(text: string): void {
  const chunks = chunksOf(text);
  expect(chunks.join('') === text).toBe(true);
  let at = 0;
  const wrong = chunks.filter((chunk, index) => {
    at += chunk.length;
    // Only the last one may be short of half.
    const isLast = index === chunks.length - 1;
    const isLong = isLast || bytesOf(chunk) > 2_048;
    return bytesOf(chunk) > 4_096 || !isLong || !(isLast || isBoundary(text, at));
  });
  expect(wrong).toEqual([]);
}

/** The first and the last half MiB, found from the bytes. */
function checkIndexed(text: string): void {
  const { text: indexed, unindexedBytes } = indexedPart(text);
  expect(bytesOf(indexed) + unindexedBytes).toBe(bytesOf(text));
  if (bytesOf(text) <= mebibyte) {
    expect(indexed === text).toBe(true);
    return;
  }
  expect(bytesOf(indexed)).toBeLessThanOrEqual(mebibyte);
  // A code point of at most 4 bytes is what can be missing at either cut.
  expect(bytesOf(indexed)).toBeGreaterThan(mebibyte - 8);
  const bytes = Buffer.from(text);
  const head = bytes
    .subarray(0, mebibyte / 2)
    .toString('utf8')
    .replace(/\ufffd+$/u, '');
  const tail = bytes
    .subarray(bytes.length - mebibyte / 2)
    .toString('utf8')
    .replace(/^\ufffd+/u, '');
  expect(indexed === head + tail).toBe(true);
}

const widths = ['a', 'é', '語', '🚀', ' ', '\n', '\u3000', 'Z'] as const;

/** A text of exactly so many bytes: runs of one character, parted by others. */
function textOf(random: SeededRandom, bytes: number): string {
  const usual = widths[random.below(widths.length)] ?? 'a';
  let text = '';
  for (let length = 0; length < bytes; ) {
    const run = usual.repeat(random.below(80)) + (widths[random.below(widths.length)] ?? 'a');
    const fitting = length + bytesOf(run) <= bytes ? run : 'a';
    text += fitting;
    length += bytesOf(fitting);
  }
  return text;
}

test('Q-2 chunks are the text, cut between code points, for random Unicode of 0 to 1 MiB + 1; what is left out is counted', () => {
  const random = new SeededRandom(Number(process.env['TURNLOG_TEST_SEED']));
  const sizes = [0, 1, 2_048, 2_049, 4_095, 4_096, 4_097, 8_192, 8_193, mebibyte - 1, mebibyte, mebibyte + 1];
  for (const bytes of sizes) {
    for (let round = 0; round < 2; round += 1) {
      const text = textOf(random, bytes);
      expect(bytesOf(text)).toBe(bytes);
      checkChunks(text);
      checkIndexed(text);
    }
  }
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary' })),
      fc.integer({ min: 1, max: 900 }),
      (pieces, times) => {
        checkChunks(pieces.join(' ').repeat(times).slice(0, 30_000));
      },
    ),
  );
  checkIndexed(`${'語'.repeat(200_000)}${'🚀'.repeat(200_000)}`);
});

test.each([
  [
    'behind the last line feed of the second half',
    `${'a'.repeat(2_048)}\n${'b'.repeat(100)} ${'c'.repeat(3_000)}`,
    2_049,
  ],
  [
    'not behind one of the first half',
    `${'a'.repeat(2_047)}\n${'b'.repeat(1_000)} ${'c'.repeat(3_000)}`,
    3_049,
  ],
  [
    'behind the last white space, whatever its width',
    `${'a'.repeat(3_000)}\u3000${'b'.repeat(3_000)}`,
    3_001,
  ],
  ['not behind a space that does not fit', `${'a'.repeat(4_094)}\u3000${'b'.repeat(3_000)}`, 4_094],
  ['behind the last code point that fits', '語'.repeat(2_000), 1_365],
  ['not within a pair', `a${'🚀'.repeat(1_100)}`, 2_047],
])('a chunk ends %s', (_, text, end) => {
  expect(chunksOf(text)[0]?.length).toBe(end);
});
