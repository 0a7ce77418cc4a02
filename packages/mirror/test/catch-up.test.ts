import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSqlite, type SqliteDatabase, type SqliteLibrary } from '@turnlog/mirror';
import fc from 'fast-check';
import { idsOf, type MirrorStore, message, turn, withStore } from './support.js';

/** How many rows a table of the mirror has. */
async function countOf(place: MirrorStore, sql: string): Promise<number> {
  const database = (await loadSqlite()).open(place.path('mirror.sqlite'), 'read-only');
  try {
    return database.prepare<{ readonly n: number }>(`SELECT count(*) AS n FROM ${sql}`).get()?.n ?? -1;
  } finally {
    database.close();
  }
}

test('what was appended is found, and what is appended next as well', async () => {
  await withStore(async (place) => {
    await place.write('a', turn(message('i-1', 'rust cargo tool')));
    await place.write('b', turn(message('i-1', 'cargo build')));
    const mirror = await place.mirror();
    expect(await mirror.catchUp()).toEqual({
      isComplete: true,
      failed: [],
      degraded: [],
      needsRebuild: false,
    });
    expect(idsOf(mirror, 'cargo')).toEqual(['b:2', 'a:2']);
    await place.write('a', turn(message('i-2', 'cargo again')));
    expect((await mirror.catchUp()).isComplete).toBe(true);
    expect([...idsOf(mirror, 'cargo')].sort()).toEqual(['a:2', 'a:5', 'b:2']);
    expect((await mirror.check()).difference).toBeNull();
  });
});

/** A library whose connections end the process, as far as they are concerned, at the n-th commit. */
function dyingAt(sqlite: SqliteLibrary, commit: number, moment: 'before' | 'after'): SqliteLibrary {
  let count = 0;
  const dying = (database: SqliteDatabase): SqliteDatabase => ({
    ...database,
    exec: (sql) => {
      if (sql !== 'COMMIT') {
        database.exec(sql);
        return;
      }
      count += 1;
      if (count === commit && moment === 'before') throw new Killed();
      database.exec(sql);
      if (count === commit) throw new Killed();
    },
  });
  return { open: (path, mode) => dying(sqlite.open(path, mode)) };
}

class Killed extends Error {}

test('5 records, append 3, catch up: 8; killed at every commit, none is there twice and none is lost', async () => {
  await withStore(async (place) => {
    const sqlite = await loadSqlite();
    await place.write('a', turn(message('i-1', 'one'), message('i-2', 'two'), message('i-3', 'three')));
    await (await place.mirror()).catchUp();
    expect(await countOf(place, 'record')).toBe(5);
    await place.write('a', [{ type: 'turn.started' }, message('i-4', 'four'), message('i-1', 'one anew')]);
    for (let commit = 1, isKilled = true; isKilled; commit += 1) {
      for (const moment of ['before', 'after'] as const) {
        const mirror = await place.mirror({ load: async () => dyingAt(sqlite, commit, moment) });
        isKilled = await mirror.catchUp().then(
          () => false,
          (error) => {
            if (!(error instanceof Killed)) throw error;
            return true;
          },
        );
        const ahead = `record, cursor WHERE session = log AND record.offset >= cursor.offset`;
        expect(await countOf(place, ahead)).toBe(0);
      }
    }
    expect((await (await place.mirror()).catchUp()).isComplete).toBe(true);
    expect(await countOf(place, 'record')).toBe(8);
    expect(await countOf(place, 'chunk WHERE superseded_by IS NULL')).toBe(4);
    expect((await (await place.mirror()).check()).outcome).toBe('equal');
  });
});

test('a poll in the middle of a line waits for its end; the offset passes only 0x0A', async () => {
  await withStore(async (place) => {
    await place.write('a', turn(message('i-1', 'first')));
    const path = place.path('sessions/a/events.jsonl');
    const line = `${JSON.stringify({ schema_version: '0.18.0', seq: 4, ts: '2026-01-05T10:00:00.000Z', event: message('i-2', 'zwölf später') })}\n`;
    const bytes = Buffer.from(line);
    const mirror = await place.mirror();
    await mirror.catchUp();
    const before = statSync(path).size;
    for (let cut = 1; cut < bytes.length; cut += 7) {
      truncateSync(path, before);
      appendFileSync(path, bytes.subarray(0, cut));
      expect((await mirror.catchUp()).isComplete).toBe(true);
      expect(await countOf(place, `cursor WHERE offset <> ${before}`)).toBe(0);
    }
    truncateSync(path, before);
    appendFileSync(path, bytes);
    await mirror.catchUp();
    expect(idsOf(mirror, 'später')).toEqual(['a:4']);
    expect(await countOf(place, 'record WHERE seq = 4')).toBe(1);
  });
});

