import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packSession, verdictOn, verifyConsistency, verifyPack } from '@turnlog/audit';
import { createNodeFileSystem } from '@turnlog/fs';
import type { FileSystem } from '@turnlog/kernel';
import { openStore } from '@turnlog/store';
import { makeTemporaryDirectory, naiveLeaf, readNaively, SeededRandom } from '@turnlog/testkit';
import { AuditWorld, lineV, logV } from './world.js';

// The files of the failure log come with the specifications; a plain checkout does not have them.
const cases = join(__dirname, '..', '..', '..', '..', 'shared', 'cases');
const caseFile = (folder: string): Buffer | null => {
  const names = ['events.jsonl', 'input.jsonl'];
  const found = names.map((name) => join(cases, folder, name)).find((path) => existsSync(path));
  return found === undefined ? null : readFileSync(found);
};

const stub = lineV(2).slice(0, 40);
const zeros = '\0'.repeat(512);
const odd: readonly (readonly [name: string, log: Buffer | null])[] = [
  ['damage', Buffer.from(`${lineV(1)}\nno record\n${lineV(2)}\n`)],
  ['blank lines', Buffer.from(`${lineV(1)}\n\n  \n${lineV(2)}\n`)],
  ['a line of zeros', Buffer.from(`${lineV(1)}\n${zeros}\n${lineV(2)}\n`)],
  ['zeros in front of a record', Buffer.from(`${lineV(1)}\n${zeros}${lineV(2)}\n`)],
  ['CRLF', Buffer.from(logV(3).replaceAll('\n', '\r\n'))],
  ['a salvaged piece', Buffer.from(`${lineV(1)}\n${stub}${lineV(2)}\n${lineV(3)}\n`)],
  ['a torn tail', Buffer.from(`${lineV(1)}\n${lineV(2)}\n${stub}`)],
  ['case B04', caseFile('B04-stub-fused-with-next')],
  ['case B05', caseFile('B05-cut-prefix-then-full-copy')],
  ['case B06', caseFile('B06-nul-block')],
];

/** The root by the naive reader: another framer, another judge, another hash. */
function naiveRootOf(log: Buffer): string {
  const leaves = readNaively(log).records.map(({ bytes }) => naiveLeaf(bytes));
  const fold = (from: number, to: number): Buffer => {
    const [only] = leaves.slice(from, to);
    if (to - from === 1 && only !== undefined) return only;
    let half = 1;
    while (half * 2 < to - from) half *= 2;
    const parts = [Buffer.of(1), fold(from, from + half), fold(from + half, to)];
    return createHash('sha256').update(Buffer.concat(parts)).digest();
  };
  return fold(0, leaves.length).toString('hex');
}

test.each(odd.filter(([, log]) => log !== null))(
  'A-17 a log with %s: its root is that of its records, its pack verifies, and a changed byte of damage does not',
  async (_name, log) => {
    const bytes = log ?? Buffer.alloc(0);
    const world = new AuditWorld();
    world.plantLog(bytes);
    const { pack } = await world.pack();
    const cut = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
    expect(pack.own?.tree.root).toBe(naiveRootOf(cut));
    expect(await world.exit()).toBe(0);
    for (const { offset, length, sha256 } of pack.own?.damage ?? []) {
      const damage = cut.subarray(offset, offset + length);
      expect(createHash('sha256').update(damage).digest('hex')).toBe(sha256);
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(offset) ^ 1, offset);
      world.plant('events.jsonl', changed);
      expect(await world.exit()).toBe(1);
      world.plant('events.jsonl', bytes);
    }
  },
);

test('AU-16: damage that was changed between records that are as packed is named by its place', async () => {
  const world = new AuditWorld();
  const log = `${lineV(1)}\nno record\n${lineV(2)}\n`;
  world.plantLog(log);
  await world.pack();
  world.plantLog(log.replace('no record', 'no recorD'));
  const { mismatches } = await world.verify();
  expect(mismatches).toEqual([
    expect.objectContaining({ reason: 'damage', diagnosis: 'edited', offset: lineV(1).length + 1 }),
  ]);
  world.plantLog(log.replace('no record\n', ''));
  expect((await world.verify()).mismatches.map(({ reason }) => reason)).toEqual(['damage']);
});

test('A-24 steps of the clock, equal and unknown times in the log never change a verdict', async () => {
  const times = [
    '"2026-01-05T10:00:09.000Z"',
    '"2026-01-05T10:00:01.000Z"',
    '"nonsense"',
    'null',
    '"2026-01-05T10:00:01.000Z"',
  ];
  const lines = times.map(
    (ts, at) =>
      `{"schema_version":"0.18.0","seq":${at + 1},"ts":${ts},"event":{"type":"error","message":"m"}}\n`,
  );
  const world = new AuditWorld();
  world.plantLog(lines.join(''));
  await world.pack();
  for (const nowMs of [0, Date.UTC(1999, 0), Date.UTC(2200, 0)]) {
    expect(await world.verdict({ nowMs })).toBe('verified');
  }
  world.plantLog(lines.slice(0, -1).join(''));
  for (const nowMs of [0, Date.UTC(2200, 0)]) expect(await world.verdict({ nowMs })).toBe('mismatch');
});

