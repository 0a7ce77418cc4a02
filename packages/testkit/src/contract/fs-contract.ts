import { join } from 'node:path';
import { AssertionFailure, errnoOf, type FileSystem } from '@turnlog/kernel';

export interface FileSystemSubject {
  readonly fs: FileSystem;
  /** An empty directory of mode 0700 to work in. */
  readonly root: string;
  /** Makes a link, which no verb of the port does. */
  plantLink(path: string, target: string): void;
  remove(): void;
}

const text = (content: string): Uint8Array => Buffer.from(content);

/** What every file system must do. Call it in a test file, once per implementation. */
export function describeFileSystem(name: string, make: () => FileSystemSubject): void {
  describe(`file system contract: ${name}`, () => {
    let subject: FileSystemSubject;
    let fs: FileSystem;
    const at = (...names: string[]): string => join(subject.root, ...names);

    const write = (path: string, content: string): void => {
      const file = fs.open(path, 'create');
      file.write(text(content));
      file.close();
    };

    const read = (path: string): string => {
      const file = fs.open(path, 'read');
      const into = new Uint8Array(file.status().size);
      const count = file.read(into, 0);
      file.close();
      return Buffer.from(into.subarray(0, count)).toString();
    };

    const errnoFrom = (verb: () => unknown): string | null => {
      try {
        verb();
      } catch (error) {
        return errnoOf(error) ?? String(error);
      }
      return null;
    };

    const expectUnsafe = (verb: () => unknown): void => {
      expect(verb).toThrow(expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }));
    };

    beforeEach(() => {
      subject = make();
      fs = subject.fs;
    });
    afterEach(() => subject.remove());

    test('a failure names operation, path and errno', () => {
      const details = { operation: 'open', path: at('none'), errno: 'ENOENT' };
      const expected = expect.objectContaining({
        code: 'TURNLOG_IO',
        details: expect.objectContaining(details),
      });
      expect(() => fs.open(at('none'), 'read')).toThrow(expected);
    });

    test('open: a missing file is ENOENT, also below a missing directory; a taken name is EEXIST', () => {
      for (const mode of ['read', 'append'] as const) {
        expect(errnoFrom(() => fs.open(at('none'), mode))).toBe('ENOENT');
      }
      expect(errnoFrom(() => fs.open(at('none', 'file'), 'create'))).toBe('ENOENT');
      write(at('file'), 'x');
      expect(errnoFrom(() => fs.open(at('file'), 'create'))).toBe('EEXIST');
      expect(errnoFrom(() => fs.open(at('file', 'below'), 'create'))).toBe('ENOTDIR');
      expect(read(at('file'))).toBe('x');
    });

    test('open: a directory, a link and a dangling link are refused', () => {
      fs.makeDirectory(at('directory'));
      write(at('file'), 'victim');
      subject.plantLink(at('link'), at('file'));
      subject.plantLink(at('dangling'), at('none'));
      for (const name of ['directory', 'link', 'dangling']) {
        for (const mode of ['read', 'append'] as const) expectUnsafe(() => fs.open(at(name), mode));
        expect(errnoFrom(() => fs.open(at(name), 'create'))).toBe('EEXIST');
      }
      expect(fs.status(at('none'))).toBeNull();
      expect(read(at('file'))).toBe('victim');
    });

    test('a link on the way is followed, because only the root is resolved', () => {
      fs.makeDirectory(at('real'));
      write(at('real', 'file'), 'x');
      subject.plantLink(at('way'), at('real'));
      expect(read(at('way', 'file'))).toBe('x');
      expect(fs.resolve(at('way', 'file'))).toBe(at('real', 'file'));
    });

    test('write: every handle writes at the end, whoever wrote before', () => {
      const first = fs.open(at('file'), 'create');
      const second = fs.open(at('file'), 'append');
      expect(first.write(text('one '))).toBe(4);
      expect(second.write(text('two '))).toBe(4);
      expect(first.write(text('three'))).toBe(5);
      expect(first.write(text(''))).toBe(0);
      expect(second.status().size).toBe(13);
      first.close();
      second.close();
      expect(read(at('file'))).toBe('one two three');
    });

    test('write: a handle for reading cannot write or cut', () => {
      write(at('file'), 'x');
      const file = fs.open(at('file'), 'read');
      expect(errnoFrom(() => file.write(text('y')))).toBe('EBADF');
      expect(errnoFrom(() => file.truncate(0))).toBe('EINVAL');
      file.close();
      expect(read(at('file'))).toBe('x');
    });

    test('read: from any offset, as much as there is, 0 at the end', () => {
      write(at('file'), 'abcdef');
      const file = fs.open(at('file'), 'read');
      const into = new Uint8Array(4);
      expect(file.read(into, 1)).toBe(4);
      expect(Buffer.from(into).toString()).toBe('bcde');
      expect(file.read(into, 4)).toBe(2);
      expect(Buffer.from(into).toString()).toBe('efde');
      expect([file.read(into, 6), file.read(into, 60), file.read(new Uint8Array(0), 0)]).toEqual([0, 0, 0]);
      file.close();
    });

    test('truncate: cuts, and the next write follows the cut', () => {
      const file = fs.open(at('file'), 'create');
      file.write(text('abcdef'));
      file.syncData();
      file.truncate(2);
      file.write(text('XY'));
      file.sync();
      expect(file.status().size).toBe(4);
      file.close();
      expect(read(at('file'))).toBe('abXY');
    });

    test('sync: all three return when nothing fails', async () => {
      const file = fs.open(at('file'), 'create');
      file.write(text('x'));
      file.sync();
      file.syncData();
      await expect(file.syncDataLater()).resolves.toBeUndefined();
      file.close();
      expect(fs.syncDirectory(subject.root)).toBe(true);
    });

    test('a closed handle is a bug to use', () => {
      const file = fs.open(at('file'), 'create');
      file.close();
      expect(() => file.write(text('x'))).toThrow(AssertionFailure);
      expect(() => file.read(new Uint8Array(1), 0)).toThrow(AssertionFailure);
      expect(() => file.close()).toThrow(AssertionFailure);
    });

    test('modes: 0600 and 0700 when created, then as set', () => {
      write(at('file'), '');
      fs.makeDirectory(at('directory'));
      expect([fs.status(at('file'))?.mode, fs.status(at('directory'))?.mode]).toEqual([0o600, 0o700]);
      fs.setMode(at('file'), 0o640);
      fs.setMode(at('directory'), 0o750);
      expect([fs.status(at('file'))?.mode, fs.status(at('directory'))?.mode]).toEqual([0o640, 0o750]);
      const file = fs.open(at('file'), 'append');
      file.setMode(0o600);
      expect(file.status().mode).toBe(0o600);
      file.close();
    });

    test('setMode does not reach through a link', () => {
      write(at('file'), '');
      subject.plantLink(at('link'), at('file'));
      expectUnsafe(() => fs.setMode(at('link'), 0o666));
      expect(fs.status(at('file'))?.mode).toBe(0o600);
    });

    test('status: kind, size and identity of what stands there, a link being a link', () => {
      write(at('file'), 'abc');
      fs.makeDirectory(at('directory'));
      subject.plantLink(at('link'), at('file'));
      const kinds = ['file', 'directory', 'link'].map((entry) => fs.status(at(entry))?.kind);
      expect(kinds).toEqual(['file', 'directory', 'link']);
      expect(fs.status(at('file'))?.size).toBe(3);
      expect(fs.status(at('none'))).toBeNull();
      expect(fs.status(at('none', 'below'))).toBeNull();
      expect(errnoFrom(() => fs.status(at('file', 'below')))).toBe('ENOTDIR');
    });

    test('status: device, inode and birth stay with the file when it is renamed, written and touched', () => {
      const file = fs.open(at('file'), 'create');
      const before = file.status();
      file.write(text('x'));
      fs.setTimes(at('file'), 1_000, 2_000);
      fs.rename(at('file'), at('renamed'));
      const after = fs.status(at('renamed'));
      file.close();
      expect(after).toMatchObject({
        device: before.device,
        inode: before.inode,
        birthNs: before.birthNs,
        uid: before.uid,
        modifiedMs: 2_000,
      });
    });

    test('setTimes of a link leaves its target alone', () => {
      write(at('file'), '');
      fs.setTimes(at('file'), 5_000, 5_000);
      subject.plantLink(at('link'), at('file'));
      fs.setTimes(at('link'), 9_000, 9_000);
      expect([fs.status(at('file'))?.modifiedMs, fs.status(at('link'))?.modifiedMs]).toEqual([5_000, 9_000]);
    });

    test('list: names in byte order with their kinds', () => {
      for (const entry of ['b', 'a', 'B', 'ä', '10', '9', '.t-1']) write(at(entry), '');
      fs.makeDirectory(at('c'));
      expect(fs.list(subject.root).map((entry) => entry.name)).toEqual([
        '.t-1',
        '10',
        '9',
        'B',
        'a',
        'b',
        'c',
        'ä',
      ]);
      expect(fs.list(subject.root).find((entry) => entry.name === 'c')?.kind).toBe('directory');
      expect(fs.list(at('c'))).toEqual([]);
    });

    test('list: a missing directory, a file and a link fail', () => {
      write(at('file'), '');
      fs.makeDirectory(at('directory'));
      subject.plantLink(at('link'), at('directory'));
      expect(errnoFrom(() => fs.list(at('none')))).toBe('ENOENT');
      expect(errnoFrom(() => fs.list(at('file')))).toBe('ENOTDIR');
      expectUnsafe(() => fs.list(at('link')));
    });

    test('makeDirectory: EEXIST when anything has the name, ENOENT without a parent', () => {
      write(at('file'), '');
      subject.plantLink(at('link'), at('none'));
      fs.makeDirectory(at('directory'));
      for (const entry of ['file', 'link', 'directory']) {
        expect(errnoFrom(() => fs.makeDirectory(at(entry)))).toBe('EEXIST');
      }
      expect(errnoFrom(() => fs.makeDirectory(at('none', 'below')))).toBe('ENOENT');
    });

    test('rename: replaces a file in one step, and a link instead of its target', () => {
      write(at('old'), 'old');
      write(at('new'), 'new');
      write(at('victim'), 'victim');
      subject.plantLink(at('link'), at('victim'));
      const held = fs.open(at('old'), 'read');
      fs.rename(at('new'), at('old'));
      expect(read(at('old'))).toBe('new');
      expect(fs.status(at('new'))).toBeNull();
      expect(held.status().inode).not.toBe(fs.status(at('old'))?.inode);
      held.close();
      fs.rename(at('old'), at('link'));
      expect([read(at('link')), read(at('victim'))]).toEqual(['new', 'victim']);
    });

    test('rename: a directory moves with its content; what cannot be replaced is refused', () => {
      fs.makeDirectory(at('from'));
      write(at('from', 'file'), 'x');
      fs.rename(at('from'), at('to'));
      expect(read(at('to', 'file'))).toBe('x');
      fs.makeDirectory(at('full'));
      write(at('full', 'file'), 'y');
      write(at('file'), 'z');
      expect(errnoFrom(() => fs.rename(at('none'), at('file')))).toBe('ENOENT');
      expect(errnoFrom(() => fs.rename(at('file'), at('to')))).toBe('EISDIR');
      expect(errnoFrom(() => fs.rename(at('to'), at('file')))).toBe('ENOTDIR');
      expect(errnoFrom(() => fs.rename(at('to'), at('full')))).toBe('ENOTEMPTY');
      expect([read(at('file')), read(at('full', 'file'))]).toEqual(['z', 'y']);
    });

    test('removeFile: takes the name; an open handle still reads', () => {
      write(at('file'), 'abc');
      write(at('victim'), 'v');
      subject.plantLink(at('link'), at('victim'));
      const held = fs.open(at('file'), 'read');
      fs.removeFile(at('file'));
      fs.removeFile(at('link'));
      expect([fs.status(at('file')), fs.status(at('link'))]).toEqual([null, null]);
      const into = new Uint8Array(3);
      expect([held.read(into, 0), Buffer.from(into).toString()]).toEqual([3, 'abc']);
      held.close();
      expect(read(at('victim'))).toBe('v');
      expect(errnoFrom(() => fs.removeFile(at('file')))).toBe('ENOENT');
      fs.makeDirectory(at('directory'));
      expect(errnoFrom(() => fs.removeFile(at('directory')))).toMatch(/^(EISDIR|EPERM)$/);
    });

    test('removeDirectory: only an empty directory itself', () => {
      fs.makeDirectory(at('directory'));
      write(at('directory', 'file'), '');
      write(at('file'), '');
      subject.plantLink(at('link'), at('directory'));
      expect(errnoFrom(() => fs.removeDirectory(at('directory')))).toBe('ENOTEMPTY');
      expect(errnoFrom(() => fs.removeDirectory(at('file')))).toBe('ENOTDIR');
      expect(errnoFrom(() => fs.removeDirectory(at('link')))).toBe('ENOTDIR');
      expect(errnoFrom(() => fs.removeDirectory(at('none')))).toBe('ENOENT');
      fs.removeFile(at('directory', 'file'));
      fs.removeDirectory(at('directory'));
      expect(fs.status(at('directory'))).toBeNull();
    });

    test('replaceDerived: makes or replaces a file of mode 0600 in one step, and leaves nothing else', () => {
      fs.makeDirectory(at('derived'));
      fs.replaceDerived(at('derived', 'view.json'), text('one'));
      const held = fs.open(at('derived', 'view.json'), 'read');
      fs.setMode(at('derived', 'view.json'), 0o644);
      fs.replaceDerived(at('derived', 'view.json'), text('another'));
      expect(read(at('derived', 'view.json'))).toBe('another');
      expect(fs.status(at('derived', 'view.json'))?.mode).toBe(0o600);
      expect(held.status().inode).not.toBe(fs.status(at('derived', 'view.json'))?.inode);
      held.close();
      expect(fs.list(at('derived'))).toEqual([{ name: 'view.json', kind: 'file' }]);
      expect(errnoFrom(() => fs.replaceDerived(at('none', 'view.json'), text('x')))).toBe('ENOENT');
    });

    test('replaceDerived: what is not a regular file is refused', () => {
      fs.makeDirectory(at('directory'));
      write(at('victim'), 'victim');
      subject.plantLink(at('link'), at('victim'));
      subject.plantLink(at('dangling'), at('none'));
      for (const name of ['directory', 'link', 'dangling']) {
        expectUnsafe(() => fs.replaceDerived(at(name), text('x')));
      }
      expect(fs.status(at('none'))).toBeNull();
      expect(read(at('victim'))).toBe('victim');
    });

    test('syncDirectory: a missing directory fails, it is not one that cannot be synced', () => {
      expect(errnoFrom(() => fs.syncDirectory(at('none')))).toBe('ENOENT');
    });

    test('resolve: follows links to the end; a missing end is ENOENT', () => {
      write(at('file'), '');
      subject.plantLink(at('one'), at('two'));
      subject.plantLink(at('two'), 'file');
      expect(fs.resolve(at('one'))).toBe(at('file'));
      expect(errnoFrom(() => fs.resolve(at('none')))).toBe('ENOENT');
      subject.plantLink(at('loop'), at('loop'));
      expect(errnoFrom(() => fs.resolve(at('loop')))).toBe('ELOOP');
    });
  });
}
