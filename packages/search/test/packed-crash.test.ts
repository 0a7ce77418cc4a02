import { limits } from '@turnlog/kernel';
import {
  CrashSignal,
  copyDisk,
  createTestMachine,
  enumerateDisks,
  FakeClock,
  FakeLockTable,
  type ModelFileSystem,
} from '@turnlog/testkit';
import { indexLines } from '../src/packed/index-lines.js';
import { PackedIndex } from '../src/packed/packed-index.js';
import { Sealing } from '../src/packed/sealing.js';
import type { SegmentReader } from '../src/packed/segment-reader.js';
import { help, PackedWorld, plainAnswer, RandomWorld, root } from './packed-world.js';

const directory = `${root}/search`;

/** A step of maintenance that is stopped at each of its calls. */
interface Step {
  readonly name: string;
  /** What the disk and the memory hold before it. */
  readonly prepare: (world: PackedWorld) => Promise<void>;
  readonly wish: 'everything' | 'gone' | 'due';
}

function fill(world: PackedWorld, random: RandomWorld, from: number, count: number): void {
  for (let seq = from; seq < from + count; seq += 1) {
    world.add(random.chunk('s-1', seq, 0));
    world.add(random.chunk('s-2', seq, 0));
  }
}

const steps: readonly Step[] = [
  {
    name: 'the first segment',
    prepare: async (world) => fill(world, new RandomWorld(1), 1, 4),
    wish: 'everything',
  },
  {
    name: 'a merge with a tail and tombstones',
    prepare: async (world) => {
      const random = new RandomWorld(2);
      fill(world, random, 1, 4);
      await world.sealing.maintain('everything');
      fill(world, random, 5, 4);
      world.supersede('s-1', 2, { seq: 6, tsMs: null });
    },
    wish: 'everything',
  },
  {
    name: 'tombstones of a segment that stays, beside a new one',
    prepare: async (world) => {
      const random = new RandomWorld(3);
      fill(world, random, 1, 12);
      await world.sealing.maintain('everything');
      fill(world, random, 13, 1);
      world.supersede('s-1', 2, { seq: 13, tsMs: null });
    },
    wish: 'everything',
  },
  {
    name: 'what left the corpus leaves the files',
    prepare: async (world) => {
      fill(world, new RandomWorld(4), 1, 6);
      await world.sealing.maintain('everything');
      world.removeSession('s-2');
    },
    wish: 'gone',
  },
];

/** The step again on a disk of its own, from what was in memory before it. */
async function begun(step: Step): Promise<PackedWorld> {
  const world = new PackedWorld();
  for (const session of ['s-1', 's-2']) world.session(session, 'primary', ['/w']);
  await step.prepare(world);
  return world;
}

async function runUntilCrash(work: () => Promise<unknown>, fs: ModelFileSystem): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CrashSignal)) throw error;
  }
  if (!fs.isDown) fs.crashAt(fs.mutationCount);
}