test('a session that cannot be read keeps its rows, is named, and blocks no other; it is tried again later', async () => {
  await withStore(async (place) => {
    await place.write('bad', turn(message('i-1', 'kept words')));
    await place.write('good', turn(message('i-1', 'other words')));
    const mirror = await place.mirror();
    await mirror.catchUp();
    const path = place.path('sessions/bad/events.jsonl');
    const bytes = readFileSync(path);
    rmSync(path);
    const { mkdirSync, rmdirSync } = await import('node:fs');
    mkdirSync(path);
    await place.write('good', turn(message('i-2', 'more words')));
    const round = await mirror.catchUp();
    expect(round.failed.map(({ session, error }) => [session, error.code])).toEqual([
      ['bad', 'TURNLOG_UNSAFE_PATH'],
    ]);
    expect(round.degraded.join()).toContain('bad');
    expect([...idsOf(mirror, 'words')].sort()).toEqual(['bad:2', 'good:2', 'good:5']);
    // It rests now, and is asked again when that is over; until then it is named all the same.
    const reading = jest.spyOn(place.store, 'read');
    const resting = await mirror.catchUp();
    expect([resting.failed.map(({ session }) => session), resting.degraded.join()]).toEqual([
      ['bad'],
      expect.stringContaining('bad'),
    ]);
    expect(reading).not.toHaveBeenCalled();
    reading.mockRestore();
    rmdirSync(path);
    writeFileSync(path, bytes, { mode: 0o600 });
    place.clock.advance(10_000);
    expect(await mirror.catchUp()).toMatchObject({ isComplete: true, failed: [] });
    expect((await mirror.check()).outcome).toBe('equal');
  });
});

test('a session that was removed leaves; one that comes back is there again', async () => {
  await withStore(async (place) => {
    await place.write('a', turn(message('i-1', 'words')));
    await place.write('b', turn(message('i-1', 'words')));
    const mirror = await place.mirror();
    await mirror.catchUp();
    const { renameSync } = await import('node:fs');
    renameSync(place.path('sessions/a'), join(place.root, 'elsewhere'));
    await mirror.catchUp();
    expect(idsOf(mirror, 'words')).toEqual(['b:2']);
    expect((await mirror.check()).outcome).toBe('equal');
    renameSync(join(place.root, 'elsewhere'), place.path('sessions/a'));
    await mirror.catchUp();
    expect(idsOf(mirror, 'words')).toEqual(['a:2', 'b:2']);
  });
});

test.each(['gzip', 'drop'] as const)(
  'turns that leave a log by its cap (%s): places are renewed, or it is read again',
  async (archive) => {
    await withStore(async (place) => {
      const mirror = await place.mirror();
      const write = async (from: number, to: number): Promise<void> => {
        const log = await place.store.open('a', { cap: { maxEvents: 20, archive } });
        for (let at = from; at < to; at += 1) {
          for (const event of turn(message(`i-${at}`, `words of turn ${at}`))) {
            log.append(event as Parameters<typeof log.append>[0]);
            place.clock.advance(1_000);
          }
        }
        await log.maintain();
        await log.close();
      };
      for (const [from, to] of [
        [0, 4],
        [4, 12],
        [12, 30],
      ] as const) {
        await write(from, to);
        expect(await mirror.catchUp()).toMatchObject({ isComplete: true, failed: [] });
        expect((await mirror.check()).difference).toBeNull();
      }
      const kept = await countOf(place, 'record WHERE archive IS NOT NULL');
      expect(kept > 0).toBe(archive === 'gzip');
      const said = await countOf(place, "chunk WHERE kind = 'message'");
      expect(said === 30).toBe(archive === 'gzip');
    });
  },
);

test('I9: followed step by step it says what one built at once says, for random histories', async () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant('started'), id: fc.nat(3), text: fc.constantFrom('alpha', 'beta alpha') }),
    fc.record({
      kind: fc.constant('updated'),
      id: fc.nat(3),
      text: fc.constantFrom('gamma', 'delta user_id'),
    }),
    fc.record({
      kind: fc.constant('completed'),
      id: fc.nat(3),
      text: fc.constantFrom('omega', '用户身份', ''),
    }),
  );
  const steps = fc.array(
    fc.record({ session: fc.constantFrom('a', 'b'), events: fc.array(event, { maxLength: 6 }) }),
    { minLength: 1, maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (rounds) => {
      await withStore(async (place) => {
        const mirror = await place.mirror();
        for (const { session, events } of rounds) {
          const items = events.map(({ kind, id, text }) => ({
            type: `item.${kind}`,
            item: { id: `i-${id}`, type: 'agent_message', text },
          }));
          await place.write(session, turn(...items));
          expect((await mirror.catchUp()).isComplete).toBe(true);
        }
        expect(await mirror.check()).toMatchObject({ outcome: 'equal', difference: null });
      });
    }),
    { numRuns: 12 },
  );
});

test('the wait is kept: what was taken in by then stays, and the next call goes on', async () => {
  await withStore(async (place) => {
    for (const id of ['a', 'b', 'c']) await place.write(id, turn(message('i-1', 'words')));
    const mirror = await place.mirror();
    const stop = new AbortController();
    stop.abort();
    expect((await mirror.catchUp({ signal: stop.signal })).isComplete).toBe(false);
    expect((await mirror.catchUp()).isComplete).toBe(true);
    expect(idsOf(mirror, 'words')).toEqual(['a:2', 'b:2', 'c:2']);
  });
});
