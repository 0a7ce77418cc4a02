import { SeededRandom } from '@turnlog/testkit';
import type { ChunkKey } from '../src/chunk.js';
import type { ScoredChunk } from '../src/evaluation.js';
import { segmentsOf } from '../src/hybrid/encoder-segments.js';
import { fuse } from '../src/hybrid/fuse.js';
import { fnv1a, hashEncoder } from '../src/hybrid/hash-encoder.js';
import { tellingHits } from '../src/hybrid/telling-hits.js';
import { decodeVectorFile, encodeVectorFile } from '../src/hybrid/vector-file.js';
import {
  cosine,
  mostAlike,
  type VectorEntry,
  VectorTable,
  wholeNumbers,
} from '../src/hybrid/vector-table.js';

const key = (seq: number, n = 0): ChunkKey => ({ session: 's', seq, n });

describe('fusing lists', () => {
  const seqs = (chunks: readonly { readonly key: ChunkKey }[]): readonly number[] =>
    chunks.map((chunk) => chunk.key.seq);

  test('a chunk counts 1/(60 + rank) in each list, ranks begin at 1, and shares sum to the fused score', () => {
    const fused = fuse(
      [
        { name: 'lexical', chunks: [key(1), key(2)] },
        { name: 'vector', chunks: [key(2), key(3)] },
      ],
      () => 0,
    );
    expect(fused.map(({ key: { seq }, fused: score }) => [seq, score])).toEqual([
      [2, 1 / 62 + 1 / 61],
      [1, 1 / 61],
      [3, 1 / 62],
    ]);
    expect(fused[0]?.lists).toEqual({
      lexical: { rank: 2, share: 1 / 62 },
      vector: { rank: 1, share: 1 / 61 },
    });
  });

  test('a chunk that stands twice in a list counts once, and those behind it move up', () => {
    const fused = fuse([{ name: 'vector', chunks: [key(1), key(1), key(2)] }], () => 0);
    expect(fused.map(({ fused: score }) => score)).toEqual([1 / 61, 1 / 62]);
  });

  test('a list counts up to 50 chunks', () => {
    const chunks = Array.from({ length: 60 }, (_, at) => key(at + 1));
    expect(fuse([{ name: 'lexical', chunks }], () => 0)).toHaveLength(50);
  });

  test('equal sums are ordered by the lexical score, then by id', () => {
    const lists = [
      { name: 'lexical', chunks: [key(7), key(3)] },
      { name: 'vector', chunks: [key(3), key(7)] },
    ] as const;
    expect(seqs(fuse(lists, ({ seq }) => seq))).toEqual([7, 3]);
    expect(seqs(fuse(lists, ({ seq }) => -seq))).toEqual([3, 7]);
    expect(seqs(fuse(lists, () => 1))).toEqual([3, 7]);
  });

  test('one list alone keeps its order', () => {
    const chunks = [key(5), key(1), key(9)];
    expect(seqs(fuse([{ name: 'lexical', chunks }], () => 1))).toEqual([5, 1, 9]);
  });
});

describe('hash-512/1', () => {
  test('the hash is FNV-1a of the UTF-8', () => {
    expect(fnv1a('w:hello')).toBe(2_623_896_756);
    expect(fnv1a('')).toBe(0x811c9dc5);
    expect(fnv1a('foobar')).toBe(0xbf9cf968);
    expect(fnv1a('c:é語🚀')).toBe(1471543663);
  });

  test('features are words, pairs and runs of 3 to 5 code points, equal ones together, signed by the highest bit', async () => {
    const expected = new Float64Array(512);
    const features: readonly (readonly [string, number])[] = [
      ['w:ab', 2],
      ['b:ab ab', 0.5],
      ['c:<ab', 0.7],
      ['c:ab>', 0.7],
      ['c:<ab>', 0.7],
    ];
    for (const [feature, weight] of features) {
      const hash = fnv1a(feature);
      expected[hash % 512] = (expected[hash % 512] ?? 0) + Math.sqrt(weight) * (hash >>> 31 === 1 ? -1 : 1);
    }
    const length = Math.hypot(...expected);
    const [vector] = await hashEncoder.encode(['ab ab']);
    for (const [at, number] of expected.entries()) expect(vector?.[at]).toBeCloseTo(number / length, 6);
    expect(180).toBe(fnv1a('w:hello') % 512);
  });

  test('a text without token has no vector', () => {
    expect(hashEncoder.segments('=> *')).toEqual([]);
    expect(hashEncoder.supports('=> *')).toBe(false);
    expect(hashEncoder.supports('日本語')).toBe(true);
  });

  test('runs of code points are those of the text, whatever its script', async () => {
    const expected = new Float64Array(512);
    const features: readonly (readonly [string, number])[] = [
      ['w:ёж', 1],
      ['c:<ёж', 0.35],
      ['c:ёж>', 0.35],
      ['c:<ёж>', 0.35],
    ];
    for (const [feature, weight] of features) {
      // The tokenizer folds it.
      const hash = fnv1a(feature.replaceAll('ё', 'е'));
      expected[hash % 512] = (expected[hash % 512] ?? 0) + Math.sqrt(weight) * (hash >>> 31 === 1 ? -1 : 1);
    }
    const length = Math.hypot(...expected);
    const [vector] = await hashEncoder.encode(['ёж']);
    for (const [at, number] of expected.entries()) expect(vector?.[at]).toBeCloseTo(number / length, 6);
  });
});

