import type { Store } from '@turnlog/store';
import { line, TestStore } from './support.js';

const turn = (text: string): readonly object[] => [
  { type: 'turn.started' },
  { type: 'item.completed', item: { id: 'i', type: 'agent_message', text } },
  { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
];

async function write(store: Store, id: string, events: readonly object[]): Promise<void> {
  const session = await store.open(id);
  for (const event of events) session.append({ raw: JSON.stringify(event) });
  await session.close();
}

async function listed(store: Store): Promise<readonly (readonly [string, number, string])[]> {
  const all = await store.list({ sort: 'id' });
  return all.map(({ id, events, status }) => [id, events, status]);
}

test('T-17, B71: the manifest says empty, the log has 200 records: the log wins', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  await write(store, 'claims-empty', []);
  machine.plant(
    'claims-empty',
    Array.from({ length: 200 }, (_, index) => line(index + 1, { type: 'error', message: `m${index}` })),
  );
  const manifest = {
    session_id: 'claims-empty',
    schema_version: 1,
    created_at: '1970-01-01T00:00:00.000Z',
    updated_at: '1970-01-01T00:00:00.000Z',
    turn_count: 0,
    event_count: 0,
    status: 'active',
    in_turn: false,
    persisted_file_len: 0,
    retained_turn_base: 1,
  };
  machine.disk.plantFile(
    `${machine.session('claims-empty')}/manifest.json`,
    Buffer.from(`${JSON.stringify(manifest)}\n`),
  );
  expect(await listed(store)).toEqual([['claims-empty', 200, 'active']]);
});

test('T-22, B72: unknown types and an older schema version are read like any other', async () => {
  const machine = new TestStore();
  machine.plant('old', [
    '{"schema_version":"0.4.0","event":{"type":"thread.started","thread_id":"t"}}\n',
    '{"schema_version":"0.99.0","seq":2,"event":{"type":"hologram.started","beam":[1]}}\n',
  ]);
  const store = await machine.open();
  expect(await listed(store)).toEqual([['old', 2, 'active']]);
  const reader = store.read('old');
  expect([...reader.records()].map(({ seq, type }) => [seq, type])).toEqual([
    [1, 'thread.started'],
    [2, 'hologram.started'],
  ]);
  reader.close();
});

test('T-22, B73: a directory out of reach is listed with its error, hides nothing and loses nothing', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  for (const id of ['good-1', 'locked-away', 'good-2']) await write(store, id, turn(id));
  machine.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EACCES' },
    applies: ({ path }) => path.startsWith(`${machine.session('locked-away')}/`),
  });
  machine.fs.journal.length = 0;
  expect(await listed(store)).toEqual([
    ['good-1', 3, 'active'],
    ['good-2', 3, 'active'],
    ['locked-away', 0, 'unreadable'],
  ]);
  const [bad] = (await store.list()).filter(({ error }) => error !== null);
  expect(bad?.error).toMatchObject({ code: 'TURNLOG_IO', errno: 'EACCES' });
  expect(() => store.read('locked-away')).toThrow(expect.objectContaining({ code: 'TURNLOG_IO' }));
  const changing = [
    'removeFile',
    'removeDirectory',
    'rename',
    'write',
    'truncate',
    'setMode',
    'makeDirectory',
  ];
  expect(machine.fs.journal.filter(({ verb }) => changing.includes(verb))).toEqual([]);
  machine.fs.setFault(null);
  expect((await listed(store)).every(([, events]) => events === 3)).toBe(true);
});

const badEntries: readonly (readonly [name: string, plant: (machine: TestStore) => void, code: string])[] = [
  [
    'damage only',
    (machine) => machine.plant('bad', ['nothing of this\n', 'is a record\n']),
    'TURNLOG_LOG_UNREADABLE',
  ],
  [
    'a link in place of the directory',
    (machine) => machine.disk.plantLink(machine.session('bad'), '/data'),
    'TURNLOG_UNSAFE_PATH',
  ],
  [
    'a link in place of the log',
    (machine) => {
      machine.disk.plantDirectory(machine.session('bad'));
      machine.disk.plantLink(`${machine.session('bad')}/events.jsonl`, '/data/secret');
    },
    'TURNLOG_UNSAFE_PATH',
  ],
  [
    'a link in place of the manifest',
    (machine) => {
      machine.plant('bad', [line(1, { type: 'error', message: 'x' })]);
      machine.disk.plantLink(`${machine.session('bad')}/manifest.json`, '/data/secret');
    },
    'TURNLOG_UNSAFE_PATH',
  ],
  [
    "somebody else's directory",
    (machine) => machine.disk.plantDirectory(machine.session('bad'), { uid: 7 }),
    'TURNLOG_UNSAFE_PATH',
  ],
  [
    'a name that is no id',
    (machine) => machine.disk.plantDirectory(machine.session('bad.')),
    'TURNLOG_INVALID_SESSION_ID',
  ],
  [
    'a lost log',
    (machine) => {
      machine.disk.plantDirectory(machine.session('bad'));
      machine.disk.plantFile(`${machine.session('bad')}/manifest.json`, Buffer.from('{}'));
    },
    'TURNLOG_NOT_FOUND',
  ],
];

test.each(badEntries)(
  'B70, B110, T-94: %s is listed with its error beside a good session',
  async (_name, plant, code) => {
    const machine = new TestStore();
    const store = await machine.open();
    await write(store, 'good', turn('x'));
    plant(machine);
    const found = (await store.list({ sort: 'id' })).map(({ id, error }) => [
      id.replace('.', ''),
      error?.code ?? null,
    ]);
    expect(found).toEqual([
      ['bad', code],
      ['good', null],
    ]);
  },
);

