import { gunzipSync } from 'node:zlib';
import { sha256Hex } from '@turnlog/kernel';
import { SeededRandom } from '@turnlog/testkit';
import {
  type Event,
  eventsOf,
  importAll,
  importOne,
  logsOf,
  makeThreadDesk,
  member,
  plantFiles,
  recordsOf,
  storeSessions,
  type ThreadDesk,
} from './thread-files.js';
import { threadLine, turnLines, vtLine } from './vtcode-files.js';
import {
  archive,
  archiveName,
  archiveSession,
  history,
  historyLine,
  memory,
  messages,
  native,
  told,
  trajectory,
} from './vtcode-samples.js';

const typesOf = (events: readonly Event[]): readonly string[] =>
  events.map((event) => {
    const item = member(event, 'item', 'type');
    return item === undefined ? String(event['type']) : `${String(event['type'])} ${String(item)}`;
  });

test('an archive alone is a session: prompts open turns, calls have their results, times are those of its beginning', async () => {
  const desk = makeThreadDesk();
  const bytes = archive();
  plantFiles(desk, { [`${archiveName}.json`]: bytes });
  const report = await importAll(desk);
  expect(report).toMatchObject({ isWhole: true, unansweredCount: 2, withoutUsageCount: 2 });
  const [source] = report.sources;
  expect(source).toMatchObject({ outcome: 'new', format: 'vtcode-archive', sessionId: archiveSession });
  const events = eventsOf(desk, archiveSession);
  expect(typesOf(events)).toEqual([
    'thread.started',
    'run.started',
    'run.source',
    'turn.started',
    'user.message',
    'item.completed reasoning',
    'item.completed agent_message',
    'item.started command_execution',
    'item.started tool_invocation',
    'item.started tool_invocation',
    'item.completed command_execution',
    'item.completed tool_invocation',
    'item.completed tool_output',
    'item.completed file_change',
    'turn.completed',
    'turn.started',
    'user.message',
    'item.completed agent_message',
    'item.started tool_invocation',
    'turn.completed',
    'run.imported',
  ]);
  expect(events[1]).toMatchObject({
    program: 'vtcode',
    cwd: '/repo',
    model: 'm-1',
    agent: 'primary',
    aliases: ['outer'],
    derived: ['thread_id'],
  });
  expect(events[10]).toMatchObject({ item: { command: 'ls', exit_code: 0, status: 'completed' } });
  expect(events[16]).toMatchObject({
    content: [
      { type: 'text', text: 'and this' },
      { type: 'asset', sha256: sha256Hex(Uint8Array.of(0, 1, 2)), media_type: 'image/png' },
    ],
  });
  // The id of the call is used again.
  expect(events[18]).toMatchObject({ item: { id: 'c1~2', tool_call_id: 'c1' } });
  expect(new Set(recordsOf(desk, archiveSession).map(({ ts }) => ts))).toEqual(
    new Set(['2026-03-12T11:33:04.500Z']),
  );
  expect(source?.ledger.records).toEqual({
    'kept:distinct_tools': 1,
    'kept:ended_at': 1,
    'kept:error_logs': 1,
    'kept:message/system': 1,
    'kept:progress': 1,
    'kept:started_at': 1,
    'kept:total_messages': 1,
    'kept:transcript': 2,
    'mapped:message/assistant': 2,
    'mapped:message/tool': 2,
    'mapped:message/user': 2,
    'mapped:metadata': 1,
  });
});

test('every event of an archive names its bytes, without a line; the account closes and the raw copy is the source', async () => {
  for (const raw of ['asset', 'reference'] as const) {
    const desk = makeThreadDesk();
    const bytes = Buffer.concat([Uint8Array.of(0xef, 0xbb, 0xbf), archive()]);
    plantFiles(desk, { [`${archiveName}.json`]: bytes });
    const [source] = (await importAll(desk, { raw })).sources;
    const { mapped, kept, refused } = source?.ledger ?? { mapped: 0, kept: 0, refused: -1 };
    expect([mapped + kept + refused, refused]).toEqual([bytes.length, 0]);
    const events = eventsOf(desk, archiveSession);
    const places = events.flatMap(({ src }) => (src === undefined ? [] : [src as Event]));
    expect(places.length).toBeGreaterThan(15);
    for (const place of places) {
      const start = Number(place['offset']);
      expect(sha256Hex(bytes.subarray(start, start + Number(place['bytes'])))).toBe(place['sha256']);
      expect(place).not.toHaveProperty('line');
    }
    const parts = (events.at(-1)?.['raw'] ?? []) as readonly Event[];
    expect(parts.map(({ sha256 }) => sha256)).toEqual([sha256Hex(bytes)]);
    const copy = parts.flatMap(({ asset }) =>
      asset === undefined
        ? []
        : [gunzipSync(desk.fs.contentOf(`/store/assets/${String(asset).slice(0, 2)}/${String(asset)}`))],
    );
    expect(Buffer.concat(copy).length).toBe(raw === 'asset' ? bytes.length : 0);
  }
});

