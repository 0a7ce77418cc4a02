import { tmpdir } from 'node:os';
import { filesystemKind } from '@turnlog/fs';

const named: readonly (readonly [name: string, magic: bigint, kind: string, reach: string])[] = [
  ['NFS', 0x6969n, 'NFS', 'network'],
  ['SMB', 0x517bn, 'SMB', 'network'],
  ['SMB2', 0xfe534d42n, 'SMB2', 'network'],
  ['CIFS', 0xff534d42n, 'CIFS', 'network'],
  ['CIFS, as a signed number', -0xacb2ben, 'CIFS', 'network'],
  ['AFS', 0x5346414fn, 'AFS', 'network'],
  ['AFS of the kernel', 0x6b414653n, 'AFS', 'network'],
  ['9p', 0x01021997n, '9p', 'network'],
  ['FUSE', 0x65735546n, 'FUSE', 'network'],
  ['ext4', 0xef53n, 'ext', 'local'],
  ['tmpfs', 0x01021994n, 'tmpfs', 'local'],
  ['overlayfs', 0x794c7630n, 'overlayfs', 'local'],
  ['one that nobody knows', 0x1234abcdn, 'unknown (0x1234abcd)', 'unknown'],
];

test.each(named)('%s is recognised by its number', (_name, magic, name, reach) => {
  expect(filesystemKind('/anywhere', () => magic)).toEqual({ name, reach });
});

test('this machine says what a directory lies on, and nothing of one that is not there', () => {
  expect(filesystemKind(tmpdir()).name).not.toBe('');
  expect(() => filesystemKind('/nowhere/at/all')).toThrow(
    expect.objectContaining({
      code: 'TURNLOG_IO',
      details: expect.objectContaining({
        operation: 'filesystemKind',
        path: '/nowhere/at/all',
        errno: 'ENOENT',
      }),
    }),
  );
});
