import { spawnSync } from 'node:child_process';
import { gunzipSync, gzipSync } from 'node:zlib';
import { isTurnlogError, limits } from '@turnlog/kernel';
import { SeededRandom } from '@turnlog/testkit';
import { GzipWriter, gunzip, gunzipPieces, gzip } from '../src/index.js';

function sourceOf(bytes: Uint8Array): { read(into: Uint8Array, offset: number): number } {
  return {
    read: (into, offset) => {
      // Reads that bring less than was asked for are usual.
      const piece = bytes.subarray(offset, offset + Math.min(into.length, 70_001));
      into.set(piece);
      return piece.length;
    },
  };
}

function fileOf(pieces: readonly Uint8Array[], level: 1 | 6 = 1): { file: Buffer; members: Uint8Array[] } {
  const members: Uint8Array[] = [];
  const writer = new GzipWriter((member) => members.push(member), level);
  for (const piece of pieces) writer.write(piece);
  writer.end();
  return { file: Buffer.concat(members), members };
}

function contentOf(file: Uint8Array): Buffer {
  return Buffer.concat([...gunzipPieces(sourceOf(file), file.length)]);
}

function faultOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return isTurnlogError(error, 'TURNLOG_IO') ? error.details : error;
  }
  return null;
}

/** Lines that can be compressed, of which no two are alike. */
function linesOf(bytes: number): Buffer {
  const random = new SeededRandom(7);
  const lines: string[] = [];
  for (let length = 0; length < bytes; length += lines.at(-1)?.length ?? 0) {
    lines.push(`{"seq":${lines.length},"text":"${Buffer.from(random.bytes(24)).toString('hex')}"}\n`);
  }
  return Buffer.from(lines.join('')).subarray(0, bytes);
}

const content = linesOf(2 * limits.gzipMemberBytes + 12_345);
const cuts = [1, 4_096, limits.gzipMemberBytes, content.length];

test('what was written in pieces of any length is the same file, and has a member for each mebibyte', () => {
  const { file, members } = fileOf([content]);
  expect(members).toHaveLength(3);
  expect(file.length).toBeLessThan(content.length);
  for (const cut of cuts.slice(1)) {
    const pieces = Array.from({ length: Math.ceil(content.length / cut) }, (_, at) =>
      content.subarray(at * cut, (at + 1) * cut),
    );
    expect(fileOf(pieces).file.equals(file)).toBe(true);
  }
});

test('a reader gives the content back member by member, and so do other programs', () => {
  const { file } = fileOf([content]);
  expect(contentOf(file).equals(content)).toBe(true);
  const lengths = [...gunzipPieces(sourceOf(file), file.length)].map(({ length }) => length);
  expect(lengths).toEqual([limits.gzipMemberBytes, limits.gzipMemberBytes, 12_345]);
  expect(gunzipSync(file).equals(content)).toBe(true);
  const { stdout, error } = spawnSync('gzip', ['-dc'], { input: file, maxBuffer: content.length * 2 });
  // Where there is no such program, nothing can be asked of it.
  if (error === undefined) expect(stdout.equals(content)).toBe(true);
});

test('no content is an empty member, and a file without members has no content', () => {
  const { file, members } = fileOf([]);
  expect(members).toHaveLength(1);
  expect(contentOf(file)).toHaveLength(0);
  expect(gunzipSync(file)).toHaveLength(0);
  expect(contentOf(new Uint8Array(0))).toHaveLength(0);
});

test('files that others have made are read, also of several members', () => {
  const foreign = Buffer.concat([gzipSync(content.subarray(0, 500)), gzipSync(content.subarray(500))]);
  expect(contentOf(foreign).equals(content)).toBe(true);
  const mixed = Buffer.concat([fileOf([content.subarray(0, 500)]).file, gzipSync(content.subarray(500))]);
  expect(contentOf(mixed).equals(content)).toBe(true);
});

test('a level that tries harder gives fewer bytes', () => {
  expect(fileOf([content], 6).file.length).toBeLessThan(fileOf([content], 1).file.length);
});

test('a file that was cut anywhere says so, and gives the members before the cut', () => {
  const { file, members } = fileOf([content]);
  const [first = 0, second = 0] = members.map(({ length }) => length);
  for (const end of [1, 5, 19, 20, 500, first - 1, first + 1, first + 30, file.length - 1]) {
    const pieces: Uint8Array[] = [];
    const fault = faultOf(() => {
      for (const piece of gunzipPieces(sourceOf(file), end)) pieces.push(piece);
    });
    const starts = [0, first, first + second].filter((start) => start < end);
    expect(fault).toMatchObject({ step: 'gunzip', reason: 'cut', offset: starts.at(-1) });
    expect(pieces).toHaveLength(starts.length - 1);
  }
  // The file may also have become shorter than it was when somebody looked.
  expect(faultOf(() => [...gunzipPieces(sourceOf(file.subarray(0, 600)), file.length)])).toMatchObject({
    reason: 'cut',
  });
});

test('of a file in which any one bit is another, no other content is read', () => {
  const small = linesOf(1_000);
  const { file } = fileOf([small]);
  for (let at = 0; at < file.length; at += 1) {
    const damaged = Buffer.from(file);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
    const read: { bytes: Buffer | null } = { bytes: null };
    const fault = faultOf(() => {
      read.bytes = contentOf(damaged);
    });
    // Time, level and system in the header say nothing of the content.
    if (read.bytes === null) expect(fault).toMatchObject({ step: 'gunzip' });
    else expect(read.bytes.equals(small)).toBe(true);
  }
});

test('a foreign member that would fill the memory is refused', () => {
  const bomb = gzipSync(Buffer.alloc(limits.gzipForeignBytesMax + 1), { level: 9 });
  expect(faultOf(() => contentOf(bomb))).toMatchObject({ reason: 'too-long', offset: 0 });
});

test('one file at once: the same bytes, damage and too much content told', async () => {
  const file = await gzip(content, 1);
  expect(Buffer.compare(await gunzip(file, content.length), content)).toBe(0);
  expect(gunzipSync(file).equals(content)).toBe(true);
  expect(Buffer.compare(await gzip(content, 1), file)).toBe(0);
  await expect(gunzip(file, content.length - 1)).rejects.toMatchObject({ details: { reason: 'too-long' } });
  await expect(gunzip(file.subarray(0, -1), content.length)).rejects.toMatchObject({
    code: 'TURNLOG_IO',
    details: { step: 'gunzip', reason: 'cut' },
  });
  const damaged = file.slice();
  damaged[file.length - 6] = (damaged[file.length - 6] ?? 0) ^ 1;
  await expect(gunzip(damaged, content.length)).rejects.toMatchObject({ details: { reason: 'damaged' } });
});

test('what the taker throws stops the writer', () => {
  const writer = new GzipWriter(() => {
    throw new RangeError('full');
  }, 1);
  expect(() => writer.write(content)).toThrow(RangeError);
});
