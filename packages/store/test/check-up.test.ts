import { checkUp, type Finding, planRepair, repair, type Store } from '@turnlog/store';
import { line, TestStore } from './support.js';

async function found(store: Store, depth: 'metadata' | 'whole-log' = 'metadata'): Promise<readonly string[]> {
  const { findings } = await checkUp(store.environment, store.root, { depth });
  return findings.map(({ kind }) => kind);
}

async function healthy(machine: TestStore, id = 's'): Promise<Store> {
  const store = await machine.open();
  const session = await store.open(id);
  session.append({ type: 'turn.started' });
  session.append({ type: 'error', message: 'm' });
  await session.close();
  return store;
}

type Plant = (machine: TestStore) => void;

function addTo(machine: TestStore, text: string): void {
  const path = `${machine.session('s')}/events.jsonl`;
  machine.disk.plantFile(path, Buffer.concat([machine.disk.contentOf(path), Buffer.from(text)]));
}

const repairable: readonly (readonly [name: string, plant: Plant, kinds: readonly string[]])[] = [
  ['a torn tail', (machine) => addTo(machine, '{"schema_ver'), ['torn-tail', 'manifest-behind']],
  [
    'a missing newline',
    (machine) => addTo(machine, line(3, { type: 'error', message: 'x' }).trimEnd()),
    ['missing-newline', 'manifest-behind'],
  ],
  [
    'a manifest that is behind',
    (machine) => addTo(machine, line(3, { type: 'error', message: 'x' })),
    ['manifest-behind'],
  ],
  [
    'no manifest',
    (machine) => machine.disk.removeFile(`${machine.session('s')}/manifest.json`),
    ['manifest-missing'],
  ],
  [
    'a broken manifest',
    (machine) => machine.disk.plantFile(`${machine.session('s')}/manifest.json`, Buffer.from('{')),
    ['manifest-wrong'],
  ],
  [
    'an index of another generation',
    (machine) => machine.disk.plantFile(`${machine.session('s')}/index/turns.jsonl`, Buffer.from('{}\n')),
    ['manifest-wrong'],
  ],
  [
    'a temp file',
    (machine) => machine.disk.plantFile(`${machine.session('s')}/.t-0123456789abcdef`, Buffer.from('x')),
    ['temporary-file'],
  ],
  [
    'an open mode',
    (machine) => machine.disk.setMode(`${machine.session('s')}/manifest.json`, 0o644),
    ['open-mode'],
  ],
  [
    'a temp file among the blobs',
    (machine) => {
      machine.disk.plantFile('/data/store/assets/.t-0123456789abcdef', Buffer.from('x'));
      machine.clock.advance(3_600_001);
    },
    ['temporary-file'],
  ],
  [
    'a temp file beside a blob',
    (machine) => {
      machine.disk.plantFile('/data/store/assets/ab/.t-0123456789abcdef', Buffer.from('x'));
      machine.clock.advance(3_600_001);
    },
    ['temporary-file'],
  ],
  ['an open directory', (machine) => machine.disk.setMode(machine.session('s'), 0o755), ['open-mode']],
];

test.each(repairable)(
  '%s is found, looked at without a change, and repaired',
  async (_name, plant, kinds) => {
    const machine = new TestStore();
    const store = await healthy(machine);
    expect(await found(store, 'whole-log')).toEqual([]);
    plant(machine);
    const mutations = machine.disk.mutationCount;
    expect(await found(store)).toEqual(kinds);
    // Asking whether directories can be made durable is the only call that counts.
    expect(machine.disk.mutationCount - mutations).toBeLessThanOrEqual(1);
    const plan = planRepair((await checkUp(store.environment, store.root, { depth: 'metadata' })).findings);
    expect(await repair(store, plan)).toEqual([]);
    expect(await found(store, 'whole-log')).toEqual([]);
  },
);

