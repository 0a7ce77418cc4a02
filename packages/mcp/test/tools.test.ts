import { packSession } from '@turnlog/audit';
import { asked, changed, ended, listIn, type Reply, readWhole, said, World } from './world.js';

const called = (id: string, tool: string, status: string): object => ({
  type: 'item.completed',
  item: { id, type: 'tool_invocation', tool_name: tool, status, arguments: { path: 'src/a.ts' } },
});

const started = (workspace: string, agent: string): object => ({
  type: 'run.started',
  program: 'p',
  version: '1',
  cwd: workspace,
  workspace,
  agent,
});

const made = '--- /dev/null\n+++ b/src/a.ts\n@@ -0,0 +1,2 @@\n+one\n+two\n';
const replaced = '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n';

/** A session of twelve turns, and one of a program. */
function filled(): World {
  const world = new World();
  const turns = Array.from({ length: 12 }, (_, at) => [
    { type: 'turn.started' },
    asked(`m${at}`, `please do thing ${at}`),
    ...(at === 3 ? [changed('f1', 'src/a.ts', made, 'add'), called('t1', 'read_file', 'completed')] : []),
    ...(at === 7 ? [changed('f2', 'src/a.ts', replaced), called('t2', 'read_file', 'failed')] : []),
    said(`a${at}`, `did thing ${at}`),
    ended,
  ]).flat();
  world.plant('long', [started('/w', 'primary'), { type: 'journal.set', title: 'Twelve things' }, ...turns]);
  world.plant('nightly', [started('/w', 'headless'), said('a1', 'thing of the night')], 300);
  return world;
}

const turnsOf = (reply: Reply): readonly unknown[] => listIn(reply, 'turns').map(({ turn }) => turn);
const cursorOf = ({ document }: Reply): unknown => document['next_cursor'];

describe('turnlog_timeline', () => {
  test('gives the last turns, those around a turn, and those around a record', async () => {
    const [last, around, record, between] = await filled().call(
      ['turnlog_timeline', { session: 'long' }],
      ['turnlog_timeline', { session: 'long', turn: 4, before: 1, after: 2 }],
      ['turnlog_timeline', { around: 'long:4', before: 0, after: 0 }],
      ['turnlog_timeline', { around: 'long:2', before: 0, after: 1 }],
    );
    if (!last || !around || !record || !between) throw new Error('an answer is missing');
    expect([turnsOf(last), cursorOf(last)]).toEqual([[8, 9, 10, 11, 12], null]);
    expect(turnsOf(around)).toEqual([3, 4, 5, 6]);
    expect(turnsOf(record)).toEqual([1]);
    expect(turnsOf(between)).toEqual([1]);
  });

  test('says of a turn what was asked, which tools were called how often, which files were touched, how it ended', async () => {
    const reply = await filled().one('turnlog_timeline', {
      session: 'Twelve things',
      turn: 8,
      before: 0,
      after: 0,
    });
    expect(reply.document).toMatchObject({ session: 'long', title: 'Twelve things', workspaces: ['/w'] });
    expect(listIn(reply, 'turns')).toEqual([
      {
        turn: 8,
        status: 'completed',
        from_seq: 33,
        to_seq: 38,
        ts: '2026-10-05T08:00:32.000Z',
        records: 6,
        headline: 'please do thing 7',
        tools: [{ tool: 'read_file', calls: 1, failed: 1 }],
        files: ['src/a.ts'],
        more: { tools: 0, files: 0 },
      },
    ]);
  });

  test('goes on by its cursor until there is nothing more, and not into another session', async () => {
    const world = filled();
    const first = await world.one('turnlog_timeline', { session: 'long', turn: 1, before: 0, after: 4 });
    const second = await world.one('turnlog_timeline', {
      session: 'long',
      after: 4,
      cursor: cursorOf(first),
    });
    expect([turnsOf(first), turnsOf(second), cursorOf(second)]).toEqual([
      [1, 2, 3, 4, 5],
      [6, 7, 8, 9, 10, 11, 12],
      null,
    ]);
    const other = await world.one('turnlog_timeline', { session: 'nightly', cursor: cursorOf(first) });
    expect(other).toMatchObject({ isError: true, document: { error: { code: 'TURNLOG_CURSOR_MISMATCH' } } });
  });
});

