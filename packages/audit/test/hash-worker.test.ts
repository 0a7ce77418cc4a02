import { join } from 'node:path';
import { limits, RunningSha256, sha256Hex } from '@turnlog/kernel';
import type { ByteSource } from '@turnlog/log';
import { LeafHasher } from '../src/leaf-hasher.js';
import { LeafTree } from '../src/leaf-tree.js';
import { walkLongLog } from '../src/log-walk.js';
import { AuditWorld, lineV, logV } from './world.js';

function thread(name: string): { readonly module: string; readonly bytesMin: number } {
  return { module: join(__dirname, 'threads', `${name}.mjs`), bytesMin: 0 };
}

const workers = { module: join(__dirname, '../dist/hash-worker.js'), bytesMin: 0 };
const absent = [['not-there'], ['ends-at-once']] as const;

/** Lines of which the longest fit into no block. */
function longLog(): string {
  const lines = [1, 40_000, 300_000, 1_000_000, 1_048_560, 1_500_000, 60_000].map(
    (length, at) =>
      `{"schema_version":"0.18.0","seq":${at + 1},"ts":"2026-01-05T10:00:00.000Z","event":{"type":"error","message":"${'m'.repeat(length)}"}}\n`,
  );
  return lines.join('');
}

/** A record that is gone, and says by which leaf it stands in the tree. */
function redacted(seq: number): string {
  return `{"schema_version":"0.18.0","seq":${seq},"ts":"2026-01-05T10:00:04.000Z","event":{"type":"log.redacted","leaf":"${'ab'.repeat(32)}","original_type":"error"}}\n`;
}

/** A line longer than a block that holds two records, the first of which ends in an earlier block than the line. */
function fusedLine(): string {
  const record = (seq: number, length: number): string =>
    `{"schema_version":"0.18.0","seq":${seq},"ts":"2026-01-05T10:00:00.000Z","event":{"type":"error","message":"${'m'.repeat(length)}"}}`;
  return `${record(1, 500_000)}${record(2, 1_200_000)}\n${record(3, 10)}\n`;
}

const logs: readonly (readonly [name: string, bytes: string, records: number])[] = [
  ['of records alone', logV(70), 70],
  ['of long lines', longLog(), 7],
  [
    'with damage, blanks and a line without its end',
    `${logV(3)}\n{"seq":}\n${'\0'.repeat(9)}\n${lineV(4)}`,
    4,
  ],
  ['with a redacted record', `${logV(3)}${redacted(4)}${lineV(5)}\n`, 5],
  ['with two records in one long line', fusedLine(), 3],
  ['that begins with the mark of UTF-8', `\u{feff}${logV(4)}`, 4],
  ['without a record', 'nothing\n', 0],
];

function threadsOfNow(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'MessagePort' || name === 'Worker')
    .length;
}

test.each(logs)('a log %s is found the same by two threads as by one', async (_name, bytes, records) => {
  const digestTo = Buffer.byteLength(bytes) - 3;
  const walk = (source: ByteSource) => ({
    source,
    to: Buffer.byteLength(bytes),
    wanted: { rootsAt: [2, 4, 70, 71], marks: { each: 2, until: 50 } },
    digestTo,
  });
  const world = new AuditWorld();
  world.plantLog(bytes);
  const open = () => world.disk.open(world.path('events.jsonl'), 'read');
  const before = threadsOfNow();
  const alone = await walkLongLog(walk(open()), undefined);
  expect(alone.recordCount).toBe(records);
  expect(alone.sha256).toBe(sha256Hex(Buffer.from(bytes).subarray(0, digestTo)));
  expect(await walkLongLog(walk(open()), workers)).toEqual(alone);
  expect(threadsOfNow()).toBe(before);
  for (const [name] of absent) expect(await walkLongLog(walk(open()), thread(name))).toEqual(alone);
  expect(threadsOfNow()).toBe(before);
});

