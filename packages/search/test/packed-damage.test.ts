import { sha256Hex } from '@turnlog/kernel';
import { copyDisk } from '@turnlog/testkit';
import { indexLines } from '../src/packed/index-lines.js';
import type { PackedIndex } from '../src/packed/packed-index.js';
import { PageCache } from '../src/packed/page-cache.js';
import { decodeTrailer, trailerBytes } from '../src/packed/segment-format.js';
import { type SegmentClaim, SegmentReader } from '../src/packed/segment-reader.js';
import { dayOf } from './naive-index.js';
import { PackedStore, turnOf } from './packed-store.js';
import { PackedWorld, planFor, RandomWorld } from './packed-world.js';

const directory = '/store/search';
const help = { textVerdict: () => true, dayOf };
const questions = [['alpha'], ['done', 'beta'], ['ask', 'out', 'common']];

/** A small index of two segments, one with tombstones. */
async function small(): Promise<PackedStore> {
  const world = await PackedStore.open();
  await world.append('s-1', turnOf(1, 'alpha common'));
  await world.append('s-2', turnOf(1, 'beta common'));
  await world.append('s-1', turnOf(2, 'alpha again'));
  await world.append('s-1', turnOf(3, 'more alpha'));
  await world.catchUp();
  await world.follower.sealing.maintain('everything');
  // One chunk more, and one that takes the place of another.
  await world.append('s-2', turnOf(1, 'beta'));
  await world.catchUp();
  await world.follower.sealing.maintain('everything');
  expect(world.follower.index.segments.length).toBe(2);
  return world;
}

function answersOf(world: PackedStore, index: PackedIndex): object {
  const hits = questions.map((words) => {
    const { hits: found, statistics, total } = index.query(planFor(words), help);
    return {
      statistics,
      total,
      found: found.map(({ session, seq, n, score }) => ({ session, seq, n, score })),
    };
  });
  return { hits, lines: [...indexLines(index)], root: world.root };
}

/** The list and the files that it names. */
function filesOf({ follower }: PackedStore): readonly string[] {
  const named = follower.index.segments.flatMap(({ listed }) => [listed.file, listed.dead?.file ?? null]);
  return ['segments.json', ...named.filter((name) => name !== null)].map((name) => `${directory}/${name}`);
}

/** Everything that an index says, as far as it can be read. */
function readAll(index: PackedIndex): void {
  for (const words of questions) index.query(planFor(words), help);
  try {
    expect([...indexLines(index)].length).toBeGreaterThanOrEqual(0);
  } catch (error) {
    // What no question has looked at is met here.
    expect(index.leaveAside(error)).toBe(true);
    readAll(index);
  }
}

/** A changed file is found before anything of it is used, at once or when it is first read. */
function expectFound(world: PackedStore, path: string, bytes: Uint8Array): PackedIndex {
  world.fs.plantFile(path, bytes);
  const { index } = world.newFollower();
  readAll(index);
  expect({ path, state: index.state.kind }).toEqual({ path, state: 'incomplete' });
  return index;
}

/** What the changed file said is read again from the logs. */
async function expectReadAgain(world: PackedStore, right: object): Promise<void> {
  const { index, catchUp, sealing } = world.newFollower();
  readAll(index);
  await catchUp.run({ waitMs: 1e9 });
  readAll(index);
  await catchUp.run({ waitMs: 1e9 });
  expect(answersOf(world, index)).toEqual(right);
  expect(await sealing.maintain('everything')).toEqual({ kind: 'written' });
  expect(index.state).toEqual({ kind: 'ready' });
  expect(answersOf(world, index)).toEqual(right);
  index.close();
}

/** Each change of each file, and of every so many what comes of it in the end. */
async function expectAllFound(
  world: PackedStore,
  changesOf: (original: Uint8Array) => Iterable<Uint8Array>,
): Promise<void> {
  const right = answersOf(world, world.follower.index);
  for (const path of filesOf(world)) {
    const original = world.fs.contentOf(path);
    let count = 0;
    for (const bytes of changesOf(original)) {
      expectFound(world, path, bytes).close();
      count += 1;
      if (count % 97 === 0) await expectReadAgain(onCopy(world), right);
    }
    world.fs.plantFile(path, original);
  }
}

