import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createNodeFileSystem, createRandomIds } from '@turnlog/fs';
import { makeTemporaryDirectory } from '@turnlog/testkit';
import {
  exportDamage,
  exportFileName,
  exportFormats,
  exportSession,
  type WriteExportOptions,
  writeExport,
} from '@turnlog/views';
import { bytesOf, exported, message, passThrough, redactor, said, secret } from './exports-support.js';
import { line, logOf, TestStore, turnStarted } from './support.js';

function write(
  test: TestStore,
  path: string,
  chunks: Iterable<string>,
  options?: WriteExportOptions,
): unknown {
  return writeExport({ fs: test.fs, ids: test.store.environment.ids }, path, chunks, options);
}

async function storeWithTarget(): Promise<TestStore> {
  const test = await TestStore.make();
  test.disk.plantDirectory('/out');
  test.disk.plantFile('/out/s-1.md', Buffer.from('old'));
  return test;
}

const contentOf = (test: TestStore, path: string): string =>
  Buffer.from(test.disk.contentOf(path)).toString();
const namesIn = (test: TestStore, path: string): readonly string[] =>
  test.disk.list(path).map(({ name }) => name);

test('a document is written whole, read back, of mode 0600, and leaves no other file', async () => {
  const test = await storeWithTarget();
  const parts = ['a', 'é', '\u{1f680}', 'x'.repeat(600_000)];
  expect(write(test, '/out/new.md', parts)).toMatchObject({ bytes: 600_007 });
  expect(contentOf(test, '/out/new.md')).toBe(parts.join(''));
  expect(test.disk.status('/out/new.md')?.mode).toBe(0o600);
  expect(namesIn(test, '/out')).toEqual(['new.md', 's-1.md']);
});

test('the mode is 0600 whatever the umask is', () => {
  const directory = makeTemporaryDirectory();
  const before = process.umask(0);
  try {
    const path = join(directory.path, 'x.html');
    writeExport({ fs: createNodeFileSystem(), ids: createRandomIds() }, path, ['x']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  } finally {
    process.umask(before);
    directory.remove();
  }
});

test('a file that is there stays unless force is said; a link or a directory stays even then', async () => {
  const test = await storeWithTarget();
  expect(() => write(test, '/out/s-1.md', ['new'])).toThrow(
    expect.objectContaining({ code: 'TURNLOG_NEEDS_YES', details: { path: '/out/s-1.md' } }),
  );
  expect(contentOf(test, '/out/s-1.md')).toBe('old');
  write(test, '/out/s-1.md', ['new'], { force: true });
  expect(contentOf(test, '/out/s-1.md')).toBe('new');
  test.disk.plantLink('/out/link.md', '/store/x');
  test.disk.plantDirectory('/out/folder.md');
  for (const name of ['link.md', 'folder.md']) {
    expect(() => write(test, `/out/${name}`, ['new'], { force: true })).toThrow(
      expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }),
    );
  }
});

test('a full disk leaves the old file and no other', async () => {
  const test = await storeWithTarget();
  test.disk.setSpace(1_000);
  expect(() => write(test, '/out/s-1.md', ['x'.repeat(5_000)], { force: true })).toThrow(
    expect.objectContaining({
      code: 'TURNLOG_IO',
      details: expect.objectContaining({ errno: 'ENOSPC', outcome: 'none' }),
    }),
  );
  expect(contentOf(test, '/out/s-1.md')).toBe('old');
  expect(namesIn(test, '/out')).toEqual(['s-1.md']);
});

test('a document that cannot be made to its end leaves the old file and no other', async () => {
  const test = await storeWithTarget();
  const failing = function* (): Iterable<string> {
    yield 'beginning';
    throw new Error('the log went away');
  };
  expect(() => write(test, '/out/s-1.md', failing(), { force: true })).toThrow('the log went away');
  expect(contentOf(test, '/out/s-1.md')).toBe('old');
  expect(namesIn(test, '/out')).toEqual(['s-1.md']);
});