describe('vectors', () => {
  test('are whole numbers whose cosine is near the one of the vectors they were made of', () => {
    const random = new SeededRandom(7);
    for (let round = 0; round < 50; round += 1) {
      const [left, right] = [randomVector(random), randomVector(random)];
      const exact = left.reduce((sum, number, at) => sum + number * (right[at] ?? 0), 0);
      expect(Math.abs(cosine(wholeNumbers(left), wholeNumbers(right)) - exact)).toBeLessThan(0.01);
      expect(cosine(wholeNumbers(left), wholeNumbers(left))).toBe(1);
    }
  });

  test('the list is that of comparing every vector, equal ones by id', () => {
    const random = new SeededRandom(11);
    const entries: VectorEntry[] = Array.from({ length: 300 }, (_, at) => ({
      key: { session: `s${at % 7}`, seq: 1 + (at % 50), n: at },
      textHash: '0'.repeat(16),
      // Few values, so that many are equally alike.
      vectors: Array.from({ length: at % 3 }, () => Int8Array.from({ length: 4 }, () => random.below(3) - 1)),
    }));
    const query = [Int8Array.from([1, 0, 1, 1]), Int8Array.from([0, 1, 0, 0])];
    const naive = entries
      .map((entry) => ({
        id: `${entry.key.session}/${String(entry.key.seq).padStart(5, '0')}/${String(entry.key.n).padStart(5, '0')}`,
        best: Math.max(
          -2,
          ...entry.vectors.flatMap((vector) => query.map((asked) => naiveCosine(asked, vector))),
        ),
      }))
      .filter(({ best }) => best >= 0.4)
      .sort((left, right) => right.best - left.best || (left.id < right.id ? -1 : 1));
    const found = mostAlike(query, entries, 0.4).map(({ key: { session, seq, n }, similarity }) => ({
      id: `${session}/${String(seq).padStart(5, '0')}/${String(n).padStart(5, '0')}`,
      best: similarity,
    }));
    expect(found).toEqual(naive);
    expect(found.length).toBeGreaterThan(50);
  });

  test('a table counts what it holds, and forgets what is put anew', () => {
    const table = new VectorTable();
    table.put({ key: key(1), textHash: 'a', vectors: [new Int8Array(4), new Int8Array(4)] });
    table.put({ key: key(1), textHash: 'b', vectors: [new Int8Array(4)] });
    expect([table.chunkCount, table.vectorCount, table.get('s:1')?.textHash]).toEqual([1, 1, 'b']);
  });
});

function naiveCosine(left: Int8Array, right: Int8Array): number {
  const dot = left.reduce((sum, number, at) => sum + number * (right[at] ?? 0), 0);
  const lengths = Math.sqrt(left.reduce((s, x) => s + x * x, 0) * right.reduce((s, x) => s + x * x, 0));
  return lengths === 0 ? 0 : Math.round((dot / lengths) * 1e6) / 1e6;
}

function randomVector(random: SeededRandom): Float32Array {
  const numbers = Float32Array.from({ length: 64 }, () => random.below(2001) / 1000 - 1);
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
}

