import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createNodeFileSystem, createRandomIds, publish } from '@turnlog/fs';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';

const fs = createNodeFileSystem();
let directory: TemporaryDirectory;

beforeEach(() => {
  directory = makeTemporaryDirectory();
});
afterEach(() => directory.remove());

test.each([0o000, 0o002, 0o022, 0o777])('umask %o changes no mode of ours', (umask) => {
  const before = process.umask(umask);
  try {
    fs.makeDirectory(join(directory.path, 'directory'));
    fs.open(join(directory.path, 'directory', 'file'), 'create').close();
    publish(fs, createRandomIds(), join(directory.path, 'directory', 'published'), Buffer.from('x'), {
      durability: 'durable',
    });
  } finally {
    process.umask(before);
  }
  const modes = ['directory', 'directory/file', 'directory/published'].map(
    (name) => fs.status(join(directory.path, name))?.mode,
  );
  expect(modes).toEqual([0o700, 0o600, 0o600]);
});

test('publishing over a looser file leaves 0600', () => {
  const path = join(directory.path, 'file');
  fs.open(path, 'create').close();
  chmodSync(path, 0o644);
  publish(fs, createRandomIds(), path, Buffer.from('x'), { durability: 'visible' });
  expect(fs.status(path)?.mode).toBe(0o600);
});

test('a pipe at the name of a file is refused and does not block', () => {
  const path = join(directory.path, 'pipe');
  execFileSync('mkfifo', [path]);
  for (const mode of ['read', 'append'] as const) {
    expect(() => fs.open(path, mode)).toThrow(expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }));
  }
  expect(fs.status(path)?.kind).toBe('other');
});

test('a path that is too long fails with the system’s word for it', () => {
  expect(() => fs.open(join(directory.path, 'x'.repeat(300)), 'create')).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ errno: 'ENAMETOOLONG' }) }),
  );
});

test('times of birth are kept or said to be unknown, and never move with a touch', () => {
  const path = join(directory.path, 'directory');
  mkdirSync(path);
  const born = fs.status(path)?.birthNs;
  fs.setTimes(path, 1_000, 1_000);
  fs.setMode(path, 0o750);
  expect(fs.status(path)?.birthNs).toBe(born);
  expect(fs.status(path)?.modifiedMs).toBe(1_000);
});

test('a descriptor is given back when a file is refused', () => {
  const before = fs.list('/proc/self/fd').length;
  for (let round = 0; round < 20; round += 1) expect(() => fs.open(directory.path, 'read')).toThrow();
  expect(fs.list('/proc/self/fd')).toHaveLength(before);
});