test('what is no session is passed over: files, hidden names, a directory that holds nothing yet', async () => {
  const machine = new TestStore();
  machine.plantDirectories();
  machine.disk.plantFile(machine.session('notes.txt'), Buffer.from('x'));
  machine.disk.plantDirectory(machine.session('.import-0123456789abcdef'));
  machine.disk.plantDirectory(machine.session('being-made'));
  machine.disk.plantFile(machine.session('.DS_Store'), Buffer.from('x'));
  expect(await (await machine.open()).list()).toEqual([]);
});

test('T-87, B65, B70: with two of five manifests, and none of the indexes, all five have their true counts', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  for (const id of ['s-1', 's-2', 's-3', 's-4', 's-5']) await write(store, id, [...turn(id), ...turn(id)]);
  for (const id of ['s-2', 's-4', 's-5']) {
    machine.disk.removeFile(`${machine.session(id)}/manifest.json`);
    machine.disk.removeFile(`${machine.session(id)}/index/turns.jsonl`);
  }
  expect((await store.list({ sort: 'id' })).map(({ id, events, turns }) => [id, events, turns])).toEqual(
    ['s-1', 's-2', 's-3', 's-4', 's-5'].map((id) => [id, 6, 2]),
  );
});

test('T-87, B66: a manifest from an early moment counts what came since', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  await write(store, 's', turn('a'));
  const path = `${machine.session('s')}/manifest.json`;
  const early = machine.disk.contentOf(path).slice();
  await write(store, 's', [...turn('b'), ...turn('c')]);
  machine.disk.plantFile(path, early);
  const [summary] = await store.list();
  expect([summary?.events, summary?.turns, summary?.lastSeq]).toEqual([9, 3, 9]);
});

test('T-87, B67: a session is listed as soon as its first records are flushed, with the writer that holds it', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  const session = await store.open('live');
  session.append({ type: 'turn.started' });
  session.flush();
  const [summary] = await store.list();
  expect(summary).toMatchObject({
    id: 'live',
    events: 1,
    inTurn: true,
    writer: { state: 'alive', pid: 100 },
  });
  machine.lockTable.judge(machine.session('live'), 'dead');
  expect((await store.list())[0]?.writer).toMatchObject({ state: 'dead' });
  await session.close();
});

test('T-87, B54, B58: what fails is never "not found" unless it is', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  await write(store, 's', turn('a'));
  for (const errno of ['EACCES', 'EIO', 'EMFILE', 'ERR_STRING_TOO_LONG']) {
    machine.fs.setFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno },
      applies: ({ verb, path }) => verb === 'open' && path.endsWith('events.jsonl'),
    });
    expect((await store.list())[0]?.error).toMatchObject({ code: 'TURNLOG_IO', errno });
    expect(() => store.read('s')).toThrow(
      expect.objectContaining({ code: 'TURNLOG_IO', details: expect.objectContaining({ errno }) }),
    );
  }
  machine.fs.setFault(null);
  expect(() => store.read('never')).toThrow(expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }));
});

test('T-88, B74, B76: a session is listed under every workspace it recorded, and told apart by path alone', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  const run = (workspace: string): object => ({
    type: 'run.started',
    program: 'p',
    cwd: workspace,
    workspace,
  });
  await write(store, 'moved', [run('/a/b-c/d'), run('/a/b/c-d')]);
  await write(store, 'other', [run('/a/b/c-d')]);
  const inWorkspace = async (workspace: string): Promise<readonly string[]> => {
    const found = await store.list({ sort: 'id', filter: { workspace } });
    return found.map(({ id }) => id);
  };
  expect(await inWorkspace('/a/b-c/d')).toEqual(['moved']);
  expect(await inWorkspace('/a/b/c-d')).toEqual(['moved', 'other']);
  expect(await inWorkspace('/a/b')).toEqual([]);
});

test('B77: opening a session again and again without an event makes nothing', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  for (let round = 0; round < 5; round += 1) await (await store.open('ghost')).close();
  expect(machine.disk.list(`${machine.root}/sessions`)).toEqual([]);
});

test('filters and orders: unknown times last, equal ones by id, archived and empty ones kept apart', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  await write(store, 'b', [{ type: 'journal.set', title: 'Two words', tags: ['x'] }]);
  await write(store, 'a', [{ type: 'error', message: 'm' }]);
  machine.plant('timeless', ['{"schema_version":"0.4.0","event":{"type":"error","message":"m"}}\n']);
  await write(store, 'gone', [{ type: 'journal.set', archived: true }]);
  machine.plant('empty', []);
  const ids = async (options: Parameters<Store['list']>[0]): Promise<readonly string[]> =>
    (await store.list(options)).map(({ id }) => id);
  expect(await ids({ filter: {} })).toEqual(['a', 'b', 'timeless']);
  expect(await ids({ filter: {}, sort: 'oldest' })).toEqual(['a', 'b', 'timeless']);
  expect(await ids({ filter: { archived: 'only' } })).toEqual(['gone']);
  expect(await ids({ filter: { archived: 'included', empty: 'included' }, sort: 'id' })).toEqual([
    'a',
    'b',
    'empty',
    'gone',
    'timeless',
  ]);
  expect(await ids({ filter: { tag: 'x' } })).toEqual(['b']);
  expect(await ids({ filter: { sinceMs: machine.clock.now() } })).toEqual(['a', 'b']);
});
