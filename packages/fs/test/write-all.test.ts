import { writeAll } from '@turnlog/fs';
import { FaultFileSystem, ModelFileSystem } from '@turnlog/testkit';

const bytes = Buffer.from('0123456789');

test('a short write is continued until every byte is counted', () => {
  const model = new ModelFileSystem();
  const fs = new FaultFileSystem(model, { call: 1, lasting: 'once', effect: 'short-write' });
  const file = fs.open('/file', 'create');
  writeAll(file, bytes);
  expect(Buffer.from(model.contentOf('/file'))).toEqual(bytes);
  expect(fs.countOf('write')).toBe(2);
});

test('a write of 0 bytes is an error that says how far it came', () => {
  const fs = new FaultFileSystem(new ModelFileSystem(), {
    call: 1,
    lasting: 'from-then-on',
    effect: 'short-write',
  });
  const file = fs.open('/file', 'create');
  const details = { operation: 'write', path: '/file', byteCount: 10, writtenByteCount: 9 };
  expect(() => writeAll(file, bytes)).toThrow(
    expect.objectContaining({ code: 'TURNLOG_IO', details: expect.objectContaining(details) }),
  );
});

test('a disk that fills up half-way fails with its errno and the bytes written', () => {
  const fs = new ModelFileSystem({ spaceBytes: 4 });
  const file = fs.open('/file', 'create');
  expect(() => writeAll(file, bytes)).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({ errno: 'ENOSPC', byteCount: 10, writtenByteCount: 4 }),
    }),
  );
  expect(Buffer.from(fs.contentOf('/file')).toString()).toBe('0123');
});

test('no bytes are no write', () => {
  const fs = new FaultFileSystem(new ModelFileSystem());
  writeAll(fs.open('/file', 'create'), new Uint8Array(0));
  expect(fs.countOf('write')).toBe(0);
});
