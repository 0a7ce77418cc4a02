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

test('a healthy session costs a look at its directory and its log, and one reading of its manifest', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  for (const id of ['s-1', 's-2']) await write(store, id, turn(id));
  machine.fs.journal.length = 0;
  expect(await listed(store)).toEqual([
    ['s-1', 3, 'active'],
    ['s-2', 3, 'active'],
  ]);
  const calls = machine.fs.journal.filter(({ path }) => path.startsWith(machine.session('s-2')));
  expect(calls.map(({ verb, path }) => [verb, path.slice(machine.session('s-2').length)])).toEqual([
    ['status', ''],
    ['open', '/manifest.json'],
    ['read', '/manifest.json'],
    ['close', '/manifest.json'],
    ['status', '/events.jsonl'],
  ]);
});

/** A session with everything that a list shows, an open turn and a damaged place. */
async function writeRich(machine: TestStore, store: Store, id: string): Promise<void> {
  await write(store, id, [
    { type: 'run.started', program: 'p', cwd: '/w', workspace: '/w', agent: 'primary' },
    ...turn('a'),
    { type: 'journal.set', title: 'Two words', tags: ['x', 'y'], archived: true },
  ]);
  const path = `${machine.session(id)}/events.jsonl`;
  const stored = Buffer.from(machine.disk.contentOf(path));
  machine.disk.plantFile(path, Buffer.concat([stored, Buffer.from('no record\n')]));
  await write(store, id, [{ type: 'turn.started' }]);
}

const threadEnd = {
  type: 'thread.completed',
  thread_id: 't',
  session_id: 'done',
  subtype: 'success',
  outcome_code: 'ok',
  usage: { input_tokens: 1, output_tokens: 1 },
  num_turns: 1,
};

test('a list says the same with manifests as without', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  await writeRich(machine, store, 'rich');
  await write(store, 'done', [...turn('b'), threadEnd]);
  const before = await store.list();
  expect(before.map(({ id, status, inTurn, title }) => [id, status, inTurn, title])).toEqual([
    ['done', 'completed', false, null],
    ['rich', 'active', true, 'Two words'],
  ]);
  expect(before[1]?.damage.count).toBe(1);
  for (const { id } of before) machine.disk.removeFile(`${machine.session(id)}/manifest.json`);
  expect(await store.list()).toEqual(before);
});

type Files = { readonly manifest: string; readonly log: Buffer };