describe('files of vectors', () => {
  const file = {
    encoder: 'hash-512/1',
    dims: 4,
    entries: [
      {
        key: { session: 'ü', seq: 3, n: 2 },
        textHash: '0123456789abcdef',
        vectors: [Int8Array.from([1, -2, 127, -127])],
      },
      { key: { session: 'b', seq: 70_000, n: 0 }, textHash: 'f'.repeat(16), vectors: [] },
    ],
  };

  test('hold what was written', () => {
    expect(decodeVectorFile(encodeVectorFile(file), '/x.vec')).toEqual(file);
  });

  test('any byte that is changed, and any length that is cut, is damage', () => {
    const bytes = encodeVectorFile(file);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      expect(() => decodeVectorFile(changed, '/x.vec')).toThrow('damaged');
      expect(() => decodeVectorFile(bytes.slice(0, at), '/x.vec')).toThrow('damaged');
    }
  });
});

describe('segments', () => {
  const bounds = { piecesMin: 1, piecesMax: 4, segmentsMax: 3 };
  const perWord = (text: string): number => text.split(' ').length;

  test('are sentences; a longer one ends at a sentence in the second half of what fits, else between words', () => {
    const many = { ...bounds, segmentsMax: 9 };
    expect(segmentsOf('a b. c! d "e?" f', perWord, many)).toEqual(['a b.', 'c!', 'd "e?"', 'f']);
    const long = { ...many, piecesMin: 4 };
    expect(segmentsOf('a b c. d e', perWord, { ...long, piecesMax: 5 })).toEqual(['a b c. d e']);
    expect(segmentsOf('a b c. d e f', perWord, { ...long, piecesMax: 5 })).toEqual(['a b c.', 'd e f']);
    expect(segmentsOf('a b c d e f', perWord, bounds)).toEqual(['a b c d', 'e f']);
    expect(segmentsOf('v1.2 of x.ts b. c', perWord, many)).toEqual(['v1.2 of x.ts b.', 'c']);
  });

  test('a short sentence goes with the next one, and what is left at the end with the one before', () => {
    const some = { ...bounds, piecesMin: 2 };
    expect(segmentsOf('a. b c. d e.', perWord, some)).toEqual(['a. b c.', 'd e.']);
    expect(segmentsOf('a b. c', perWord, some)).toEqual(['a b. c']);
    expect(segmentsOf('a b c d. e', perWord, some)).toEqual(['a b c d.', 'e']);
    expect(segmentsOf('a', perWord, some)).toEqual(['a']);
  });

  test('hold several sentences where a text is long, so that its end is not lost', () => {
    expect(segmentsOf('a. b. c. d. e. f. g.', perWord, bounds)).toEqual(['a. b. c.', 'd. e. f. g.']);
  });

  test('are bounded in number, and white space becomes one blank', () => {
    expect(segmentsOf('a\n\tb  c d e f g h i j k l m n', perWord, bounds)).toEqual([
      'a b c d',
      'e f g h',
      'i j k l',
    ]);
    expect(segmentsOf('  \n', perWord, bounds)).toEqual([]);
  });

  test('a long word is taken apart', () => {
    expect(segmentsOf('x'.repeat(100), perWord, bounds)).toEqual([
      `${'x'.repeat(40)} ${'x'.repeat(40)} ${'x'.repeat(20)}`,
    ]);
  });
});

test('hits that hold little of what the query weighs are left out of the list', () => {
  const hit = (seq: number, tfs: readonly number[]): ScoredChunk => ({
    ...key(seq),
    chunk: seq,
    tier: 0,
    score: 1,
    lexical: 1,
    recency: 1,
    len: 5,
    tfs,
    hitsInSession: null,
  });
  const statistics = { chunkCount: 1_000, tokenCount: 5_000, dfs: [400, 20, 0] };
  const hits = [hit(1, [3, 0, 0]), hit(2, [0, 1, 0]), hit(3, [1, 2, 0])];
  expect(tellingHits(hits, statistics).map(({ seq }) => seq)).toEqual([2, 3]);
  // A word weighs what the others of the query leave to it: each a third here, and below a sixth, a sixth and the rest.
  expect(tellingHits(hits, { ...statistics, dfs: [400, 400, 400] })).toEqual(hits);
  const unknownWord = { ...statistics, chunkCount: 3, dfs: [2, 2, 0] };
  expect(tellingHits(hits, unknownWord).map(({ seq }) => seq)).toEqual([3]);
});
