import type { FileSystem } from '@turnlog/kernel';
import { loadSqlite, type Mirror, type SqliteLibrary } from '@turnlog/mirror';
import { idsOf, message, turn, withStore } from './support.js';

/** Everything that a rebuild does is a moment: `at` is called before each call of SQLite and of the file system. */
function watched(sqlite: SqliteLibrary, at: () => void): SqliteLibrary {
  return {
    open: (path, mode) => {
      at();
      const database = sqlite.open(path, mode);
      return {
        prepare: (sql) => database.prepare(sql),
        exec: (sql) => {
          at();
          database.exec(sql);
        },
        close: () => {
          database.close();
          at();
        },
      };
    },
  };
}

function watchedFs(fs: FileSystem, at: () => void): FileSystem {
  const verbs: Partial<FileSystem> = {
    rename: (from, to) => {
      at();
      fs.rename(from, to);
      at();
    },
    removeFile: (path) => {
      at();
      fs.removeFile(path);
      at();
    },
    syncDirectory: (path) => {
      at();
      return fs.syncDirectory(path);
    },
  };
  return { ...fs, ...verbs };
}

test('Q-20 16 readers during rebuild and swap see whole generations only, and no error', async () => {
  await withStore(async (place) => {
    const sqlite = await loadSqlite();
    for (const id of ['a', 'b', 'c']) await place.write(id, turn(message('i-1', 'shared words')));
    const first = await place.mirror();
    await first.catchUp();
    const old = idsOf(first, 'words');
    for (const id of ['d', 'e']) await place.write(id, turn(message('i-1', 'shared words')));
    const readers: Mirror[] = [];
    for (let count = 0; count < 16; count += 1) readers.push(await place.mirror());
    const seen = new Set<string>();
    let moments = 0;
    const look = (): void => {
      moments += 1;
      // Some keep their connection through all of it, some open a new one at every moment.
      for (const [number, reader] of readers.entries()) {
        if (number % 4 === 0) reader.close();
        seen.add(idsOf(reader, 'words').join());
      }
    };
    const { environment } = place.store;
    const { fs } = environment;
    const rebuilding = await place.mirror({ load: async () => watched(sqlite, look) });
    Object.assign(environment, { fs: watchedFs(fs, look) });
    try {
      expect((await rebuilding.rebuild()).isComplete).toBe(true);
    } finally {
      Object.assign(environment, { fs });
    }
    const present = idsOf(rebuilding, 'words');
    expect(moments).toBeGreaterThan(20);
    expect(present.length).toBe(5);
    expect([...seen].sort()).toEqual([old.join(), present.join()].sort());
    for (const reader of readers) expect(idsOf(reader, 'words')).toEqual(present);
  });
});

test('a mirror that was replaced is opened anew', async () => {
  await withStore(async (place) => {
    await place.write('a', turn(message('i-1', 'words')));
    const mirror = await place.mirror();
    await mirror.catchUp();
    await place.write('b', turn(message('i-1', 'words')));
    const other = await place.mirror();
    expect(idsOf(mirror, 'words')).toEqual(['a:2']);
    await other.rebuild();
    expect(idsOf(mirror, 'words').length).toBe(2);
  });
});

test('B35 rows that were put in in any order are read in the order of seq, and equal times keep the order of the file', async () => {
  await withStore(async (place) => {
    const log = await place.store.open('a');
    for (let at = 1; at <= 40; at += 1) {
      log.append({
        type: 'item.completed',
        item: { id: `i-${at}`, type: 'agent_message', text: 'same words' },
      });
    }
    await log.close();
    const mirror = await place.mirror();
    await mirror.catchUp();
    const before = idsOf(mirror, 'words');
    const walked = [...mirror.index.newestFirst()].map(({ seq }) => seq);
    mirror.close();
    const database = (await loadSqlite()).open(place.path('mirror.sqlite'), 'read-write');
    // The same rows, their numbers shuffled: the order in which they lie is another one now.
    database.exec(`
      CREATE TEMP TABLE shuffled AS SELECT *, (rowid * 7) % 41 AS place FROM chunk;
      DELETE FROM chunk;
      DELETE FROM chunk_fts;
      INSERT INTO chunk SELECT place, session, seq, n, turn, ts, role, kind, tool, paths, item_id, len, text_offset,
        text_length, superseded_by, superseded_ts FROM shuffled ORDER BY place;
      INSERT INTO chunk_fts (rowid, t) SELECT rowid, 'same words' FROM chunk ORDER BY rowid DESC;
      CREATE TEMP TABLE records AS SELECT * FROM record;
      DELETE FROM record;
      INSERT INTO record SELECT * FROM records ORDER BY (seq * 7) % 41;
    `);
    database.close();
    const inOrder = Array.from({ length: 40 }, (_, at) => at + 1);
    expect(before).toEqual(inOrder.map((seq) => `a:${seq}`));
    expect(idsOf(mirror, 'words')).toEqual(before);
    expect(walked).toEqual(inOrder);
    expect([...mirror.index.newestFirst()].map(({ seq }) => seq)).toEqual(inOrder);
    expect([...place.store.read('a').records()].map(({ seq }) => seq)).toEqual(inOrder);
  });
});

test('all chunks are walked through, the newest first, unknown times last, however many there are', async () => {
  await withStore(async (place) => {
    const log = await place.store.open('a');
    for (let at = 1; at <= 700; at += 1) {
      const event = {
        type: 'item.completed',
        item: { id: `i-${at}`, type: 'agent_message', text: `word ${at}` },
      };
      log.append(event as Parameters<typeof log.append>[0], at > 300 ? {} : { tsMs: null });
      if (at % 2 === 0) place.clock.advance(1_000);
    }
    await log.close();
    const mirror = await place.mirror();
    await mirror.catchUp();
    const walked = [...mirror.index.newestFirst()];
    expect(walked.length).toBe(700);
    expect(new Set(walked.map(({ seq }) => seq)).size).toBe(700);
    const known = walked.map((key) => mirror.index.fieldsOf(key)?.tsMs ?? null);
    const firstUnknown = known.indexOf(null);
    expect(firstUnknown).toBe(400);
    expect(known.slice(firstUnknown).every((ts) => ts === null)).toBe(true);
    const times = known.slice(0, firstUnknown).map(Number);
    expect(times).toEqual([...times].sort((left, right) => right - left));
    expect(walked.slice(firstUnknown).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 300 }, (_, at) => at + 1),
    );
  });
});