function onCopy(world: PackedStore): PackedStore {
  return world.on(copyDisk(world.fs));
}

describe('Q-31 what is wrong with a file of the index is found before it is used, and read again to equal answers:', () => {
  test('each byte of each file flipped', async () => {
    await expectAllFound(await small(), function* flips(original) {
      for (let at = 0; at < original.length; at += 1) {
        const bytes = Uint8Array.from(original);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
        yield bytes;
      }
    });
  });

  test('each length of each file, and one byte more', async () => {
    await expectAllFound(await small(), function* lengths(original) {
      for (let length = 0; length < original.length; length += 1) yield original.subarray(0, length);
      yield Buffer.concat([original, Buffer.from([0])]);
    });
  });

  test('an index of another tokenizer is left aside and made anew', async () => {
    const world = await small();
    const right = answersOf(world, world.follower.index);
    const other = world.on(copyDisk(world.fs), { tokenizer: 'tl-0' });
    expect(other.follower.index.state.kind).toBe('incomplete');
    expect([...indexLines(other.follower.index)]).toEqual([]);
    await expectReadAgain(other, right);
  });

  test('a segment of another format, and one of another tokenizer than its list says, are not used', async () => {
    const world = await small();
    const [segment] = world.follower.index.segments;
    if (segment === undefined) throw new Error('there is a segment');
    const { listed } = segment;
    const path = `${directory}/${listed.file}`;
    const open = (claim: Partial<SegmentClaim>): SegmentReader =>
      SegmentReader.open(world.fs, path, { ...listed, tokenizer: 'tl-1', ...claim }, new PageCache());
    open({}).close();
    expect(() => open({ tokenizer: 'tl-2' })).toThrow('it was made with another tokenizer');
    // With a digest that fits: only its own number says that it is of a format to come.
    const bytes = Uint8Array.from(world.fs.contentOf(path));
    const { residentAt, headerBytes } = decodeTrailer(bytes.slice(-trailerBytes), path, bytes.length);
    bytes[bytes.length - trailerBytes - headerBytes] = 2;
    world.fs.plantFile(path, bytes);
    expect(() => open({ digest: sha256Hex(bytes.subarray(residentAt)) })).toThrow('it is of another format');
  });

  test.each(['segments.json', 'a segment', 'tombstones'])(
    'without %s everything is read again',
    async (name) => {
      const world = await small();
      const right = answersOf(world, world.follower.index);
      const suffix = { 'segments.json': '.json', 'a segment': '.seg', tombstones: '.dead' }[name] ?? '';
      const path = filesOf(world).find((file) => file.endsWith(suffix));
      world.fs.removeFile(path ?? '');
      await expectReadAgain(world, right);
    },
  );
});

test('a damaged page is left aside by whatever is the first to read it: fields, the order of times, items, what comes later', async () => {
  const world = new PackedWorld();
  const random = new RandomWorld(11, 400);
  world.session('s-1', 'primary', []);
  for (let seq = 1; seq <= 6_000; seq += 1) world.add(random.chunk('s-1', seq, 0, `item-${seq}`));
  await world.sealing.maintain('everything');
  const [segment] = world.index.segments;
  if (segment === undefined) throw new Error('there is a segment');
  const { path } = segment.reader;
  const original = world.fs.contentOf(path);
  const { residentAt } = decodeTrailer(original.subarray(-trailerBytes), path, original.length);
  const uses: readonly ((index: PackedIndex) => void)[] = [
    (index) => index.query(planFor(['a0']), help),
    (index) => index.fieldsOf({ session: 's-1', seq: 3_000, n: 0 }),
    (index) => [...index.newestFirst()],
    (index) => index.findItem('s-1', 'item-4000'),
    (index) => index.supersede('s-1', 2_000, { seq: 7_000, tsMs: null }),
    (index) => index.removeBefore('s-1', 1_000),
    (index) => index.removeSession('s-1'),
  ];
  // Each of them alone comes upon pages that are damaged.
  for (const [number, use] of uses.entries()) {
    let found = 0;
    for (let at = 100; at < residentAt; at += 65_536) {
      const bytes = Uint8Array.from(original);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      world.fs.plantFile(path, bytes);
      world.reopen();
      use(world.index);
      if (world.index.state.kind === 'incomplete') found += 1;
    }
    expect({ number, isFound: found > 0 }).toEqual({ number, isFound: true });
  }
});

