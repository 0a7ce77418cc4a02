import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

interface Outcome {
  readonly size: number;
  readonly lines: number;
  readonly eventCount: number;
  readonly tail: readonly number[];
  readonly opened: { readonly reads: number; readonly bytes: number; readonly largestRead: number };
  readonly tailed: { readonly reads: number; readonly bytes: number };
  readonly listed: readonly unknown[];
  readonly peak: { readonly heap: number; readonly buffers: number };
}

const mebibyte = 1024 * 1024;

/** Runs the child in a heap of 256 MiB, where a log of gigabytes cannot be held. */
function run(request: Readonly<Record<string, number>>): Outcome {
  const child = join(__dirname, 'children', 'large-log.mjs');
  const done = spawnSync(process.execPath, ['--max-old-space-size=256', child, JSON.stringify(request)], {
    encoding: 'utf8',
  });
  expect(done.stderr).toBe('');
  return JSON.parse(done.stdout) as Outcome;
}

function expectWithinHeap(outcome: Outcome): void {
  const { lines } = outcome;
  expect(outcome.eventCount).toBe(lines);
  expect(outcome.tail).toEqual([lines - 49, lines, 50]);
  expect(outcome.listed).toMatchObject([{ id: 'large', events: lines }]);
  // Blocks and lines, never the file.
  expect(outcome.opened.largestRead).toBeLessThanOrEqual(4 * mebibyte);
  expect(outcome.peak.buffers).toBeLessThan(128 * mebibyte);
  expect(outcome.peak.heap).toBeLessThan(128 * mebibyte);
}

describe('T-21, B53, B56, B57 logs larger than the heap', () => {
  test('T-21 logs of 540 MiB and 2 GiB: open, tail and list cost what the bytes cost, the heap stays flat', () => {
    const small = run({ totalBytes: 540 * mebibyte, lineBytes: 4_096 });
    const large = run({ totalBytes: 2_048 * mebibyte, lineBytes: 4_096 });
    for (const outcome of [small, large]) expectWithinHeap(outcome);
    const growth = large.size / small.size;
    expect(large.opened.bytes / small.opened.bytes).toBeLessThanOrEqual(growth * 1.01);
    expect(large.opened.reads / small.opened.reads).toBeLessThanOrEqual(growth * 1.01);
    // The end of the log is found from the end.
    expect(large.tailed).toEqual(small.tailed);
    expect(large.peak.heap).toBeLessThan(small.peak.heap * 1.5 + 16 * mebibyte);
  }, 240_000);

  test('T-21 4,800 records of up to 900 KB', () => {
    const half = run({ lines: 2_400 });
    const whole = run({ lines: 4_800 });
    for (const outcome of [half, whole]) expectWithinHeap(outcome);
    const growth = whole.size / half.size;
    expect(whole.opened.bytes / half.opened.bytes).toBeLessThanOrEqual(growth * 1.01);
    expect(whole.opened.reads / half.opened.reads).toBeLessThanOrEqual(growth * 1.05);
  }, 240_000);
});
