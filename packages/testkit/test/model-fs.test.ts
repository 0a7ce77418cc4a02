import type { FileSystem } from '@turnlog/kernel';
import { CrashSignal, enumerateDisks, FakeClock, ModelFileSystem } from '@turnlog/testkit';

function append(fs: FileSystem, path: string, ...texts: string[]): void {
  const file = fs.open(path, fs.status(path) === null ? 'create' : 'append');
  for (const text of texts) file.write(Buffer.from(text));
  file.close();
}

function sync(fs: FileSystem, path: string): void {
  const file = fs.open(path, 'append');
  file.sync();
  file.close();
}

/** Every content `path` may have after a crash now; null where it may be missing. */
function contentsAfterCrash(fs: ModelFileSystem, path: string): Set<string | null> {
  const contents = new Set<string | null>();
  for (const disk of enumerateDisks(fs, 1)) {
    const isThere = disk.status(path)?.kind === 'file';
    contents.add(isThere ? Buffer.from(disk.contentOf(path)).toString('latin1') : null);
  }
  return contents;
}

describe('what a crash leaves', () => {
  test('nothing pending: one disk, equal to what is seen', () => {
    const fs = new ModelFileSystem();
    fs.plantFile('/a/file', Buffer.from('x'));
    fs.plantLink('/a/link', 'file');
    const disks = [...enumerateDisks(fs, 1)];
    expect(disks).toHaveLength(1);
    expect(disks[0]?.list('/a')).toEqual(fs.list('/a'));
    expect(disks[0]?.status('/a/file')).toEqual(fs.status('/a/file'));
    expect(disks[0]?.resolve('/a/link')).toBe('/a/file');
  });

  test('a name lasts from the sync of its directory on, a content from that of its file', () => {
    const fs = new ModelFileSystem();
    append(fs, '/file', 'abc');
    expect(contentsAfterCrash(fs, '/file')).toContain(null);
    sync(fs, '/file');
    expect(contentsAfterCrash(fs, '/file')).toEqual(new Set([null, 'abc']));
    fs.syncDirectory('/');
    expect(contentsAfterCrash(fs, '/file')).toEqual(new Set(['abc']));
  });

  test('a synced name with an unsynced content may be empty, torn, zero or noise', () => {
    const fs = new ModelFileSystem();
    append(fs, '/file', 'abcdef');
    fs.syncDirectory('/');
    const contents = contentsAfterCrash(fs, '/file');
    for (const expected of ['', 'a', 'abc', 'abcde', 'abcdef', '\0\0\0\0\0\0']) {
      expect(contents).toContain(expected);
    }
    // Noise: as long as the write, and none of the above.
    expect(contents.size).toBe(7);
  });

  test('what was synced is in every disk, what came after in some', () => {
    const fs = new ModelFileSystem();
    append(fs, '/file', 'synced;');
    sync(fs, '/file');
    fs.syncDirectory('/');
    append(fs, '/file', 'late');
    for (const content of contentsAfterCrash(fs, '/file')) expect(content).toMatch(/^synced;/);
    expect(contentsAfterCrash(fs, '/file')).toContain('synced;late');
  });

  test('writes may arrive in any combination; one that is missing leaves zeros', () => {
    const fs = new ModelFileSystem();
    append(fs, '/file', 'AA', 'BB', 'CC');
    fs.syncDirectory('/');
    const contents = contentsAfterCrash(fs, '/file');
    for (const expected of ['AA', '\0\0BB', 'AA\0\0CC', '\0\0\0\0CC', 'AABBCC'])
      expect(contents).toContain(expected);
  });

  test('a cut and what is written after it: the old bytes, the cut, and both come apart', () => {
    const fs = new ModelFileSystem();
    fs.plantFile('/file', Buffer.from('oldold'));
    const file = fs.open('/file', 'append');
    file.truncate(0);
    file.write(Buffer.from('new'));
    const contents = contentsAfterCrash(fs, '/file');
    for (const expected of ['oldold', '', 'new', 'newold']) expect(contents).toContain(expected);
    expect(Buffer.from(fs.contentOf('/file')).toString()).toBe('new');
    file.sync();
    expect(contentsAfterCrash(fs, '/file')).toEqual(new Set(['new']));
  });

  test('what a cut took away does not shine through where a later write is missing', () => {
    const fs = new ModelFileSystem();
    fs.plantFile('/file', Buffer.from('oldold'));
    const file = fs.open('/file', 'append');
    file.truncate(0);
    file.write(Buffer.from('AA'));
    file.write(Buffer.from('BB'));
    const contents = contentsAfterCrash(fs, '/file');
    expect(contents).toContain('\0\0BB');
    expect(contents).not.toContain('olBB');
  });

  test('bytes handed to the durable layer stay when the file is cut and written again', () => {
    const fs = new ModelFileSystem();
    const file = fs.open('/file', 'create');
    file.write(Buffer.from('first'));
    file.sync();
    fs.syncDirectory('/');
    file.truncate(1);
    file.write(Buffer.from('ZZZZ'));
    expect(contentsAfterCrash(fs, '/file')).toContain('first');
    expect(Buffer.from(fs.contentOf('/file')).toString()).toBe('fZZZZ');
  });

  test('a rename happens wholly or not, in the order of its directory', () => {
    const fs = new ModelFileSystem();
    fs.plantFile('/a', Buffer.from('A'));
    fs.plantFile('/b', Buffer.from('B'));
    fs.rename('/a', '/b');
    fs.removeFile('/b');
    const names = [...enumerateDisks(fs, 1)].map((disk) =>
      disk
        .list('/')
        .map((entry) => entry.name)
        .join(),
    );
    expect(names.sort()).toEqual(['', 'a,b', 'b']);
  });

  test('a move between directories loses the file on no disk', () => {
    const fs = new ModelFileSystem();
    fs.plantFile('/from/file', Buffer.from('x'));
    fs.plantDirectory('/to');
    fs.rename('/from/file', '/to/file');
    const places = (): Set<string> =>
      new Set(
        [...enumerateDisks(fs, 1)].map((disk) => `${disk.list('/from').length}${disk.list('/to').length}`),
      );
    expect(places()).toEqual(new Set(['10', '11', '01']));
    fs.syncDirectory('/from');
    expect(places()).toEqual(new Set(['01']));
  });

  test('a new directory that was never synced is gone with all below it', () => {
    const fs = new ModelFileSystem();
    fs.makeDirectory('/new');
    append(fs, '/new/file', 'x');
    sync(fs, '/new/file');
    fs.syncDirectory('/new');
    expect(contentsAfterCrash(fs, '/new/file')).toEqual(new Set([null, 'x']));
    fs.syncDirectory('/');
    expect(contentsAfterCrash(fs, '/new/file')).toEqual(new Set(['x']));
  });

  test('where directories cannot be synced, names stay uncertain', () => {
    const fs = new ModelFileSystem({ directorySync: 'unsupported' });
    append(fs, '/file', 'x');
    sync(fs, '/file');
    expect(fs.syncDirectory('/')).toBe(false);
    expect(contentsAfterCrash(fs, '/file')).toEqual(new Set([null, 'x']));
  });

  test('a disk is durable: its own crash leaves it as it is, and writing to it changes no other', () => {
    const fs = new ModelFileSystem();
    append(fs, '/file', 'abc');
    const disks = [...enumerateDisks(fs, 1)].filter((disk) => disk.status('/file') !== null);
    for (const disk of disks) expect([...enumerateDisks(disk, 1)]).toHaveLength(1);
    append(disks[0] ?? fs, '/file', 'more');
    expect(Buffer.from(fs.contentOf('/file')).toString()).toBe('abc');
  });
});