/** Manifest and log that do not belong together, and why. */
const disagreeing: readonly (readonly [
  name: string,
  change: (files: Files) => Partial<Files>,
  facts: { readonly uid?: number; readonly mode?: number },
])[] = [
  [
    'more was appended',
    ({ log }) => ({ log: Buffer.concat([log, Buffer.from(line(4, { type: 'error', message: 'm' }))]) }),
    {},
  ],
  ['a fragment was appended', ({ log }) => ({ log: Buffer.concat([log, Buffer.from('{"schema')]) }), {}],
  ['the last record was cut off', ({ log }) => ({ log: log.subarray(0, log.lastIndexOf(0x0a, -2) + 1) }), {}],
  ['the last line was cut short', ({ log }) => ({ log: log.subarray(0, -5) }), {}],
  ['nothing is left of the log', () => ({ log: Buffer.alloc(0) }), {}],
  [
    'the manifest is of another session',
    ({ manifest }) => ({ manifest: manifest.replace('"session_id":"s"', '"session_id":"other"') }),
    {},
  ],
  [
    'a count of the manifest is a text',
    ({ manifest }) => ({ manifest: manifest.replace('"event_count":3', '"event_count":"9"') }),
    {},
  ],
  [
    'a member of the manifest is missing',
    ({ manifest }) => ({ manifest: manifest.replace('"event_count":3', '"count":9') }),
    {},
  ],
  [
    'the last line of the manifest does not end where it says that the log does',
    ({ manifest }) => ({
      manifest: manifest.replace(/"tail":\{"offset":\d+/, '"tail":{"offset":0'),
    }),
    {},
  ],
  ['the manifest was cut short', ({ manifest }) => ({ manifest: manifest.slice(0, 200) }), {}],
  ['the log belongs to another user', ({ log }) => ({ log }), { uid: 7 }],
  ['the mode of the log keeps its owner out', ({ log }) => ({ log }), { mode: 0o200 }],
];

test.each(disagreeing)('the log itself is read where %s', async (_name, change, facts) => {
  const machine = new TestStore();
  const store = await machine.open();
  await write(store, 's', turn('a'));
  const paths = {
    manifest: `${machine.session('s')}/manifest.json`,
    log: `${machine.session('s')}/events.jsonl`,
  };
  const files: Files = {
    manifest: Buffer.from(machine.disk.contentOf(paths.manifest)).toString(),
    log: Buffer.from(machine.disk.contentOf(paths.log)),
  };
  expect(files.manifest).toContain('"event_count":3');
  const changed = change(files);
  if (changed.manifest !== undefined) {
    expect(changed.manifest).not.toBe(files.manifest);
    machine.disk.plantFile(paths.manifest, Buffer.from(changed.manifest));
  }
  if (changed.log !== undefined) machine.disk.plantFile(paths.log, changed.log, facts);
  machine.fs.journal.length = 0;
  const found = await store.list();
  expect(machine.fs.countOf('open', (path) => path === paths.log)).toBe(1);
  machine.disk.removeFile(paths.manifest);
  expect(found).toEqual(await store.list());
});

test('a link is no log, even where it is as long as the manifest says', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  await write(store, 's', turn('a'));
  const log = `${machine.session('s')}/events.jsonl`;
  const length = machine.disk.contentOf(log).length;
  machine.disk.removeFile(log);
  machine.disk.plantLink(log, `/${'x'.repeat(length - 1)}`);
  expect(machine.disk.status(log)?.size).toBe(length);
  expect((await store.list())[0]?.error?.code).toBe('TURNLOG_UNSAFE_PATH');
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
      applies: ({ path }) => path.endsWith('events.jsonl'),
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

test.each(['newest', 'oldest', 'id', 'bytes', 'events'] as const)(
  'pages by %s go through the list without a gap, and count what is not on them',
  async (sort) => {
    const machine = new TestStore();
    const store = await machine.open();
    for (let number = 0; number < 11; number += 1) {
      const events = Array.from({ length: 1 + (number % 3) }, () => ({ type: 'error', message: 'm' }));
      await write(store, `s-${(number * 7) % 11}`, events);
    }
    await write(store, 'gone', [{ type: 'journal.set', archived: true }]);
    machine.disk.plantDirectory(machine.session('bad.'));
    const whole = (await store.list({ filter: {}, sort })).map(({ id }) => id);
    expect(whole).toHaveLength(12);
    const seen: string[] = [];
    for (let left = whole.length; left > 0; ) {
      const after = seen.at(-1);
      const page = await store.page({
        filter: {},
        sort,
        limit: 2,
        ...(after === undefined ? {} : { after }),
      });
      seen.push(...page.sessions.map(({ id }) => id));
      expect([page.matching, page.hidden, page.left]).toEqual([12, 1, whole.length - seen.length]);
      left = page.left;
    }
    expect(seen).toEqual(whole);
  },
);

test.each(['never', 'gone', 'x/../y'])(
  'a page after %j, which is not in the list, is refused',
  async (after) => {
    const machine = new TestStore();
    const store = await machine.open();
    await write(store, 's', turn('a'));
    await write(store, 'gone', [{ type: 'journal.set', archived: true }]);
    await expect(store.page({ filter: {}, after })).rejects.toMatchObject({
      code: 'TURNLOG_CURSOR_MISMATCH',
      details: { after },
    });
  },
);
