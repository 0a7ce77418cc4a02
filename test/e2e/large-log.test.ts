import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makeTemporaryDirectory } from '@turnlog/testkit';
import { soakBudget, tellFigure } from '../figures.js';

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

interface Written {
  readonly lines: number;
  readonly peak: { readonly heap: number; readonly rss: number };
}

const mebibyte = 1024 * 1024;

/** Runs a child in a heap of 256 MiB, where a log of gigabytes cannot be held. */
function runChild(name: string, request: Readonly<Record<string, unknown>>): string {
  const child = join(__dirname, 'children', name);
  const done = spawnSync(process.execPath, ['--max-old-space-size=256', child, JSON.stringify(request)], {
    encoding: 'utf8',
  });
  expect(done.stderr).toBe('');
  return done.stdout;
}

function run(request: Readonly<Record<string, number>>): Outcome {
  return JSON.parse(runChild('large-log.mjs', request)) as Outcome;
}

const inMebibytes = (bytes: number): string => `${(bytes / mebibyte).toFixed(0)} MiB`;

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
    tellFigure(
      'large log, computed',
      `${inMebibytes(large.size)} opened, tailed and listed in a heap of 256 MiB; at most ${inMebibytes(large.peak.heap)} of it held after a step`,
    );
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

const writtenMebibytes = soakBudget('TURNLOG_LARGE_LOG_MIB', 64);

test(
  'a log on this disk is opened, tailed and listed in a heap of 256 MiB, however long it is',
  () => {
    const { path, remove } = makeTemporaryDirectory();
    try {
      const request = { root: join(path, 'store'), mebibytes: writtenMebibytes };
      const outcome = JSON.parse(runChild('written-log.mjs', request)) as Written;
      const { lines, peak } = outcome;
      expect(outcome).toMatchObject({ eventCount: lines, tail: [lines - 49, lines, 50], listed: lines });
      expect(lines).toBe(writtenMebibytes * 256);
      expect(peak.heap).toBeLessThan(128 * mebibyte);
      tellFigure(
        'large log, written',
        `${writtenMebibytes} MiB on disk opened, tailed and listed in a heap of 256 MiB; at most ${inMebibytes(peak.heap)} of it held after a step, ${inMebibytes(peak.rss)} resident`,
      );
    } finally {
      remove();
    }
  },
  120_000 + writtenMebibytes * 200,
);
