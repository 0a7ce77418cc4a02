import { type FilesystemKind, filesystemKind } from '@turnlog/fs';
import { loadSqlite, type SqliteDatabase, type SqliteLibrary } from '@turnlog/mirror';
import { idsOf, message, turn, withStore } from './support.js';

class SqliteFailure extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`failed with ${code}`);
    this.code = code;
  }
}

/** A library whose `count`-th call fails with a code of SQLite, and all after it. */
function failingFrom(sqlite: SqliteLibrary, count: number, code: string): SqliteLibrary {
  let calls = 0;
  const called = (): void => {
    calls += 1;
    if (calls >= count) throw new SqliteFailure(code);
  };
  const failing = (database: SqliteDatabase): SqliteDatabase => ({
    prepare: (sql) => {
      called();
      return database.prepare(sql);
    },
    exec: (sql) => {
      // What ends a transaction is let through: a disk that fails does not keep a lock.
      if (sql !== 'ROLLBACK') called();
      database.exec(sql);
    },
    close: () => database.close(),
  });
  return {
    open: (path, mode) => {
      called();
      return failing(sqlite.open(path, mode));
    },
  };
}

const codes = ['SQLITE_PROTOCOL', 'SQLITE_IOERR_SHORT_READ', 'SQLITE_CANTOPEN', 'SQLITE_BUSY'] as const;
const networks: readonly (readonly [name: string, magic: bigint])[] = [
  ['NFS', 0x6969n],
  ['SMB', 0x517bn],
  ['CIFS', 0xff534d42n],
  ['AFS', 0x5346414fn],
  ['9p', 0x01021997n],
  ['FUSE', 0x65735546n],
  ['unknown (0xabcdef)', 0xabcdefn],
];

test('Q-21, B138, B140: PROTOCOL, IOERR_SHORT_READ, CANTOPEN and BUSY at any call: the store works, and the cause is named; each network file system gets TRUNCATE', async () => {
  const sqlite = await loadSqlite();
  for (const code of codes) {
    for (const at of [1, 2, 5, 9, 14, 20]) {
      await withStore(async (place) => {
        await place.write('a', turn(message('i-1', 'words')));
        const nfs = filesystemKind('/', () => 0x6969n);
        const mirror = await place.mirror({
          load: async () => failingFrom(sqlite, at, code),
          filesystemKind: () => nfs,
        });
        const round = await mirror.catchUp();
        expect(round.isComplete).toBe(false);
        expect(round.degraded.join()).toContain(code);
        expect(round.degraded.join()).toContain('NFS');
        expect(mirror.index.state).toMatchObject({ kind: 'unusable' });
        // The session goes on, and once the failure is over so does the mirror.
        await place.write('a', turn(message('i-2', 'more words')));
        expect([...place.store.read('a').records()].length).toBe(6);
        const healed = await place.mirror({ filesystemKind: () => nfs });
        expect(await healed.catchUp()).toMatchObject({ isComplete: true });
        expect(idsOf(healed, 'words').length).toBe(2);
      });
    }
  }
  for (const [name, magic] of networks) {
    await withStore(async (place) => {
      const kind: FilesystemKind = filesystemKind('/', () => magic);
      expect(kind.name).toBe(name);
      expect(await modesOf(place, kind)).toEqual(['truncate']);
    });
  }
  await withStore(async (place) => {
    expect(await modesOf(place, { name: 'ext', reach: 'local' })).toEqual(['wal']);
  });
});

/** The journal modes that connections which write were in after their pragmas. */
async function modesOf(
  place: Parameters<Parameters<typeof withStore>[0]>[0],
  kind: FilesystemKind,
): Promise<string[]> {
  const sqlite = await loadSqlite();
  const seen = new Set<string>();
  const load = async (): Promise<SqliteLibrary> => ({
    open: (path, mode) => {
      const database = sqlite.open(path, mode);
      return {
        ...database,
        exec: (sql) => {
          database.exec(sql);
          if (sql !== 'BEGIN IMMEDIATE') return;
          const row = database.prepare<{ readonly journal_mode: string }>('PRAGMA journal_mode').get();
          seen.add(row?.journal_mode ?? '');
        },
      };
    },
  });
  await place.write('a', turn(message('i-1', 'words')));
  const mirror = await place.mirror({ load, filesystemKind: () => kind });
  expect(await mirror.catchUp()).toMatchObject({ isComplete: true });
  expect(await mirror.rebuild()).toMatchObject({ isComplete: true });
  expect(idsOf(mirror, 'words')).toEqual(['a:2']);
  return [...seen];
}

