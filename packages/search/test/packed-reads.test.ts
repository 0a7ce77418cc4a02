import { type FileHandle, type FileSystem, limits } from '@turnlog/kernel';
import { createTestMachine, SeededRandom, type TestMachine } from '@turnlog/testkit';
import { noFilters } from '../src/filters.js';
import { PackedIndex } from '../src/packed/packed-index.js';
import { trailerBytes } from '../src/packed/segment-format.js';
import type { SegmentReader } from '../src/packed/segment-reader.js';
import { help, PackedWorld, plainAnswer, planFor, root, startMs } from './packed-world.js';

const pageBytes = limits.searchPageBytes;

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

/** An index whose sessions have a thousand chunks each, of ten words out of many. */
async function filled(chunkCount: number): Promise<PackedWorld> {
  const world = new PackedWorld();
  const random = new SeededRandom(1);
  const word = (): string => `w${Math.floor(40_000 * (random.below(10_000) / 10_000) ** 3)}`;
  for (let at = 0; at < chunkCount; at += 1) {
    const session = `s-${Math.floor(at / 1_000)}`;
    if (at % 1_000 === 0) world.session(session, at % 7_000 === 0 ? 'subagent' : 'primary', ['/w']);
    const text = `all ${Array.from({ length: 10 }, word).join(' ')}`;
    const kind = at % 50 === 0 ? 'context' : 'message';
    const turn = Math.floor((at % 1_000) / 20);
    const fields = { session, seq: 1 + (at % 1_000), n: 0, turn, tsMs: startMs + at } as const;
    world.index.add({
      fields: { ...fields, role: 'agent', kind, tool: null, paths: [] },
      itemId: `i-${at}`,
      text,
    });
    if (at % 32_000 === 31_999) await world.sealing.maintain('everything');
  }
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

/** In the long run also a tenth of so many, and as many. */
const chunksMax = Number(process.env['TURNLOG_SEARCH_CHUNKS'] ?? 10_000);
const sizes = [...new Set([10_000, Math.max(10_000, chunksMax / 10), chunksMax])];

test.each(sizes.map((size) => [size]))(
  'Q-35 of %d chunks opening reads header, logs, dictionary, a query the pages of its terms; what is held is within bounds',
  async (chunkCount) => {
    const world = await filled(chunkCount);
    const { index, reads } = openCounted(world);
    const residentAt = index.segments.map(({ reader }) => reader.header.resident.logs.start);
    const opened = reads.filter(({ name }) => name === '.seg');
    expect(opened.every(({ from }) => residentAt.some((start) => from >= start))).toBe(true);
    // The last bytes of each are read first, to find the others.
    const resident = index.segments.map(
      ({ listed }, at) => listed.bytes - (residentAt[at] ?? 0) + trailerBytes,
    );
    expect(bytesOf(opened)).toBe(resident.reduce((sum, bytes) => sum + bytes, 0));

    reads.length = 0;
    const seldom = seldomWord(index);
    const answer = index.query(planFor([seldom.text]), help);
    expect(answer.total.value).toBe(seldom.df);
    const pages = index.segments.map(({ reader }) => pagesOf(reader));
    expect(reads.length).toBeLessThanOrEqual(pages.reduce((sum, count) => sum + count, 0));
    expect(reads.every(({ bytes, from }) => bytes <= pageBytes && from % pageBytes === 0)).toBe(true);
    reads.length = 0;
    index.query(planFor([seldom.text]), help);
    expect(reads).toEqual([]);

    for (let seq = 1; seq < 900; seq += 1) index.supersede('s-3', seq, { seq: 2_000, tsMs: null });
    for (const hidden of ['included', 'left-out'] as const) {
      index.query({ ...planFor(['all', 'w1', 'w2', 'w7']), filters: { ...noFilters, hidden } }, help);
    }
    const terms = index.segments.reduce((sum, { reader }) => sum + reader.header.termCount, 0);
    expect(index.residentBytes).toBeLessThanOrEqual(64 * chunkCount + 32 * terms);
    expect(index.cache.byteCount).toBeLessThanOrEqual(limits.searchCacheBytesMax);
    // For each chunk of a window a sum, two places and a mark, and for each term its postings there.
    expect(index.workingBytes).toBeLessThanOrEqual(32_768 * (17 + 4 * 2 * 8) + 65_536);
    const heldBytes = (index.residentBytes / chunkCount).toFixed(1);
    process.stdout.write(`figure: bytes held of each of ${chunkCount} chunks: ${heldBytes}\n`);
    index.close();
  },
  3_600_000,
);

/** The rarest word that more than one chunk holds. */
function seldomWord(index: PackedIndex): { readonly text: string; readonly df: number } {
  const dfs = new Map<string, number>();
  for (const { reader } of index.segments) {
    for (const { text, term } of reader.allTerms()) dfs.set(text, (dfs.get(text) ?? 0) + reader.df(term));
  }
  const [found] = [...dfs].filter(([, df]) => df > 1).sort(([, left], [, right]) => left - right);
  return { text: found?.[0] ?? '', df: found?.[1] ?? 0 };
}

/** One page of postings, and all of eight columns: lens and times are read once, of others those that hold a hit. */
function pagesOf({ chunkCount }: SegmentReader): number {
  return 2 + 8 * (Math.ceil((chunkCount * 8) / pageBytes) + 1);
}

test('what is held in memory has a bound, and answers do not depend on it', async () => {
  const world = await filled(20_000);
  const pages = 3;
  const { index } = openCounted(world, pages * pageBytes);
  const random = new SeededRandom(2);
  for (let at = 0; at < 20; at += 1) {
    const plan = planFor([`w${random.below(20)}`, `w${random.below(2_000)}`, `w${random.below(40_000)}`]);
    expect(plainAnswer(index.query(plan, help))).toEqual(plainAnswer(world.index.query(plan, help)));
    expect(index.cache.byteCount).toBeLessThanOrEqual(pages * pageBytes);
  }
  index.close();
});
