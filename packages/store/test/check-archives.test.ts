import { gunzipSync, gzipSync } from 'node:zlib';
import type { ArchiveMode } from '@turnlog/log';
import { checkUp, type Finding, planRepair, repair, type Store } from '@turnlog/store';
import { TestStore } from './support.js';

/** Sessions whose older turns have left them, and what a check-up finds of their archives. */

interface Cut {
  readonly machine: TestStore;
  readonly store: Store;
}

/** Six turns, of which the newest two stay; those before left in two evictions. */
async function cutSession(first: ArchiveMode = 'gzip', second: ArchiveMode = first): Promise<Cut> {
  const machine = new TestStore();
  const store = await machine.open();
  for (const archive of [first, second]) {
    const session = await store.open('s', { cap: { maxEvents: 6, target: 0.7, archive } });
    for (let turn = 0; turn < 3; turn += 1) {
      session.append({ type: 'turn.started' });
      session.append({ type: 'error', message: `turn ${turn} ${archive}` });
      session.append({ raw: '{"type":"turn.completed","usage":{}}' });
    }
    await session.maintain();
    await session.close();
  }
  return { machine, store };
}

const archiveOf = (machine: TestStore): string => `${machine.session('s')}/archive`;

function namesIn(machine: TestStore): readonly string[] {
  return machine.disk.list(archiveOf(machine)).map(({ name }) => name);
}

const numberIn = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? 0);

/** The names of archived prefixes, or of hashes, the oldest first. */
function sorted(machine: TestStore, start: string): readonly string[] {
  return namesIn(machine)
    .filter((name) => name.startsWith(start))
    .sort((left, right) => numberIn(left) - numberIn(right));
}

async function findings(store: Store, depth: 'metadata' | 'whole-log'): Promise<readonly Finding[]> {
  return (await checkUp(store.environment, store.root, { depth })).findings;
}

function contentOf(machine: TestStore, path: string): Buffer {
  return Buffer.from(machine.disk.contentOf(path));
}

