import { createNodeFileSystem, publishDerived, readDerived, removeDerivedLeftovers } from '@turnlog/fs';
import { type FileSystem, limits } from '@turnlog/kernel';
import {
  CrashSignal,
  enumerateDisks,
  FaultFileSystem,
  ModelFileSystem,
  makeTemporaryDirectory,
} from '@turnlog/testkit';

const path = '/derived/view.json';
const document = '{"objective":"größer \\ud800 \u{1f600}","turnlog":{"v":1}}';

function disk(spaceBytes: number | null = null): ModelFileSystem {
  const fs = new ModelFileSystem({ spaceBytes });
  fs.plantDirectory('/derived');
  return fs;
}

function stored(fs: ModelFileSystem): Buffer {
  return Buffer.from(fs.contentOf(path));
}

test('a document comes back as it was, and the file is one JSON object on one line', () => {
  const fs = disk();
  publishDerived(fs, path, document);
  expect(readDerived(fs, path)).toEqual({ kind: 'document', text: document });
  const text = stored(fs).toString();
  expect(text.indexOf('\n')).toBe(text.length - 1);
  const { turnlog_seal: seal, ...rest } = JSON.parse(text) as Record<string, unknown>;
  expect(rest).toEqual(JSON.parse(document));
  expect(seal).toEqual({
    length: Buffer.byteLength(document),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('no file and no directory are absent', () => {
  expect(readDerived(disk(), path)).toEqual({ kind: 'absent' });
  expect(readDerived(new ModelFileSystem(), path)).toEqual({ kind: 'absent' });
});

test('a file cut at any byte, with any byte changed, or with bytes added is wrong', () => {
  const fs = disk();
  publishDerived(fs, path, document);
  const whole = stored(fs);
  for (let length = 0; length < whole.length; length += 1) {
    fs.plantFile(path, whole.subarray(0, length));
    expect([length, readDerived(fs, path)]).toEqual([length, { kind: 'wrong' }]);
  }
  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 0x01;
    fs.plantFile(path, changed);
    expect([at, readDerived(fs, path)]).toEqual([at, { kind: 'wrong' }]);
  }
  for (const added of [
    Buffer.concat([whole, Buffer.from(' ')]),
    Buffer.concat([Buffer.from(' '), whole]),
    Buffer.alloc(4_096),
  ]) {
    fs.plantFile(path, added);
    expect(readDerived(fs, path)).toEqual({ kind: 'wrong' });
  }
});

test('a document of another program, also one longer than ours may be, is wrong', () => {
  const fs = disk();
  fs.plantFile(path, Buffer.from('{"summary":"theirs"}\n'));
  expect(readDerived(fs, path)).toEqual({ kind: 'wrong' });
  const huge: FileSystem = Object.assign(Object.create(fs) as FileSystem, {
    open: (name: string) => {
      const file = fs.open(name, 'read');
      const status = { ...file.status(), size: limits.derivedFileBytesMax + 1 };
      return { path: name, read: () => 0, status: () => status, close: () => file.close() };
    },
  });
  expect(readDerived(huge, path)).toEqual({ kind: 'wrong' });
});

test('a link and a directory are refused, other failures keep their errno', () => {
  const fs = disk();
  fs.plantLink(path, '/elsewhere');
  const unsafe = expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' });
  expect(() => readDerived(fs, path)).toThrow(unsafe);
  expect(() => publishDerived(fs, path, document)).toThrow(unsafe);
  const faulty = new FaultFileSystem(disk(), { call: 1, lasting: 'once', effect: { errno: 'EIO' } });
  const eio = expect.objectContaining({ details: expect.objectContaining({ errno: 'EIO' }) });
  expect(() => readDerived(faulty, path)).toThrow(eio);
});

test('a full disk that cuts the file in silence is told, and readers find no document', () => {
  const fs = disk(160);
  publishDerived(fs, path, '{"a":1}');
  expect(() => publishDerived(fs, path, document)).toThrow(expect.objectContaining({ code: 'TURNLOG_IO' }));
  expect(readDerived(fs, path)).toEqual({ kind: 'wrong' });
  fs.setSpace(null);
  publishDerived(fs, path, document);
  expect(readDerived(fs, path).kind).toBe('document');
});

test('a crash at any step leaves the old document, the new one, or one that is known to be wrong', () => {
  const states = new Set<string>();
  for (let call = 0; call < 4; call += 1) {
    const fs = disk();
    publishDerived(fs, path, '{"a":1}');
    for (const file of [path]) fs.plantFile(file, stored(fs));
    fs.crashAt(fs.mutationCount + call);
    try {
      publishDerived(fs, path, '{"a":2}');
    } catch (error) {
      if (!(error instanceof CrashSignal)) throw error;
    }
    for (const left of enumerateDisks(fs, 1)) {
      const found = readDerived(left, path);
      states.add(found.kind === 'document' ? found.text : found.kind);
    }
  }
  for (const state of states) expect(['{"a":1}', '{"a":2}', 'wrong', 'absent']).toContain(state);
  expect(states).toContain('{"a":1}');
  expect(states).toContain('{"a":2}');
});

test('old leftovers of interrupted replacements are removed, young ones and other files are not', () => {
  const fs = disk();
  const plant = (name: string, ageMs: number): void => {
    fs.plantFile(`/derived/${name}`, Buffer.from('x'));
    fs.setTimes(`/derived/${name}`, 0, 10_000_000 - ageMs);
  };
  const hour = limits.derivedLeftoverKeepMs;
  plant('usage.json.123', hour + 1);
  plant('usage.json.456', hour);
  plant('usage.json', hour + 1);
  plant('usage.json.12a', hour + 1);
  removeDerivedLeftovers(fs, '/derived', 10_000_000);
  expect(fs.list('/derived').map(({ name }) => name)).toEqual([
    'usage.json',
    'usage.json.12a',
    'usage.json.456',
  ]);
  removeDerivedLeftovers(fs, '/none', 10_000_000);
});

test('on this machine the temp names of the library are those that are cleared away', () => {
  const directory = makeTemporaryDirectory();
  try {
    const fs = createNodeFileSystem();
    const file = `${directory.path}/usage.json`;
    publishDerived(fs, file, document);
    expect(readDerived(fs, file)).toEqual({ kind: 'document', text: document });
    const { _getTmpname: temporaryName } = jest.requireActual<{ _getTmpname: (name: string) => string }>(
      'write-file-atomic',
    );
    const leftover = temporaryName(file);
    fs.open(leftover, 'create').close();
    removeDerivedLeftovers(fs, directory.path, Date.now() + limits.derivedLeftoverKeepMs + 60_000);
    expect(fs.list(directory.path).map(({ name }) => name)).toEqual(['usage.json']);
  } finally {
    directory.remove();
  }
});
