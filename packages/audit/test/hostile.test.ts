import { createHash } from 'node:crypto';
import { type Pack, packSession, parsePack, unpackBundle, verifyPack } from '@turnlog/audit';
import type { DirectoryEntry, FileSystem } from '@turnlog/kernel';
import { AssetStore } from '@turnlog/store';
import { AuditWorld, logV, readWhole } from './world.js';

async function packed(): Promise<AuditWorld> {
  const world = new AuditWorld();
  await world.turns(3);
  await world.pack();
  return world;
}

const packName = 'derived/audit-pack.json';

function withPack(world: AuditWorld, change: (pack: Record<string, unknown>) => unknown): void {
  world.plant(packName, JSON.stringify(change(JSON.parse(world.bytes(packName).toString('utf8')))));
}

const hostile = [
  '',
  '/etc/passwd',
  '../s-2/events.jsonl',
  'a/../../b',
  './events.jsonl',
  'index/.',
  'index\\turns.jsonl',
  'C:/x',
  'c:x',
  '\\\\server\\share',
  '//server/share',
  'a\0b',
  'derived/',
  'a//b',
];

test.each(hostile)(
  'A-8, B153 the path %j in a pack is invalid, exit 3, and no file that it names is opened',
  async (path) => {
    const world = await packed();
    withPack(world, (pack) => ({
      ...pack,
      entries: [{ path, bytes: 1, sha256: '0'.repeat(64), role: 'other' }],
    }));
    world.fs.journal.length = 0;
    const found = await world.verify();
    expect(found.invalid).toContain('entries[0].path');
    expect(await world.exit()).toBe(3);
    const touched = world.fs.journal.filter(({ verb }) => verb === 'open').map((call) => call.path);
    expect(new Set(touched)).toEqual(new Set([world.path(packName)]));
  },
);

type Change = (pack: Record<string, unknown>) => unknown;
const tree = (pack: Record<string, unknown>): Record<string, unknown> => ({ ...Object(pack['tree']) });

const invalid: readonly (readonly [name: string, change: Change])[] = [
  ['another version', (pack) => ({ ...pack, schema_version: 2 })],
  ['no list of files', (pack) => ({ ...pack, entries: undefined })],
  ['a count that is text', (pack) => ({ ...pack, event_count: '9' })],
  ['a session id that is none', (pack) => ({ ...pack, session_id: '../s-1' })],
  [
    'a file twice',
    (pack) => ({ ...pack, entries: [...[pack['entries']].flat(), ...[pack['entries']].flat()] }),
  ],
  ['a size that the frontier does not have', (pack) => ({ ...pack, tree: { ...tree(pack), size: 8 } })],
  [
    'a frontier that folds to something else',
    (pack) => ({ ...pack, tree: { ...tree(pack), root: '0'.repeat(64) } }),
  ],
  ['more evicted than there are', (pack) => ({ ...pack, tree: { ...tree(pack), evicted: 99 } })],
  [
    'marks of another length',
    (pack) => ({ ...pack, tree: { ...tree(pack), marks: { each: 1, prefixes: 'AAAA' } } }),
  ],
  ['a list in its place', () => []],
];

test.each(invalid)('AU-15: a pack with %s is invalid', async (_name, change) => {
  const world = await packed();
  withPack(world, change);
  expect(await world.verdict()).toBe('invalid-pack');
  expect(await world.exit()).toBe(3);
});

test.each(['', '{', '{"schema_version":1', 'null', '[[[[', '{"__proto__":{"schema_version":1}}'])(
  'AU-15: %j is no pack',
  (text) => {
    expect(() => parsePack(Buffer.from(text))).toThrow(
      expect.objectContaining({ code: 'TURNLOG_INVALID_PACK' }),
    );
  },
);

test('B43 a pack with a byte-order mark is taken, and its digest is over the bytes as they are', async () => {
  const world = await packed();
  const before = (await world.verify()).packSha256;
  world.plant(packName, Buffer.concat([Buffer.from('\ufeff'), world.bytes(packName)]));
  const found = await world.verify();
  expect(found.packSha256).not.toBe(before);
  expect([await world.verdict(), found.invalid]).toEqual(['verified', null]);
});

