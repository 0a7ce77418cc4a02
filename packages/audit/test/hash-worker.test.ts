import { join } from 'node:path';
import { limits } from '@turnlog/kernel';
import { type ByteSource, emptyTree, leafHash } from '@turnlog/log';
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

const logs: readonly (readonly [name: string, bytes: string])[] = [
  ['of records alone', logV(70)],
  ['of long lines', longLog()],
  ['with damage, blanks and a line without its end', `${logV(3)}\n{"seq":}\n${'\0'.repeat(9)}\n${lineV(4)}`],
  ['with a redacted record', `${logV(3)}${redacted(4)}${lineV(5)}\n`],
  ['without a record', 'nothing\n'],
];

function threadsOfNow(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'MessagePort' || name === 'Worker')
    .length;
}

test.each(logs)('a log %s is found the same by two threads as by one', async (_name, bytes) => {
  const walk = (source: ByteSource) => ({
    source,
    to: bytes.length,
    wanted: { rootsAt: [2, 4, 70, 71], marks: { each: 2, until: 50 } },
  });
  const world = new AuditWorld();
  world.plantLog(bytes);
  const open = () => world.disk.open(world.path('events.jsonl'), 'read');
  const before = threadsOfNow();
  const alone = await walkLongLog(walk(open()), undefined);
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

test('memory comes back: many more blocks pass than are ever there', async () => {
  const line = Buffer.alloc(500_000, 'x');
  const [tree, hasher] = [new LeafTree({ tree: emptyTree }), new LeafHasher(workers, {})];
  let made = 0;
  const before = process.memoryUsage().arrayBuffers;
  try {
    for (let at = 0; at < 6 * limits.hashBlocksMax; at += 1) {
      line.writeUInt32BE(at);
      tree.addLine(line, 0, line.length);
      hasher.addLine(line, 0, line.length);
      if (hasher.isFull) await hasher.pass();
      made = Math.max(made, process.memoryUsage().arrayBuffers - before);
    }
    expect(await hasher.end()).toEqual(tree.found());
  } finally {
    await hasher.close();
  }
  expect(leafHash(line, 0, line.length)).toHaveLength(64);
  expect(made).toBeLessThan((limits.hashBlocksMax + 8) * limits.hashBlockBytes);
});
