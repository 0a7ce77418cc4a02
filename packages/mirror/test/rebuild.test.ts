import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { loadSqlite, type Mirror, MirrorWatch } from '@turnlog/mirror';
import { mirrorTables } from '../src/schema.js';
import { idsOf, type MirrorStore, message, say, turn, withStore } from './support.js';

const history = [
  { type: 'run.started', program: 'p', agent: 'primary', workspace: '/w', cwd: '/w', model: 'm-1' },
  ...turn(
    say('cargo please'),
    { type: 'item.started', item: { id: 'i-1', type: 'agent_message', text: 'cargo draft' } },
    message('i-1', 'cargo final'),
    {
      type: 'item.completed',
      item: {
        id: 'i-2',
        type: 'file_change',
        changes: [{ path: 'src/a.ts', kind: 'update' }],
        status: 'completed',
      },
    },
  ),
];

async function filled(place: MirrorStore): Promise<Mirror> {
  await place.write('a', history);
  await place.write('b', turn(message('i-1', 'cargo elsewhere')));
  // Damage in the middle of a log.
  const path = place.path('sessions/b/events.jsonl');
  writeFileSync(path, `${readFileSync(path, 'utf8')}no record\n`);
  const mirror = await place.mirror();
  expect(await mirror.catchUp()).toMatchObject({ isComplete: true, failed: [] });
  return mirror;
}