test('A-18 the pack of a session under a writer at full speed: 200 times, and it verifies each time', async () => {
  const world = new AuditWorld();
  const log = await (await world.store()).open('s-1');
  const place = { directory: world.directory(), sessionId: 's-1' };
  const random = new SeededRandom(18);
  // The writer goes on in the middle of each reading, and is never made to wait: it holds the lock all the time.
  const write = (): void => {
    log.append({ type: 'turn.started' });
    log.append({ type: 'error', message: `event ${log.lastSeq}` });
    log.append({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } });
  };
  write();
  log.flush();
  let readings = 0;
  const busy = interrupted(world.fs, () => {
    readings += 1;
    if (readings % 12 === 1) write();
    if (random.below(8) === 0) log.flush();
  });
  let grown = 0;
  for (let run = 0; run < 200; run += 1) {
    const before = log.lastSeq;
    readings = 0;
    const { isLocked, recordSeq, pack } = await packSession({ ...world.machine, fs: busy }, place, {});
    expect([isLocked, recordSeq, log.lastSeq > before]).toEqual([false, null, true]);
    const found = await verifyPack(busy, { ...place, nowMs: 0 });
    const isIntact = found.tree.recomputed === pack.own?.tree.root && found.completeness === 'proven';
    expect([run, isIntact, verdictOn(found), found.mismatches]).toEqual([run, true, 'verified', []]);
    grown = Math.max(grown, found.tree.grownBy);
  }
  expect(grown).toBeGreaterThan(0);
  await log.close();
  expect(await world.verdict()).toBe('verified');
});

test('A-18 a writer that shares the log waits for the snapshot only, not for the hashing', async () => {
  const world = new AuditWorld();
  await world.turns(3);
  const store = await world.store();
  let held: boolean | null = null;
  let isAsked = false;
  // The log is hashed after the lock was given back: whoever looks then finds nobody.
  const fs = interrupted(world.fs, () => {
    held = world.machine.locks.inspect(world.directory()) !== null;
    isAsked = true;
  });
  const { isLocked } = await packSession(
    { ...world.machine, fs },
    { directory: world.directory(), sessionId: 's-1' },
    { record: 'none' },
  );
  expect([isLocked, isAsked, held]).toEqual([true, true, false]);
  await store.transaction('s-1', (log) => log.append({ type: 'turn.started' }));
});

/** A file system that does something else before every reading. */
function interrupted(fs: FileSystem, between: () => void): FileSystem {
  return new Proxy(fs, {
    get: (target, name) => {
      if (name !== 'open') return Reflect.get(target, name).bind(target);
      return (path: string, mode: 'read') => {
        const file = target.open(path, mode);
        if (mode !== 'read') return file;
        const read = file.read.bind(file);
        return Object.assign(file, {
          read: (into: Uint8Array, offset: number) => {
            between();
            return read(into, offset);
          },
        });
      };
    },
  });
}

test('A-23 a large log is verified in one pass over its bytes, block by block', async () => {
  const temporary = makeTemporaryDirectory();
  try {
    const fs = createNodeFileSystem();
    const store = await openStore({ root: join(temporary.path, 'store'), cwd: '/', env: {} });
    const log = await store.open('s-1', { durability: 'buffered' });
    const text = 'x'.repeat(1_000_000);
    for (let event = 0; event < 64; event += 1) log.append({ type: 'error', message: `${event}${text}` });
    await log.close();
    const place = { directory: store.sessionDirectory(log.id), sessionId: 's-1' };
    await packSession(store.environment, place, { record: 'none' });
    const reads: (readonly [offset: number, bytes: number, asked: number])[] = [];
    const counting: FileSystem = new Proxy(fs, {
      get: (target, name) => {
        if (name !== 'open') return Reflect.get(target, name).bind(target);
        return (path: string, mode: 'read') => {
          const file = target.open(path, mode);
          if (!path.endsWith('events.jsonl')) return file;
          const read = file.read.bind(file);
          return Object.assign(file, {
            read: (into: Uint8Array, offset: number) => {
              const bytes = read(into, offset);
              reads.push([offset, bytes, into.length]);
              return bytes;
            },
          });
        };
      },
    });
    const before = process.memoryUsage().arrayBuffers;
    const found = await verifyPack(counting, { ...place, nowMs: 0 });
    expect(found.completeness).toBe('proven');
    const { size } = fs.status(join(place.directory, 'events.jsonl')) ?? { size: 0 };
    expect(size).toBeGreaterThan(64_000_000);
    const total = reads.reduce((sum, [, bytes]) => sum + bytes, 0);
    // Looking whether it begins with the header of an eviction reads the first line once more.
    expect(total - size).toBeLessThanOrEqual(2 * 1_048_576);
    expect(Math.max(...reads.map(([, , asked]) => asked))).toBeLessThanOrEqual(1_048_576);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(size / 2);
  } finally {
    temporary.remove();
  }
});

