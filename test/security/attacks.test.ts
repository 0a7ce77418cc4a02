import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Ended } from '../run-here.js';
import { AttackedStore, copyOf, picture, secret } from './attacked-store.js';

/*
 * Each attack changes a store as somebody with access to it might, so that something outside of it would be read,
 * written or waited for. Then everything is done that a user may do. Nothing of the victim comes out, nothing of the
 * victim changes, no command hangs or ends as a defect, and the session that was not attacked is there.
 */

let store: AttackedStore;

beforeEach(async () => {
  store = await AttackedStore.make();
});

afterEach(() => {
  store.remove();
});

interface Attack {
  readonly name: string;
  readonly plant: (store: AttackedStore) => void;
  /** Whether the whole store is refused, so that no session can be seen. */
  readonly isStoreRefused?: true;
}

/** Puts a link in place of what is there. */
function link(path: string, target: string): void {
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path);
}

const linked: readonly (readonly string[])[] = [
  ['sessions', 's-1'],
  ['sessions', 's-1', 'events.jsonl'],
  ['sessions', 's-1', 'manifest.json'],
  ['sessions', 's-1', 'index'],
  ['sessions', 's-1', 'index', 'turns.jsonl'],
  ['sessions', 's-1', 'index', 'keys.jsonl'],
  ['sessions', 's-1', 'derived'],
  ['sessions', 's-1', 'derived', 'usage.json'],
  ['sessions', 's-1', 'archive'],
  ['sessions', 's-1', 'archive', 'e-7.jsonl.gz'],
  ['assets'],
  ['trash'],
  ['ledger'],
  ['ledger', 'events.jsonl'],
  ['ledger', 'manifest.json'],
  ['ledger', 'index'],
];

/** Names that a process makes for a while; something else stands there before it does. */
const planted: readonly (readonly string[])[] = [
  ['sessions', 's-1', 'session.lock'],
  ['sessions', 's-1', 'session.owner.json'],
  ['sessions', 's-1', 'pin.json'],
  ['sessions', 's-1', 'index', 'pending-rewrite.json'],
  ['sessions', 's-1', '.t-0123456789abcdef'],
  ['sessions', 's-1', 'derived', 'import.json'],
  ['sessions', '.import-0123456789abcdef'],
  ['sessions', 'new'],
  ['trash', 's-3.20260901T080000Z.0123abcd'],
  ['redaction.key'],
];

function makeFifo(path: string): void {
  rmSync(path, { recursive: true, force: true });
  const { status } = spawnSync('mkfifo', [path]);
  if (status !== 0) throw new Error(`no fifo can be made at ${path}`);
}

const archiveOf = (store: AttackedStore): string => store.own('sessions', 's-1', 'archive', 'e-13.jsonl.gz');

/** The header of the cut log with another name for its archive. */
function renameArchive(store: AttackedStore, name: string): void {
  const path = store.own('sessions', 's-1', 'events.jsonl');
  const text = readFileSync(path, 'latin1');
  if (!text.includes('"file":"e-13.jsonl.gz"')) throw new Error('the log was not cut where this test thinks');
  writeFileSync(path, text.replace('"file":"e-13.jsonl.gz"', `"file":${JSON.stringify(name)}`));
}

