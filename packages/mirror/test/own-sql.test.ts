import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSqlite } from '@turnlog/mirror';
import { message, say, turn, withStore } from './support.js';

/** The queries that the README gives people, as they stand there. */
const queries = [
  ...readFileSync(join(__dirname, '..', 'README.md'), 'utf8').matchAll(/```sql\n([\s\S]*?)```/g),
].map(([, sql = '']) => sql);

test('the queries of the README answer on a mirror that is open for reading, while it is written to', async () => {
  await withStore(async (place) => {
    const change = { path: 'src/log-store.ts', kind: 'update' };
    await place.write('a', [
      { type: 'run.started', program: 'p', cwd: '/w', workspace: '/w', model: 'm-1' },
      ...turn(say('build it with cargo'), message('i-1', 'cargo it is'), {
        type: 'item.completed',
        item: { id: 'i-2', type: 'file_change', changes: [change], status: 'completed' },
      }),
    ]);
    const mirror = await place.mirror();
    await mirror.catchUp();
    const database = (await loadSqlite()).open(mirror.path, 'read-only');
    try {
      expect(queries.length).toBe(3);
      const answers = queries.map((sql) => database.prepare<Record<string, unknown>>(sql).all());
      expect(answers).toMatchObject([
        [{ model: 'm-1', input: 10, output: 2 }],
        [{ session: 'a', seq: 5, op: 'update' }],
        [
          { session: 'a', seq: 3, n: 0, archive: null },
          { session: 'a', seq: 4, n: 0, archive: null },
        ],
      ]);
      const first = answers[2]?.[0];
      const log = readFileSync(place.path('sessions/a/events.jsonl'));
      const { offset, length } = first ?? {};
      const line = log.subarray(Number(offset), Number(offset) + Number(length)).toString('utf8');
      expect(JSON.parse(line)).toMatchObject({ seq: 3, event: { type: 'user.message' } });
      await place.write('b', turn(message('i-1', 'more cargo')));
      expect(await mirror.catchUp()).toMatchObject({ isComplete: true });
      expect(database.prepare<Record<string, unknown>>(queries[2] ?? '').all().length).toBe(3);
      expect(() => database.exec('DELETE FROM chunk')).toThrow(
        expect.objectContaining({ code: 'SQLITE_READONLY' }),
      );
    } finally {
      database.close();
    }
  });
});

test('usage counts each token once: answers before their turn, the last snapshot of an answer, no copy', async () => {
  await withStore(async (place) => {
    const usage = (input: number): object => ({
      input_tokens: input,
      cached_input_tokens: 0,
      cache_creation_tokens: 0,
      output_tokens: 1,
    });
    const answer = (id: string, input: number, more: object = {}): object => ({
      type: 'run.answer',
      answer_id: id,
      model: 'm',
      usage: usage(input),
      ...more,
    });
    await place.write('a', [
      { type: 'turn.started' },
      answer('x', 5),
      answer('x', 7),
      answer('y', 100, { repeat_of: 'elsewhere' }),
      { type: 'turn.completed', usage: usage(50) },
      { type: 'turn.started' },
      { type: 'turn.completed', usage: usage(30) },
      {
        type: 'thread.completed',
        thread_id: 't',
        session_id: 's',
        subtype: 'success',
        outcome_code: 'completed',
        usage: usage(900),
        num_turns: 2,
      },
    ]);
    const mirror = await place.mirror();
    await mirror.catchUp();
    const database = (await loadSqlite()).open(mirror.path, 'read-only');
    try {
      const rows = database
        .prepare<{ readonly key: string; readonly input_tokens: number }>(
          'SELECT key, input_tokens FROM counted_usage ORDER BY key',
        )
        .all();
      expect(rows).toEqual([
        { key: '["x",null]', input_tokens: 7 },
        { key: 'turn 2', input_tokens: 30 },
      ]);
    } finally {
      database.close();
    }
  });
});