describe('the disks', () => {
  function busy(): ModelFileSystem {
    const fs = new ModelFileSystem();
    for (const name of ['a', 'b', 'c'])
      append(fs, `/${name}`, 'one', 'two', 'three', 'four', 'five', 'six', 'seven');
    return fs;
  }

  const fingerprint = (disk: ModelFileSystem): string =>
    disk
      .list('/')
      .map(({ name }) => `${name}=${Buffer.from(disk.contentOf(`/${name}`)).toString('hex')}`)
      .join();

  test('are the same for the same seed, others for another, no two equal, and bounded', () => {
    const disksOf = (seed: number): string[] =>
      [...enumerateDisks(busy(), seed, { disksMax: 100 })].map(fingerprint);
    expect(disksOf(1)).toEqual(disksOf(1));
    expect(disksOf(1)).not.toEqual(disksOf(2));
    expect(new Set(disksOf(1)).size).toBe(disksOf(1).length);
    expect(disksOf(1).length).toBeLessThanOrEqual(100);
    expect(disksOf(1).length).toBeGreaterThan(50);
  });

  test('include nothing kept and everything kept, also when they are sampled', () => {
    const seen = new Set([...enumerateDisks(busy(), 1, { disksMax: 10 })].map(fingerprint));
    expect(seen).toContain('');
    expect(seen).toContain(fingerprint(busy()));
  });
});

