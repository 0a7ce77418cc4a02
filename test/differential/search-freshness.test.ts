import { appendFileSync, readFileSync } from 'node:fs';
import type { EventInput } from '@turnlog/log';
import { loadSqlite } from '@turnlog/mirror';
import type { SearchAnswer } from '@turnlog/search';
import { SeededRandom } from '@turnlog/testkit';
import { engines, idsOf, type SearchedStore, withSearchedStore } from './searched-store.js';

const message = (id: string, text: string): EventInput => ({
  type: 'item.completed',
  item: { id, type: 'agent_message', text },
});

interface Recount {
  readonly events: number;
  readonly bytes: number;
  readonly sessions: number;
}

/**
 * How far an answer is behind the logs as they are now, by other means than it counts with: each record holds one word
 * once, so that the counts by session say how many lines of each log are in the index.
 */
function recount(place: SearchedStore, sessions: readonly string[], answer: SearchAnswer): Recount {
  const held = new Map(answer.facets?.session.map(({ value, count }) => [value, count]));
  let [events, bytes, behind] = [0, 0, 0];
  for (const session of sessions) {
    const log = readFileSync(place.path(`sessions/${session}/events.jsonl`));
    const lines = log.toString('utf8').split('\n').slice(0, -1);
    const left = lines.slice(held.get(session) ?? 0);
    events += left.length;
    bytes += left.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    behind += left.length === 0 ? 0 : 1;
  }
  return { events, bytes, sessions: behind };
}

/** Appends to some logs as fast as the loop allows, until it is ended. */
class FullSpeedWriter {
  written = 0;
  #isWriting = true;
  readonly #ended: Promise<void>;

  constructor(logs: readonly SessionLog[]) {
    this.#ended = this.#run(logs);
  }

  end(): Promise<void> {
    this.#isWriting = false;
    return this.#ended;
  }

  async #run(logs: readonly SessionLog[]): Promise<void> {
    while (this.#isWriting) {
      for (const log of logs) {
        for (let at = 0; at < 3; at += 1) {
          log.append(message(`w${this.written}`, `needle w${this.written}`));
          this.written += 1;
        }
        log.flush();
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

type SessionLog = Awaited<ReturnType<SearchedStore['store']['open']>>;

/** Asks each engine without patience; returns how many records one was behind at most. */
async function expectRecounted(place: SearchedStore, sessions: readonly string[]): Promise<number> {
  let most = 0;
  for (const engine of engines) {
    const answer = await place.ask({ text: 'needle', engine, facets: true, limit: 0, waitMs: 0 });
    // Nobody has written since: that takes a turn of the loop.
    const counted = recount(place, sessions, answer);
    expect([engine, answer.engine, answer.behind]).toEqual([engine, engine, counted]);
    most = Math.max(most, counted.events);
  }
  return most;
}

test('Q-16 behind is 0 after the wait on an idle store; under a writer it is what a recount finds; what this process wrote is found', async () => {
  await withSearchedStore(async (place) => {
    const sessions = ['a', 'b', 'c'];
    const texts = Array.from({ length: 400 }, (_, at) => `needle ${at}`);
    for (const session of sessions) await place.say(session, texts);
    const logs = await Promise.all(sessions.map((session) => place.store.open(session)));
    const writer = new FullSpeedWriter(logs);
    const behind: number[] = [];
    try {
      for (let round = 0; round < 12; round += 1) behind.push(await expectRecounted(place, sessions));
    } finally {
      await writer.end();
    }
    expect(Math.max(...behind)).toBeGreaterThan(0);
    for (const engine of engines) {
      const idle = await place.ask({ text: 'needle', engine, limit: 0 });
      expect([engine, idle.behind]).toEqual([engine, { events: 0, bytes: 0, sessions: 0 }]);
      expect(idle.total).toEqual({ value: 1_200 + writer.written, relation: 'eq' });
    }
    for (const engine of engines) {
      const [log] = logs;
      const { seq } = log?.append(message(`own-${engine}`, `zeppelin ${engine}`)) ?? { seq: 0 };
      log?.flush();
      const own = await place.ask({ text: `zeppelin ${engine}`, engine });
      expect([own.engine, idsOf(own)[0]]).toEqual([engine, `a:${seq}`]);
    }
    for (const log of logs) await log.close();
  });
}, 120_000);

test.each(engines)('%s: questions that are asked at once take nothing in twice', async (engine) => {
  await withSearchedStore(async (place) => {
    for (const session of ['a', 'b', 'c']) {
      await place.say(
        session,
        Array.from({ length: 300 }, (_, at) => `needle ${at}`),
      );
    }
    const asked = Array.from({ length: 5 }, () =>
      place.ask({ text: 'needle', engine, facets: true, limit: 100 }),
    );
    const answers = await Promise.all(asked);
    for (const { total, facets, hits } of answers) {
      expect(total).toEqual({ value: 900, relation: 'eq' });
      expect(facets?.session.map(({ count }) => count)).toEqual([300, 300, 300]);
      expect(new Set(hits.map(({ id }) => id)).size).toBe(100);
    }
  });
});

test('a line that is still being written is bytes behind, and no event', async () => {
  await withSearchedStore(async (place) => {
    await place.say('a', ['needle']);
    appendFileSync(place.path('sessions/a/events.jsonl'), '{"schema');
    for (const engine of engines) {
      const { behind } = await place.ask({ text: 'needle', engine });
      expect([engine, behind]).toEqual([engine, { events: 0, bytes: 8, sessions: 1 }]);
    }
  });
});

test('B35: what came to the mirror in any order is read back in the order of seqs, in every engine', async () => {
  await withSearchedStore(async (place) => {
    const random = new SeededRandom(23);
    const sessions = ['b', 'a-10', 'a-9', 'c', 'a'];
    for (let round = 0; round < 24; round += 1) {
      const session = sessions[random.below(sessions.length)] ?? 'a';
      await place.say(session, ['needle', 'needle']);
      // Each is taken in at once, so that rows stand in the order in which they came.
      await place.ask({ text: 'needle', engine: 'fts5' });
    }
    const database = (await loadSqlite()).open(place.path('mirror.sqlite'), 'read-only');
    const rows = database
      .prepare<{ session: string; seq: number }>('SELECT session, seq FROM chunk ORDER BY rowid')
      .all()
      .map(({ session, seq }) => `${session}:${seq}`);
    database.close();
    const found = await place.answer({ text: 'needle', limit: 100 });
    const ids = idsOf(found);
    expect([...ids].sort()).toEqual([...rows].sort());
    expect(ids).not.toEqual(rows);
    const inOrder = [...found.hits].sort(
      (left, right) =>
        Buffer.compare(Buffer.from(left.session), Buffer.from(right.session)) || left.seq - right.seq,
    );
    expect(found.hits).toEqual(inOrder);
    expect(Math.max(...found.hits.map(({ seq }) => seq))).toBeGreaterThanOrEqual(10);
    // Texts without a word are looked through, the newest first; of unknown times by their ids.
    await place.say('b', ['=> and', '=> or']);
    await place.say('a', ['=> not']);
    const [latest] = (await place.answer({ text: '=>', limit: 100 })).hits;
    expect([latest?.session, (await place.answer({ text: '=>' })).hits.length]).toEqual(['a', 3]);
  });
});
