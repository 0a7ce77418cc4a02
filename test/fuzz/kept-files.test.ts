import { limits } from '@turnlog/kernel';
import { gunzipPieces, openLogReader, openOwnedLog } from '@turnlog/log';
import { openStore } from '@turnlog/store';
import { createTestMachine, FakeClock, ModelFileSystem } from '@turnlog/testkit';
import { publishViews, rebuildViews } from '@turnlog/views';
import { runHere } from '../run-here.js';
import { canary, fuzz, orRefused, orRefusedLater } from './fuzzing.js';
import { sessionFiles } from './inputs.js';
import { mutate } from './mutations.js';

let kinds: readonly ReadonlyMap<string, Buffer>[] = [];

beforeAll(async () => {
  kinds = [await sessionFiles('whole'), await sessionFiles('cut')];
});

interface Desk {
  readonly disk: ModelFileSystem;
  readonly clock: FakeClock;
}

function deskWith(directory: string, files: ReadonlyMap<string, Uint8Array>): Desk {
  const clock = new FakeClock('skips');
  const disk = new ModelFileSystem({ clock });
  for (const [name, bytes] of files) disk.plantFile(`${directory}/${name}`, bytes);
  return { disk, clock };
}

/** What readers say of a log, archived records too; null where they refuse it. */
function read({ disk }: Desk, directory: string): unknown {
  return orRefused(() => {
    const reader = openLogReader(disk, directory, 's-1');
    try {
      const turns = [...reader.turns()].map(({ turn, status, firstSeq, lastSeq }) => [
        turn,
        status,
        firstSeq,
        lastSeq,
      ]);
      return { turns, seqs: [...reader.recordsBefore(reader.length)].map(({ seq }) => seq) };
    } finally {
      reader.close();
    }
  });
}

fuzz('manifest, indexes and marker: whatever they say, the log decides', 600, async (random, tell) => {
  const files = new Map(kinds[random.below(kinds.length)]);
  const derived = ['manifest.json', 'index/turns.jsonl', 'index/keys.jsonl'].filter((name) =>
    files.has(name),
  );
  const honest = read(deskWith('/s-1', files), '/s-1');
  const name = derived[random.below(derived.length)] ?? 'manifest.json';
  const changed = mutate(files.get(name) ?? Buffer.alloc(0), random);
  tell(changed);
  if (random.below(4) === 0) files.set('index/pending-rewrite.json', changed);
  else files.set(name, changed);
  const desk = deskWith('/s-1', files);
  expect(read(desk, '/s-1')).toEqual(honest);
  const machine = createTestMachine({ fs: desk.disk, clock: desk.clock });
  const log = await openOwnedLog(machine, '/s-1', 's-1');
  const events = files.get('events.jsonl') ?? Buffer.alloc(0);
  const { seq } = log.append({ raw: '{"type":"x.test.note"}' }, { key: 'new' });
  await log.close();
  const bytes = Buffer.from(desk.disk.contentOf('/s-1/events.jsonl'));
  expect(bytes.subarray(0, events.length).equals(events)).toBe(true);
  expect(seq).toBeGreaterThan(20);
  expect([desk.disk.openHandleCount, desk.disk.status('/s-1/index/pending-rewrite.json')]).toEqual([0, null]);
});

fuzz('archives: history is whole, or an error tells which file it is not in', 500, (random, tell) => {
  const files = new Map(kinds[1]);
  const [name = ''] = [...files.keys()].filter((each) => each.startsWith('archive/'));
  const changed = mutate(files.get(name) ?? Buffer.alloc(0), random);
  tell(changed);
  files.set(name, changed);
  const { disk } = deskWith('/s-1', files);
  orRefused(() => {
    const reader = openLogReader(disk, '/s-1', 's-1');
    try {
      for (const record of reader.history()) record.readEvent();
    } finally {
      reader.close();
    }
  });
  expect(disk.openHandleCount).toBe(0);
});

