import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

interface Outcome {
  readonly written: Readonly<Record<'log' | 'rewrite' | 'archive' | 'derived', number>>;
  readonly calls: number;
  readonly peakHeap: number;
  readonly peakBuffers: number;
  readonly evicted: { readonly toSeq: number; readonly events: number; readonly turns: number };
  readonly lastSeq: number;
  readonly most: number;
  readonly eventCount: number;
  readonly failures: readonly string[];
}

const mebibyte = 1024 * 1024;

/** Runs the child in a heap that a tenth of the log would not fit into as values. */
function run(events: number, maxEvents: number): Outcome {
  const child = join(__dirname, 'children', 'capped-log.mjs');
  const request = JSON.stringify({ events, maxEvents, perTurn: 10 });
  const done = spawnSync(process.execPath, ['--max-old-space-size=128', child, request], {
    encoding: 'utf8',
  });
  expect(done.stderr).toBe('');
  return JSON.parse(done.stdout) as Outcome;
}

test('T-66 100,000 events at most 10,000: bytes rewritten are at most six times those appended, the heap stays flat', () => {
  const half = run(50_000, 10_000);
  const whole = run(100_000, 10_000);
  for (const { written, evicted, lastSeq, eventCount, most, failures } of [half, whole]) {
    const rewritten = written.rewrite + written.archive + written.derived;
    expect(written.rewrite).toBeGreaterThan(written.log / 2);
    expect(rewritten / written.log).toBeLessThanOrEqual(6);
    expect(failures).toEqual([]);
    // Nothing is lost on the way, and the log was never far over its cap.
    expect(evicted.events + eventCount).toBe(lastSeq);
    expect(eventCount).toBeLessThanOrEqual(10_000);
    expect(most).toBeLessThanOrEqual(11_500);
  }
  expect(whole.lastSeq).toBeGreaterThanOrEqual(100_000);
  // Twice the events cost twice the calls, and no more memory.
  expect(whole.calls / half.calls).toBeLessThan(2.5);
  expect(whole.peakHeap).toBeLessThan(half.peakHeap * 1.5 + 16 * mebibyte);
  expect(whole.peakBuffers).toBeLessThan(64 * mebibyte);
}, 240_000);