test('every pragma is set at every open', async () => {
  await withStore(async (place) => {
    const sqlite = await loadSqlite();
    const seen: Record<string, Set<unknown>> = {};
    const look = (database: SqliteDatabase, mode: string): void => {
      for (const name of [
        'busy_timeout',
        'foreign_keys',
        'temp_store',
        'trusted_schema',
        'synchronous',
        'wal_autocheckpoint',
        'journal_size_limit',
      ]) {
        const row = database.prepare<Record<string, unknown>>(`PRAGMA ${name}`).get() ?? {};
        const key = `${mode} ${name}`;
        seen[key] = (seen[key] ?? new Set()).add(Object.values(row)[0]);
      }
    };
    const load = async (): Promise<SqliteLibrary> => ({
      open: (path, mode) => {
        const database = sqlite.open(path, mode);
        const looking = (sql: string): boolean => sql.startsWith('BEGIN');
        return {
          ...database,
          exec: (sql) => {
            if (looking(sql) && path.endsWith('mirror.sqlite')) look(database, mode);
            database.exec(sql);
          },
        };
      },
    });
    await place.write('a', turn(message('i-1', 'words')));
    const mirror = await place.mirror({ load });
    await mirror.catchUp();
    await place.write('a', turn(message('i-2', 'words')));
    await mirror.catchUp();
    idsOf(mirror, 'words');
    const values = Object.fromEntries(Object.entries(seen).map(([name, found]) => [name, [...found]]));
    expect(values).toMatchObject({
      'read-write busy_timeout': [5000],
      'read-write foreign_keys': [1],
      'read-write temp_store': [2],
      'read-write trusted_schema': [0],
      'read-write synchronous': [1],
      'read-write wal_autocheckpoint': [1000],
      'read-write journal_size_limit': [67_108_864],
      'read-only busy_timeout': [5000],
      'read-only trusted_schema': [0],
    });
  });
});

test('without better-sqlite3, or with one of another Node, everything else works and says so', async () => {
  const { openMirror } = await import('@turnlog/mirror');
  await withStore(async (place) => {
    await place.write('a', turn(message('i-1', 'words')));
    const load = async (): Promise<SqliteLibrary> => {
      throw new Error('The module was compiled against a different Node.js version');
    };
    const opened = await openMirror(place.store, { load });
    expect(opened.kind).toBe('off');
    expect(opened.kind === 'off' && opened.reason).toMatch(/better-sqlite3.*different Node/);
    await place.write('a', turn(message('i-2', 'words')));
    expect([...place.store.read('a').records()].length).toBe(6);
  });
});

test('B139 no write-ahead log on NFS, SMB and FUSE, also where one was before; rebuilt after damage', async () => {
  const { existsSync, writeFileSync } = await import('node:fs');
  for (const magic of [0x6969n, 0x517bn, 0x65735546n]) {
    await withStore(async (place) => {
      const kind = filesystemKind('/', () => magic);
      await place.write('a', turn(message('i-1', 'words')));
      const local = await place.mirror();
      await local.catchUp();
      local.close();
      const mirror = await place.mirror({ filesystemKind: () => kind });
      await place.write('a', turn(message('i-2', 'words')));
      expect(await mirror.catchUp()).toMatchObject({ isComplete: true });
      expect(existsSync(place.path('mirror.sqlite-wal'))).toBe(false);
      expect(existsSync(place.path('mirror.sqlite-shm'))).toBe(false);
      writeFileSync(place.path('mirror.sqlite'), 'damage');
      expect(await mirror.catchUp()).toMatchObject({ needsRebuild: true });
      expect(await mirror.rebuild()).toMatchObject({ isComplete: true });
      expect(idsOf(mirror, 'words').length).toBe(2);
      expect(existsSync(place.path('mirror.sqlite-wal'))).toBe(false);
    });
  }
});