test('an archive that is written anew: what is known is there once, what is new is appended, what went is counted', async () => {
  const desk = makeThreadDesk();
  const read = (): readonly Event[] =>
    eventsOf(desk, archiveSession).filter(({ type }) => type !== 'run.imported');
  for (const count of [1, 3, 5]) {
    plantFiles(desk, { [`${archiveName}.json`]: archive(messages.slice(0, count)) });
    await importAll(desk, { final: false });
  }
  const before = read();
  plantFiles(desk, { [`${archiveName}.json`]: archive(messages.slice(1)) });
  const report = await importAll(desk);
  expect(report.sources[0]).toMatchObject({ outcome: 'rewritten', vanishedCount: 1 });
  expect(read().slice(0, before.length)).toEqual(before);
  const whole = makeThreadDesk();
  plantFiles(whole, { [`${archiveName}.json`]: archive() });
  await importAll(whole);
  expect(typesOf(read())).toEqual(typesOf(eventsOf(whole, archiveSession).slice(0, -1)));
  const logs = logsOf(desk);
  expect((await importAll(desk)).outcomes.unchanged).toBe(1);
  desk.fs.removeFile(`${storeSessions}/${archiveSession}/derived/import.json`);
  expect((await importAll(desk)).outcomes.unchanged).toBe(1);
  expect(logsOf(desk)).toEqual(logs);
});

test('an archive cut at any byte waits, is whole with the rest, and when final has a torn tail', async () => {
  const bytes = archive();
  const random = new SeededRandom(7);
  const whole = makeThreadDesk();
  plantFiles(whole, { [`${archiveName}.json`]: bytes });
  await importAll(whole);
  for (let round = 0; round < 25; round += 1) {
    const cut = 120 + random.below(bytes.length - 125);
    const desk = makeThreadDesk();
    plantFiles(desk, { [`${archiveName}.json`]: bytes.subarray(0, cut) });
    const [waiting] = (await importAll(desk, { final: false })).sources;
    expect(waiting).toMatchObject({ outcome: 'waiting', pendingBytes: cut, refused: [] });
    const [torn] = (await importAll(desk)).sources;
    expect(torn?.refused).toMatchObject([{ reason: 'torn-tail', offset: 0, length: cut }]);
    plantFiles(desk, { [`${archiveName}.json`]: bytes });
    await importAll(desk);
    expect(logsOf(desk)).toEqual(logsOf(whole));
  }
});

test('beside its native log an archive gives the prompts, joined by the order of turns, and nothing again', async () => {
  const desk = makeThreadDesk();
  const log =
    vtLine({ type: 'thread.started', thread_id: archiveName }) + turnLines('one') + turnLines('two');
  plantFiles(desk, {
    [`sessions/${archiveName}/events.jsonl`]: new TextEncoder().encode(log),
    [`${archiveName}.json`]: archive(),
  });
  const report = await importAll(desk);
  expect(report.outcomes).toMatchObject({ new: 1, 'recorded-live': 1 });
  expect(desk.fs.list(storeSessions).map((entry) => entry.name)).toEqual([archiveName]);
  const prompts = eventsOf(desk, archiveName).filter(({ type }) => type === 'user.message');
  expect(prompts).toMatchObject([
    { origin: 'prompt', turn: 1, late: true, content: [{ text: 'list it' }] },
    { origin: 'prompt', turn: 2, late: true },
  ]);
  const logs = logsOf(desk);
  expect((await importAll(desk)).outcomes).toMatchObject({ unchanged: 1, 'recorded-live': 1 });
  expect(logsOf(desk)).toEqual(logs);
});

test('an archive that names its parent is a fork of it', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, {
    'a-fork.json': archive(messages, { parent_session_id: archiveName, fork_mode: 'full_copy' }),
    [`${archiveName}.json`]: archive(messages.slice(0, 4)),
  });
  const report = await importAll(desk);
  expect(report.forkedCount).toBe(1);
  expect(eventsOf(desk, 'vtcode-a-fork')[1]).toMatchObject({
    forked_from: { session: archiveSession, thread_id: archiveName, records: 0 },
  });
});