describe('turnlog_get', () => {
  test('gives a record by the id of a hit, and records of a session from one to another', async () => {
    const world = filled();
    const hit = await world.one('turnlog_search', { text: 'please do thing 5', limit: 1 });
    const [found] = listIn(hit, 'hits');
    const one = await world.one('turnlog_get', { id: found?.['id'] });
    expect(listIn(one, 'records')).toMatchObject([
      { id: found?.['id'], role: 'user', text: 'please do thing 5' },
    ]);
    const some = await world.one('turnlog_get', { session: 'long', from_seq: 2, to_seq: 4 });
    expect(listIn(some, 'records').map(({ id, role, kind, text }) => [id, role, kind, text])).toEqual([
      ['long:2', 'system', 'journal.set', ''],
      ['long:3', 'system', 'turn.started', ''],
      ['long:4', 'user', 'message', 'please do thing 0'],
    ]);
    expect(some.document).toMatchObject({ session: 'long', next_cursor: null, capped: false });
  });

  test('a long text is cut and goes on with its pieces; the cursor goes on behind the record', async () => {
    const world = new World();
    const text = Array.from({ length: 60_000 }, (_, at) => `word${at}`).join('\n');
    world.plant('big', [said('a1', text), said('a2', 'the end')]);
    const cut = await world.one('turnlog_get', { session: 'big' });
    const [record] = listIn(cut, 'records');
    const shown = String(record?.['text']);
    expect(text.startsWith(shown)).toBe(true);
    expect(shown.length).toBeGreaterThan(8_000);
    expect(record?.['truncated_bytes']).toBe(text.length - shown.length);
    expect(cut.document['capped']).toBe(true);
    const piece = await world.one('turnlog_get', { id: 'big:1:3' });
    const rest = String(listIn(piece, 'records')[0]?.['text']);
    expect(rest.length).toBeGreaterThan(8_000);
    expect(text.indexOf(rest)).toBeGreaterThan(8_000);
    const behind = await world.one('turnlog_get', { session: 'big', cursor: cursorOf(cut) });
    expect([listIn(behind, 'records').map(({ text: said }) => said), cursorOf(behind)]).toEqual([
      ['the end'],
      null,
    ]);
  });

  test('what is not there is not found', async () => {
    const replies = await filled().call(
      ['turnlog_get', { id: 'long:9999' }],
      ['turnlog_get', { id: 'nobody:1' }],
      ['turnlog_get', { session: 'nobody' }],
    );
    expect(replies.map(({ isError, document }) => [isError, Object(document['error']).code])).toEqual(
      Array(3).fill([true, 'TURNLOG_NOT_FOUND']),
    );
  });
});

describe('turnlog_blame', () => {
  test('names the records that changed a file, page by page, and the one that wrote a line', async () => {
    const world = filled();
    const seqs = (reply: Reply): readonly unknown[] => listIn(reply, 'records').map(({ seq }) => seq);
    const all = await world.one('turnlog_blame', { path: 'src/a.ts' });
    expect(seqs(all)).toEqual([35, 17]);
    expect(seqs(await world.one('turnlog_blame', { path: 'src/a.ts', reads: true }))).toEqual([
      36, 35, 18, 17,
    ]);
    const first = await world.one('turnlog_blame', { path: 'src/a.ts', limit: 1 });
    const second = await world.one('turnlog_blame', { path: 'src/a.ts', limit: 1, cursor: cursorOf(first) });
    expect([seqs(first), seqs(second), cursorOf(second)]).toEqual([[35], [17], null]);
    const line = await world.one('turnlog_blame', { path: '/w/src/a.ts', line: 2 });
    expect(line.document['origin']).toMatchObject({ status: 'added', text: 'zwei', record: { seq: 35 } });
  });
});

describe('turnlog_stats', () => {
  test('by session it is the list of sessions; those of programs only on request', async () => {
    const world = filled();
    const shown = await world.one('turnlog_stats', { by: ['session'] });
    expect(listIn(shown, 'rows')).toMatchObject([{ session: 'long', title: 'Twelve things', turns: 12 }]);
    expect(shown.document).toMatchObject({ hidden: 1, total: { sessions: 2 } });
    const all = await world.one('turnlog_stats', { by: ['session'], include_hidden: true });
    expect(listIn(all, 'rows').map(({ session, agent }) => [session, agent])).toEqual([
      ['long', 'primary'],
      ['nightly', 'headless'],
    ]);
  });

  test('rows by tool and day, from a day on, page by page', async () => {
    const world = filled();
    const tools = await world.one('turnlog_stats', { by: ['tool'] });
    expect(listIn(tools, 'rows')).toMatchObject([{ tool: 'read_file', tool_calls: 2, failed_tool_calls: 1 }]);
    const later = await world.one('turnlog_stats', { by: ['day'], since: '2026-10-06' });
    expect(listIn(later, 'rows')).toEqual([]);
    const first = await world.one('turnlog_stats', { by: ['session'], include_hidden: true, limit: 1 });
    const second = await world.one('turnlog_stats', {
      by: ['session'],
      include_hidden: true,
      limit: 1,
      cursor: cursorOf(first),
    });
    expect(listIn(second, 'rows')).toMatchObject([{ session: 'nightly' }]);
    expect(cursorOf(second)).toBeNull();
  });
});

