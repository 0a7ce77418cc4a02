import { DraftFile } from '@turnlog/fs';
import { limits } from '@turnlog/kernel';
import { SeededRandom } from '@turnlog/testkit';
import { compareBytes } from '../src/chunk-id.js';
import { inByteOrder } from '../src/packed/byte-order.js';
import type { ChunkSource } from '../src/packed/chunk-source.js';
import { mergeOrder } from '../src/packed/merge-order.js';
import { PackedIndex } from '../src/packed/packed-index.js';
import { Sealing } from '../src/packed/sealing.js';
import { writeSegment } from '../src/packed/segment-writer.js';
import { help, PackedWorld, plainAnswer, planFor, root, startMs } from './packed-world.js';

const directory = `${root}/search`;

/** Chunks of a session, each of some words that many have and one that few have. */
function addChunks(world: PackedWorld, session: string, from: number, count: number): void {
  world.session(session, 'primary', ['/w']);
  const random = new SeededRandom(from);
  for (let seq = from; seq < from + count; seq += 1) {
    const terms = new Map([
      ['all', 1],
      [`some${random.below(9)}`, 1],
      [`few${random.below(4_000)}`, 2],
    ]);
    const fields = { session, seq, n: 0, turn: null, tsMs: startMs + seq, tool: null, paths: ['a.ts'] };
    world.add({ fields: { ...fields, role: 'agent', kind: 'message' }, len: 4, terms, itemId: `i-${seq}` });
  }
}

/** A source that says how many numbers were read of it. */
function metered(source: ChunkSource, meter: { work: number }): ChunkSource {
  return new Proxy(source, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: readonly unknown[]): unknown => {
        meter.work += name === 'readPostings' ? target.df(Number(given[0])) : 1;
        return Reflect.apply(value, target, given);
      };
    },
  });
}

/** Goes through work that pauses; returns how much was done between two pauses, at most and in all. */
function drive<Result>(
  work: Generator<void, Result, void>,
  meter: { work: number },
): [Result, number, number] {
  let [most, all] = [0, 0];
  for (;;) {
    meter.work = 0;
    const step = work.next();
    most = Math.max(most, meter.work);
    all += meter.work;
    if (step.done === true) return [step.value, most, all];
  }
}

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const segmentsOf = (world: PackedWorld): readonly string[] =>
  world.fs
    .list(directory)
    .map(({ name }) => name)
    .filter((name) => name.endsWith('.seg'));

test('Q-34 a merge pauses between pieces of bounded work, queries and appends go on, and old segments stay for who holds them', async () => {
  const world = new PackedWorld();
  for (const [at, session] of ['s-a', 's-b'].entries()) {
    addChunks(world, session, 1, 12_000 - 2_000 * at);
    await world.sealing.maintain('everything');
  }
  addChunks(world, 's-c', 1, 12_000);
  // No piece of work is more than some ten thousand numbers read, which are far less than five milliseconds.
  const meter = { work: 0 };
  const sources = world.index.sources().map((source) => metered(source, meter));
  const [order, mostOrdered] = drive(mergeOrder(sources), meter);
  const draft = new DraftFile(world.fs, world.machine.ids, `${root}/draft.seg`);
  const [, mostWritten, allWritten] = drive(writeSegment(draft, sources, order, 'tl-1'), meter);
  draft.discard();
  expect(Math.max(mostOrdered, mostWritten)).toBeLessThanOrEqual(32_768);
  expect(allWritten).toBeGreaterThan(4 * mostWritten);

  const before = segmentsOf(world);
  const other = PackedIndex.open(world.machine, root);
  const otherAnswer = plainAnswer(other.query(planFor(['all', 'few7']), help));
  const index = world.index;
  const sealing = new Sealing(index);
  // Every look at the clock is a millisecond later than the one before.
  let looks = 0;
  const watch = jest.spyOn(world.clock, 'monotonicMs').mockImplementation(() => {
    looks += 1;
    return looks;
  });
  let isDone = false;
  const merging = sealing.maintain('everything').then((outcome) => {
    isDone = true;
    return outcome;
  });
  let turns = 0;
  let mostLooks = 0;
  for (let seq = 20_001; !isDone; seq += 1) {
    const looksBefore = looks;
    await turnOfTheLoop();
    mostLooks = Math.max(mostLooks, looks - looksBefore);
    turns += 1;
    addChunks(world, 's-d', seq, 1);
    const plan = planFor(['few7', `some${turns % 9}`], { limit: 3 });
    if (turns % 4 === 1) expect(plainAnswer(index.query(plan, help))).toEqual(world.naive.answer(plan));
  }
  expect(await merging).toEqual({ kind: 'written' });
  expect(turns).toBeGreaterThan(3);
  // A step is a look; behind five of them others have their turn.
  expect(mostLooks).toBeLessThanOrEqual(limits.searchSliceMs + 3);
  const plan = planFor(['all', 'few7', 'some3']);
  expect(plainAnswer(index.query(plan, help))).toEqual(world.naive.answer(plan));

  // The old files stay for those who opened them before, and go when they can be opened by nobody any more.
  const after = segmentsOf(world);
  expect(before.every((name) => after.includes(name))).toBe(true);
  expect(plainAnswer(other.query(planFor(['all', 'few7']), help))).toEqual(otherAnswer);
  looks += limits.searchRetiredKeepMs;
  await sealing.maintain('due');
  expect(segmentsOf(world).filter((name) => before.includes(name))).toEqual(
    index.segments.map(({ listed }) => listed.file).filter((name) => before.includes(name)),
  );
  expect(plainAnswer(other.query(planFor(['all', 'few9']), help)).total.value).toBeGreaterThan(0);
  other.close();
  watch.mockRestore();
}, 120_000);

test('terms are put in the order of bytes part by part, whatever they begin with', () => {
  const random = new SeededRandom(7);
  const units = ['a', 'b', 'ab', 'é', '語', '\uff5e', '🚀', '\ue000', '_', '0'];
  const texts = new Set<string>();
  while (texts.size < 6_000) {
    const length = 1 + random.below(9);
    texts.add(Array.from({ length }, () => units[random.below(units.length)]).join(''));
  }
  expect([...inByteOrder([...texts])]).toEqual([...texts].sort(compareBytes));
});
