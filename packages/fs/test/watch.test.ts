import { join } from 'node:path';
import {
  createNodeFileSystem,
  createSystemClock,
  type LibraryWatcher,
  type Watch,
  type WatchLibraryOptions,
  type WatchRequest,
  type WatchWarning,
  watchPath,
} from '@turnlog/fs';
import { limits } from '@turnlog/kernel';
import { FakeClock, FaultFileSystem, ModelFileSystem, makeTemporaryDirectory } from '@turnlog/testkit';

/** A library under the test's hands. */
class FakeLibrary implements LibraryWatcher {
  options: WatchLibraryOptions | null = null;
  isClosed = false;
  #all: () => void = () => undefined;
  #error: ((error: unknown) => void) | null = null;

  watch(_path: string, options: WatchLibraryOptions): LibraryWatcher {
    this.options = options;
    return this;
  }

  on(event: 'all' | 'error', listener: (error: unknown) => void): void {
    if (event === 'all') this.#all = () => listener(undefined);
    else this.#error = listener;
  }

  event(): void {
    this.#all();
  }

  fail(error: unknown): void {
    if (this.#error === null) throw error;
    this.#error(error);
  }

  /** As the real one does, takes off all listeners. */
  close(): Promise<void> {
    this.isClosed = true;
    this.#error = null;
    return Promise.resolve();
  }
}

interface Subject {
  readonly fs: ModelFileSystem;
  readonly clock: FakeClock;
  readonly library: FakeLibrary;
  readonly warnings: WatchWarning[];
  readonly watch: Watch;
  wakeCount: number;
}

async function start(path: string, change: Partial<WatchRequest> = {}): Promise<Subject> {
  const clock = new FakeClock();
  const fs = new ModelFileSystem({ clock });
  fs.plantFile('/log/events.jsonl', Buffer.from('one\n'));
  const library = new FakeLibrary();
  const warnings: WatchWarning[] = [];
  const subject = { fs, clock, library, warnings, wakeCount: 0 };
  const watch = watchPath({
    fs,
    clock,
    path,
    onWake: () => {
      subject.wakeCount += 1;
    },
    onWarning: (warning) => warnings.push(warning),
    load: () => Promise.resolve(library),
    ...change,
  });
  await settle();
  return Object.assign(subject, { watch });
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function append(fs: ModelFileSystem, text: string): void {
  const file = fs.open('/log/events.jsonl', 'append');
  file.write(Buffer.from(text));
  file.close();
}

const failure = (code: string): Error => Object.assign(new Error(code), { code });

test('B22: an event wakes when the file has changed', async () => {
  const subject = await start('/log/events.jsonl');
  append(subject.fs, 'two\n');
  subject.library.event();
  expect(subject.wakeCount).toBe(1);
  await subject.watch.close();
});

test('B117: events for nothing, and the same event twice, wake once', async () => {
  const subject = await start('/log/events.jsonl');
  subject.library.event();
  expect(subject.wakeCount).toBe(0);
  append(subject.fs, 'two\n');
  for (let event = 0; event < 5; event += 1) subject.library.event();
  subject.clock.advance(10 * limits.followPollMs);
  expect(subject.wakeCount).toBe(1);
  await subject.watch.close();
});

test('B115: what the watcher misses is found within one interval: growth, replacement, removal, return', async () => {
  const subject = await start('/log/events.jsonl');
  const steps = [
    () => append(subject.fs, 'two\n'),
    () => subject.fs.plantFile('/log/events.jsonl', subject.fs.contentOf('/log/events.jsonl')),
    () => subject.fs.removeFile('/log/events.jsonl'),
    () => subject.fs.plantFile('/log/events.jsonl', Buffer.from('new\n')),
  ];
  for (const [position, step] of steps.entries()) {
    step();
    subject.clock.advance(limits.followPollMs);
    expect(subject.wakeCount).toBe(position + 1);
  }
  await subject.watch.close();
});

test.each(['EMFILE', 'ENOSPC'])(
  'B22, B119: %s gives one warning that names the watch limit, and polling',
  async (code) => {
    const subject = await start('/log/events.jsonl');
    for (let error = 0; error < 3; error += 1) subject.library.fail(failure(code));
    await settle();
    subject.library.fail(failure(code));
    expect(subject.warnings).toEqual([
      expect.objectContaining({ reason: 'watch-limit', message: expect.stringContaining('watch limit') }),
    ]);
    expect(subject.library.isClosed).toBe(true);
    append(subject.fs, 'two\n');
    subject.clock.advance(limits.followPollMs);
    expect(subject.wakeCount).toBe(1);
    await subject.watch.close();
  },
);

test('a library that cannot be loaded, or throws when it begins, is one warning', async () => {
  const broken = [
    () => Promise.reject(failure('ERR_MODULE_NOT_FOUND')),
    () =>
      Promise.resolve({
        watch: () => {
          throw failure('ENOSYS');
        },
      }),
  ];
  for (const load of broken) {
    const subject = await start('/log/events.jsonl', { load });
    expect(subject.warnings).toEqual([expect.objectContaining({ reason: 'unavailable' })]);
    append(subject.fs, 'two\n');
    subject.clock.advance(limits.followPollMs);
    expect(subject.wakeCount).toBe(1);
    await subject.watch.close();
  }
});

test('of a directory each event wakes, and each interval once polling has begun', async () => {
  const subject = await start('/log');
  append(subject.fs, 'two\n');
  subject.library.event();
  expect(subject.wakeCount).toBe(1);
  subject.clock.advance(4 * limits.followPollMs);
  expect(subject.wakeCount).toBe(1);
  subject.library.fail(failure('EMFILE'));
  subject.clock.advance(4 * limits.followPollMs);
  expect(subject.wakeCount).toBe(5);
  await subject.watch.close();
});

test('B120: depth and name filter reach the library, the watched path itself is never filtered', async () => {
  const accepts = (path: string): boolean => path.endsWith('.jsonl');
  const subject = await start('/log', { depth: 1, accepts });
  expect(subject.library.options).toMatchObject({ depth: 1, followSymlinks: false, persistent: false });
  const ignored = ['/log', '/log/events.jsonl', '/log/notes.txt'].map((path) =>
    subject.library.options?.ignored(path),
  );
  expect(ignored).toEqual([false, false, true]);
  await subject.watch.close();
});

test('a look that fails wakes, so that the reader meets the error itself', async () => {
  const model = new ModelFileSystem();
  model.plantFile('/log/events.jsonl', Buffer.from('one\n'));
  const fs = new FaultFileSystem(model);
  const subject = await start('/log/events.jsonl', { fs });
  fs.setFault({ call: 1, lasting: 'from-then-on', effect: { errno: 'EACCES' } });
  subject.clock.advance(3 * limits.followPollMs);
  expect(subject.wakeCount).toBe(1);
  await subject.watch.close();
});

test('after close nothing comes any more and no timer is left, also when the library still loads', async () => {
  const subject = await start('/log/events.jsonl');
  await subject.watch.close();
  append(subject.fs, 'two\n');
  subject.library.event();
  subject.library.fail(failure('EMFILE'));
  expect([subject.wakeCount, subject.warnings.length, subject.clock.waitingCount]).toEqual([0, 0, 0]);
  const library = new FakeLibrary();
  const late = watchPath({
    fs: subject.fs,
    clock: subject.clock,
    path: '/log/events.jsonl',
    onWake: () => undefined,
    onWarning: () => undefined,
    load: () => settle().then(() => library),
  });
  await late.close();
  expect(library.options).toBeNull();
  const warnings: WatchWarning[] = [];
  const broken = watchPath({
    fs: subject.fs,
    clock: subject.clock,
    path: '/log/events.jsonl',
    onWake: () => undefined,
    onWarning: (warning) => warnings.push(warning),
    load: () => settle().then(() => Promise.reject(failure('ENOSYS'))),
  });
  await broken.close();
  expect(warnings).toEqual([]);
});

test('the real library wakes for a real file', async () => {
  const directory = makeTemporaryDirectory();
  const fs = createNodeFileSystem();
  const path = join(directory.path, 'events.jsonl');
  const file = fs.open(path, 'create');
  const warnings: WatchWarning[] = [];
  let watch: Watch | null = null;
  const woken = new Promise<void>((resolve) => {
    watch = watchPath({
      fs,
      clock: { ...createSystemClock(), after: () => () => undefined },
      path,
      onWake: resolve,
      onWarning: (warning) => warnings.push(warning),
    });
  });
  // No timer runs here, so only the library can wake; it says nothing about when it has begun.
  const writing = setInterval(() => file.write(Buffer.from('line\n')), 20);
  await woken;
  clearInterval(writing);
  await (watch as Watch | null)?.close();
  file.close();
  directory.remove();
  expect(warnings).toEqual([]);
});