// Bundles

const home = '/out';

async function bundled(): Promise<AuditWorld> {
  const world = await packed();
  world.disk.plantDirectory(home);
  world.disk.plantDirectory('/target');
  const assets = new AssetStore(world.machine, world.root);
  await world.pack({ record: 'none', bundle: `${home}/s-1.tar`, assets });
  return world;
}

test('a bundle unpacks to a store in which the session verifies', async () => {
  const world = await bundled();
  const written = unpackBundle(world.machine, `${home}/s-1.tar`, '/target');
  expect(written).toContain('sessions/s-1/events.jsonl');
  const directory = '/target/sessions/s-1';
  expect(readWhole(world.disk, `${directory}/events.jsonl`)).toEqual(world.bytes('events.jsonl'));
  expect(await world.verdict({ directory, sessionId: null })).toBe('verified');
});

/** The header of the first file with another name or type, its sum made right. */
function forge(tar: Buffer, change: (header: Buffer) => void): Buffer {
  const forged = Buffer.from(tar);
  const header = forged.subarray(0, 512);
  change(header);
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return forged;
}

const named = (name: string) => (header: Buffer) => {
  header.fill(0, 0, 100);
  header.fill(0, 345, 500);
  header.write(name, 0);
};

const forgeries: readonly (readonly [name: string, change: (header: Buffer) => void])[] = [
  ...hostile
    .filter((path) => !path.includes('\0'))
    .map((path) => [JSON.stringify(path), named(path)] as const),
  ['a link', (header) => header.write('2', 156)],
  ['a hard link', (header) => header.write('1', 156)],
  ['a device', (header) => header.write('3', 156)],
  ['a prefix that leads out', (header) => header.write('../..', 345)],
];

test.each(forgeries)(
  'A-8, B153 a bundle with %s is refused before anything is written',
  async (_name, change) => {
    const world = await bundled();
    world.disk.plantFile(`${home}/bad.tar`, forge(readWhole(world.disk, `${home}/s-1.tar`), change));
    world.fs.journal.length = 0;
    const refused = expect.objectContaining({ code: 'TURNLOG_INVALID_PACK' });
    expect(() => unpackBundle(world.machine, `${home}/bad.tar`, '/target')).toThrow(refused);
    expect(world.disk.list('/target')).toEqual([]);
    expect(world.fs.countOf('write')).toBe(0);
  },
);

test('A-8 a link in the target stops a bundle, which is unpacked into an empty directory only', async () => {
  const world = await bundled();
  world.disk.plantLink('/target/sessions', '/elsewhere');
  const refused = expect.objectContaining({ code: 'TURNLOG_INVALID_PACK' });
  expect(() => unpackBundle(world.machine, `${home}/s-1.tar`, '/target')).toThrow(refused);
  expect(world.disk.list('/target').map(({ kind }) => kind)).toEqual(['link']);
});

// Links and special files

test.each(['odd', 'index/odd', 'derived/odd', 'archive'])(
  'A-20 a link as %s in a session cannot be packed',
  async (name) => {
    const world = await packed();
    world.disk.plantFile('/data/secret', Buffer.from('secret'));
    world.disk.plantLink(world.path(name), '/data/secret');
    await expect(world.pack()).rejects.toMatchObject({ code: 'TURNLOG_UNPACKABLE' });
  },
);

/** A file system in which a name has turned into something else for those who list. */
function listing(
  fs: FileSystem,
  change: (path: string, entries: readonly DirectoryEntry[]) => readonly DirectoryEntry[],
): FileSystem {
  return new Proxy(fs, {
    get: (target, name) =>
      name === 'list'
        ? (path: string) => change(path, target.list(path))
        : Reflect.get(target, name).bind(target),
  });
}

