import { sha256Hex } from '@turnlog/kernel';
import { AssetStore } from '@turnlog/store';
import { createTestMachine, FaultFileSystem, ModelFileSystem } from '@turnlog/testkit';

interface Desk {
  readonly disk: ModelFileSystem;
  readonly faults: FaultFileSystem;
  readonly assets: AssetStore;
}

function makeDesk(): Desk {
  const disk = new ModelFileSystem();
  disk.plantDirectory('/root', { mode: 0o700 });
  const faults = new FaultFileSystem(disk);
  return { disk, faults, assets: new AssetStore(createTestMachine({ fs: faults }), '/root') };
}

const bytes = Buffer.from('a blob of some bytes');
const digest = sha256Hex(bytes);
const path = `/root/assets/${digest.slice(0, 2)}/${digest}`;

test('a blob lies under its digest, for its owner alone, and comes back', () => {
  const { disk, assets } = makeDesk();
  expect(assets.has(digest)).toBe(false);
  expect(assets.put(bytes)).toEqual({ sha256: digest, bytes: bytes.length });
  expect(Buffer.from(disk.contentOf(path))).toEqual(bytes);
  expect(disk.status(path)?.mode).toBe(0o600);
  expect(disk.status('/root/assets')?.mode).toBe(0o700);
  expect(Buffer.from(assets.read(digest))).toEqual(bytes);
  expect(assets.has(digest)).toBe(true);
});

test('the same bytes again, whole or in pieces, change nothing and leave nothing', () => {
  const { disk, assets } = makeDesk();
  assets.put(bytes);
  const { inode } = disk.status(path) ?? { inode: '' };
  assets.put(bytes);
  expect(assets.putPieces([bytes.subarray(0, 3), bytes.subarray(3)]).sha256).toBe(digest);
  expect(disk.status(path)?.inode).toBe(inode);
  expect(disk.list('/root/assets').map(({ name }) => name)).toEqual([digest.slice(0, 2)]);
  expect(disk.list(`/root/assets/${digest.slice(0, 2)}`)).toHaveLength(1);
});

test('pieces become one blob', () => {
  const { disk, assets } = makeDesk();
  const stored = assets.putPieces([bytes.subarray(0, 5), bytes.subarray(5, 5), bytes.subarray(5)]);
  expect(stored).toEqual({ sha256: digest, bytes: bytes.length });
  expect(Buffer.from(disk.contentOf(path))).toEqual(bytes);
});

test('a missing blob, a name that is none and damaged bytes are told apart', () => {
  const { disk, assets } = makeDesk();
  const missing = expect.objectContaining({ code: 'TURNLOG_ASSET_MISSING' });
  const damaged = expect.objectContaining({ code: 'TURNLOG_ASSET_DAMAGED' });
  expect(() => assets.read(digest)).toThrow(missing);
  expect(() => assets.read('../../../etc/passwd')).toThrow(missing);
  expect(() => assets.has(`${digest}/..`)).toThrow(missing);
  assets.put(bytes);
  disk.plantFile(path, Buffer.from('a blob of some byteS'));
  expect(() => assets.read(digest)).toThrow(damaged);
  expect(() => assets.put(bytes)).toThrow(damaged);
  expect(() => assets.putPieces([bytes])).toThrow(damaged);
});

test('a link in the place of a directory or blob is refused', () => {
  const { disk, assets } = makeDesk();
  disk.plantDirectory('/elsewhere', { mode: 0o700 });
  disk.plantLink('/root/assets', '/elsewhere');
  expect(() => assets.put(bytes)).toThrow(expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }));
  expect(disk.list('/elsewhere')).toEqual([]);
});

test('whichever call fails, a blob is there whole or not at all, and the next try succeeds', () => {
  for (const mode of ['whole', 'pieces'] as const) {
    for (let call = 1; ; call += 1) {
      const { faults, assets } = makeDesk();
      faults.setFault({ call, lasting: 'once', effect: { errno: 'EIO' } });
      const store = (): unknown => (mode === 'whole' ? assets.put(bytes) : assets.putPieces([bytes]));
      try {
        store();
      } catch (error) {
        expect(error).toMatchObject({ code: 'TURNLOG_IO' });
      }
      const struckCount = faults.hitCount;
      faults.setFault(null);
      store();
      expect(Buffer.from(assets.read(digest))).toEqual(bytes);
      if (struckCount === 0) {
        expect(call).toBeGreaterThan(5);
        break;
      }
    }
  }
});

test.each(['whole', 'pieces'])(
  'a blob that is put, %s, is synced before its name, and its name before the call returns',
  (mode) => {
    const { faults, assets } = makeDesk();
    if (mode === 'whole') assets.put(bytes);
    else assets.putPieces([bytes]);
    const verbs = faults.journal.map(({ verb }) => verb);
    const renamed = verbs.indexOf('rename');
    expect(verbs.indexOf('sync')).toBeGreaterThan(-1);
    expect(verbs.indexOf('sync')).toBeLessThan(renamed);
    expect(verbs.lastIndexOf('syncDirectory')).toBeGreaterThan(renamed);
  },
);
