import { bytesBelow, removeChildDirectory, walkBelow } from '@turnlog/fs';
import { limits } from '@turnlog/kernel';
import { FaultFileSystem, ModelFileSystem } from '@turnlog/testkit';

function planted(): ModelFileSystem {
  const fs = new ModelFileSystem();
  fs.plantDirectory('/trash');
  fs.plantDirectory('/trash/s-1');
  fs.plantFile('/trash/s-1/index/turns.jsonl', Buffer.from('abc'));
  fs.plantFile('/trash/s-1/events.jsonl', Buffer.from('defgh'));
  fs.plantFile('/outside/precious', Buffer.from('x'));
  return fs;
}

test('a directory goes with all that lies in it, what it holds before itself', () => {
  const fs = planted();
  expect([...walkBelow(fs, '/trash/s-1')].map(({ path }) => path)).toEqual([
    '/trash/s-1/events.jsonl',
    '/trash/s-1/index/turns.jsonl',
    '/trash/s-1/index',
  ]);
  expect(bytesBelow(fs, '/trash/s-1')).toBe(8);
  removeChildDirectory(fs, '/trash', 's-1', 1000);
  expect(fs.list('/trash')).toEqual([]);
  // Gone already is as good as removed.
  removeChildDirectory(fs, '/trash', 's-1', 1000);
});

test.each(['', '.', '..', '../outside', 'a/b', 'a\\b', 'a\0b'])('the name %p leads nowhere', (name) => {
  const fs = planted();
  expect(() => removeChildDirectory(fs, '/trash', name, 1000)).toThrow(
    expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }),
  );
  expect(fs.status('/outside/precious')).not.toBeNull();
});

test('a link is not followed: not in place of the directory, and inside of it only its name goes', () => {
  const fs = planted();
  fs.plantLink('/trash/away', '/outside');
  expect(() => removeChildDirectory(fs, '/trash', 'away', 1000)).toThrow(
    expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }),
  );
  fs.plantLink('/trash/s-1/away', '/outside');
  expect(bytesBelow(fs, '/trash/s-1')).toBe(8);
  removeChildDirectory(fs, '/trash', 's-1', 1000);
  expect(fs.status('/trash/s-1')).toBeNull();
  expect(fs.list('/outside').map(({ name }) => name)).toEqual(['precious']);
});

test('a directory of somebody else is refused', () => {
  const fs = planted();
  fs.plantDirectory('/trash/foreign', { uid: 7 });
  expect(() => removeChildDirectory(fs, '/trash', 'foreign', 1000)).toThrow(
    expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }),
  );
});

test('directories in each other without an end are refused', () => {
  const fs = planted();
  const deep = `/trash/s-1${'/d'.repeat(limits.walkLevelsMax)}`;
  const names = deep.split('/').slice(1);
  for (let length = 3; length <= names.length; length += 1)
    fs.plantDirectory(`/${names.slice(0, length).join('/')}`);
  expect(() => removeChildDirectory(fs, '/trash', 's-1', 1000)).toThrow(
    expect.objectContaining({
      code: 'TURNLOG_UNSAFE_PATH',
      details: expect.objectContaining({ levelsMax: 32 }),
    }),
  );
});

test('what cannot be removed stays with what holds it, and a second call goes on', () => {
  const disk = planted();
  const fs = new FaultFileSystem(disk, {
    call: 2,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb }) => verb === 'removeFile',
  });
  expect(() => removeChildDirectory(fs, '/trash', 's-1', 1000)).toThrow(
    expect.objectContaining({ code: 'TURNLOG_IO' }),
  );
  expect(disk.status('/trash/s-1')).not.toBeNull();
  removeChildDirectory(fs, '/trash', 's-1', 1000);
  expect(disk.status('/trash/s-1')).toBeNull();
});
