import { chooseRoot, openStore, rootWarning, type Variables } from '@turnlog/store';
import { FaultFileSystem, ModelFileSystem } from '@turnlog/testkit';
import { TestStore } from './support.js';

function chosen(
  env: Variables,
  options: {
    readonly given?: string;
    readonly configured?: string;
    readonly cwd?: string;
    readonly disk?: ModelFileSystem;
  } = {},
): string {
  const disk = options.disk ?? new ModelFileSystem();
  const { path, source } = chooseRoot(disk, {
    given: options.given,
    configured: options.configured,
    cwd: options.cwd ?? '/srv/work/app/src',
    env,
  });
  return `${source} ${path}`;
}

function projectDisk(): ModelFileSystem {
  const disk = new ModelFileSystem();
  for (const path of ['/srv', '/srv/work', '/srv/work/app', '/srv/work/app/src', '/srv/work/.turnlog']) {
    disk.plantDirectory(path);
  }
  disk.plantDirectory('/srv/work/.turnlog/sessions');
  return disk;
}

const user = { HOME: '/u/ann' };

test('the root: flag, then TURNLOG_ROOT, then configuration, then the ancestor that holds sessions, then the user', () => {
  const disk = projectDisk();
  const everything = { ...user, TURNLOG_ROOT: '/env', XDG_DATA_HOME: '/xdg' };
  expect(chosen(everything, { disk, given: 'x', configured: '/conf' })).toBe('given /srv/work/app/src/x');
  expect(chosen(everything, { disk, configured: '/conf' })).toBe('TURNLOG_ROOT /env');
  expect(chosen({ ...user, XDG_DATA_HOME: '/xdg' }, { disk, configured: '/conf' })).toBe('configured /conf');
  expect(chosen({ ...user, XDG_DATA_HOME: '/xdg' }, { disk })).toBe('ancestor /srv/work/.turnlog');
  expect(chosen({ ...user, XDG_DATA_HOME: '/xdg' })).toBe('XDG_DATA_HOME /xdg/turnlog');
  expect(chosen(user)).toBe('default /u/ann/.local/share/turnlog');
});

test('what is empty, relative where that has no meaning, or not there, names no root', () => {
  expect(chosen({ ...user, TURNLOG_ROOT: '', XDG_DATA_HOME: 'relative' })).toBe(
    'default /u/ann/.local/share/turnlog',
  );
  expect(() => chosen({})).toThrow(expect.objectContaining({ code: 'TURNLOG_BAD_CONFIG' }));
});

test('a .turnlog without sessions, or one that is a file, is no root; the nearest that is one wins', () => {
  const disk = projectDisk();
  disk.plantDirectory('/srv/work/app/.turnlog');
  disk.plantFile('/srv/work/app/src/.turnlog', Buffer.from('x'));
  expect(chosen(user, { disk })).toBe('ancestor /srv/work/.turnlog');
  disk.plantDirectory('/srv/work/app/.turnlog/sessions');
  expect(chosen(user, { disk })).toBe('ancestor /srv/work/app/.turnlog');
});

test('an ancestor that cannot be looked into is an error, not "no store"', () => {
  const fs = new FaultFileSystem(projectDisk(), {
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EACCES' },
    applies: ({ path }) => path.includes('.turnlog'),
  });
  expect(() => chooseRoot(fs, { cwd: '/srv/work/app', env: user })).toThrow(
    expect.objectContaining({ code: 'TURNLOG_IO' }),
  );
});

test('T-94, B146: a root of another user, open to other writers, or no directory is refused', async () => {
  const rows: readonly (readonly [facts: { mode?: number; uid?: number }, reason: RegExp])[] = [
    [{ uid: 7 }, /belongs to another user/],
    [{ mode: 0o777 }, /chmod go-w \/data\/store/],
    [{ mode: 0o770 }, /chmod go-w \/data\/store/],
  ];
  for (const [facts, reason] of rows) {
    const machine = new TestStore();
    machine.disk.plantDirectory('/data');
    machine.disk.plantDirectory(machine.root, facts);
    await expect(machine.open()).rejects.toMatchObject({
      code: 'TURNLOG_UNSAFE_PATH',
      message: expect.stringMatching(reason),
    });
  }
  const machine = new TestStore();
  machine.disk.plantDirectory('/data');
  machine.disk.plantFile(machine.root, Buffer.from('x'));
  await expect(machine.open()).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
});

test('T-91, B107: whoever is not the owner of the root is refused, root as well', async () => {
  const machine = new TestStore({ uid: 0 });
  machine.disk.plantDirectory('/data');
  machine.disk.plantDirectory(machine.root, { uid: 1000 });
  machine.disk.plantDirectory(`${machine.root}/sessions`, { uid: 1000 });
  await expect(machine.open()).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
  expect(machine.disk.list(`${machine.root}/sessions`)).toEqual([]);
});

test('T-92, B112, B113: a root that leaves no room for the names below it is refused early', async () => {
  const machine = new TestStore();
  const deep = `/${'d'.repeat(820)}`;
  const open = openStore({ root: deep, environment: machine.machine, cwd: '/', env: {} });
  await expect(open).rejects.toMatchObject({ code: 'TURNLOG_IO', details: { errno: 'ENAMETOOLONG' } });
  expect(machine.disk.list('/')).toEqual([]);
});

test('the first write makes the root, its parents and sessions/, each 0700 and durable before it is used', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  expect(await store.list()).toEqual([]);
  expect(() => store.read('s1')).toThrow(expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }));
  expect(() => store.resolve('s1-x')).toThrow(expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }));
  expect(machine.disk.list('/')).toEqual([]);
  const session = await store.open('s1');
  session.append({ type: 'error', message: 'x' });
  await session.close();
  for (const path of ['/data', machine.root, `${machine.root}/sessions`, machine.session('s1')]) {
    expect(machine.disk.status(path)?.mode).toBe(0o700);
  }
  const made = machine.fs.journal.filter(({ verb }) => verb === 'makeDirectory' || verb === 'syncDirectory');
  const order = made.map(({ verb, path }) => `${verb} ${path}`);
  expect(order.slice(0, 6)).toEqual([
    'makeDirectory /data',
    'syncDirectory /',
    'makeDirectory /data/store',
    'syncDirectory /data',
    'makeDirectory /data/store/sessions',
    'syncDirectory /data/store',
  ]);
});

test('a root behind a link is resolved once; a link in place of sessions/ is refused', async () => {
  const machine = new TestStore();
  machine.plantDirectories();
  machine.disk.plantLink('/alias', machine.root);
  const store = await openStore({ root: '/alias', environment: machine.machine, cwd: '/', env: {} });
  expect(store.root).toBe(machine.root);
  machine.disk.removeDirectory(`${machine.root}/sessions`);
  machine.disk.plantLink(`${machine.root}/sessions`, '/elsewhere');
  await expect(store.list()).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
  await expect(store.open('s1')).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
});

test('a disk that takes no writes says so', async () => {
  const machine = new TestStore();
  machine.plantDirectories();
  machine.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EROFS' },
    applies: ({ verb }) => verb === 'makeDirectory' || verb === 'write',
  });
  const store = await machine.open();
  await expect(store.open('s1')).rejects.toMatchObject({ code: 'TURNLOG_READ_ONLY' });
});

test('folders that a cloud service copies are named', () => {
  expect(rootWarning('/u/ann/Dropbox/turnlog')).toContain('cloud');
  expect(rootWarning('/u/ann/Library/Mobile Documents/x')).toContain('cloud');
  expect(rootWarning('/u/ann/.local/share/turnlog')).toBeNull();
});
