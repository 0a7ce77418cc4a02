import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createNodeFileSystem } from '@turnlog/fs';
import { completeEnvironment, openStore, type Store } from '@turnlog/store';
import { FaultFileSystem, makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';

let directory: TemporaryDirectory;
let umask: number;

beforeEach(() => {
  umask = process.umask();
  directory = makeTemporaryDirectory();
});

afterEach(() => {
  process.umask(umask);
  directory.remove();
});

const place = { cwd: '/', env: {} };

function storeAt(root: string): Promise<Store> {
  return openStore({ root, ...place });
}

async function write(store: Store, id: string, count: number): Promise<void> {
  const session = await store.open(id);
  session.append({ type: 'turn.started' });
  for (let index = 0; index < count; index += 1) {
    session.append({ raw: JSON.stringify({ type: 'error', message: `m${index}` }) }, { key: `k${index}` });
  }
  session.append({ raw: '{"type":"turn.completed","usage":{}}' });
  await session.close();
}

/** Every path below `top` with kind and mode. */
function tree(top: string): readonly string[] {
  return readdirSync(top, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const status = lstatSync(join(top, name));
      return `${name} ${status.isDirectory() ? 'directory' : 'file'} ${(status.mode & 0o777).toString(8)}`;
    });
}

/** Names, bytes and times of a directory: what must not change when somebody looks. */
function snapshot(top: string): readonly string[] {
  return [top, ...readdirSync(top, { recursive: true, encoding: 'utf8' }).map((name) => join(top, name))]
    .sort()
    .map((path) => {
      const status = lstatSync(path);
      const bytes = status.isFile() ? readFileSync(path).toString('hex') : '';
      return `${path} ${status.mode} ${status.mtimeMs} ${status.ino} ${bytes}`;
    });
}

test.each([0o000, 0o002, 0o022])(
  'T-90, B148: umask %p: every file is 0600, every directory 0700',
  async (mask) => {
    process.umask(mask);
    const root = join(directory.path, 'deep', 'store');
    const store = await storeAt(root);
    await write(store, 's', 3);
    writeFileSync(join(root, 'sessions/s/events.jsonl'), '{"torn":', { flag: 'a' });
    const session = await store.open('s');
    session.append({ type: 'turn.started' });
    session.flush();
    const held = tree(directory.path);
    expect(held.filter((row) => !/ (?:directory 700|file 600)$/.test(row))).toEqual([]);
    const kinds = held.map((row) => row.replace(/^.*\/|torn-\S+/g, '').split(' ')[0]);
    expect(kinds).toEqual(
      expect.arrayContaining([
        'events.jsonl',
        'keys.jsonl',
        'manifest.json',
        'turns.jsonl',
        'session.lock',
        'session.owner.json',
      ]),
    );
    expect(held.some((row) => row.includes('torn-'))).toBe(true);
    await session.close();
    expect(tree(directory.path).filter((row) => !/ (?:directory 700|file 600)$/.test(row))).toEqual([]);
  },
);

test('T-90 looser modes are tightened by a writer, and by nobody who only reads', async () => {
  const root = join(directory.path, 'store');
  const store = await storeAt(root);
  await write(store, 's', 1);
  const session = join(root, 'sessions/s');
  chmodSync(session, 0o755);
  chmodSync(join(session, 'events.jsonl'), 0o644);
  chmodSync(join(session, 'index'), 0o755);
  store.read('s').close();
  await store.list();
  expect(statSync(session).mode & 0o777).toBe(0o755);
  await (await store.open('s')).close();
  for (const [path, mode] of [
    [session, 0o700],
    [join(session, 'index'), 0o700],
    [join(session, 'events.jsonl'), 0o600],
  ] as const) {
    expect(statSync(path).mode & 0o777).toBe(mode);
  }
});

test('T-91, B108: where modes cannot be set there is one warning, and work goes on', async () => {
  const root = join(directory.path, 'store');
  await write(await storeAt(root), 's', 1);
  for (const name of ['', 'events.jsonl', 'index', 'manifest.json'])
    chmodSync(join(root, 'sessions/s', name), 0o755);
  const fs = new FaultFileSystem(createNodeFileSystem(), {
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EPERM' },
    applies: ({ verb }) => verb === 'setMode',
  });
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  try {
    const store = await openStore({ root, environment: { fs }, ...place });
    const session = await store.open('s');
    expect(session.append({ type: 'error', message: 'goes on' }).seq).toBe(4);
    await session.close();
    expect(warned).toHaveBeenCalledTimes(1);
  } finally {
    warned.mockRestore();
  }
});

test('T-94, B145, B146: planted temp files and links cost the victim nothing', async () => {
  const root = join(directory.path, 'store');
  const store = await storeAt(root);
  await write(store, 'good', 1);
  const victim = join(directory.path, 'victim');
  writeFileSync(victim, 'precious', { mode: 0o644 });
  symlinkSync(victim, join(root, 'sessions/good/.t-0123456789abcdef'));
  mkdirSync(join(root, 'sessions/linked'), { mode: 0o700 });
  symlinkSync(victim, join(root, 'sessions/linked/events.jsonl'));
  symlinkSync(directory.path, join(root, 'sessions/away'));
  await write(store, 'good', 2);
  await expect(store.open('linked')).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
  await expect(store.open('away')).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
  expect(() => store.read('linked')).toThrow(expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }));
  expect(() => store.read('away')).toThrow(expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }));
  expect(readFileSync(victim, 'utf8')).toBe('precious');
  expect(statSync(victim).mode & 0o777).toBe(0o644);
});

