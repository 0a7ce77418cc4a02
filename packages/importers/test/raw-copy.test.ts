import { gunzipSync } from 'node:zlib';
import { type FileHandle, RunningSha256, sha256Hex } from '@turnlog/kernel';
import { AssetStore } from '@turnlog/store';
import { SeededRandom } from '@turnlog/testkit';
import {
  type Compress,
  compressFast,
  partFrom,
  RawCopy,
  type RawMode,
  type RawPart,
} from '../src/raw-copy.js';
import { makeThreadDesk, plantFiles, type ThreadDesk } from './thread-files.js';

const mebibyte = 1_048_576;
const partBytesMax = 8 * mebibyte;

/** Lines of some lengths, one of them longer than a part. */
function linesOf(bytes: number, longest = 300_000): Buffer {
  const random = new SeededRandom(11);
  const block = Buffer.from(random.bytes(4_096)).toString('hex');
  const lines: string[] = [];
  let length = 0;
  while (length < bytes) {
    const line = `{"n":${lines.length},"text":"${block.repeat(1 + random.below(longest / block.length))}"}\n`;
    lines.push(line);
    length += line.length;
  }
  return Buffer.from(lines.join(''));
}

const source = linesOf(20 * mebibyte);

interface Copying {
  readonly desk: ThreadDesk;
  readonly copy: RawCopy;
  readonly file: FileHandle;
}

function copying(bytes: Uint8Array, from = 0, mode: RawMode = 'asset', compress = compressFast): Copying {
  const desk = makeThreadDesk();
  plantFiles(desk, { 'one.jsonl': bytes });
  const file = desk.fs.open('/foreign/one.jsonl', 'read');
  const assets = new AssetStore(desk.machine, '/store');
  return { desk, file, copy: new RawCopy(file, { mode, from, assets, compress }) };
}

function joined({ desk }: Copying, parts: readonly RawPart[]): Buffer {
  return Buffer.concat(
    parts.map(({ asset = '' }) =>
      gunzipSync(desk.fs.contentOf(`/store/assets/${asset.slice(0, 2)}/${asset}`)),
    ),
  );
}

function placesOf(parts: readonly RawPart[]): readonly (readonly [number, number, string])[] {
  return parts.map(({ offset, bytes, sha256 }) => [offset, bytes, sha256]);
}

/** Where the parts of `[from, to)` begin and end, by the rule. */
function expectedPlaces(
  bytes: Buffer,
  from: number,
  to: number,
): readonly (readonly [number, number, string])[] {
  const places: [number, number, string][] = [];
  for (let offset = from; offset < to; ) {
    const end = Math.min(to, offset + partBytesMax);
    const cut = end === to ? end : bytes.lastIndexOf(0x0a, end - 1) + 1;
    const last = cut <= offset ? end : cut;
    places.push([offset, last - offset, sha256Hex(bytes.subarray(offset, last))]);
    offset = last;
  }
  return places;
}

/** How the fold that reads the source comes on: positions that the copy is told. */
const folds: readonly (readonly [name: string, positions: readonly number[]])[] = [
  ['not told anything', []],
  ['told the start', [0]],
  ['told each mebibyte', Array.from({ length: 20 }, (_, n) => (n + 1) * mebibyte)],
  ['told two places far apart', [mebibyte, 19 * mebibyte]],
];

test.each(folds)('a copy has the same parts, joined the source, when it is %s', async (_, positions) => {
  const whole = source.length;
  const near = partBytesMax;
  for (const [from, to] of [
    [0, whole],
    [0, whole - 77],
    [0, near],
    [0, near + 1],
    [1_000, 1_000 + near],
    [5 * mebibyte, whole],
  ] as const) {
    const made = copying(source, from);
    for (const position of positions) if (position <= to) await made.copy.advance(position, whole);
    const hash = new RunningSha256();
    const parts = await made.copy.finish(to, hash);
    expect(placesOf(parts)).toEqual(expectedPlaces(source, from, to));
    expect(joined(made, parts).equals(source.subarray(from, to))).toBe(true);
    expect(hash.digestHex()).toBe(sha256Hex(source.subarray(from, to)));
    made.file.close();
  }
});

test('a part is stored only when the copy names it', async () => {
  const made = copying(source);
  for (let position = 0; position < 12 * mebibyte; position += mebibyte) {
    await made.copy.advance(position, source.length);
  }
  const parts = await made.copy.finish(12 * mebibyte, new RunningSha256());
  const stored = made.desk.fs
    .list('/store/assets')
    .flatMap(({ name }) => made.desk.fs.list(`/store/assets/${name}`).map((entry) => entry.name));
  expect(stored.sort()).toEqual(parts.map(({ asset }) => asset ?? '').sort());
});

test('a line longer than a part is cut', async () => {
  const long = Buffer.concat([Buffer.alloc(partBytesMax + 9, 0x61), Buffer.from('\nend\n')]);
  const made = copying(long);
  await made.copy.advance(0, long.length);
  const parts = await made.copy.finish(long.length, new RunningSha256());
  expect(parts.map(({ bytes }) => bytes)).toEqual([partBytesMax, 14]);
  expect(joined(made, parts).equals(long)).toBe(true);
});

test('digests alone are the same as those of the assets', async () => {
  const made = copying(source, 0, 'reference');
  await made.copy.advance(mebibyte, source.length);
  const parts = await made.copy.finish(source.length, new RunningSha256());
  expect(placesOf(parts)).toEqual(expectedPlaces(source, 0, source.length));
  expect(parts.every((part) => !('asset' in part))).toBe(true);
  expect(made.desk.fs.status('/store/assets')).toBeNull();
});

test('nothing behind an empty copy', async () => {
  const made = copying(source, 500);
  await made.copy.advance(500, 500);
  const hash = new RunningSha256();
  expect(await made.copy.finish(500, hash)).toEqual([]);
  expect(await copying(source, 500).copy.finish(400, hash)).toEqual([]);
  expect(hash.digestHex()).toBe(sha256Hex(new Uint8Array(0)));
});

test('a failure of the compressor comes out where the part is needed, and nowhere else', async () => {
  const failing: Compress = () => Promise.reject(new RangeError('no memory'));
  const made = copying(source, 0, 'asset', failing);
  await made.copy.advance(0, source.length);
  await expect(made.copy.finish(source.length, new RunningSha256())).rejects.toThrow(RangeError);
  const dropped = copying(source, 0, 'asset', failing);
  await dropped.copy.advance(0, source.length);
  await dropped.copy.abandon();
  expect(await dropped.copy.finish(0, new RunningSha256())).toEqual([]);
});

test('a source that became shorter is told', async () => {
  const made = copying(source);
  await expect(made.copy.finish(source.length + 1, new RunningSha256())).rejects.toMatchObject({
    code: 'TURNLOG_IO',
    details: { reason: 'the source became shorter' },
  });
});

test('a part comes back from its asset; more than a part never does', async () => {
  const bytes = source.subarray(0, partBytesMax);
  expect(Buffer.compare(await partFrom(await compressFast(bytes)), bytes)).toBe(0);
  await expect(partFrom(await compressFast(source.subarray(0, partBytesMax + 1)))).rejects.toMatchObject({
    code: 'TURNLOG_IO',
    details: { reason: 'too-long' },
  });
});