test('a history alone is a session; a later one that holds it continues it; a half written line waits', async () => {
  const desk = makeThreadDesk();
  const first = history(3, ...told);
  plantFiles(desk, { 'history/s-1_0003_20260312T113600Z.jsonl': first.subarray(0, first.length - 9) });
  const [cut] = (await importAll(desk, { final: false })).sources;
  expect(cut).toMatchObject({
    outcome: 'new',
    format: 'vtcode-history',
    sessionId: 'vtcode-s-1',
    refused: [],
  });
  expect(cut?.pendingBytes).toBeGreaterThan(0);
  plantFiles(desk, { 'history/s-1_0003_20260312T113600Z.jsonl': first });
  await importAll(desk);
  const before = typesOf(eventsOf(desk, 'vtcode-s-1').filter(({ type }) => type !== 'run.imported'));
  expect(before).toEqual([
    'thread.started',
    'run.started',
    'run.source',
    'turn.started',
    'user.message',
    'item.completed agent_message',
    'item.completed tool_output',
    'turn.completed',
  ]);
  const later = { timestamp: '2026-03-12T11:39:00Z' };
  const again = told.map((line) => ({ ...line, ...later }));
  plantFiles(desk, {
    'history/s-1_0004_20260312T113900Z.jsonl': history(4, ...again, historyLine(4, 'user', 'more', later)),
  });
  const report = await importAll(desk);
  expect(report).toMatchObject({ isWhole: true, outcomes: { grown: 1, unchanged: 1 } });
  const prompts = eventsOf(desk, 'vtcode-s-1').filter(({ type }) => type === 'user.message');
  expect(prompts.map((event) => member(event, 'content', '0', 'text'))).toEqual(['do it', 'more']);
  const logs = logsOf(desk);
  expect((await importAll(desk)).outcomes.unchanged).toBe(2);
  expect(logsOf(desk)).toEqual(logs);
});

test('a history adds nothing to an archive of its session, which is imported first; later the archive is a conflict', async () => {
  const files = { 'a/s-1_0003_20260312T113600Z.jsonl': history(3, ...told), 's-1.json': archive() };
  const desk = makeThreadDesk();
  plantFiles(desk, files);
  expect((await importAll(desk)).outcomes).toMatchObject({ new: 1, 'recorded-live': 1 });
  expect(desk.fs.list(storeSessions).map((entry) => entry.name)).toEqual(['vtcode-s-1']);
  expect(eventsOf(desk, 'vtcode-s-1').filter(({ type }) => type === 'user.message')).toHaveLength(2);
  const other = makeThreadDesk();
  plantFiles(other, { 'a/s-1_0003_20260312T113600Z.jsonl': history(3, ...told) });
  await importAll(other);
  plantFiles(other, files);
  expect((await importAll(other)).outcomes).toMatchObject({ conflict: 1, unchanged: 1 });
});

test('a trajectory alone is calls without output, a turn for each number', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, { 'logs/trajectory.jsonl': trajectory });
  const [source] = (await importAll(desk)).sources;
  expect(source).toMatchObject({ outcome: 'new', format: 'vtcode-trajectory', unansweredCount: 0 });
  const events = eventsOf(desk, String(source?.sessionId));
  expect(typesOf(events).slice(3, -1)).toEqual([
    'turn.started',
    'item.started command_execution',
    'item.completed command_execution',
    'item.started tool_invocation',
    'item.completed tool_invocation',
    'turn.completed',
    'turn.started',
    'item.started tool_invocation',
    'item.completed tool_invocation',
    'turn.completed',
  ]);
  expect(events[5]).toMatchObject({ item: { command: 'ls', status: 'completed' } });
  expect(events[7]).toMatchObject({ item: { tool_name: 'grep_file', status: 'failed', outcome: 'error' } });
  expect(source?.ledger.records).toEqual({ 'kept:route': 1, 'mapped:tool': 3 });
});

test('a trajectory beside logs of sessions is kept, and stays so when it grows', async () => {
  const desk = makeThreadDesk();
  const lines = new TextDecoder().decode(trajectory).split('\n');
  const log = new TextEncoder().encode(threadLine + turnLines('one'));
  const first = new TextEncoder().encode(`${lines[0]}\n`);
  plantFiles(desk, { 'logs/trajectory.jsonl': first, 'sessions/vt-1/events.jsonl': log });
  await importAll(desk, { final: false });
  plantFiles(desk, { 'logs/trajectory.jsonl': trajectory });
  const report = await importAll(desk);
  const source = report.sources.find(({ format }) => format === 'vtcode-trajectory');
  expect(source).toMatchObject({ outcome: 'grown', ledger: { records: { 'kept:tool': 3 } } });
  const types = typesOf(eventsOf(desk, String(source?.sessionId)));
  expect(types.filter((type) => type !== 'run.imported')).toEqual([
    'thread.started',
    'run.started',
    'run.source',
  ]);
});