describe('Q-33 merges:', () => {
  test.each(steps)('a crash at every call of $name leaves the old list or the new', async (step) => {
    const whole = await begun(step);
    const before = linesOf(reopened(copyDisk(whole.fs)));
    const start = whole.fs.mutationCount;
    expect(await whole.sealing.maintain(step.wish)).toEqual({ kind: 'written' });
    const after = [...indexLines(whole.index)];
    expect(linesOf(reopened(copyDisk(whole.fs)))).toEqual(after);
    const calls = whole.fs.mutationCount - start;
    expect(calls).toBeGreaterThan(8);
    let states = 0;
    const seen = new Set<string>();
    for (let call = 0; call <= calls; call += 1) {
      const world = await begun(step);
      world.fs.crashAt(world.fs.mutationCount + call);
      await runUntilCrash(() => world.sealing.maintain(step.wish), world.fs);
      for (const disk of enumerateDisks(world.fs, call, { disksMax: 48, imagesMax: 48, seen })) {
        states += 1;
        const index = reopened(disk);
        const lines = linesOf(index);
        expect([before, after]).toContainEqual(lines);
        // The next holder of the lock writes over what the crash left, and removes it in the end.
        const next = reopened(disk);
        const sealing = new Sealing(next);
        next.noteTaken('s-3', {
          taken: { generation: null, offset: 1, sha256: null, seq: 1, tree: null },
          span: { from: 1, to: 1 },
          info: { workspaces: [], agent: 'primary' },
          unindexedBytes: 0,
        });
        expect(await sealing.maintain('gone')).toEqual({ kind: 'written' });
        expect([...indexLines(next)]).toEqual(lines);
        const named = next.segments.flatMap(({ listed }) => [listed.file, listed.dead?.file ?? '']);
        const left = disk.list(directory).map(({ name }) => name);
        expect(left.filter((name) => !named.includes(name)).sort()).toEqual(['build.lock', 'segments.json']);
        next.close();
        expect(disk.openHandleCount).toBe(0);
      }
    }
    expect(states).toBeGreaterThan(8);
  });

  test('of two processes one writes; the other one opens what it wrote, and reads the logs behind it', async () => {
    const world = new PackedWorld();
    world.session('s-1', 'primary', []);
    const other = new PackedWorld({}, world.fs);
    const machine = { ...other.machine, locks: world.machine.locks };
    const index = PackedIndex.open(machine, root);
    const sealing = new Sealing(index);
    fill(world, new RandomWorld(5), 1, 3);
    index.noteTaken('s-1', {
      taken: { generation: null, offset: 100, sha256: null, seq: 1, tree: null },
      span: { from: 1, to: 1 },
      info: { workspaces: [], agent: 'primary' },
      unindexedBytes: 0,
    });
    const [first, second] = await Promise.all([
      world.sealing.maintain('everything'),
      sealing.maintain('everything'),
    ]);
    expect([first.kind, second.kind]).toEqual(['written', 'busy']);
    expect(await sealing.maintain('everything')).toEqual({ kind: 'moved' });
    expect([...indexLines(index)]).toEqual([...indexLines(world.index)]);
    expect(index.sessionEntry('s-1')?.taken.seq).toBe(3);
    expect(await sealing.maintain('everything')).toEqual({ kind: 'nothing' });
  });

  test.each([0, 1, 2, 3, 4, 5, 6])(
    'closed behind %i turns of the loop, a write changes nothing or all',
    async (turns) => {
      const world = new PackedWorld();
      const random = new RandomWorld(7);
      world.session('s-1', 'primary', []);
      world.session('s-2', 'primary', []);
      fill(world, random, 1, 20);
      await world.sealing.maintain('everything');
      const before = [...indexLines(world.index)];
      fill(world, random, 21, 1);
      const all = [...indexLines(world.index)];
      // Every look at the clock is behind the end of a slice.
      let looks = 0;
      const watch = jest.spyOn(world.clock, 'monotonicMs').mockImplementation(() => {
        looks += limits.searchSliceMs;
        return looks;
      });
      const writing = world.sealing.maintain('everything');
      for (let left = turns; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
      world.index.close();
      const { kind } = await writing;
      watch.mockRestore();
      // What was begun is removed, and nothing is left open.
      const begun = world.fs.list(directory).filter(({ name }) => name.startsWith('.t-'));
      expect([begun, world.fs.openHandleCount]).toEqual([[], 0]);
      world.reopen();
      expect(['written', 'failed']).toContain(kind);
      expect([...indexLines(world.index)]).toEqual(kind === 'written' ? all : before);
      if (turns < 2) expect(kind).toBe('failed');
      // The lock is free.
      fill(world, random, 22, 1);
      expect(await world.sealing.maintain('everything')).toEqual({ kind: 'written' });
    },
  );

  test.each([1, 2, 3])(
    'random sequences of chunks, supersessions and removals: few segments, few writes of each chunk (%d)',
    async (seed) => {
      const tailChunks = 8;
      const world = new PackedWorld({ tailChunks });
      const random = new RandomWorld(seed);
      const counter = new WriteCounter(world);
      for (let seq = 1; seq <= 900; seq += 1) {
        change(world, random, seq);
        await world.sealing.maintain();
        counter.look();
      }
      expect(counter.segmentsMax).toBeGreaterThan(2);
      expect(counter.segmentsMax).toBeLessThanOrEqual(12);
      const bound = 1 + Math.log(900 / tailChunks) / Math.log(1.5);
      expect(counter.writesMax).toBeGreaterThan(2);
      expect(counter.writesMax).toBeLessThanOrEqual(bound);
      await world.sealing.maintain('everything');
      world.reopen();
      for (let at = 0; at < 20; at += 1) {
        const plan = random.plan([], world.naive.chunks);
        expect(plainAnswer(world.index.query(plan, help))).toEqual(world.naive.answer(plan));
      }
    },
  );
});

/** One more chunk; seldom it takes the place of another one, and more seldom its session goes. */
function change(world: PackedWorld, random: RandomWorld, seq: number): void {
  const session = `s-${random.random.below(40)}`;
  world.add(random.chunk(session, seq, 0));
  if (random.random.below(4) === 0) {
    const { session: other, seq: earlier } = random.one(world.naive.chunks).fields;
    if (earlier < seq) world.supersede(other, earlier, { seq, tsMs: null });
  }
  if (random.random.below(120) === 0) world.removeSession(session);
}

/** Counts how often each chunk was written, by the segments that there ever were. */
class WriteCounter {
  segmentsMax = 0;
  writesMax = 0;
  readonly #world: PackedWorld;
  readonly #writes = new Map<number, number>();
  readonly #seen = new Set<string>();

  constructor(world: PackedWorld) {
    this.#world = world;
  }

  look(): void {
    const { segments } = this.#world.index;
    this.segmentsMax = Math.max(this.segmentsMax, segments.length);
    for (const { listed, reader } of segments) {
      if (!this.#seen.has(listed.file)) this.#note(reader);
      this.#seen.add(listed.file);
    }
  }

  #note(reader: SegmentReader): void {
    for (let ordinal = 0; ordinal < reader.chunkCount; ordinal += 1) {
      const writes = (this.#writes.get(reader.seq(ordinal)) ?? 0) + 1;
      this.#writes.set(reader.seq(ordinal), writes);
      this.writesMax = Math.max(this.writesMax, writes);
    }
  }
}

function reopened(fs: ModelFileSystem): PackedIndex {
  const machine = createTestMachine({
    fs,
    clock: new FakeClock('skips'),
    lockTable: new FakeLockTable(),
    seed: 77,
  });
  return PackedIndex.open(machine, root);
}

function linesOf(index: PackedIndex): readonly string[] {
  expect(index.state.kind).toBe('ready');
  const lines = [...indexLines(index)];
  index.close();
  return lines;
}

test('a disk that takes no writes changes nothing: what is in memory answers on', async () => {
  const world = new PackedWorld();
  world.session('s-1', 'primary', []);
  fill(world, new RandomWorld(6), 1, 20);
  const lines = [...indexLines(world.index)];
  world.fs.setSpace(world.fs.usedBytes + 200);
  const failed = await world.sealing.maintain('everything');
  expect(failed).toMatchObject({ kind: 'failed', error: { code: 'TURNLOG_IO' } });
  expect([...indexLines(world.index)]).toEqual(lines);
  world.fs.setSpace(null);
  expect(await world.sealing.maintain('everything')).toEqual({ kind: 'written' });
  expect([...indexLines(world.index)]).toEqual(lines);
});

test('replaced files stay for a minute, for others who still want to open them', async () => {
  const world = new PackedWorld();
  world.session('s-1', 'primary', []);
  fill(world, new RandomWorld(7), 1, 3);
  await world.sealing.maintain('everything');
  const other = PackedIndex.open(world.machine, root);
  const lines = [...indexLines(other)];
  fill(world, new RandomWorld(8), 4, 3);
  await world.sealing.maintain('everything');
  const segments = (): number => world.fs.list(directory).filter(({ name }) => name.endsWith('.seg')).length;
  expect([world.index.segments.length, segments()]).toEqual([1, 2]);
  world.clock.advance(60_000);
  await world.sealing.maintain();
  expect(segments()).toBe(1);
  // Who has it open reads on.
  expect([...indexLines(other)]).toEqual(lines);
  other.close();
});