test('A-20 devices and fifos in a session cannot be packed', async () => {
  const world = await packed();
  const fs = listing(world.fs, (path, entries) =>
    path === world.path('index') ? [...entries, { name: 'pipe', kind: 'other' }] : entries,
  );
  const packing = packSession({ ...world.machine, fs }, { directory: world.directory(), sessionId: 's-1' });
  await expect(packing).rejects.toMatchObject({
    code: 'TURNLOG_UNPACKABLE',
    details: { reason: 'it is a special file' },
  });
});

test.each(['pack', 'verify'])(
  'A-20 a directory that is swapped for a link while %s walks is never followed',
  async (what) => {
    const world = await packed();
    world.disk.plantDirectory('/data/bait');
    world.disk.plantFile('/data/bait/turns.jsonl', world.bytes('index/turns.jsonl'));
    let isSwapped = false;
    const swap = (): void => {
      if (isSwapped) return;
      isSwapped = true;
      world.disk.rename(world.path('index'), '/data/index-before');
      world.disk.plantLink(world.path('index'), '/data/bait');
    };
    // Right before the file is opened, when its directory has been looked at.
    const fs: FileSystem = new Proxy(world.fs, {
      get: (target, name) =>
        name === 'open'
          ? (path: string, mode: 'read') => {
              if (path === world.path('index/turns.jsonl')) swap();
              return target.open(path, mode);
            }
          : Reflect.get(target, name).bind(target),
    });
    if (what === 'pack') {
      const packing = packSession(
        { ...world.machine, fs },
        { directory: world.directory(), sessionId: 's-1' },
      );
      await expect(packing).rejects.toMatchObject({ code: 'TURNLOG_UNPACKABLE' });
    } else {
      const found = await verifyPack(fs, { directory: world.directory(), sessionId: 's-1', nowMs: 0 });
      expect(found.mismatches).toContainEqual(
        expect.objectContaining({ path: 'index/turns.jsonl', diagnosis: 'unreadable' }),
      );
    }
    expect(isSwapped).toBe(true);
  },
);

// Other packs

test('A-22 a pack in the shape of VT Code verifies by its files only, and says so', async () => {
  const world = await packed();
  const keys = [
    'schema_version',
    'session_id',
    'generated_at',
    'status',
    'turn_count',
    'event_count',
    'entries',
  ];
  withPack(world, (pack) => Object.fromEntries(keys.map((key) => [key, pack[key]])));
  const found = await world.verify();
  expect([await world.verdict(), found.tree.size, found.tree.recomputed]).toEqual(['verified', null, null]);
  const log = world.bytes('events.jsonl');
  log.writeUInt8(log.readUInt8(9) ^ 1, 9);
  world.plant('events.jsonl', log);
  expect((await world.verify()).mismatches[0]).toMatchObject({ path: 'events.jsonl', diagnosis: 'replaced' });
});

test("A-22 a reader that knows only VT Code's keys comes to the same about every file of our pack", async () => {
  const world = await packed();
  const changed = world.bytes('manifest.json');
  changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
  world.plant('manifest.json', changed);
  const { entries }: Pick<Pack, 'entries'> = JSON.parse(world.bytes(packName).toString('utf8'));
  const theirs = entries.map(({ path, bytes, sha256 }) => {
    const content = world.bytes(path);
    const isSame = content.length === bytes && createHash('sha256').update(content).digest('hex') === sha256;
    return [path, isSame];
  });
  const wrong = new Set((await world.verify()).mismatches.map(({ path }) => path));
  expect(entries.map(({ path }) => [path, !wrong.has(path)])).toEqual(theirs);
  expect(theirs.filter(([, isSame]) => isSame === false)).toHaveLength(1);
});

test('AU-20: an empty log is nothing to pack', async () => {
  const world = new AuditWorld();
  world.plantLog('');
  await expect(world.pack()).rejects.toMatchObject({ code: 'TURNLOG_NOTHING_TO_PACK' });
  world.plantLog('no newline');
  await expect(world.pack()).rejects.toMatchObject({ code: 'TURNLOG_NOTHING_TO_PACK' });
  world.plantLog(logV(1));
  await world.pack();
});
