import { utc } from '@turnlog/kernel';
import { passThrough } from '@turnlog/store';
import { FakeClock } from '@turnlog/testkit';
import { parseArguments } from '../src/arguments.js';
import { globalFlags } from '../src/flags.js';
import type { Io } from '../src/io.js';
import { Output } from '../src/output/output.js';
import { Progress, progressMode } from '../src/progress.js';
import { WallClock } from '../src/times.js';

interface Machine {
  readonly io: Io;
  readonly output: Output;
  readonly clock: FakeClock;
  readonly stdout: string[];
  readonly stderr: string[];
}

function machine(env: Readonly<Record<string, string>> = {}, isTty = true, columns = 80): Machine {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const io: Io = {
    stdin: (async function* () {})(),
    stdout: { write: async (chunk) => void stdout.push(String(chunk)) },
    stderr: { write: async (chunk) => void stderr.push(String(chunk)) },
    env,
    cwd: '/',
    isTty: { stdin: false, stdout: isTty, stderr: isTty },
    columns: isTty ? columns : null,
    onStop: () => () => undefined,
  };
  const output = new Output(io, {
    form: 'text',
    isColoured: false,
    isQuiet: false,
    wallClock: new WallClock(utc),
    egress: passThrough,
  });
  return { io, output, clock: new FakeClock(), stdout, stderr };
}

const modes: readonly (readonly [
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  isTty: boolean,
  mode: string,
])[] = [
  [[], {}, true, 'bar'],
  [[], {}, false, 'none'],
  [[], { NO_COLOR: '1' }, true, 'none'],
  [[], { NO_COLOR: '' }, true, 'bar'],
  [[], { CI: 'true' }, true, 'none'],
  [[], { TERM: 'dumb' }, true, 'none'],
  [['--no-progress'], {}, true, 'none'],
  [['-q'], {}, true, 'none'],
  [['--progress', 'json'], {}, false, 'json'],
  [['--progress', 'json'], { CI: '1', NO_COLOR: '1', TERM: 'dumb' }, false, 'json'],
  [['--progress', 'json', '--no-progress'], {}, false, 'none'],
];

test.each(modes)('I-6 progress with %j, %j, terminal %p: %s', (argv, env, isTty, mode) => {
  const { args } = parseArguments(argv, [], globalFlags);
  expect(progressMode(machine(env, isTty).io, args)).toBe(mode);
});

/** Work of so many steps, each of which takes so long. */
async function work(
  on: Machine,
  mode: 'bar' | 'json' | 'none',
  steps: number,
  stepMs: number,
): Promise<void> {
  const progress = new Progress(on.output, on.clock, mode);
  for (let done = 1; done <= steps; done += 1) {
    on.clock.advance(stepMs);
    progress.update({ phase: 'import', done: done * 1_000_000, total: steps * 1_000_000, unit: 'bytes' });
  }
  await progress.end();
}

test('I-6 work that is over within a second shows nothing', async () => {
  for (const mode of ['bar', 'json'] as const) {
    const on = machine();
    await work(on, mode, 99, 10);
    expect([on.stdout, on.stderr]).toEqual([[], []]);
  }
});

test('I-6 longer work shows at most ten updates a second, on stderr only, and leaves nothing behind', async () => {
  const on = machine();
  await work(on, 'bar', 4_000, 1);
  const bars = on.stderr.filter((text) => text.includes('['));
  const shown = bars.filter((text) => text.includes('import'));
  expect(on.stdout).toEqual([]);
  expect(shown.length).toBeGreaterThan(25);
  expect(shown.length).toBeLessThanOrEqual(31);
  expect(shown[0]).toMatch(/^import \[#+ +\] {2}2[5-9]% 1\.\d GB of 4\.0 GB, 3 s left$/);
  expect(on.stderr.at(-1)).toBe('\r\u001b[2K');
});

test('I-6 lines of JSON say phase, done, total and unit', async () => {
  const on = machine({}, false);
  await work(on, 'json', 30, 100);
  const lines = on.stderr.map((line): unknown => JSON.parse(line));
  expect(lines.length).toBeLessThanOrEqual(21);
  expect(lines[0]).toEqual({
    progress: { phase: 'import', done: 10_000_000, total: 30_000_000, unit: 'bytes' },
  });
});

test('the bar fits narrow terminals, and what is said in between takes its place', async () => {
  for (const columns of [80, 40, 20]) {
    const on = machine({}, true, columns);
    const progress = new Progress(on.output, on.clock, 'bar');
    on.clock.advance(1_500);
    progress.update({ phase: 'rebuild', done: 12, total: 4_000, unit: 'sessions' });
    await new Promise((resolve) => setImmediate(resolve));
    await on.output.note(on.output.shown`a note`);
    await progress.end();
    expect(on.stderr).toEqual([expect.stringMatching(/^rebuild/), '\r\u001b[2K', 'a note\n']);
    expect(on.stderr[0]?.length).toBeLessThan(columns);
  }
});

test('a total that is not known shows nothing', async () => {
  const on = machine();
  const progress = new Progress(on.output, on.clock, 'bar');
  on.clock.advance(5_000);
  progress.update({ phase: 'import', done: 0, total: 0, unit: 'bytes' });
  await progress.end();
  expect(on.stderr).toEqual([]);
});