describe('turnlog_search', () => {
  test('keeps to filters and the syntax that is asked for, and explains itself', async () => {
    const world = filled();
    const idsOf = (reply: Reply): readonly unknown[] => listIn(reply, 'hits').map(({ id }) => id);
    const hidden = await world.one('turnlog_search', { text: 'night', include_hidden: true });
    expect(idsOf(hidden)).toEqual(['nightly:2']);
    const own = await world.one('turnlog_search', {
      text: '"thing 5"',
      syntax: 'query',
      filters: { role: ['user'], session: ['long'] },
      explain: true,
    });
    expect(listIn(own, 'hits')).toMatchObject([{ role: 'user', explain: { score: expect.any(Number) } }]);
    const then = await world.one('turnlog_search', { text: 'did', as_of: 'long:5' });
    expect(idsOf(then)).toEqual(['long:5']);
  });
});

describe('turnlog_verify', () => {
  const packed = async (world: World, id: string): Promise<void> => {
    const environment = world.machine;
    const place = { directory: `${world.root}/sessions/${id}`, sessionId: id };
    await packSession(environment, place, { record: 'none' });
  };
  const log = (world: World): string => `${world.root}/sessions/long/events.jsonl`;

  test('gives the verdict with its tree and its assurance, and says what differs', async () => {
    const world = filled();
    const [alone] = await world.call(['turnlog_verify', { session: 'long' }]);
    expect(alone?.document).toMatchObject({ verdict: 'verified', completeness: 'cannot-prove' });
    await packed(world, 'long');
    const good = await world.one('turnlog_verify', { session: 'Twelve things' });
    expect(good).toMatchObject({
      isError: false,
      document: {
        verdict: 'verified',
        exit: 0,
        session_id: 'long',
        tree: { size: 54, root: expect.stringMatching(/^[0-9a-f]{64}$/), grown_by: 0 },
        counts: { mismatches: 0, missing: 0 },
        mismatches: [],
        assurance: 'self-attested',
        capped: false,
      },
    });
    const bytes = readWhole(world.disk, log(world));
    world.disk.plantFile(log(world), Buffer.from(bytes.toString('utf8').replace('thing 5', 'thing 6')));
    const edited = await world.one('turnlog_verify', { session: 'long' });
    expect(listIn(edited, 'mismatches')).toMatchObject([{ path: 'events.jsonl', diagnosis: 'edited' }]);
    expect(edited.document).toMatchObject({ verdict: 'mismatch', exit: 1, counts: { mismatches: 1 } });
  });

  test('takes the pack from elsewhere, and tells one of another session and one that is none', async () => {
    const world = filled();
    await packed(world, 'long');
    world.disk.plantDirectory('/packs');
    const pack = `${world.root}/sessions/long/derived/audit-pack.json`;
    world.disk.plantFile('/packs/audit-pack.json', readWhole(world.disk, pack));
    const own = await world.one('turnlog_verify', { session: 'long', pack: '/packs' });
    expect(own.document).toMatchObject({ verdict: 'verified' });
    const other = await world.one('turnlog_verify', { session: 'nightly', pack: '/packs' });
    expect(other.document).toMatchObject({
      verdict: 'mismatch',
      mismatches: [{ reason: 'other-session' }, {}],
    });
    const secret = 'AKIAIOSFODNN7EXAMPLQ';
    world.disk.plantFile(
      '/packs/audit-pack.json',
      Buffer.from(`{"schema_version":1,"session_id":"${secret}"}`),
    );
    const none = await world.one('turnlog_verify', { session: 'long', pack: '/packs' });
    expect(none.document).toMatchObject({ verdict: 'invalid-pack', exit: 3, reason: expect.any(String) });
    expect(JSON.stringify(none.document)).not.toContain(secret);
  });

  test('keeps within its bytes with more files than fit, and counts them all', async () => {
    const world = filled();
    await packed(world, 'long');
    for (let at = 0; at < 600; at += 1)
      world.disk.plantFile(`${world.root}/sessions/long/more-${at}-${'x'.repeat(100)}`, Buffer.of(1));
    for (const [given, bytesMax] of [
      [{}, 16_384],
      [{ max_bytes: 2_048 }, 2_048],
      [{ max_bytes: 1_000_000 }, 65_536],
    ] as const) {
      const { bytes, document } = await world.one('turnlog_verify', { session: 'long', ...given });
      expect(bytes).toBeLessThanOrEqual(bytesMax);
      expect(document).toMatchObject({ verdict: 'verified', counts: { unaccounted: 600 }, capped: true });
    }
  });

  test('a session that is not there is not found', async () => {
    const { isError, document } = await filled().one('turnlog_verify', { session: 'nobody' });
    expect([isError, Object(document['error']).code]).toEqual([true, 'TURNLOG_NOT_FOUND']);
  });
});
