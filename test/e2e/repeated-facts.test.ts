import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { AssetStore, conversation, openStore, passThrough } from '@turnlog/store';
import { createTestMachine, FakeClock, ModelFileSystem } from '@turnlog/testkit';
import { exportFileName, exportSession } from '@turnlog/views';

const mebibyte = 1024 * 1024;

/** Opens, folds and exports a computed log of that shape in a child that has no more heap than it may use. */
function peakOf(request: Readonly<Record<string, number>>): {
  readonly heap: number;
  readonly buffers: number;
  readonly lines: number;
} {
  const child = join(__dirname, 'children', 'large-log.mjs');
  const done = spawnSync(process.execPath, ['--max-old-space-size=96', child, JSON.stringify(request)], {
    encoding: 'utf8',
  });
  expect(done.stderr).toBe('');
  const { peak, lines, exported } = JSON.parse(done.stdout) as {
    readonly peak: { readonly heap: number; readonly buffers: number };
    readonly lines: number;
    readonly exported: number;
  };
  expect(exported).toBeGreaterThan(0);
  return { ...peak, lines };
}

test("T-102, B61, B164 a blob is stored once, images are not held, a fork holds its parent's id and seq, exports have names of their own", async () => {
  const clock = new FakeClock();
  const disk = new ModelFileSystem({ clock });
  disk.makeDirectory('/store');
  const store = await openStore({
    root: '/store',
    environment: createTestMachine({ fs: disk, clock }),
    cwd: '/',
    env: {},
  });

  // 50 records with the same 5 MB: one blob, and references to it, which an export may put in place.
  const assets = new AssetStore(store.environment, '/store');
  const blob = new Uint8Array(5 * mebibyte).fill(7);
  const before = disk.usedBytes;
  const parent = await store.open('parent');
  parent.append({ type: 'turn.started' });
  for (let count = 0; count < 50; count += 1) {
    const { sha256, bytes } = count % 2 === 0 ? assets.put(blob) : assets.putPieces([blob]);
    const part = { type: 'asset', sha256, bytes, media_type: 'image/png' };
    parent.append({ type: 'user.message', id: `m-${count}`, origin: 'prompt', content: [part] });
  }
  const lastSeq = parent.lastSeq;
  await parent.close();
  expect(disk.usedBytes - before).toBeLessThan(6 * mebibyte);
  const blobs = disk.list('/store/assets').flatMap(({ name }) => disk.list(`/store/assets/${name}`));
  expect(blobs).toHaveLength(1);

  // Forks at the same second: each says whose they are and from where, and copies nothing.
  const beforeForks = disk.usedBytes;
  for (const id of ['fork-1', 'fork-10', 'fork-1.md']) {
    const fork = await store.open(id);
    fork.append({
      type: 'run.started',
      program: 'agent',
      cwd: '/w',
      forked_from: { session: 'parent', seq: lastSeq },
    });
    await fork.close();
    const reader = store.read(id);
    expect(reader.state.facts.forkedFrom).toEqual({ session: 'parent', seq: lastSeq });
    reader.close();
    const pieces = [...conversation(store, id)];
    expect(pieces.map(({ kind }) => kind)).toEqual(Array.from({ length: lastSeq + 1 }, () => 'record'));
  }
  expect(disk.usedBytes - beforeForks).toBeLessThan(mebibyte);
  const names = ['parent', 'fork-1', 'fork-10', 'fork-1.md'].map((id) => exportFileName(id, 'md'));
  expect(names).toEqual(['parent.md', 'fork-1.md', 'fork-10.md', 'fork-1.md.md']);
  const linked = [...exportSession({ store, id: 'parent', format: 'md', redactor: passThrough })].join('');
  expect(linked.length).toBeLessThan(mebibyte);
  expect(linked).toContain(blobs[0]?.name);

  // 500 records of 1 MB each, opened, folded and exported.
  const peak = peakOf({ totalBytes: 500_000_000, lineBytes: 1_000_000, folds: 1 });
  expect(peak.lines).toBe(500);
  expect(peak.heap).toBeLessThan(100_000_000);
  expect(peak.buffers).toBeLessThan(128 * mebibyte);
}, 120_000);