describe('the crash switch', () => {
  const scenario = (fs: ModelFileSystem): void => {
    fs.makeDirectory('/a');
    append(fs, '/a/file', 'one', 'two');
    sync(fs, '/a/file');
    fs.rename('/a/file', '/a/renamed');
    fs.syncDirectory('/a');
    fs.removeFile('/a/renamed');
    fs.removeDirectory('/a');
  };

  test('counts every call that changes or syncs, and none that reads', () => {
    const fs = new ModelFileSystem();
    scenario(fs);
    expect(fs.mutationCount).toBe(9);
    fs.status('/a');
    fs.list('/');
    expect(fs.mutationCount).toBe(9);
  });

  test('stops before the given call, and everything after it, reads too', () => {
    for (let call = 0; call < 9; call += 1) {
      const fs = new ModelFileSystem();
      fs.crashAt(call);
      expect(() => scenario(fs)).toThrow(CrashSignal);
      expect(fs.mutationCount).toBe(call);
      expect(() => fs.status('/')).toThrow(CrashSignal);
      expect(() => fs.makeDirectory('/b')).toThrow(CrashSignal);
    }
  });
});

describe('space', () => {
  test('a write takes what fits and reports it, the next one is ENOSPC; removed and cut bytes come back', () => {
    const fs = new ModelFileSystem({ spaceBytes: 10 });
    const file = fs.open('/file', 'create');
    expect(file.write(Buffer.alloc(8))).toBe(8);
    expect(file.write(Buffer.alloc(8))).toBe(2);
    const full = expect.objectContaining({ details: expect.objectContaining({ errno: 'ENOSPC' }) });
    expect(() => file.write(Buffer.alloc(1))).toThrow(full);
    file.truncate(4);
    expect(file.write(Buffer.alloc(8))).toBe(6);
    fs.removeFile('/file');
    const other = fs.open('/other', 'create');
    expect(() => other.write(Buffer.alloc(1))).toThrow(full);
    file.close();
    expect(other.write(Buffer.alloc(20))).toBe(10);
  });

  test('a derived file is cut short on a full disk although the call returns, as the library was measured', () => {
    const fs = new ModelFileSystem({ spaceBytes: 14 });
    fs.replaceDerived('/view.json', Buffer.from('whole'));
    fs.replaceDerived('/view.json', Buffer.from('0123456789'));
    expect(Buffer.from(fs.contentOf('/view.json')).toString()).toBe('012345678');
    expect(fs.usedBytes).toBe(9);
    fs.setSpace(9);
    const full = expect.objectContaining({ details: expect.objectContaining({ errno: 'ENOSPC' }) });
    expect(() => fs.replaceDerived('/view.json', Buffer.from('x'))).toThrow(full);
    expect(Buffer.from(fs.contentOf('/view.json')).toString()).toBe('012345678');
    expect(fs.list('/').map(({ name }) => name)).toEqual(['view.json']);
    expect(fs.openHandleCount).toBe(0);
  });

  test('a file that is replaced gives its bytes back, and a full disk is full after a crash', () => {
    const fs = new ModelFileSystem({ spaceBytes: 10 });
    fs.plantFile('/old', Buffer.alloc(4));
    fs.plantFile('/new', Buffer.alloc(6));
    for (const disk of enumerateDisks(fs, 1)) {
      expect(() => disk.open('/old', 'append').write(Buffer.alloc(1))).toThrow();
    }
    fs.rename('/new', '/old');
    expect(fs.open('/old', 'append').write(Buffer.alloc(20))).toBe(4);
  });
});

test('inode numbers, births and times repeat with the same calls and clock', () => {
  const make = (): ModelFileSystem => {
    const fs = new ModelFileSystem({ clock: new FakeClock() });
    fs.makeDirectory('/a');
    append(fs, '/a/file', 'x');
    return fs;
  };
  expect(make().status('/a/file')).toEqual(make().status('/a/file'));
  expect(make().status('/a')?.inode).not.toBe(make().status('/a/file')?.inode);
});