fuzz('gzip: pieces are bounded, and what is no gzip is told as such', 1_500, (random, tell) => {
  const [, cut] = kinds;
  const [, whole = Buffer.alloc(0)] = [...(cut ?? [])].find(([name]) => name.startsWith('archive/')) ?? [];
  const changed = mutate(whole, random);
  tell(changed);
  const source = {
    read(into: Uint8Array, offset: number): number {
      const piece = changed.subarray(offset, offset + into.length);
      into.set(piece);
      return piece.length;
    },
  };
  orRefused(() => {
    for (const piece of gunzipPieces(source, changed.length)) {
      expect(piece.length).toBeLessThanOrEqual(limits.gzipForeignBytesMax);
    }
  });
});

fuzz('views: what was changed is not used, or says what the log says', 150, async (random, tell) => {
  const { disk, clock } = deskWith('/store/sessions/s-1', kinds[0] ?? new Map());
  const environment = createTestMachine({ fs: disk, clock });
  const store = await openStore({ root: '/store', environment, cwd: '/', env: {} });
  publishViews(store, 's-1');
  const names = disk.list('/store/sessions/s-1/derived').map(({ name }) => name);
  const path = `/store/sessions/s-1/derived/${names[random.below(names.length)]}`;
  const before = Buffer.from(disk.contentOf(path));
  const changed = mutate(before, random);
  tell(changed);
  disk.plantFile(path, changed);
  const outcomes = rebuildViews(store, 's-1', 'check').map(({ outcome }) => outcome);
  // The seal is a digest: nothing that was changed passes for the view.
  expect(outcomes.filter((outcome) => outcome !== 'equal')).toEqual(changed.equals(before) ? [] : ['wrong']);
  publishViews(store, 's-1');
  expect(Buffer.from(disk.contentOf(path)).equals(before)).toBe(true);
});

const settings = Buffer.from(
  '{"root":"/store","tz":"Europe/Berlin","durability":"turn","color":"auto","retention_max_sessions":5,' +
    '"retention_max_age_days":30,"redaction_patterns":[{"name":"x","pattern":"ab+c"}],"other":{"a":[1,2]}}',
);

fuzz(
  'configuration: taken, or refused with its code; never a defect, never a prototype',
  600,
  async (random, tell) => {
    const changed = mutate(settings, random);
    tell(changed);
    const desk = deskWith('/u/.config/turnlog', new Map([['config.json', changed]]));
    const environment = createTestMachine({ fs: desk.disk, clock: desk.clock });
    const argv = ['config', 'get', '--json'];
    const { exit, said } = await runHere(argv, { env: { HOME: '/u' }, environment });
    expect({ exit, said }).not.toMatchObject({ said: expect.stringMatching(/internal|defect/) });
    expect([0, 1, 2]).toContain(exit);
    expect(Reflect.get({}, 'x')).toBeUndefined();
  },
);

canary('a gzip file that ends early and is taken for whole', 300, (random, tell) => {
  const [, whole = Buffer.alloc(0)] =
    [...(kinds[1] ?? [])].find(([name]) => name.startsWith('archive/')) ?? [];
  const changed = mutate(whole, random);
  tell(changed);
  const source = { read: (into: Uint8Array, offset: number) => changed.copy(into, 0, offset) };
  expect([...gunzipPieces(source, changed.length)].length).toBeGreaterThan(0);
});

fuzz('a list of sessions of which one has any files: it hides no other', 150, async (random, tell) => {
  const files = new Map<string, Uint8Array>(
    [...(kinds[0] ?? [])].map(([name, bytes]) => [`s-1/${name}`, mutate(bytes, random)]),
  );
  tell(files.get('s-1/manifest.json') ?? new Uint8Array(0));
  for (const [name, bytes] of kinds[1] ?? []) files.set(`s-2/${name}`, bytes);
  const { disk, clock } = deskWith('/store/sessions', files);
  const environment = createTestMachine({ fs: disk, clock });
  const store = await openStore({ root: '/store', environment, cwd: '/', env: {} });
  const listed = await orRefusedLater(() => store.list());
  expect(listed?.map(({ id }) => String(id)).sort()).toEqual(['s-1', 's-2']);
  expect(disk.openHandleCount).toBe(0);
});
