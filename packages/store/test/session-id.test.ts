import { isSessionId, parseSessionId } from '@turnlog/store';
import { caseRows, TestStore } from './support.js';

interface IdRow {
  readonly id: string;
}

const bad = caseRows<IdRow>('B144-session-ids', 'bad-ids.jsonl').map(({ id }) => id);
const good = caseRows<IdRow>('B144-session-ids', 'good-ids.jsonl').map(({ id }) => id);

test('T-93, B144: the table has 34 bad ids and 12 good ones', () => {
  expect([bad.length, good.length]).toEqual([34, 12]);
});

test.each(bad)('T-93, B114, B144: %j is refused with one typed error', (id) => {
  expect(isSessionId(id)).toBe(false);
  expect(() => parseSessionId(id)).toThrow(expect.objectContaining({ code: 'TURNLOG_INVALID_SESSION_ID' }));
});

test.each(good)('T-93, B144: %j is taken as it is', (id) => {
  expect(parseSessionId(id)).toBe(id);
});

const edges: readonly (readonly [id: string, isTaken: boolean])[] = [
  ['a', true],
  ['a'.repeat(128), true],
  ['a'.repeat(129), false],
  ['a..b', true],
  ['a.', false],
  ['com0', false],
  ['COM9.tar.gz', false],
  ['com10', true],
  ['comma', true],
  ['prn', false],
  ['Aux.x', false],
  ['lpt', true],
  ['a\n', false],
];

test.each(edges)('T-93 %j is taken: %p', (id, isTaken) => {
  expect(isSessionId(id)).toBe(isTaken);
});

test('T-93, B144: no verb of a store makes a call to the file system for a bad id', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  const verbs: readonly ((id: string) => unknown)[] = [
    (id) => store.open(id),
    (id) => store.transaction(id, () => undefined),
    (id) => store.read(id),
    (id) => store.follower(id),
    (id) => store.has(id),
    (id) => store.summarize(id),
    (id) => store.resolve(id),
  ];
  machine.fs.journal.length = 0;
  for (const id of bad) {
    for (const verb of verbs) {
      await expect((async () => verb(id))()).rejects.toMatchObject({ code: 'TURNLOG_INVALID_SESSION_ID' });
    }
  }
  expect(machine.fs.journal).toEqual([]);
});

test('T-93 an id that differs from an existing one only in case is refused, as is that of the ledger', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  const session = await store.open('Alpha');
  session.append({ type: 'error', message: 'x' });
  await session.close();
  for (const id of ['alpha', 'ALPHA', 'ledger', 'Ledger', 'LEDGER']) {
    await expect(store.open(id)).rejects.toMatchObject({ code: 'TURNLOG_ID_COLLISION' });
    await expect(store.transaction(id, () => undefined)).rejects.toMatchObject({
      code: 'TURNLOG_ID_COLLISION',
    });
  }
  expect(machine.disk.list(`${machine.root}/sessions`).map(({ name }) => name)).toEqual(['Alpha']);
});

test('T-93 names of files inside of a session are good ids: there is no clash below sessions/', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  for (const id of ['events.jsonl', 'index', 'derived', 'manifest.json']) {
    const session = await store.open(id);
    session.append({ type: 'error', message: id });
    await session.close();
  }
  expect((await store.list({ sort: 'id' })).map(({ id, events }) => [id, events])).toEqual([
    ['derived', 1],
    ['events.jsonl', 1],
    ['index', 1],
    ['manifest.json', 1],
  ]);
});

test('T-93 an id in a manifest names nothing: the directory does', async () => {
  const machine = new TestStore();
  const store = await machine.open();
  const session = await store.open('real');
  session.append({ type: 'error', message: 'x' });
  await session.close();
  const path = `${machine.session('real')}/manifest.json`;
  const manifest = Buffer.from(machine.disk.contentOf(path)).toString();
  machine.disk.plantFile(
    path,
    Buffer.from(manifest.replace('"session_id":"real"', '"session_id":"../outside"')),
  );
  expect((await store.list()).map(({ id, events, error }) => [id, events, error])).toEqual([
    ['real', 1, null],
  ]);
});