test('a log that was cut packs and verifies the same by two threads, also when it was changed', async () => {
  const world = new AuditWorld();
  await world.turns(30);
  const earlier = await world.pack();
  await world.turns(6);
  await world.cut(40);
  const [alone, beside] = [await world.pack(), await world.pack({ record: 'none', workers })];
  expect(beside.pack.own?.tree).toEqual(alone.pack.own?.tree);
  expect(beside.pack.entries).toEqual(alone.pack.entries);
  expect(beside.pack.own?.tree.size).toBeGreaterThan(earlier.pack.own?.tree.size ?? 0);
  expect(await world.verify({ workers })).toEqual(await world.verify());
  expect(await world.exit({ workers })).toBe(0);
  const bytes = world.bytes('events.jsonl');
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 9) ^ 1, bytes.length - 9);
  world.plant('events.jsonl', bytes);
  expect(await world.verify({ workers })).toEqual(await world.verify());
  expect(await world.exit({ workers })).toBe(1);
});

test('a log is in one thread until it is long enough', async () => {
  const world = new AuditWorld();
  world.plantLog(logV(3));
  const source = world.disk.open(world.path('events.jsonl'), 'read');
  const options = { source, to: logV(3).length };
  const gone = { module: thread('ends-amid').module, bytesMin: options.to };
  const { module } = gone;
  expect((await walkLongLog(options, { module, bytesMin: options.to + 1 })).tree.size).toBe(3);
  expect((await walkLongLog(options, { module })).tree.size).toBe(3);
  await expect(walkLongLog(options, gone)).rejects.toMatchObject({ code: 'TURNLOG_INTERNAL' });
  expect(limits.hashWorkerBytesMin).toBe(64 * 1_048_576);
});

test('a thread that is lost while it hashes is told with its exit; what cannot be read keeps its code and cause', async () => {
  const world = new AuditWorld();
  await world.turns(4);
  await world.pack();
  const before = threadsOfNow();
  await expect(world.verify({ workers: thread('ends-amid') })).rejects.toMatchObject({
    code: 'TURNLOG_INTERNAL',
    cause: { message: expect.stringContaining('7') },
  });
  const cause = new Error('the disk says no');
  let reads = 0;
  const source: ByteSource = {
    read: (into) => {
      reads += 1;
      if (reads > 3) throw cause;
      into.set(Buffer.from(logV(into.length > 200 ? 1 : 0)));
      return into.length > 200 ? logV(1).length : 0;
    },
  };
  await expect(walkLongLog({ source, to: 1_000_000 }, workers)).rejects.toBe(cause);
  expect(threadsOfNow()).toBe(before);
});

test('memory is used again: many more blocks pass than are ever there, and the digest is that of the bytes', async () => {
  const line = Buffer.alloc(500_000, 'x');
  const bytes = Buffer.alloc(limits.hashBlockBytes, 'y');
  const source: ByteSource = {
    read: (into, offset) => {
      bytes.writeUInt32BE(offset);
      into.set(bytes);
      return bytes.length;
    },
  };
  const count = 3 * limits.hashBlocksMax;
  const hasher = new LeafHasher(workers, {}, { from: 0, digestTo: count * bytes.length - 5 });
  const [tree, digest] = [new LeafTree({}), new RunningSha256()];
  const Whole = SharedArrayBuffer;
  let taken = 0;
  class Counted extends Whole {
    constructor(length: number) {
      super(length);
      taken += 1;
    }
  }
  Object.assign(globalThis, { SharedArrayBuffer: Counted });
  try {
    const watched = hasher.watch(source);
    for (let at = 0; at < count; at += 1) {
      const into = Buffer.alloc(bytes.length);
      watched.read(into, at * bytes.length);
      digest.update(at === count - 1 ? into.subarray(0, -5) : into);
      for (const [start, end] of [
        [at === 0 ? 0 : -100, 400_000],
        [400_001, 900_000],
      ] as const) {
        const whole = Buffer.concat([bytes, into]);
        if (at > 0) whole.writeUInt32BE((at - 1) * bytes.length);
        tree.addLine(whole, bytes.length + start, bytes.length + end);
        hasher.addLine(line, 0, end - start, at * bytes.length + start);
      }
      if (hasher.isDue) await hasher.pass();
    }
    expect(await hasher.end()).toEqual({ ...tree.found(), sha256: digest.digestHex() });
    expect(taken).toBeLessThanOrEqual(limits.hashBlocksMax);
    expect(taken).toBeGreaterThan(0);
  } finally {
    Object.assign(globalThis, { SharedArrayBuffer: Whole });
    await hasher.close();
  }
});