test('a segment whose page is damaged holds up no merge for ever', async () => {
  const world = new PackedWorld();
  const random = new RandomWorld(12);
  world.session('s-1', 'primary', []);
  for (let seq = 1; seq <= 20; seq += 1) world.add(random.chunk('s-1', seq, 0));
  await world.sealing.maintain('everything');
  const path = world.index.segments[0]?.reader.path ?? '';
  const bytes = Uint8Array.from(world.fs.contentOf(path));
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  world.fs.plantFile(path, bytes);
  world.reopen();
  world.session('s-2', 'primary', []);
  for (let seq = 1; seq <= 20; seq += 1) world.add(random.chunk('s-2', seq, 0));
  expect(await world.sealing.maintain('everything')).toMatchObject({ kind: 'failed' });
  // What it said is read again from the logs, and what is new was not lost.
  expect([world.index.state.kind, world.index.sessionEntry('s-1')]).toEqual(['incomplete', null]);
  expect(await world.sealing.maintain('everything')).toEqual({ kind: 'written' });
  expect([world.index.state.kind, world.index.chunkCount]).toEqual(['ready', 20]);
});

describe('a listed file that is gone', () => {
  /** Two states of an index, of which the second has replaced the files of the first. */
  async function replaced(): Promise<{ world: PackedWorld; before: () => void; after: () => void }> {
    const world = new PackedWorld();
    const random = new RandomWorld(13);
    world.session('s-1', 'primary', []);
    const filesNow = (): ReadonlyMap<string, Uint8Array> => {
      const named = world.index.segments.map(({ listed }) => listed.file);
      return new Map(
        ['segments.json', ...named].map((name) => [name, world.fs.contentOf(`${directory}/${name}`)]),
      );
    };
    for (let seq = 1; seq <= 20; seq += 1) world.add(random.chunk('s-1', seq, 0));
    await world.sealing.maintain('everything');
    const first = filesNow();
    for (let seq = 21; seq <= 40; seq += 1) world.add(random.chunk('s-1', seq, 0));
    await world.sealing.maintain('everything');
    const second = filesNow();
    const put = (files: ReadonlyMap<string, Uint8Array>): void => {
      for (const name of [...first.keys(), ...second.keys()]) {
        const path = `${directory}/${name}`;
        if (files.has(name)) world.fs.plantFile(path, files.get(name) ?? new Uint8Array());
        else if (world.fs.status(path) !== null) world.fs.removeFile(path);
      }
    };
    return { world, before: () => put(first), after: () => put(second) };
  }

  test('was replaced meanwhile: the list is read anew, and nothing is damaged', async () => {
    const { world, before, after } = await replaced();
    before();
    const open = world.fs.open.bind(world.fs);
    let isReplaced = false;
    const spy = jest.spyOn(world.fs, 'open').mockImplementation((path, ...rest) => {
      if (!isReplaced && path.endsWith('.seg')) {
        isReplaced = true;
        after();
      }
      return open(path, ...rest);
    });
    world.reopen();
    spy.mockRestore();
    expect([isReplaced, world.index.state, world.index.chunkCount]).toEqual([true, { kind: 'ready' }, 40]);
  });

  test('stays gone: the list is read three times, then what it said is read from the logs', async () => {
    const { world, before } = await replaced();
    before();
    for (const { name } of world.fs.list(directory)) {
      if (name.endsWith('.seg')) world.fs.removeFile(`${directory}/${name}`);
    }
    const open = jest.spyOn(world.fs, 'open');
    world.reopen();
    const tries = open.mock.calls.filter(([path]) => path.endsWith('.seg')).length;
    open.mockRestore();
    expect([tries, world.index.state.kind, world.index.chunkCount]).toEqual([3, 'incomplete', 0]);
  });
});