test('T-100, B166, B167: packs on live, cut and emptied logs: a snapshot at a synced length, bound by root, count and last seq', async () => {
  const world = new AuditWorld();
  const log = await (await world.store()).open('s-1');
  for (let at = 0; at < 9; at += 1) log.append({ type: 'error', message: `m${at}` });
  log.sync();
  log.append({ type: 'error', message: 'not written yet' });
  const { pack, isLocked } = await world.pack();
  const entry = pack.entries.find(({ path }) => path === 'events.jsonl');
  expect([isLocked, pack.eventCount, pack.own?.lastSeq, pack.own?.tree.size]).toEqual([false, 9, 9, 9]);
  expect(entry?.bytes).toBe(world.bytes('events.jsonl').length);
  log.sync();
  expect(await world.exit()).toBe(0);
  await log.close();
  const whole = world.bytes('events.jsonl');
  const lines = whole.toString('utf8').trimEnd().split('\n');
  world.plant('events.jsonl', `${lines.slice(0, 7).join('\n')}\n`);
  const { mismatches } = await world.verify();
  expect(mismatches).toContainEqual(expect.objectContaining({ diagnosis: 'shorter', leavesGone: 2 }));
  world.plant('events.jsonl', '');
  expect((await world.verify()).missing).toEqual(['events.jsonl']);
  world.plant('events.jsonl', whole);
  for (const change of [{ event_count: 8 }, { last_seq: 8 }, { first_seq: 2 }]) {
    const made = JSON.parse(world.bytes('derived/audit-pack.json').toString('utf8'));
    world.plant('derived/audit-pack.json', JSON.stringify({ ...made, ...change }));
    const reasons = (await world.verify()).mismatches.map(({ reason }) => reason);
    expect([change, reasons]).toEqual([change, expect.arrayContaining(['counts'])]);
    world.plant('derived/audit-pack.json', JSON.stringify(made));
  }
});

test('AU-10: packs name the one before, with the proof that the log goes on from it, also across evictions', async () => {
  const world = new AuditWorld();
  let previous: { readonly sha256: string; readonly size: number } | null = null;
  const packs: Buffer[] = [];
  for (let round = 0; round < 20; round += 1) {
    await world.turns(3);
    if (round % 4 === 3) await world.cut(12, round % 8 === 7 ? 'drop' : 'gzip');
    const { pack, sha256 } = await world.pack();
    packs.push(world.bytes('derived/audit-pack.json'));
    const { own } = pack;
    if (own === null) throw new Error('it has no tree');
    if (previous !== null) {
      expect(own.previous).toMatchObject({ packSha256: previous.sha256, size: previous.size });
      const { size = 0, root = '', consistency: path = [] } = own.previous ?? {};
      expect(verifyConsistency({ from: { size, root }, to: own.tree, path })).toBe(true);
    }
    previous = { sha256, size: own.tree.size };
  }
  for (const [at, pack] of packs.entries()) {
    world.plant('derived/audit-pack.json', pack);
    const found = await world.verify();
    expect([at, found.completeness, found.unproven, found.mismatches]).toEqual([at, 'proven', [], []]);
    expect([at, await world.verdict()]).toEqual([at, 'verified']);
  }
});

test('AU-6: only what came since the last pack is looked at for the tree, unless all is asked for', async () => {
  const world = new AuditWorld();
  await world.turns(40);
  const first = await world.pack();
  const before = world.bytes('events.jsonl').length;
  await world.turns(2);
  const added = world.bytes('events.jsonl').length - before;
  const second = await world.pack();
  expect([first.walkedBytes, second.walkedBytes]).toEqual([before, added]);
  const deep = await world.pack({ record: 'none', mode: 'deep' });
  expect(deep.walkedBytes).toBe(before + added);
  expect(deep.pack.own?.tree).toEqual(second.pack.own?.tree);
  expect(deep.pack.own?.firstSeq).toBe(second.pack.own?.firstSeq);
  // A beginning that was changed is not taken from the pack before.
  const log = world.bytes('events.jsonl');
  log.writeUInt8(log.readUInt8(log.indexOf('something')) ^ 1, log.indexOf('something'));
  world.plant('events.jsonl', log);
  const changed = await world.pack();
  expect([changed.walkedBytes, changed.isPreviousForeign]).toEqual([before + added, true]);
});
