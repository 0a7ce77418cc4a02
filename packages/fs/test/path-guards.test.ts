import {
  checkDirectory,
  checkRoot,
  containedPath,
  ensurePrivateDirectory,
  firstWarningOnly,
  type ModeWarning,
  type Ownership,
  openOwnFile,
} from '@turnlog/fs';
import { type Fault, FaultFileSystem, ModelFileSystem } from '@turnlog/testkit';

const unsafe = expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' });

function ownershipOf(uid: number | null = 1000): Ownership & { warnings: ModeWarning[] } {
  const warnings: ModeWarning[] = [];
  return { uid, warnings, onModeWarning: (warning) => warnings.push(warning) };
}

const modesRefused = (errno: string): Fault => ({
  call: 1,
  lasting: 'from-then-on',
  effect: { errno },
  applies: ({ verb }) => verb === 'setMode',
});

test.each([
  ['empty', ''],
  ['this directory', '.'],
  ['parent directory', '..'],
  ['separator', 'a/b'],
  ['absolute', '/etc'],
  ['separator of other systems', 'a\\b'],
  ['NUL', 'a\0b'],
])('a contained path refuses a name: %s', (_reason, name) => {
  expect(() => containedPath('/root', name)).toThrow(unsafe);
  expect(() => containedPath('/root', 'fine', name, 'fine')).toThrow(unsafe);
});

test('a contained path takes plain names, also odd ones', () => {
  expect(containedPath('/root', 'a', '...', '.t-1', 'ä b')).toBe('/root/a/.../.t-1/ä b');
});

test('a directory passes when it is one, of our own', () => {
  const fs = new ModelFileSystem();
  fs.plantDirectory('/own');
  fs.plantDirectory('/foreign', { uid: 7 });
  fs.plantLink('/link', '/own');
  fs.plantFile('/file', new Uint8Array(0));
  expect(() => checkDirectory(fs, '/own', 1000)).not.toThrow();
  for (const path of ['/foreign', '/link', '/file']) {
    expect(() => checkDirectory(fs, path, 1000)).toThrow(unsafe);
  }
  expect(() => checkDirectory(fs, '/foreign', null)).not.toThrow();
  expect(() => checkDirectory(fs, '/none', 1000)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ errno: 'ENOENT', path: '/none' }) }),
  );
});

test('a root may be reached through a link, and is then the place itself', () => {
  const fs = new ModelFileSystem();
  fs.plantDirectory('/real/store');
  fs.plantLink('/alias', '/real');
  expect(checkRoot(fs, '/alias/store', 1000)).toBe('/real/store');
});

test.each<[string, { uid?: number; mode?: number }]>([
  ['of another user', { uid: 7 }],
  ['writable by its group', { mode: 0o770 }],
  ['writable by all', { mode: 0o777 }],
  ['writable by others only', { mode: 0o702 }],
])('a root is refused: %s', (_reason, facts) => {
  const fs = new ModelFileSystem();
  fs.plantDirectory('/store', facts);
  expect(() => checkRoot(fs, '/store', 1000)).toThrow(unsafe);
  expect(fs.status('/store')?.mode).toBe(facts.mode ?? 0o700);
});

test('a root is refused when it is a file, and to root itself when it is another user’s', () => {
  const fs = new ModelFileSystem();
  fs.plantFile('/file', new Uint8Array(0));
  fs.plantDirectory('/store', { uid: 1000 });
  expect(() => checkRoot(fs, '/file', 1000)).toThrow(unsafe);
  expect(() => checkRoot(fs, '/store', 0)).toThrow(unsafe);
});

test('a root that others may read but not write is taken, and not changed', () => {
  const fs = new ModelFileSystem();
  fs.plantDirectory('/store', { mode: 0o755 });
  expect(checkRoot(fs, '/store', 1000)).toBe('/store');
  expect(fs.status('/store')?.mode).toBe(0o755);
});

test('a private directory is made, or taken and tightened', () => {
  const fs = new ModelFileSystem();
  fs.plantDirectory('/loose', { mode: 0o755 });
  const ownership = ownershipOf();
  expect(ensurePrivateDirectory(fs, '/new', ownership)).toBe('created');
  expect(ensurePrivateDirectory(fs, '/new', ownership)).toBe('present');
  expect(ensurePrivateDirectory(fs, '/loose', ownership)).toBe('present');
  expect([fs.status('/new')?.mode, fs.status('/loose')?.mode]).toEqual([0o700, 0o700]);
  expect(ownership.warnings).toEqual([]);
});

test('a private directory is refused behind a link, as a file, and when it is another user’s', () => {
  const fs = new ModelFileSystem();
  fs.plantDirectory('/victim', { mode: 0o755, uid: 7 });
  fs.plantLink('/link', '/victim');
  fs.plantFile('/file', new Uint8Array(0));
  for (const path of ['/link', '/file', '/victim']) {
    expect(() => ensurePrivateDirectory(fs, path, ownershipOf())).toThrow(unsafe);
  }
  expect(fs.status('/victim')?.mode).toBe(0o755);
});

test('a private directory that somebody makes at the same moment is taken', () => {
  const model = new ModelFileSystem();
  let isFirstLook = true;
  const fs = Object.assign(new FaultFileSystem(model), {
    status: (path: string) => {
      if (!isFirstLook) return model.status(path);
      isFirstLook = false;
      model.makeDirectory(path);
      return null;
    },
  });
  expect(ensurePrivateDirectory(fs, '/new', ownershipOf())).toBe('present');
});

test('an own file opened for writing is tightened, one opened for reading is not', () => {
  const fs = new ModelFileSystem();
  fs.plantFile('/file', new Uint8Array(0), { mode: 0o644 });
  openOwnFile(fs, '/file', 'read', ownershipOf()).close();
  expect(fs.status('/file')?.mode).toBe(0o644);
  openOwnFile(fs, '/file', 'append', ownershipOf()).close();
  expect(fs.status('/file')?.mode).toBe(0o600);
});

test('another user’s file is not opened, and not left open', () => {
  const model = new ModelFileSystem();
  model.plantFile('/file', new Uint8Array(0), { uid: 7, mode: 0o644 });
  const fs = new FaultFileSystem(model);
  expect(() => openOwnFile(fs, '/file', 'append', ownershipOf())).toThrow(unsafe);
  expect(fs.countOf('close')).toBe(1);
  expect(model.status('/file')?.mode).toBe(0o644);
});

test.each(['EPERM', 'ENOTSUP'])('modes that cannot be set (%s): one warning, work goes on', (errno) => {
  const model = new ModelFileSystem();
  model.plantDirectory('/loose', { mode: 0o755 });
  model.plantFile('/loose/file', new Uint8Array(0), { mode: 0o644 });
  const fs = new FaultFileSystem(model, modesRefused(errno));
  const all = ownershipOf();
  const once = { ...all, onModeWarning: firstWarningOnly(all.onModeWarning) };
  ensurePrivateDirectory(fs, '/loose', once);
  openOwnFile(fs, '/loose/file', 'append', once).close();
  expect(all.warnings).toEqual([{ path: '/loose', mode: 0o755, errno }]);
});

test('another failure to set a mode is a failure', () => {
  const model = new ModelFileSystem();
  model.plantDirectory('/loose', { mode: 0o755 });
  const fs = new FaultFileSystem(model, modesRefused('EIO'));
  expect(() => ensurePrivateDirectory(fs, '/loose', ownershipOf())).toThrow(
    expect.objectContaining({ code: 'TURNLOG_IO' }),
  );
});