function changeByte(machine: TestStore, path: string, at: number): void {
  const bytes = contentOf(machine, path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  machine.disk.plantFile(path, bytes);
}

test.each([
  ['gzip', 'gzip'],
  ['drop', 'drop'],
  ['gzip', 'drop'],
  ['drop', 'gzip'],
] as const)(
  'archives of %s, then %s, are whole, and looking at them changes nothing',
  async (first, second) => {
    const { machine, store } = await cutSession(first, second);
    const before = machine.disk.mutationCount;
    expect(await findings(store, 'metadata')).toEqual([]);
    const deep = await findings(store, 'whole-log');
    expect(deep.filter(({ kind }) => kind !== 'archive-unnamed')).toEqual([]);
    expect(machine.disk.mutationCount - before).toBeLessThanOrEqual(2);
  },
);

test('a missing archive is found with its path, and nothing is repaired for it', async () => {
  for (const position of [0, 1]) {
    const { machine, store } = await cutSession();
    const path = `${archiveOf(machine)}/${sorted(machine, 'e-')[position]}`;
    machine.disk.removeFile(path);
    for (const depth of ['metadata', 'whole-log'] as const) {
      const found = await findings(store, depth);
      expect(found[0]).toMatchObject({ kind: 'archive-missing', path, sessionId: 's', repair: null });
      // The older one is named by nothing that is there; nobody may take it for left over.
      expect(
        found.slice(1).every(({ kind, repair: how }) => kind === 'archive-unnamed' && how === null),
      ).toBe(true);
      expect(planRepair(found)).toEqual([]);
    }
  }
});

test('missing hashes of dropped records are found with their path', async () => {
  const { machine, store } = await cutSession('drop');
  const path = `${archiveOf(machine)}/${sorted(machine, 'leaves-').at(-1)}`;
  machine.disk.removeFile(path);
  expect(await findings(store, 'metadata')).toContainEqual(
    expect.objectContaining({ kind: 'archive-missing', path, repair: null }),
  );
});

test('headers that lead back to an archive are found, and not followed for ever', async () => {
  const { machine, store } = await cutSession();
  const [oldest = '', newest = ''] = sorted(machine, 'e-');
  machine.disk.plantFile(
    `${archiveOf(machine)}/${oldest}`,
    contentOf(machine, `${archiveOf(machine)}/${newest}`),
  );
  const path = `${archiveOf(machine)}/${oldest}`;
  const found = await findings(store, 'metadata');
  expect(found).toContainEqual(expect.objectContaining({ kind: 'archive-damaged', path, repair: null }));
});

const damages: readonly (readonly [
  title: string,
  mode: ArchiveMode,
  damage: (machine: TestStore, path: string) => void,
])[] = [
  [
    'bits of a compressed block',
    'gzip',
    (machine, path) => changeByte(machine, path, contentOf(machine, path).length - 30),
  ],
  [
    'one record, compressed anew',
    'gzip',
    (machine, path) => {
      const text = Buffer.from(gunzipSync(contentOf(machine, path)))
        .toString()
        .replace('"message":"turn 0', '"message":"turn 7');
      machine.disk.plantFile(path, gzipSync(Buffer.from(text)));
    },
  ],
  [
    'the last record is not there',
    'gzip',
    (machine, path) => {
      const bytes = Buffer.from(gunzipSync(contentOf(machine, path)));
      machine.disk.plantFile(path, gzipSync(bytes.subarray(0, bytes.lastIndexOf(0x0a, -2) + 1)));
    },
  ],
  ['one bit of a hash', 'drop', (machine, path) => changeByte(machine, path, 40)],
  [
    'one hash too few',
    'drop',
    (machine, path) => machine.disk.plantFile(path, contentOf(machine, path).subarray(32)),
  ],
];

test.each(damages)('a damaged archive is found by --deep with its path: %s', async (_title, mode, damage) => {
  const { machine, store } = await cutSession(mode);
  const path = `${archiveOf(machine)}/${sorted(machine, mode === 'drop' ? 'leaves-' : 'e-').at(-1)}`;
  damage(machine, path);
  const found = await findings(store, 'whole-log');
  expect(found).toContainEqual(expect.objectContaining({ kind: 'archive-damaged', path, repair: null }));
  expect(planRepair(found)).toEqual([]);
});

test('an archive that a crash left is removed by --fix when the log holds all of its records', async () => {
  const { machine, store } = await cutSession();
  const named = namesIn(machine);
  const log = contentOf(machine, `${machine.session('s')}/events.jsonl`);
  const path = `${archiveOf(machine)}/e-99.jsonl.gz`;
  machine.disk.plantFile(path, gzipSync(log.subarray(0, log.indexOf(0x0a, log.length / 2) + 1)));
  const found = await findings(store, 'metadata');
  expect(found).toEqual([expect.objectContaining({ kind: 'archive-unnamed', path, repair: 'remove' })]);
  const plan = planRepair(found);
  expect(plan).toEqual([{ kind: 'remove', sessionId: 's', path }]);
  expect(namesIn(machine)).toContain('e-99.jsonl.gz');
  expect(await repair(store, plan)).toEqual([]);
  expect(namesIn(machine)).toEqual(named);
  expect(await findings(store, 'whole-log')).toEqual([]);
});

test('so is one whose records stand in a named archive, and hashes that newer ones stand for', async () => {
  const { machine, store } = await cutSession('gzip');
  const copied = sorted(machine, 'e-')[0] ?? '';
  machine.disk.plantFile(
    `${archiveOf(machine)}/e-2.jsonl.gz`,
    contentOf(machine, `${archiveOf(machine)}/${copied}`),
  );
  expect(await repair(store, planRepair(await findings(store, 'metadata')))).toEqual([]);
  expect(sorted(machine, 'e-')[0]).toBe(copied);

  const dropped = await cutSession('drop');
  const base = sorted(dropped.machine, 'leaves-').at(-1) ?? '';
  const hashes = contentOf(dropped.machine, `${archiveOf(dropped.machine)}/${base}`);
  dropped.machine.disk.plantFile(`${archiveOf(dropped.machine)}/leaves-1.bin`, hashes.subarray(0, 32));
  expect(await findings(dropped.store, 'metadata')).toContainEqual(
    expect.objectContaining({ kind: 'archive-unnamed', repair: 'remove' }),
  );
  expect(await repair(dropped.store, planRepair(await findings(dropped.store, 'metadata')))).toEqual([]);
  expect(namesIn(dropped.machine)).toEqual([base]);
  expect(await findings(dropped.store, 'whole-log')).toEqual([]);
});

const kept: readonly (readonly [
  title: string,
  name: string,
  make: (log: Buffer, machine: TestStore) => Uint8Array,
])[] = [
  [
    'a record of it is not the one of the log',
    'e-99.jsonl.gz',
    (log) => gzipSync(Buffer.from(log.toString().replace('"message":"turn 2', '"message":"turn 8'))),
  ],
  [
    'it goes on behind the log',
    'e-99.jsonl.gz',
    (log) => gzipSync(Buffer.concat([log, Buffer.from(moreThan(log))])),
  ],
  ['some of it is damage', 'e-99.jsonl.gz', (log) => gzipSync(Buffer.concat([log, Buffer.from('x\n')]))],
  ['it cannot be unpacked', 'e-99.jsonl.gz', () => Buffer.from('no archive')],
  ['a hash of it is another', 'leaves-7.bin', () => new Uint8Array(32)],
];

function moreThan(log: Buffer): string {
  const last = JSON.parse(log.subarray(log.lastIndexOf(0x0a, -2) + 1).toString()) as { seq: number };
  return `${JSON.stringify({ ...last, seq: last.seq + 1 })}\n`;
}

test.each(kept)('an archive that no header names is kept when %s', async (_title, name, make) => {
  const { machine, store } = await cutSession();
  const log = contentOf(machine, `${machine.session('s')}/events.jsonl`);
  machine.disk.plantFile(`${archiveOf(machine)}/${name}`, Buffer.from(make(log, machine)));
  const found = await findings(store, 'whole-log');
  expect(found).toEqual([expect.objectContaining({ kind: 'archive-unnamed', repair: null })]);
  expect(planRepair(found)).toEqual([]);
});

test('what has changed since the plan was made is looked at again before anything is removed', async () => {
  const { machine, store } = await cutSession();
  const log = contentOf(machine, `${machine.session('s')}/events.jsonl`);
  const path = `${archiveOf(machine)}/e-99.jsonl.gz`;
  machine.disk.plantFile(path, gzipSync(log));
  const plan = planRepair(await findings(store, 'metadata'));
  machine.disk.plantFile(path, gzipSync(Buffer.concat([log, Buffer.from(moreThan(log))])));
  expect(await repair(store, plan)).toEqual([]);
  expect(namesIn(machine)).toContain('e-99.jsonl.gz');
});

test('an archive that a living writer has not named yet is no finding', async () => {
  const { machine, store } = await cutSession();
  const session = await store.open('s');
  machine.disk.plantFile(
    `${archiveOf(machine)}/e-99.jsonl.gz`,
    gzipSync(contentOf(machine, `${machine.session('s')}/events.jsonl`)),
  );
  expect(await findings(store, 'whole-log')).toEqual([]);
  await session.close();
});

test('a frame whose commit does not fit is found by --deep; one that a crash cut is closed by the next writer', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  const session = await store.open('s');
  session.appendFrame({ frame: 'f', fence: null, kind: 'plan' }, [{ type: 'error', message: 'm' }]);
  await session.close();
  expect(await findings(store, 'whole-log')).toEqual([]);
  const path = `${machine.session('s')}/events.jsonl`;
  const text = contentOf(machine, path).toString();
  machine.disk.plantFile(path, Buffer.from(text.replace('"message":"m"', '"message":"n"')));
  expect(await findings(store, 'whole-log')).toEqual([
    expect.objectContaining({
      kind: 'broken-frame',
      path,
      repair: null,
      message: expect.stringContaining('seq 3'),
    }),
  ]);
});
