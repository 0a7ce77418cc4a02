import { type Fault, FaultFileSystem, ModelFileSystem } from '@turnlog/testkit';

function withFault(fault: Fault): { model: ModelFileSystem; fs: FaultFileSystem } {
  const model = new ModelFileSystem();
  return { model, fs: new FaultFileSystem(model, fault) };
}

const eio = expect.objectContaining({
  code: 'TURNLOG_IO',
  details: expect.objectContaining({ errno: 'EIO' }),
});

test('the n-th call fails once, did nothing, and the next one is made', () => {
  const { model, fs } = withFault({ call: 2, lasting: 'once', effect: { errno: 'EIO' } });
  fs.makeDirectory('/a');
  expect(() => fs.makeDirectory('/b')).toThrow(eio);
  expect(model.status('/b')).toBeNull();
  fs.makeDirectory('/b');
  expect(fs.hitCount).toBe(1);
});

test('from then on every call fails, until the fault is taken away', () => {
  const { fs } = withFault({ call: 2, lasting: 'from-then-on', effect: { errno: 'EIO' } });
  fs.makeDirectory('/a');
  for (let call = 0; call < 3; call += 1) expect(() => fs.list('/')).toThrow(eio);
  fs.setFault(null);
  expect(fs.list('/')).toHaveLength(1);
  expect(fs.hitCount).toBe(3);
});

test('only calls that apply are counted', () => {
  const { fs } = withFault({
    call: 2,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb, path }) => verb === 'makeDirectory' && path.startsWith('/b'),
  });
  fs.makeDirectory('/a');
  fs.makeDirectory('/b');
  fs.list('/');
  expect(() => fs.makeDirectory('/b2')).toThrow(eio);
});

test('a short write stores half without an error', () => {
  const { model, fs } = withFault({ call: 2, lasting: 'once', effect: 'short-write' });
  const file = fs.open('/file', 'create');
  expect([
    file.write(Buffer.from('abcd')),
    file.write(Buffer.from('efgh')),
    file.write(Buffer.from('ij')),
  ]).toEqual([4, 2, 2]);
  expect(Buffer.from(model.contentOf('/file')).toString()).toBe('abcdefij');
});

test('each verb of an open file can fail, a close that fails has closed', async () => {
  const verbs = ['write', 'read', 'truncate', 'sync', 'syncData', 'status', 'setMode', 'close'] as const;
  for (const wanted of verbs) {
    const { fs } = withFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno: 'EIO' },
      applies: ({ verb }) => verb === wanted,
    });
    const file = fs.open('/file', 'create');
    const calls: Record<(typeof verbs)[number], () => unknown> = {
      write: () => file.write(Buffer.from('x')),
      read: () => file.read(new Uint8Array(1), 0),
      truncate: () => file.truncate(0),
      sync: () => file.sync(),
      syncData: () => file.syncData(),
      status: () => file.status(),
      setMode: () => file.setMode(0o600),
      close: () => file.close(),
    };
    expect(calls[wanted]).toThrow(eio);
    if (wanted === 'syncData') await expect(file.syncDataLater()).rejects.toEqual(eio);
    if (wanted === 'close') expect(() => file.write(Buffer.from('x'))).toThrow('a closed file was used');
  }
});

test('the journal has every call with its path and bytes, also failed ones', () => {
  const { fs } = withFault({ call: 4, lasting: 'once', effect: { errno: 'EIO' } });
  const file = fs.open('/file', 'create');
  file.write(Buffer.from('abc'));
  file.read(new Uint8Array(8), 1);
  expect(() => file.sync()).toThrow(eio);
  expect(fs.journal).toEqual([
    { verb: 'open', path: '/file', byteCount: 0 },
    { verb: 'write', path: '/file', byteCount: 3 },
    { verb: 'read', path: '/file', byteCount: 2 },
    { verb: 'sync', path: '/file', byteCount: 0 },
  ]);
  expect([fs.countOf('sync'), fs.countOf('write', (path) => path === '/other')]).toEqual([1, 0]);
});
