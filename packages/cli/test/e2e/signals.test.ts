import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryDirectory, SeededRandom, type TemporaryDirectory } from '@turnlog/testkit';
import { ownLines, turn } from '../support.js';
import { build, Running, rollout, turnlogHere } from './program.js';

let directory: TemporaryDirectory;

beforeAll(build, 120_000);

beforeEach(() => {
  directory = makeTemporaryDirectory();
});

afterEach(() => directory.remove());

const seed = Number(process.env['TURNLOG_TEST_SEED'] ?? 1);
const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;
const tries = 2;
/** About as long as the program needs to begin and to do its work, in milliseconds. */
const momentsMs = 600;

function store(): string {
  return join(directory.path, 'store');
}

/** Names below the store and the output that only an operation under way may leave: temp files, held locks. */
function leftovers(): readonly string[] {
  return readdirSync(directory.path, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.split('/').some((name) => /^\.(?:t-|import-)|\.tmp|session\.lock$/.test(name)),
  );
}

async function stopAtRandom(
  argv: readonly string[],
  random: SeededRandom,
  signal: NodeJS.Signals,
  input: string,
): Promise<number | null> {
  const running = new Running(store(), argv);
  running.child.stdin?.on('error', () => undefined);
  running.write(input);
  if (input !== '') running.child.stdin?.end();
  await new Promise((resolve) => setTimeout(resolve, random.below(momentsMs)));
  const { code, signal: killedBy } = await running.stop(signal);
  // A signal that comes before the program listens ends it as any other.
  return killedBy === null ? code : killedBy === 'SIGINT' ? 130 : 143;
}

function plantRollouts(count: number, turns: number): string {
  const folder = join(directory.path, 'rollouts');
  mkdirSync(folder);
  for (let n = 0; n < count; n += 1) {
    const thread = `0199a213-0000-7000-8000-${String(n).padStart(12, '0')}`;
    writeFileSync(join(folder, `rollout-2026-01-02T00-00-00-${thread}.jsonl`), rollout(thread, turns));
  }
  return folder;
}

async function everythingIsFine(): Promise<void> {
  expect(leftovers()).toEqual([]);
  const doctor = await turnlogHere(store(), ['doctor', '--deep', '--json']);
  expect(
    JSON.parse(doctor.stdout).findings.filter(
      ({ weight }: { readonly weight: string }) => weight === 'fault',
    ),
  ).toEqual([]);
}

test.each(signals)(
  'I-10 %s at random times in record: whole records only, the next run goes on',
  async (signal, code) => {
    const random = new SeededRandom(seed);
    const input = ownLines(Array.from({ length: 400 }, () => turn).flat());
    for (let run = 0; run < tries; run += 1) {
      expect([0, code]).toContain(await stopAtRandom(['record', `s-${run}`], random, signal, input));
      if (existsSync(join(store(), 'sessions', `s-${run}`, 'events.jsonl'))) await everythingIsFine();
      expect((await turnlogHere(store(), ['record', `s-${run}`], ownLines(turn))).code).toBe(0);
      await everythingIsFine();
    }
  },
  60_000,
);

test.each(signals)(
  'I-10 %s at random times in import: the next run brings what a whole one brings',
  async (signal, code) => {
    const random = new SeededRandom(seed + 1);
    const folder = plantRollouts(6, 120);
    for (let run = 0; run < tries; run += 1) {
      expect([0, code]).toContain(await stopAtRandom(['import', folder], random, signal, ''));
    }
    expect((await turnlogHere(store(), ['import', folder, '--json'])).code).toBe(0);
    await everythingIsFine();
    const whole = join(directory.path, 'whole');
    expect((await turnlogHere(whole, ['import', folder])).code).toBe(0);
    const ids = readdirSync(join(whole, 'sessions'));
    expect(ids).toHaveLength(6);
    for (const id of ids) {
      const texts = await Promise.all(
        [store(), whole].map(
          async (root) => (await turnlogHere(root, ['show', id, '--kind', 'message', '--jsonl'])).stdout,
        ),
      );
      const said = texts.map((text) =>
        text.split('\n').map((row) => (row === '' ? null : (JSON.parse(row).event ?? null))),
      );
      expect(said[0]?.map((event) => event?.item?.text ?? event?.content)).toEqual(
        said[1]?.map((event) => event?.item?.text ?? event?.content),
      );
    }
  },
  120_000,
);

test.each(signals)(
  'I-10 %s at random times in export and rebuild: no temp file, and the next run is whole',
  async (signal, code) => {
    const random = new SeededRandom(seed + 2);
    expect((await turnlogHere(store(), ['import', plantRollouts(6, 120)])).code).toBe(0);
    const ids = readdirSync(join(store(), 'sessions'));
    const out = join(directory.path, 'out');
    mkdirSync(out);
    const exporting = ['export', ...ids, '--out', out, '--format', 'html', '--force'];
    for (const argv of [exporting, ['rebuild']]) {
      for (let run = 0; run < tries; run += 1) {
        expect([0, code]).toContain(await stopAtRandom(argv, random, signal, ''));
        expect(leftovers()).toEqual([]);
      }
      expect((await turnlogHere(store(), argv)).code).toBe(0);
    }
    for (const name of readdirSync(out))
      expect(readFileSync(join(out, name), 'utf8')).toMatch(/<\/html>\n?$/);
    expect(readdirSync(out)).toHaveLength(6);
    expect((await turnlogHere(store(), ['rebuild', '--check'])).code).toBe(0);
    await everythingIsFine();
  },
  120_000,
);