async function change(place: MirrorStore, sql: string): Promise<void> {
  const database = (await loadSqlite()).open(place.path('mirror.sqlite'), 'read-write');
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** One changed cell of each table, where it must be found. */
const changes: readonly (readonly [table: string, sql: string, column: string | null])[] = [
  ['meta', "UPDATE meta SET value = '99' WHERE name = 'token_count'", 'value'],
  ['session', "UPDATE session SET title = 'other' WHERE id = 'a'", 'title'],
  ['cursor', "UPDATE cursor SET offset = offset - 1 WHERE log = 'a'", 'offset'],
  ['cursor', "UPDATE cursor SET seq = seq + 1 WHERE log = 'a'", 'seq'],
  ['cursor', "UPDATE cursor SET last_line_sha256 = 'x' WHERE log = 'a'", 'last_line_sha256'],
  ['record', "UPDATE record SET turn = 7 WHERE session = 'a' AND seq = 3", 'turn'],
  ['record', "DELETE FROM record WHERE session = 'a' AND seq = 3", null],
  ['chunk', "UPDATE chunk SET role = 'tool' WHERE session = 'a' AND seq = 3", 'role'],
  ['chunk', "UPDATE chunk SET len = len + 1 WHERE session = 'b'", 'len'],
  ['chunk_fts', "DELETE FROM chunk_fts WHERE rowid = (SELECT rowid FROM chunk WHERE session = 'b')", null],
  ['superseded_fts', "INSERT INTO superseded_fts (rowid, t) VALUES (1, 'more')", null],
  ['path_ref', "UPDATE path_ref SET op = 'delete'", 'op'],
  ['usage', "UPDATE usage SET output_tokens = 3 WHERE session = 'a'", 'output_tokens'],
  ['damage', 'UPDATE damage SET length = length + 1', 'length'],
];

test('every table of a digest has its row in the list of changes', () => {
  expect([...new Set(changes.map(([table]) => table))]).toEqual(mirrorTables.map(({ name }) => name));
});

test.each(changes)(
  'Q-19 rebuild --check: equal when sound; one changed cell of %s is found and named',
  async (table, sql, column) => {
    await withStore(async (place) => {
      const mirror = await filled(place);
      const sound = await mirror.check();
      expect(sound).toMatchObject({ outcome: 'equal', difference: null });
      expect(sound.digest).toBe(sound.publishedDigest);
      await change(place, sql);
      const found = await mirror.check();
      expect(found.outcome).toBe('different');
      expect(found.digest).not.toBe(found.publishedDigest);
      expect(found.difference).toMatchObject({ table, column });
      expect(found.difference?.key).toMatch(/^\[/);
      // Nothing is left of the two that were compared, and the mirror is as it was.
      expect(readdirSync(place.root).filter((name) => name.includes('.new-'))).toEqual([]);
      expect((await mirror.check()).outcome).toBe('different');
    });
  },
);

test('a mirror that is behind is compared as it would be at the end of its logs', async () => {
  await withStore(async (place) => {
    const mirror = await filled(place);
    await place.write('a', turn(message('i-9', 'more')));
    expect((await mirror.check()).outcome).toBe('equal');
    expect(idsOf(mirror, 'more')).toEqual([]);
  });
});

const damages: readonly (readonly [name: string, damage: (path: string, place: MirrorStore) => unknown])[] = [
  ['deleted', (path) => rmSync(path)],
  ['cut', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['cut to nothing but a header', (path) => truncateSync(path, 100)],
  ['with bytes flipped', (path) => flip(path)],
  ['no database', (path) => writeFileSync(path, 'this is no database, whatever its name says')],
  ['empty', (path) => truncateSync(path, 0)],
  ['of another format', (_path, place) => change(place, "UPDATE meta SET value = '0' WHERE name = 'format'")],
  [
    'of another tokenizer',
    (_path, place) => change(place, "UPDATE meta SET value = 'x' WHERE name = 'tokenizer'"),
  ],
  ['without its tables', (_path, place) => change(place, 'DROP TABLE meta')],
];

function flip(path: string): void {
  const bytes = readFileSync(path);
  for (let at = 0; at < bytes.length; at += 97) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
}

test.each(damages)(
  'Q-18 a mirror that is %s: appends go on, it is built again, and the answers are the same',
  async (_name, damage) => {
    await withStore(async (place) => {
      const mirror = await filled(place);
      const before = idsOf(mirror, 'cargo');
      mirror.close();
      await damage(place.path('mirror.sqlite'), place);
      await place.write('c', turn(message('i-1', 'appended meanwhile')));
      const again = await place.mirror();
      const round = await again.catchUp();
      // What is missing, or empty, is begun; for anything else only building it anew helps.
      if (!round.isComplete) {
        expect(round.needsRebuild).toBe(true);
        expect(round.degraded.join()).not.toBe('');
        const engine = again.index.state;
        if (engine.kind === 'ready') expect(() => idsOf(again, 'cargo')).toThrow();
        expect((await again.rebuild()).isComplete).toBe(true);
      }
      expect(idsOf(again, 'cargo')).toEqual(before);
      expect(idsOf(again, 'meanwhile')).toEqual(['c:2']);
      expect(await again.check()).toMatchObject({ outcome: 'equal' });
      expect(again.health()).toMatchObject({ state: 'sound', isWalTooLong: false });
    });
  },
);

test('a process that goes on builds a broken mirror again by itself', async () => {
  await withStore(async (place) => {
    const mirror = await filled(place);
    writeFileSync(place.path('mirror.sqlite'), 'broken');
    await new Promise<void>((resolve) => {
      const watch = new MirrorWatch(place.store, mirror, {
        onRound: ({ isComplete }) => {
          if (isComplete) resolve(watch.close());
        },
      });
    });
    expect(idsOf(mirror, 'elsewhere')).toEqual(['b:2']);
  });
});

test('what a rebuild left that was cut short is removed by the next one', async () => {
  await withStore(async (place) => {
    const mirror = await filled(place);
    const leftOver = place.path('mirror.sqlite.new-00112233445566aa');
    for (const suffix of ['', '-wal', '-shm']) writeFileSync(`${leftOver}${suffix}`, 'x', { mode: 0o600 });
    await mirror.rebuild();
    expect(readdirSync(place.root).filter((name) => name.includes('.new-'))).toEqual([]);
    expect(idsOf(mirror, 'elsewhere')).toEqual(['b:2']);
  });
});

test.each([0o000, 0o002, 0o022])(
  'Q-29 umask %o: every file of the mirror is 0600 from its creation',
  async (mask) => {
    const before = process.umask(mask);
    try {
      await withStore(async (place) => {
        const modes = new Map<string, Set<number>>();
        const look = (): void => {
          for (const name of readdirSync(place.root)) {
            if (!name.startsWith('mirror.sqlite')) continue;
            const kind = name.replace(/\.new-[0-9a-f]{16}/, '.new');
            modes.set(kind, (modes.get(kind) ?? new Set()).add(statSync(place.path(name)).mode & 0o777));
          }
        };
        const sqlite = await loadSqlite();
        const load = async (): Promise<typeof sqlite> => ({
          open: (path, mode) => {
            look();
            const database = sqlite.open(path, mode);
            return {
              ...database,
              exec: (sql) => {
                database.exec(sql);
                look();
              },
            };
          },
        });
        await place.write('a', history);
        const mirror = await place.mirror({ load });
        await mirror.catchUp();
        expect(idsOf(mirror, 'cargo').length).toBeGreaterThan(0);
        await mirror.rebuild();
        await mirror.check();
        expect([...modes.keys()]).toEqual(
          expect.arrayContaining([
            'mirror.sqlite',
            'mirror.sqlite-wal',
            'mirror.sqlite-shm',
            'mirror.sqlite.new',
            'mirror.sqlite.new-wal',
            'mirror.sqlite.new-shm',
          ]),
        );
        for (const [name, seen] of modes) expect([name, [...seen]]).toEqual([name, [0o600]]);
      });
    } finally {
      process.umask(before);
    }
  },
);

test('a link in the place of the mirror is refused, and what it leads to is left alone', async () => {
  await withStore(async (place) => {
    const { symlinkSync } = await import('node:fs');
    const victim = place.path('victim');
    writeFileSync(victim, 'untouched', { mode: 0o600 });
    await place.write('a', history);
    symlinkSync(victim, place.path('mirror.sqlite'));
    const mirror = await place.mirror();
    const round = await mirror.catchUp();
    expect(round.isComplete).toBe(false);
    expect(round.degraded.join()).toContain('not a regular file');
    expect(readFileSync(victim, 'utf8')).toBe('untouched');
  });
});

test('Q-22, B141, B142: 10,000 writes beside an open iterator keep the write-ahead log short; one of 1 GiB that a crash left holds up nobody', async () => {
  await withStore(async (place) => {
    const mirror = await filled(place);
    const iterator = mirror.index.newestFirst()[Symbol.iterator]();
    expect(iterator.next().done).toBe(false);
    let walBytes = 0;
    for (let round = 0; round < 10; round += 1) {
      const events = Array.from({ length: 1_000 }, (_, at) => message(`w-${round}-${at}`, `written ${at}`));
      await place.write('w', events);
      expect((await mirror.catchUp()).isComplete).toBe(true);
      walBytes = Math.max(walBytes, statSync(place.path('mirror.sqlite-wal')).size);
    }
    expect(walBytes).toBeLessThanOrEqual(67_108_864);
    expect(iterator.next().done).toBe(false);
    expect(idsOf(mirror, 'written').length).toBe(100);
    mirror.close();
    const wal = openSync(place.path('mirror.sqlite-wal'), 'w', 0o600);
    ftruncateSync(wal, 1_073_741_824);
    closeSync(wal);
    const opened: string[] = [];
    const sqlite = await loadSqlite();
    const again = await place.mirror({
      load: async () => ({
        open: (path, mode) => {
          opened.push(path);
          return sqlite.open(path, mode);
        },
      }),
    });
    await place.write('a', turn(message('i-5', 'appended')));
    expect(again.health()).toMatchObject({ isWalTooLong: true, walBytes: 1_073_741_824 });
    expect(await again.catchUp()).toMatchObject({ isComplete: false, needsRebuild: true });
    expect(again.index.state).toMatchObject({ kind: 'unusable' });
    expect([...place.store.read('a').tail(1)].map(({ seq }) => seq)).toEqual([10]);
    expect(opened).toEqual([]);
    await again.rebuild();
    expect(existsSync(place.path('mirror.sqlite-wal'))).toBe(false);
    expect(idsOf(again, 'appended')).toEqual(['a:9']);
  });
});

test('files that were left open to others are closed to them', async () => {
  await withStore(async (place) => {
    const mirror = await filled(place);
    chmodSync(place.path('mirror.sqlite'), 0o644);
    await place.write('a', turn(message('i-6', 'again')));
    await mirror.catchUp();
    expect(statSync(place.path('mirror.sqlite')).mode & 0o777).toBe(0o600);
  });
});