/** The documents that a session keeps whole. */
function keptIn(desk: ThreadDesk, session: string): readonly string[] {
  return eventsOf(desk, session)
    .filter(({ type }) => type === 'run.kept')
    .map((event) => String(member(event, 'asset', 'sha256')))
    .map((asset) =>
      new TextDecoder().decode(desk.fs.contentOf(`/store/assets/${asset.slice(0, 2)}/${asset}`)),
    );
}

test.each([
  ['alone', 'vtcode-s-1', {}],
  ['beside an archive', 'vtcode-s-1', { 's-1.json': archive() }],
  ['beside a history', 'vtcode-s-1', { 's-1_0003_20260312T113600Z.jsonl': history(3, ...told) }],
  ['beside a native log', 's-1', { 'sessions/s-1/events.jsonl': native }],
] as const)(
  'a memory envelope %s is kept whole in the session, once for each text',
  async (_name, session, files) => {
    const desk = makeThreadDesk();
    plantFiles(desk, { ...files, 'a.memory.json': memory('s-1', 'first') });
    const report = await importAll(desk);
    expect(report.isWhole).toBe(true);
    expect(desk.fs.list(storeSessions).map((entry) => entry.name)).toEqual([session]);
    expect(keptIn(desk, session)).toEqual([new TextDecoder().decode(memory('s-1', 'first'))]);
    const starts = (): number =>
      eventsOf(desk, session).filter(({ type }) => type === 'thread.started').length;
    expect(starts()).toBe(1);
    const logs = logsOf(desk);
    await importAll(desk);
    expect(logsOf(desk)).toEqual(logs);
    plantFiles(desk, { 'a.memory.json': memory('s-1', 'second') });
    await importAll(desk);
    expect(keptIn(desk, session)).toHaveLength(2);
    expect(starts()).toBe(1);
  },
);

test('a session that began with a memory envelope takes the archive of its thread', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, { 'a.memory.json': memory('s-1', 'first') });
  await importAll(desk);
  plantFiles(desk, { 's-1.json': archive() });
  expect((await importAll(desk)).isWhole).toBe(true);
  expect(eventsOf(desk, 'vtcode-s-1').filter(({ type }) => type === 'user.message')).toHaveLength(2);
  const logs = logsOf(desk);
  await importAll(desk);
  expect(logsOf(desk)).toEqual(logs);
});

test('whatever a member of a loose file is, nothing is thrown and the account closes', async () => {
  const random = new SeededRandom(11);
  const odd: readonly unknown[] = [null, 0, '', 'x', [], [null], {}, { type: 'new' }, true, '\ud800'];
  const documents: readonly (readonly [file: string, text: string])[] = [
    [`${archiveName}.json`, new TextDecoder().decode(archive())],
    ['s-1_0003_20260312T113600Z.jsonl', new TextDecoder().decode(history(3, ...told))],
    ['trajectory.jsonl', new TextDecoder().decode(trajectory)],
    ['a.memory.json', new TextDecoder().decode(memory('s-1', 'x'))],
  ];
  for (const [file, text] of documents) {
    const values = [...text.matchAll(/: ?("(?:[^"\\]|\\.)*"|\d+|null|true)/g)];
    for (let round = 0; round < 60; round += 1) {
      const found = values[random.below(values.length)];
      if (found === undefined) continue;
      const start = found.index + found[0].length - String(found[1]).length;
      const replaced = JSON.stringify(odd[random.below(odd.length)]);
      const bytes = new TextEncoder().encode(
        text.slice(0, start) + replaced + text.slice(start + String(found[1]).length),
      );
      const desk = makeThreadDesk();
      plantFiles(desk, { [file]: bytes });
      const [source] = (await importAll(desk, { raw: 'reference' })).sources;
      expect(source?.error ?? null).toBeNull();
      if (source?.outcome === 'unknown') continue;
      const { mapped, kept, refused } = source?.ledger ?? { mapped: 0, kept: 0, refused: -1 };
      expect([file, mapped + kept + refused, refused]).toEqual([file, bytes.length, 0]);
    }
  }
});

test('a document of the same shape of somebody else is not taken', async () => {
  const other = new TextEncoder().encode(
    JSON.stringify({ metadata: { workspace_path: '/x' }, entries: [] }, null, 2),
  );
  expect(await importOne(makeThreadDesk(), other)).toMatchObject({ outcome: 'unknown' });
});
