import { SeededRandom } from '@turnlog/testkit';
import { type MergeCandidate, planMerge, tailChunksWanted } from '../src/packed/merge-plan.js';

const live = (chunkCount: number): MergeCandidate => ({ chunkCount, goneCount: 0 });

test('a tail is joined with what is less than twice as large, and with what that makes less than twice as large', () => {
  expect(planMerge([], 4_096)).toEqual([]);
  expect(planMerge([live(8_192)], 4_096)).toEqual([]);
  expect(planMerge([live(8_191)], 4_096)).toEqual([0]);
  expect(planMerge([live(24_000), live(8_191), live(100_000)], 4_096)).toEqual([1, 0]);
  expect(planMerge([live(24_574), live(8_191)], 4_096)).toEqual([1]);
});

test('without a tail nothing is written unless sizes are too close, or a fifth of one is gone', () => {
  expect(planMerge([live(1_000), live(2_000), live(4_000)], 0)).toEqual([]);
  expect(planMerge([live(4_000), live(1_999), live(1_000)], 0)).toEqual([2, 1, 0]);
  expect(planMerge([live(6_000), live(1_999), live(1_000)], 0)).toEqual([2, 1]);
  expect(planMerge([{ chunkCount: 1_000, goneCount: 200 }], 0)).toEqual([]);
  expect(planMerge([live(9_000), { chunkCount: 1_000, goneCount: 201 }], 0)).toEqual([1]);
});

test('more than twelve segments are never left', () => {
  const sizes = Array.from({ length: 12 }, (_, at) => live(4_096 * 4 ** (at + 1)));
  expect(planMerge(sizes.slice(1), 4_096)).toEqual([]);
  expect(planMerge(sizes, 4_096)).toEqual([0]);
  expect(planMerge([...sizes, live(4_096)], 0)).toEqual([12, 0]);
});

test.each([1, 2, 3, 4])(
  'sizes double, and no chunk is written more often than their logarithm (%d)',
  (seed) => {
    const random = new SeededRandom(seed);
    let segments: { readonly size: number; readonly writes: number }[] = [];
    let total = 0;
    for (let step = 0; step < 600; step += 1) {
      const tail = tailChunksWanted(total) + random.below(2_000);
      total += tail;
      const joined = planMerge(
        segments.map(({ size }) => live(size)),
        tail,
      );
      const written = joined.map((at) => segments[at] ?? { size: 0, writes: 0 });
      const size = written.reduce((sum, segment) => sum + segment.size, tail);
      const writes = 1 + Math.max(0, ...written.map((segment) => segment.writes));
      segments = [...segments.filter((_, at) => !joined.includes(at)), { size, writes }];
      expect(segments.length).toBeLessThanOrEqual(12);
      const sizes = segments.map((segment) => segment.size).sort((left, right) => left - right);
      for (const [at, larger] of sizes.slice(1).entries())
        expect(larger).toBeGreaterThanOrEqual(2 * (sizes[at] ?? 0));
      for (const segment of segments) {
        expect(segment.writes).toBeLessThanOrEqual(1 + Math.log(segment.size / 4_096) / Math.log(1.5));
      }
    }
  },
);