const attacks: readonly Attack[] = [
  {
    name: 'the root is a link, and is then the place itself',
    plant: ({ root }) => {
      renameSync(root, `${root}.real`);
      symlinkSync(`${root}.real`, root);
    },
  },
  {
    name: 'sessions is a link to the victim’s',
    plant: (store) => link(store.own('sessions'), store.victims('sessions')),
    isStoreRefused: true,
  },
  ...linked.map(
    (names): Attack => ({
      name: `${names.join('/')} is a link to the victim’s`,
      plant: (store) => link(store.own(...names), store.victims(...names)),
    }),
  ),
  ...planted.map(
    (names): Attack => ({
      name: `${names.join('/')} is a link to a directory of the victim’s`,
      plant: (store) => link(store.own(...names), store.victims('sessions', 's-2')),
    }),
  ),
  ...planted.map(
    (names): Attack => ({
      name: `${names.join('/')} is a link to a file of the victim’s`,
      plant: (store) => link(store.own(...names), store.victims('sessions', 's-2', 'events.jsonl')),
    }),
  ),
  ...['events.jsonl', 'manifest.json', 'index/turns.jsonl', 'archive/e-7.jsonl.gz'].map(
    (name): Attack => ({
      name: `${name} is a pipe`,
      plant: (store) => makeFifo(store.own('sessions', 's-1', name)),
    }),
  ),
  { name: 'the key for marks is a pipe', plant: (store) => makeFifo(store.own('redaction.key')) },
  { name: 'the ledger’s log is a pipe', plant: (store) => makeFifo(store.own('ledger', 'events.jsonl')) },
  ...[
    '../../../victim/sessions/s-1/archive/e-13.jsonl.gz',
    '/etc/passwd',
    'e-7.jsonl.gz/../../events.jsonl',
    '..',
    'e-13\0',
  ].map(
    (name): Attack => ({
      name: `the header of the log names the archive ${JSON.stringify(name)}`,
      plant: (store) => renameArchive(store, name),
    }),
  ),
  {
    name: 'an archive holds a log whose header names another one',
    plant: (store) => copyOf(store.victims('sessions', 's-2', 'events.jsonl'), `${archiveOf(store)}.other`),
  },
  {
    name: 'a manifest says that it is of another session',
    plant: (store) => {
      const path = store.own('sessions', 's-1', 'manifest.json');
      writeFileSync(path, readFileSync(path, 'utf8').replace('"s-1"', '"../../victim/sessions/s-2"'));
    },
  },
  {
    name: 'a marker names a temp file elsewhere',
    plant: (store) => {
      const print = { generation: '0'.repeat(32), bytes: 1, head_sha256: '0'.repeat(64) };
      const temp = '../../../../victim/sessions/s-2/events.jsonl';
      const marker = { turnlog: 'pending-rewrite', v: 1, kind: 'evict', temp, from: print, to: print };
      const text = `${JSON.stringify({ ...marker, to_seq: 13, last_turn: 4 })}\n`;
      writeFileSync(store.own('sessions', 's-1', 'index', 'pending-rewrite.json'), text, { mode: 0o600 });
    },
  },
  {
    name: 'the ledger says that sessions with paths for names were removed',
    plant: (store) => {
      const event = {
        type: 'log.removed',
        session_id: '../../victim/sessions/s-2',
        trash: '../../victim/sessions/s-2',
        reason: 'manual',
      };
      const line = { schema_version: '0.18.0', seq: 900, ts: '2026-10-05T08:00:00.000Z', event };
      appendFileSync(store.own('ledger', 'events.jsonl'), `${JSON.stringify(line)}\n`);
    },
  },
  {
    name: 'names below sessions that are no ids',
    plant: (store) => {
      for (const name of ['...', '-x', 'a b', 'x'.repeat(200), '\u202etxt', 'CON', 'a\nb', '%2e%2e', 'x.']) {
        mkdirSync(store.own('sessions', name), { mode: 0o700 });
        writeFileSync(store.own('sessions', name, 'events.jsonl'), '', { mode: 0o600 });
      }
    },
  },
  {
    name: 'files where directories are expected',
    plant: (store) => {
      for (const names of [
        ['sessions', 's-1', 'index'],
        ['sessions', 's-1', 'derived'],
        ['assets'],
        ['trash'],
      ]) {
        rmSync(store.own(...names), { recursive: true, force: true });
        writeFileSync(store.own(...names), 'a file');
      }
    },
  },
  {
    name: 'directories where files are expected',
    plant: (store) => {
      for (const names of [
        ['sessions', 's-1', 'manifest.json'],
        ['sessions', 's-1', 'index', 'turns.jsonl'],
        ['sessions', 's-1', 'pin.json'],
        ['redaction.key'],
      ]) {
        rmSync(store.own(...names), { recursive: true, force: true });
        mkdirSync(store.own(...names, 'inner'), { recursive: true, mode: 0o700 });
      }
    },
  },
  {
    name: 'every directory and file can be written by others',
    plant: (store) => {
      for (const names of [
        ['sessions'],
        ['sessions', 's-1'],
        ['sessions', 's-1', 'index'],
        ['ledger'],
        ['trash'],
      ]) {
        chmodSync(store.own(...names), 0o777);
      }
      chmodSync(store.own('sessions', 's-1', 'events.jsonl'), 0o666);
    },
  },
  {
    name: 'the root can be written by others',
    plant: ({ root }) => chmodSync(root, 0o777),
    isStoreRefused: true,
  },
];

/** Needs to be root: other users' files, and devices. */
const attacksOfRoot: readonly Attack[] = [
  {
    name: 'the root belongs to another user',
    plant: ({ root }) => chownSync(root, 12_345, 12_345),
    isStoreRefused: true,
  },
  {
    name: 'a session belongs to another user',
    plant: (store) => chownSync(store.own('sessions', 's-1'), 12_345, 12_345),
  },
  {
    name: 'a log is a hard link to a file of another user',
    plant: (store) => {
      const path = store.own('sessions', 's-1', 'events.jsonl');
      const other = copyOf(store.victims('sessions', 's-1', 'events.jsonl'), store.victims('other.jsonl'));
      chownSync(other, 12_345, 12_345);
      rmSync(path);
      linkSync(other, path);
    },
  },
  ...['events.jsonl', 'manifest.json', 'index/turns.jsonl'].map(
    (name): Attack => ({
      name: `${name} is a device that never ends`,
      plant: (store) => {
        const path = store.own('sessions', 's-1', name);
        rmSync(path);
        const { status } = spawnSync('mknod', ['-m', '600', path, 'c', '1', '5']);
        if (status !== 0) throw new Error('no device can be made');
      },
    }),
  ),
];