test('T-94 a root that others can write to is refused, with the line that closes it', async () => {
  const root = join(directory.path, 'store');
  mkdirSync(root);
  chmodSync(root, 0o777);
  await expect(storeAt(root)).rejects.toMatchObject({
    code: 'TURNLOG_UNSAFE_PATH',
    message: expect.stringContaining(`chmod go-w ${root}`),
  });
});

const looks: readonly (readonly [name: string, change: (session: string, store: Store) => unknown])[] = [
  ['healthy', () => undefined],
  ['torn', (session) => writeFileSync(join(session, 'events.jsonl'), '{"torn":', { flag: 'a' })],
  ['held by a writer', async (_session, store) => await store.open('s')],
];

test.each(looks)(
  'T-18: looking at a %s session changes no byte and no time, and takes no lock',
  async (name, change) => {
    const root = join(directory.path, 'store');
    const store = await storeAt(root);
    await write(store, 's', 2);
    const held = await change(join(root, 'sessions/s'), store);
    const before = snapshot(root);
    const reader = (await storeAt(root)).read('s');
    expect([...reader.records()].length).toBe(4);
    expect([...reader.turns()].length).toBe(1);
    expect(reader.tail(2).length).toBe(2);
    expect(reader.damage().length).toBe(name === 'torn' ? 1 : 0);
    reader.close();
    expect((await (await storeAt(root)).list()).map(({ events }) => events)).toEqual([4]);
    store.follower('s').close();
    expect(snapshot(root)).toEqual(before);
    if (name === 'held by a writer') await (held as { close(): Promise<unknown> }).close();
  },
);

test('T-18: on a disk that refuses every change a session can be read', async () => {
  const root = join(directory.path, 'store');
  await write(await storeAt(root), 's', 2);
  const changing =
    /^(?:makeDirectory|removeFile|removeDirectory|rename|setMode|setTimes|write|truncate|sync|syncData|syncDirectory)$/;
  const fs = new FaultFileSystem(createNodeFileSystem(), {
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EROFS' },
    applies: ({ verb }) => changing.test(verb),
  });
  const store = await openStore({ root, environment: { fs }, ...place });
  const reader = store.read('s');
  expect([...reader.readTurn(1)].length).toBe(4);
  reader.close();
  expect((await store.list())[0]?.events).toBe(4);
  expect(fs.hitCount).toBe(0);
});

test('T-88, B75: the same session from another directory, and through a link to the root, is one and goes on', async () => {
  const root = join(directory.path, 'store');
  const env = { TURNLOG_ROOT: root };
  await write(await openStore({ cwd: '/', env }), 's', 1);
  const elsewhere = await openStore({ cwd: directory.path, env });
  const session = await elsewhere.open('s');
  expect(session.lastSeq).toBe(3);
  session.append({ type: 'error', message: 'from elsewhere' });
  await session.close();
  symlinkSync(root, join(directory.path, 'alias'));
  const aliased = await storeAt(join(directory.path, 'alias'));
  expect(aliased.root).toBe(root);
  expect((await aliased.list()).map(({ id, events }) => [id, events])).toEqual([['s', 4]]);
});

test('T-87, B55: of 150 sessions of 40 MB a list reads heads and tails only', async () => {
  const root = join(directory.path, 'store');
  const store = await storeAt(root);
  const session = await store.open('s000', { durability: 'buffered' });
  const text = 'x'.repeat(60_000);
  session.append({ type: 'turn.started' });
  for (let index = 0; index < 700; index += 1) session.append({ type: 'error', message: `${index} ${text}` });
  session.append({ raw: '{"type":"turn.completed","usage":{}}' });
  await session.close();
  copySession(root, 's000', 150);
  expect(statSync(join(root, 'sessions/s149/events.jsonl')).size).toBeGreaterThan(40_000_000);

  const fs = new FaultFileSystem(createNodeFileSystem());
  const environment = completeEnvironment({ fs });
  const counted = await openStore({ root, environment, ...place });
  const listed = await counted.list();
  expect(listed.length).toBe(150);
  expect(listed.every(({ events, turns, error }) => events === 702 && turns === 1 && error === null)).toBe(
    true,
  );
  const readBytes = fs.journal.reduce((sum, call) => sum + (call.verb === 'read' ? call.byteCount : 0), 0);
  expect(readBytes / 150).toBeLessThan(10_000);
});

/** Further sessions with the same log: hard links, each with a manifest and an index of its own. */
function copySession(root: string, from: string, count: number): void {
  const source = join(root, 'sessions', from);
  for (let number = 1; number < count; number += 1) {
    const id = `s${String(number).padStart(3, '0')}`;
    const target = join(root, 'sessions', id);
    mkdirSync(join(target, 'index'), { recursive: true, mode: 0o700 });
    linkSync(join(source, 'events.jsonl'), join(target, 'events.jsonl'));
    for (const name of ['manifest.json', 'index/turns.jsonl']) {
      const own = readFileSync(join(source, name), 'utf8').replace(
        `"session_id":"${from}"`,
        `"session_id":"${id}"`,
      );
      writeFileSync(join(target, name), own, { mode: 0o600 });
    }
  }
  expect(existsSync(join(source, 'events.jsonl'))).toBe(true);
}
