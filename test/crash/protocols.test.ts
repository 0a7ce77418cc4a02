import { createWriterLocks, type FilesystemKind, publish, temporaryNamePattern } from '@turnlog/fs';
import { createSeededIds, enumerateDisks, FakeClock, FakeHost, ModelFileSystem } from '@turnlog/testkit';

/** Runs `work` on a fresh disk, stopped at each of its calls in turn, and gives every disk that is left. */
async function forEachDisk(
  prepare: (fs: ModelFileSystem) => void,
  work: (fs: ModelFileSystem) => Promise<void> | void,
  check: (disk: ModelFileSystem, isDone: boolean) => Promise<void> | void,
  clock: FakeClock = new FakeClock(),
): Promise<number> {
  const startMs = clock.now();
  let count = 0;
  for (let call = 0; ; call += 1) {
    clock.setNow(startMs);
    const fs = new ModelFileSystem({ clock });
    prepare(fs);
    fs.crashAt(call);
    try {
      await work(fs);
    } catch (error) {
      if (!fs.isDown) throw error;
    }
    for (const disk of enumerateDisks(fs, call)) {
      count += 1;
      await check(disk, !fs.isDown);
    }
    if (!fs.isDown) return count;
  }
}

const before = Buffer.from('the old file');
const after = Buffer.alloc(9_000, 'the new file ');

function plant(fs: ModelFileSystem): void {
  fs.plantDirectory('/d');
  fs.plantFile('/d/file', before);
}

test('a durable publish leaves the old or the new file, whole, and the new one once it has returned', async () => {
  const contents = new Set<string>();
  const count = await forEachDisk(
    plant,
    (fs) => publish(fs, createSeededIds(1), '/d/file', after, { durability: 'durable' }),
    (disk, isDone) => {
      const content = Buffer.from(disk.contentOf('/d/file'));
      expect(content.equals(after) || (!isDone && content.equals(before))).toBe(true);
      contents.add(content.toString());
      const others = disk
        .list('/d')
        .filter(({ name }) => name !== 'file' && !temporaryNamePattern.test(name));
      expect(others).toEqual([]);
    },
  );
  expect(contents.size).toBe(2);
  expect(count).toBeGreaterThan(10);
});

test('a visible publish never leaves a mixture, but it may leave an empty or a torn file', async () => {
  const contents = new Set<string>();
  await forEachDisk(
    plant,
    (fs) => publish(fs, createSeededIds(1), '/d/file', after, { durability: 'visible' }),
    (disk) => {
      const content = Buffer.from(disk.contentOf('/d/file'));
      expect(content.includes(before) && content.length > before.length).toBe(false);
      contents.add(content.toString());
    },
  );
  // Why nothing canonical is published this way.
  expect(contents).toContain('');
  expect(contents.size).toBeGreaterThan(2);
});

/** Processes of one start of the machine see each other. */
type Processes = Map<number, string | null>;

function locksOn(
  fs: ModelFileSystem,
  bootId: string,
  seed: number,
  processes: Processes,
  clock = new FakeClock('skips'),
  uptimeMs: number | null = null,
  reach: FilesystemKind['reach'] = 'unknown',
): ReturnType<typeof createWriterLocks> {
  const host = new FakeHost({ pid: 100 + seed, bootId, uptimeMs }, processes);
  return createWriterLocks({
    fs,
    ids: createSeededIds(seed),
    clock,
    host,
    program: 'turnlog/test',
    filesystemKind: () => ({ name: 'modelled', reach }),
  });
}

const request = { mode: 'owned', waitMs: 0, onLost: () => undefined } as const;

/**
 * Takes a lock and gives it back, with the power cut at each of its calls; `check` gets what is left, and the clock of
 * programs and disk, which has gone on for 45 s.
 */
function cutWhileLocking(check: (disk: ModelFileSystem, clock: FakeClock) => Promise<void>): Promise<number> {
  const clock = new FakeClock('skips');
  const startMs = clock.now();
  return forEachDisk(
    (fs) => fs.plantDirectory('/d'),
    async (fs) => {
      const held = await locksOn(fs, 'boot-1', 1, new Map()).acquire('/d', request);
      held.check();
      await held.release();
    },
    (disk) => {
      clock.setNow(startMs + 45_000);
      return check(disk, clock);
    },
    clock,
  );
}

test('whatever a power cut leaves of taking and giving back a lock, the next start of the machine gets it at once', async () => {
  let emptyIntentCount = 0;
  const count = await cutWhileLocking(async (disk, clock) => {
    const processes: Processes = new Map();
    const nowMs = clock.monotonicMs();
    const names = disk.list('/d').map(({ name }) => name);
    const hasEmptyIntent = names.some(
      (name) => /^session\.owner\.[0-9a-f]{16}$/.test(name) && disk.contentOf(`/d/${name}`).length === 0,
    );
    if (hasEmptyIntent && names.includes('session.lock')) emptyIntentCount += 1;
    // The machine has been up for half a minute.
    const locks = locksOn(disk, 'boot-2', 2, processes, clock, 30_000);
    const held = await locks.acquire('/d', request);
    expect(clock.monotonicMs()).toBe(nowMs);
    held.check();
    expect(locks.inspect('/d')).toMatchObject({ state: 'alive', pid: 102 });
    await expect(locksOn(disk, 'boot-2', 3, processes, clock).acquire('/d', request)).rejects.toMatchObject({
      code: 'TURNLOG_LOCKED',
    });
    await held.release();
    expect(locks.inspect('/d')).toBeNull();
    // The claim alone stays, for an hour.
    const left = disk.list('/d').map(({ name }) => name);
    expect(left.filter((name) => !/^session\.lock\.[0-9a-f]{16}\.1$/.test(name))).toEqual([]);
  });
  expect(count).toBeGreaterThan(10);
  expect(emptyIntentCount).toBeGreaterThan(0);
});

test('where the system does not tell when it was started, an intent that lost its bytes is watched until it was silent', async () => {
  let refusedCount = 0;
  const count = await cutWhileLocking(async (disk, clock) => {
    const locks = locksOn(disk, 'boot-2', 2, new Map(), clock);
    const held = await locks.acquire('/d', request).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'TURNLOG_LOCKED', details: { pid: null } });
      refusedCount += 1;
      clock.advance(60_001);
      return locks.acquire('/d', request);
    });
    await held.release();
    expect(locks.inspect('/d')).toBeNull();
  });
  expect(refusedCount).toBeGreaterThan(0);
  expect(refusedCount).toBeLessThan(count / 2);
});

test('on a local file system an empty intent holds up nobody, whatever the system tells of its start', async () => {
  let emptyIntentCount = 0;
  await cutWhileLocking(async (disk, clock) => {
    const intents = disk.list('/d').filter(({ name }) => /^session\.owner\.[0-9a-f]{16}$/.test(name));
    if (!intents.some(({ name }) => disk.contentOf(`/d/${name}`).length === 0)) return;
    emptyIntentCount += 1;
    const nowMs = clock.monotonicMs();
    const locks = locksOn(disk, 'boot-2', 2, new Map(), clock, null, 'local');
    const held = await locks.acquire('/d', request);
    expect(clock.monotonicMs()).toBe(nowMs);
    await held.release();
    expect(locks.inspect('/d')).toBeNull();
  });
  expect(emptyIntentCount).toBeGreaterThan(0);
});