const isRoot = process.getuid?.() === 0;
if (!isRoot)
  process.stderr.write('attacks: this is not root, so attacks with devices and other users did not run\n');

function defects(ended: readonly Ended[]): readonly string[] {
  return ended
    .filter(({ exit, said }) => exit === 70 || said.includes(secret))
    .map(({ argv, exit, said }) => `${argv.join(' ')} -> ${exit}: ${said}`);
}

test.each([...attacks, ...(isRoot ? attacksOfRoot : [])].map((attack) => [attack.name, attack] as const))(
  '%s: nothing outside is read or changed, nothing hangs, the others are there',
  async (_name, { plant, isStoreRefused = false }) => {
    plant(store);
    const before = picture(store.victim);
    const ended = await store.runEverything();
    expect(defects(ended)).toEqual([]);
    expect(picture(store.victim)).toEqual(before);
    const list = ended.find(({ argv }) => argv.includes('sessions'));
    if (isStoreRefused) expect(list).toMatchObject({ exit: 9 });
    else expect(list?.said).toContain('s-2');
  },
  240_000,
);

test('the attacks would be noticed: without one every command says what it did, and the victim’s words can be found', async () => {
  const ended = await store.runEverything();
  expect(ended.filter(({ exit }) => exit !== 0)).toEqual([]);
  const shown = await store.run(['show', 's-1', '--turn', '1'], '', store.victim);
  expect(defects([shown])).toHaveLength(1);
});

const badIds = [
  '..',
  '../victim/sessions/s-2',
  '/etc',
  'a/b',
  'a\\b',
  '.',
  's-1/',
  's-1/..',
  'x'.repeat(129),
  'CON',
  'a:b',
  '',
  '~',
];

test.each(badIds)('the id %j is refused wherever it is given', async (id) => {
  const before = picture(store.top);
  const lines = [
    ['show', id],
    ['tail', id],
    ['export', id],
    ['rebuild', id],
    ['append', id, '--event', '{"type":"error","message":"m"}'],
    ['record', id],
    ['session', 'tag', id, 'x'],
    ['session', 'delete', id, '--yes'],
    ['session', 'restore', id],
    ['doctor', '--session', id],
  ];
  for (const argv of lines) {
    const { exit, said } = await store.run(argv);
    expect({ argv, exit, said }).toEqual({ argv, exit: expect.any(Number), said: expect.any(String) });
    expect([2, 6]).toContain(exit);
  }
  expect(picture(store.top)).toEqual(before);
});

test('a project may not lead its users elsewhere: neither by its configuration nor by links in place of it', async () => {
  const project = join(store.top, 'project');
  mkdirSync(join(project, '.turnlog', 'sessions'), { recursive: true, mode: 0o700 });
  writeFileSync(join(project, '.turnlog', 'config.json'), JSON.stringify({ root: '../victim' }));
  const before = picture(store.victim);
  const outside = await store.run(['sessions'], '', null, project);
  expect(outside).toMatchObject({ said: expect.stringContaining('outside of itself') });
  rmSync(join(project, '.turnlog', 'config.json'));
  symlinkSync(store.victims('sessions', 's-2', 'manifest.json'), join(project, '.turnlog', 'config.json'));
  const linkedFile = await store.run(['sessions'], '', null, project);
  expect(linkedFile).toMatchObject({ said: expect.stringContaining('no regular file') });
  rmSync(join(project, '.turnlog'), { recursive: true });
  symlinkSync(store.victim, join(project, '.turnlog'));
  const linkedFolder = await store.run(['sessions'], '', null, project);
  expect(defects([outside, linkedFile, linkedFolder])).toEqual([]);
  expect(picture(store.victim)).toEqual(before);
});

test('an import follows no link, and neither an export nor its damage replaces one', async () => {
  const source = join(store.top, 'source');
  symlinkSync(store.victims('sessions', 's-2', 'events.jsonl'), join(source, 'linked.jsonl'));
  symlinkSync(store.victims('sessions'), join(source, 'folder'));
  const out = join(store.top, 'out', 's-1.md');
  symlinkSync(store.victims('sessions', 's-2', 'manifest.json'), out);
  const before = picture(store.victim);
  const ended = [
    await store.run(['import', source]),
    await store.run(['import', join(source, 'linked.jsonl')]),
    await store.run(['export', 's-1', '--out', out, '--force']),
    await store.run(['export', 's-1', '--out', out]),
  ];
  expect(defects(ended)).toEqual([]);
  expect(ended.slice(1).map(({ exit }) => exit !== 0)).toEqual([true, true, true]);
  expect(picture(store.victim)).toEqual(before);
  expect(existsSync(store.own('sessions', 's-2', 'events.jsonl'))).toBe(true);
});