test('what the disk gives back must be what was written', async () => {
  const test = await storeWithTarget();
  const lying = Object.assign(Object.create(test.fs) as typeof test.fs, {
    open: (path: string, mode: 'read' | 'append' | 'create') => {
      const file = test.fs.open(path, mode);
      return Object.assign(Object.create(file) as typeof file, {
        path: file.path,
        write: (bytes: Uint8Array) => file.write(bytes),
        sync: () => file.sync(),
        close: () => file.close(),
        read: (into: Uint8Array, offset: number) => {
          const count = file.read(into, offset);
          into[0] = 0;
          return count;
        },
      });
    },
    status: (path: string) => test.fs.status(path),
    removeFile: (path: string) => test.fs.removeFile(path),
  });
  expect(() =>
    writeExport({ fs: lying, ids: test.store.environment.ids }, '/out/s-1.md', ['new'], { force: true }),
  ).toThrow(expect.objectContaining({ details: expect.objectContaining({ operation: 'read back' }) }));
  expect(contentOf(test, '/out/s-1.md')).toBe('old');
});

test('I-15 two branches of one second with one first message are exported to two files', async () => {
  const test = await TestStore.make();
  const ids = ['parent', 'branch-1', 'branch-10', 'branch-1.md', 'branch-1.agent-trace'];
  for (const id of ids) test.plant(id, logOf([turnStarted, said('the same words'), message('a', id)]));
  test.disk.plantDirectory('/out');
  for (const id of ids) {
    for (const format of exportFormats) {
      const document = exportSession({ store: test.store, id, format, redactor: passThrough });
      writeExport(
        { fs: test.fs, ids: test.store.environment.ids },
        `/out/${exportFileName(id, format)}`,
        document,
      );
    }
  }
  expect(namesIn(test, '/out')).toHaveLength(ids.length * exportFormats.length);
  expect(contentOf(test, '/out/branch-1.md')).not.toBe(contentOf(test, '/out/branch-10.md'));
  expect(exportFileName('Branch_1.x', 'atif')).toBe('Branch_1.x.atif.json');
  expect(() => exportFileName('../x', 'md')).toThrow(
    expect.objectContaining({ code: 'TURNLOG_INVALID_SESSION_ID' }),
  );
});

test('damage is in no document, is counted, and is written apart on request', async () => {
  const test = await TestStore.make();
  const broken = `{"schema_version":"0.18.0","seq":2,"event":{"type":"x","v":"${secret}"`;
  const log = `${line(1, turnStarted)}${broken}\n${line(3, message('a', 'after'))}\xff\xfe`;
  test.plant('s-1', Buffer.from(log, 'latin1'));
  const { text, report } = exported(test, 's-1', 'jsonl');
  expect(text).toBe(`${line(1, turnStarted)}${line(3, message('a', 'after'))}`);
  expect(report.damage.count).toBe(2);
  for (const format of exportFormats) {
    expect(exported(test, 's-1', format).report.damage.count).toBe(2);
    expect(exported(test, 's-1', format).text).not.toContain(secret);
  }
  const apart = (egress: typeof redactor): { base64: string; kind: string }[] =>
    bytesOf(exportDamage({ store: test.store, id: 's-1', redactor: egress }))
      .toString()
      .split('\n')
      .filter((one) => one !== '')
      .map((one) => JSON.parse(one) as { base64: string; kind: string });
  expect(apart(passThrough).map(({ base64 }) => Buffer.from(base64, 'base64').toString('latin1'))).toEqual([
    broken,
    '\xff\xfe',
  ]);
  expect(Buffer.from(apart(redactor)[0]?.base64 ?? '', 'base64').toString()).not.toContain(secret);
  expect(exported(test, 's-1', 'jsonl', { raw: true }).bytes.toString('latin1')).toBe(log);
});

test('a last record without its 0x0A gets one', async () => {
  const test = await TestStore.make();
  const log = logOf([turnStarted, message('a', 'x')]);
  test.plant('s-1', log.slice(0, -1));
  expect(exported(test, 's-1', 'jsonl').text).toBe(log);
});

test('a reader is enough, and is left open', async () => {
  const test = await TestStore.make();
  test.plant('s-1', logOf([turnStarted, message('a', 'hello')]));
  test.reading('s-1', (reader) => {
    for (const format of exportFormats) {
      const document = exportSession({ reader, format, redactor: passThrough });
      expect(bytesOf(document).length).toBeGreaterThanOrEqual(0);
      expect(document.report.recordCount).toBe(2);
    }
    expect([...reader.records()]).toHaveLength(2);
  });
});