const lasting: readonly (readonly [name: string, plant: Plant, kinds: readonly string[]])[] = [
  [
    'damage in the middle',
    (machine) => addTo(machine, `nonsense\n${line(3, { type: 'error', message: 'x' })}`),
    ['damage', 'manifest-behind'],
  ],
  [
    "another program's index",
    (machine) => machine.disk.plantFile(`${machine.session('s')}/index/turns.json`, Buffer.from('{}')),
    ['foreign-index'],
  ],
  [
    'a link',
    (machine) => machine.disk.plantLink(`${machine.session('s')}/derived`, '/data'),
    ['foreign-entry'],
  ],
  [
    "somebody else's file",
    (machine) => machine.disk.plantFile(`${machine.session('s')}/index/x`, Buffer.from('x'), { uid: 7 }),
    ['foreign-entry'],
  ],
  [
    'a file beside the sessions',
    (machine) => machine.disk.plantFile(machine.session('notes'), Buffer.from('x')),
    ['foreign-entry'],
  ],
  ['a name that is no id', (machine) => machine.disk.plantDirectory(machine.session('x.')), ['invalid-id']],
  ['a pair but for case', (machine) => machine.plant('S', []), ['case-pair']],
  [
    'a log without a record',
    (machine) => machine.plant('bad', ['x\n', 'y\n']),
    ['unreadable', 'damage', 'manifest-missing'],
  ],
  [
    'a lost log',
    (machine) => machine.disk.removeFile(`${machine.session('s')}/events.jsonl`),
    ['log-missing'],
  ],
  [
    'an import under way',
    (machine) => machine.disk.plantDirectory(machine.session('.import-0123456789abcdef')),
    ['import-under-way'],
  ],
];

test.each(lasting)('%s is found; what only a person can decide stays', async (_name, plant, kinds) => {
  const machine = new TestStore();
  const store = await healthy(machine);
  plant(machine);
  expect(await found(store)).toEqual(kinds);
  const before = (await checkUp(store.environment, store.root, { depth: 'metadata' })).findings;
  await repair(store, planRepair(before));
  const kept = before.filter((finding: Finding) => finding.repair === null).map(({ kind }) => kind);
  expect(await found(store)).toEqual(expect.arrayContaining(kept));
});

test('a temp file among the blobs that may still be written to is nobody’s fault', async () => {
  const machine = new TestStore();
  const store = await healthy(machine);
  machine.disk.plantFile(`${store.root}/assets/ab/.t-0123456789abcdef`, Buffer.from('x'));
  machine.clock.advance(3_599_000);
  expect(await found(store)).toEqual([]);
});

test('the lock of a dead writer is found and freed; one that cannot be judged is named; a living one is fine', async () => {
  const machine = new TestStore();
  const store = await healthy(machine);
  const held = await store.open('held');
  held.append({ type: 'turn.started' });
  held.flush();
  expect(await found(store)).toEqual([]);
  machine.lockTable.judge(machine.session('held'), 'unknown');
  expect(await found(store)).toEqual(['unknown-writer']);
  machine.lockTable.judge(machine.session('held'), 'dead');
  expect(await found(store)).toEqual(['dead-writer', 'manifest-missing']);
  await repair(
    store,
    planRepair((await checkUp(store.environment, store.root, { depth: 'metadata' })).findings),
  );
  expect(await found(store)).toEqual([]);
});

test('a manifest that counts wrong is found by reading the whole log, and rebuilt', async () => {
  const machine = new TestStore();
  const store = await healthy(machine);
  const path = `${machine.session('s')}/manifest.json`;
  const text = Buffer.from(machine.disk.contentOf(path)).toString();
  machine.disk.plantFile(path, Buffer.from(text.replace('"event_count":2', '"event_count":7')));
  expect(await found(store)).toEqual([]);
  expect(await found(store, 'whole-log')).toEqual(['manifest-wrong']);
  await repair(
    store,
    planRepair((await checkUp(store.environment, store.root, { depth: 'whole-log' })).findings),
  );
  expect(await found(store, 'whole-log')).toEqual([]);
});

test('L-12: a file system that cannot make directories durable is named, and is no fault', async () => {
  const machine = new TestStore({ directorySync: 'unsupported' });
  const store = await healthy(machine);
  const [finding] = (await checkUp(store.environment, store.root, { depth: 'metadata' })).findings;
  expect(finding).toMatchObject({ kind: 'directory-sync', weight: 'notice' });
});

test('a repair that fails keeps no other from being made, and is told', async () => {
  const machine = new TestStore();
  const store = await healthy(machine, 'a');
  await healthy(machine, 'b');
  for (const id of ['a', 'b']) machine.disk.removeFile(`${machine.session(id)}/manifest.json`);
  machine.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EIO' },
    applies: ({ verb, path }) => verb === 'open' && path.startsWith(machine.session('a')),
  });
  const failures = await repair(store, [
    { kind: 'open', sessionId: 'a', drops: 'nothing' },
    { kind: 'open', sessionId: 'b', drops: 'nothing' },
  ]);
  expect(failures.map(({ step, error }) => [step, error.code])).toEqual([
    [{ kind: 'open', sessionId: 'a', drops: 'nothing' }, 'TURNLOG_IO'],
  ]);
  machine.fs.setFault(null);
  expect(await found(store)).toEqual(['manifest-missing']);
});
