import { type FileHandle, type FileSystem, limits } from '@turnlog/kernel';
import { createTestMachine, type TestMachine } from '@turnlog/testkit';
import { PackedIndex } from '../src/packed/packed-index.js';
import { help, PackedWorld, plainAnswer, planFor, RandomWorld, root } from './packed-world.js';

interface Read {
  readonly name: string;
  readonly from: number;
  readonly bytes: number;
}

/** A file system that writes down what is read of which file. */
function counting(fs: FileSystem, reads: Read[]): FileSystem {
  const handle = (file: FileHandle): FileHandle =>
    new Proxy(file, {
      get(target, name): unknown {
        if (name !== 'read') {
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        }
        return (into: Uint8Array, offset: number): number => {
          const bytes = target.read(into, offset);
          reads.push({ name: target.path.slice(target.path.lastIndexOf('.')), from: offset, bytes });
          return bytes;
        };
      },
    });
  return new Proxy(fs, {
    get(target, name): unknown {
      if (name === 'open') return (...given: Parameters<FileSystem['open']>) => handle(target.open(...given));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function filled(chunkCount: number): Promise<PackedWorld> {
  const world = new PackedWorld();
  const random = new RandomWorld(1, 4_000);
  world.session('s-1', 'primary', ['/w']);
  for (let seq = 1; seq <= chunkCount; seq += 1) world.add(random.chunk('s-1', seq, 0));
  await world.sealing.maintain('everything');
  return world;
}

function openCounted(world: PackedWorld, bytesMax?: number): { index: PackedIndex; reads: Read[] } {
  const reads: Read[] = [];
  const machine: TestMachine = createTestMachine({ fs: counting(world.fs, reads), clock: world.clock });
  const options = bytesMax === undefined ? {} : { cacheBytesMax: bytesMax };
  return { index: PackedIndex.open(machine, root, options), reads };
}

const bytesOf = (reads: readonly Read[]): number => reads.reduce((sum, { bytes }) => sum + bytes, 0);

test('opening reads header, logs and dictionary, and a query the pages of its terms', async () => {
  const world = await filled(20_000);
  const { index, reads } = openCounted(world);
  const [segment] = index.segments;
  if (segment === undefined) throw new Error('there is a segment');
  const { reader, listed } = segment;
  const opened = reads.filter(({ name }) => name === '.seg');
  const residentAt = reader.header.resident.logs.start;
  expect(Math.min(...opened.map(({ from }) => from))).toBe(residentAt);
  // The last bytes are read first, to find the others.
  expect(bytesOf(opened)).toBe(listed.bytes - residentAt + 24);
  reads.length = 0;
  const terms = [...reader.allTerms()].sort((left, right) => reader.df(left.term) - reader.df(right.term));
  const seldom = terms[0]?.text ?? '';
  const answer = index.query(planFor([seldom]), help);
  expect(answer.total.value).toBe(reader.df(terms[0]?.term ?? -1));
  // One page of postings, and of each column that is asked of a match those that hold one.
  const columnPages = Math.ceil((20_000 * 8) / limits.searchPageBytes) + 1;
  expect(reads.length).toBeLessThanOrEqual(1 + 8 * columnPages);
  expect(
    reads.every(({ bytes, from }) => bytes <= limits.searchPageBytes && from % limits.searchPageBytes === 0),
  ).toBe(true);
  reads.length = 0;
  index.query(planFor([seldom]), help);
  expect(reads).toEqual([]);
  index.close();
});

test('what is held in memory has a bound, and answers do not depend on it', async () => {
  const world = await filled(20_000);
  const pages = 3;
  const { index } = openCounted(world, pages * limits.searchPageBytes);
  const random = new RandomWorld(2, 4_000);
  for (let at = 0; at < 20; at += 1) {
    const plan = planFor([random.word(), random.word(), random.word()]);
    expect(plainAnswer(index.query(plan, help))).toEqual(plainAnswer(world.index.query(plan, help)));
    expect(index.cache.byteCount).toBeLessThanOrEqual(pages * limits.searchPageBytes);
  }
  const [segment] = index.segments;
  const { chunkCount = 0, header } = segment?.reader ?? {};
  const resident = segment?.reader.residentBytes ?? 0;
  expect(resident).toBeLessThanOrEqual(64 * chunkCount + 32 * (header?.termCount ?? 0));
  index.close();
});
