import { DraftFile } from '@turnlog/fs';
import { limits } from '@turnlog/kernel';
import { SeededRandom } from '@turnlog/testkit';
import { compareBytes } from '../src/chunk-id.js';
import { inByteOrder } from '../src/packed/byte-order.js';
import { CarriedTombstones } from '../src/packed/carried-tombstones.js';
import type { ChunkSource } from '../src/packed/chunk-source.js';
import { mergeOrder } from '../src/packed/merge-order.js';
import { PackedIndex } from '../src/packed/packed-index.js';
import { Sealing } from '../src/packed/sealing.js';
import { SegmentReader } from '../src/packed/segment-reader.js';
import { writeSegment } from '../src/packed/segment-writer.js';
import { wholeOf } from '../src/packed/slices.js';
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
      [`of-${session}-${seq}`, 1],
    ]);
    const fields = { session, seq, n: 0, turn: null, tsMs: startMs + seq, tool: null, paths: ['a.ts'] };
    world.add({ fields: { ...fields, role: 'agent', kind: 'message' }, len: 5, terms, itemId: `i-${seq}` });
  }
}

/** A source that says how many numbers were read of it. */
function metered(source: ChunkSource, meter: { work: number }): ChunkSource {
  return new Proxy(source, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      // A term takes longer than a posting.
      if (name === 'allTerms') return () => counted(target.allTerms(), () => (meter.work += 20));
      return (...given: readonly unknown[]): unknown => {
        meter.work += name === 'readPostings' ? target.df(Number(given[0])) : 1;
        return Reflect.apply(value, target, given);
      };
    },
  });
}

function* counted<Value>(values: Iterable<Value>, note: () => void): Iterable<Value> {
  for (const value of values) {
    note();
    yield value;
  }
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

test('opening what was written, carrying tombstones over and writing them down pause too; what is buried meanwhile is dead', async () => {
  const world = new PackedWorld();
  addChunks(world, 's-a', 1, 20_000);
  await world.sealing.maintain('everything');
  const [segment] = world.index.segments;
  if (segment === undefined) throw new Error('there is a segment');
  const { reader, listed } = segment;
  const claim = { ...listed, tokenizer: 'tl-1' };
  const meter = { work: 0 };
  const open = world.fs.open.bind(world.fs);
  const spy = jest.spyOn(world.fs, 'open').mockImplementation((...given) => {
    const file = open(...given);
    const read = file.read.bind(file);
    jest.spyOn(file, 'read').mockImplementation((into, offset) => {
      meter.work += into.length;
      return read(into, offset);
    });
    return file;
  });
  const opening = SegmentReader.opening(world.fs, reader.path, claim, world.index.cache);
  const [opened, mostRead, allRead] = drive(opening, meter);
  expect(mostRead).toBeLessThanOrEqual(300_000);
  expect(allRead).toBeGreaterThan(mostRead);
  // Whoever does not go on behind a pause leaves no file open.
  const before = world.fs.openHandleCount;
  const left = SegmentReader.opening(world.fs, reader.path, claim, world.index.cache);
  left.next();
  left.return(opened);
  expect(world.fs.openHandleCount).toBe(before);
  spy.mockRestore();

  for (let seq = 1; seq <= 10_000; seq += 1) world.index.supersede('s-a', seq, { seq: seq + 1, tsMs: null });
  const carried = new CarriedTombstones([reader]);
  const places = [Int32Array.from({ length: 20_000 }, (_, ordinal) => ordinal)];
  const order = { ...wholeOf(mergeOrder([reader])), places };
  const carrying = carried.carry(opened, order);
  carrying.next();
  expect([opened.tombstones.deadCount > 0, opened.tombstones.deadCount < 10_000]).toEqual([true, true]);
  world.index.supersede('s-a', 15_000, { seq: 15_001, tsMs: null });
  world.index.removeBefore('s-a', 3);
  wholeOf(carrying);
  world.index.supersede('s-a', 15_002, { seq: 15_003, tsMs: null });
  wholeOf(carried.carry(opened, order));
  expect([opened.tombstones.deadCount, opened.tombstones.goneCount]).toEqual([10_002, 2]);
  const buried = jest.spyOn(opened.tombstones, 'bury');
  wholeOf(carried.carry(opened, order));
  expect(buried).not.toHaveBeenCalled();
  expect(opened.tombstones.supersederOf(15_001)).toEqual({ seq: 15_003, tsMs: null });
  expect(opened.tombstones.isVoid(0)).toBe(false);
  world.index.removeSession('s-a');
  wholeOf(carried.carry(opened, order));
  expect([opened.tombstones.goneCount, opened.tombstones.isVoid(0)]).toEqual([20_000, true]);
  opened.close();
});

test('what is superseded while a merge writes is dead behind it, and written down the next time', async () => {
  const world = new PackedWorld();
  addChunks(world, 's-a', 1, 6_000);
  await world.sealing.maintain('everything');
  addChunks(world, 's-b', 1, 5_000);
  let looks = 0;
  const watch = jest.spyOn(world.clock, 'monotonicMs').mockImplementation(() => {
    looks += 3;
    return looks;
  });
  let isDone = false;
  const merging = world.sealing.maintain('everything').then(() => {
    isDone = true;
  });
  for (let seq = 1; !isDone; seq += 1) {
    await turnOfTheLoop();
    for (const session of ['s-a', 's-b']) world.supersede(session, seq, { seq: 9_000, tsMs: null });
  }
  await merging;
  watch.mockRestore();
  const plan = planFor(['all', 'few7'], { counting: 'exact' });
  expect(world.index.segments.length).toBe(1);
  expect(plainAnswer(world.index.query(plan, help))).toEqual(world.naive.answer(plan));
  await world.sealing.maintain('everything');
  world.reopen();
  expect(plainAnswer(world.index.query(plan, help))).toEqual(world.naive.answer(plan));
});

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
