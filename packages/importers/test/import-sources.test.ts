import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '@turnlog/kernel';
import { openOwnedLog } from '@turnlog/log';
import { placesOf } from '../src/import-sources.js';
import { linesOf } from './stream-lines.js';
import {
  eventsOf,
  importAll,
  importOne,
  makeThreadDesk,
  member,
  plantFiles,
  recordsOf,
  sessionsOf,
  storeSessions,
  type ThreadDesk,
} from './thread-files.js';
import { handMade, message, meta, rolloutLine } from './thread-samples.js';

const idA = 'aaaaaaaa-0000-4000-8000-00000000000a';
const idB = 'bbbbbbbb-0000-4000-8000-00000000000b';

function thread(id: string, ...texts: readonly string[]): Uint8Array {
  return linesOf(
    rolloutLine('session_meta', meta(id), 0),
    ...texts.map((text) => rolloutLine('response_item', message('assistant', text))),
  );
}

test('G-20, B102 name A, lines B: once, under B, alias A; a conflicted copy is reported, not merged, and not whole', async () => {
  const desk = makeThreadDesk();
  const name = `rollout-2026-04-01T00-00-00-${idA}.jsonl`;
  const original = thread(idB, 'one', 'two');
  plantFiles(desk, { [name]: original });
  expect(await importAll(desk)).toMatchObject({ isWhole: true, outcomes: { new: 1 } });
  expect(sessionsOf(desk)).toEqual([`codex-${idB}`]);
  expect(eventsOf(desk, `codex-${idB}`)[1]).toMatchObject({ type: 'run.started', aliases: [idA] });

  const before = recordsOf(desk, `codex-${idB}`).length;
  plantFiles(desk, { 'z conflicted copy.jsonl': thread(idB, 'one', 'other') });
  const report = await importAll(desk);
  expect(report).toMatchObject({ isWhole: false, outcomes: { unchanged: 1, conflict: 1 } });
  expect(report.sources.find(({ outcome }) => outcome === 'conflict')).toMatchObject({
    path: '/foreign/z conflicted copy.jsonl',
    conflictsWith: `/foreign/${name}`,
    sessionId: `codex-${idB}`,
  });
  expect(recordsOf(desk, `codex-${idB}`)).toHaveLength(before);
  // It is found by the alias as well: a thread that names A is this one.
  plantFiles(desk, { 'a.jsonl': thread(idA, 'one', 'third') });
  expect((await importAll(desk)).outcomes.conflict).toBe(2);

  await importAll(desk, { asNew: true });
  const digest = sha256Hex(thread(idB, 'one', 'other')).slice(0, 8);
  expect(sessionsOf(desk)).toContain(`codex-${idB}.c${digest}`);
});

test('a further file that holds all records of the first goes on behind it; one that is held adds nothing', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, { 'sessions/a.jsonl': thread(idA, 'one') });
  await importAll(desk);
  plantFiles(desk, { 'archived/a.jsonl': thread(idA, 'one', 'two') });
  const report = await importAll(desk);
  expect(report).toMatchObject({ isWhole: true, outcomes: { unchanged: 1, grown: 1 } });
  const texts = eventsOf(desk, `codex-${idA}`).flatMap((event) => member(event, 'item', 'text') ?? []);
  expect(texts).toEqual(['one', 'two']);
  const files = eventsOf(desk, `codex-${idA}`).filter(({ type }) => type === 'run.source');
  expect(files.map(({ file, path }) => [file, path])).toEqual([
    ['f1', '/foreign/sessions/a.jsonl'],
    ['f2', '/foreign/archived/a.jsonl'],
  ]);
  plantFiles(desk, { 'copy.jsonl': thread(idA, 'one') });
  expect((await importAll(desk)).outcomes).toMatchObject({ unchanged: 3, conflict: 0 });
});

const places = {
  home: '/home/u',
  codexHome: undefined,
  claudeConfigDir: undefined,
  xdgConfigHome: undefined,
};
const both = [{ agent: 'codex' }, { agent: 'claude' }] as const;

const roots: readonly (readonly [
  name: string,
  request: Parameters<typeof placesOf>[0],
  expected: readonly string[],
])[] = [
  [
    'G-22, B104 without variables: the usual places',
    { sources: both, places },
    [
      '/home/u/.codex/sessions',
      '/home/u/.codex/archived_sessions',
      '/home/u/.claude/projects',
      '/home/u/.config/claude/projects',
    ],
  ],
  [
    'G-22, B104 CODEX_HOME and several CLAUDE_CONFIG_DIR: each once, the usual places not',
    { sources: [...both, ...both], places: { ...places, codexHome: '/c', claudeConfigDir: '/x, /y,/x' } },
    ['/c/sessions', '/c/archived_sessions', '/x/projects', '/y/projects'],
  ],
  [
    'G-22, B104 several paths: each once, the usual places not',
    { sources: [{ path: '/p' }, { path: '/q' }, { path: '/p' }], places },
    ['/p', '/q'],
  ],
];

test.each(roots)('%s', (_name, request, expected) => {
  expect(placesOf(request).map(({ path }) => path)).toEqual(expected);
});

test('G-22, B104 roots that overlap are searched once: every thread is imported once', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, {
    'codex/sessions/2026/01/05/a.jsonl': thread(idA, 'one'),
    'codex/archived_sessions/b.jsonl': thread(idB, 'one'),
  });
  const sources = [
    { agent: 'codex' },
    { path: '/foreign/codex/sessions' },
    { path: '/foreign/codex' },
  ] as const;
  const report = await importAll(desk, { sources, places: { ...places, codexHome: '/foreign/codex' } });
  expect(report.sources.map(({ path, outcome }) => [path, outcome])).toEqual([
    ['/foreign/codex/archived_sessions/b.jsonl', 'new'],
    ['/foreign/codex/sessions/2026/01/05/a.jsonl', 'new'],
  ]);
});

test('links, empty, unknown and unreadable files are counted and hide nothing', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, {
    'a.jsonl': thread(idA, 'one'),
    'empty.jsonl': new Uint8Array(),
    'notes.txt': new TextEncoder().encode('no records\n'),
    'list.json': new TextEncoder().encode('[1,2]\n'),
    'strange.jsonl': linesOf({ hello: 1 }),
    'state.db': new TextEncoder().encode('SQLite format 3\0\n{}'),
  });
  desk.fs.plantLink('/foreign/link.jsonl', '/foreign/a.jsonl');
  desk.fs.plantLink('/foreign/linked', '/foreign');
  const report = await importAll(desk);
  expect(report).toMatchObject({
    linkCount: 2,
    isWhole: true,
    outcomes: { new: 1, empty: 1, unknown: 3, 'needs-sqlite': 1 },
  });
  const named = await importAll(desk, {
    sources: [{ path: '/foreign/notes.txt' }, { path: '/foreign/gone' }],
  });
  expect(named.sources.map(({ error }) => error?.code)).toEqual([
    'TURNLOG_NOT_FOUND',
    'TURNLOG_UNKNOWN_SOURCE',
  ]);
  expect(named.isWhole).toBe(false);
  plantFiles(desk, { 'empty.jsonl': thread(idB, 'late') });
  expect((await importAll(desk)).outcomes).toMatchObject({ new: 1, unchanged: 1 });
});

test('formats that were not asked for are left alone', async () => {
  const desk = makeThreadDesk();
  const report = await importOne(desk, handMade(), { from: ['vtcode'] });
  expect(report.outcome).toBe('unknown');
  expect(sessionsOf(desk)).toEqual([]);
});

test('a thread that was recorded as it ran is counted and gets its prompts; asked for, it becomes a session beside it', async () => {
  const desk = makeThreadDesk();
  const id = `codex-${idA}`;
  const log = await openOwnedLog(desk.machine, `${storeSessions}/${id}`, id);
  const answer = '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"one"}}';
  for (const raw of [
    `{"type":"thread.started","thread_id":"${idA}"}`,
    '{"type":"turn.started","prompt_missing":true}',
    answer,
    '{"type":"turn.completed","usage":{}}',
    '{"type":"turn.started"}',
    '{"type":"user.message","id":"u","origin":"prompt","content":[{"type":"text","text":"known"}]}',
    '{"type":"turn.completed","usage":{}}',
  ]) {
    log.append({ raw });
  }
  await log.close();
  const words = (text: string): object => rolloutLine('event_msg', { type: 'user_message', message: text });
  const lines = [
    rolloutLine('session_meta', meta(idA), 0),
    words('first'),
    rolloutLine('response_item', message('assistant', 'one')),
    words('known'),
  ];
  plantFiles(desk, { 'a.jsonl': linesOf(...lines) });
  for (let round = 0; round < 2; round += 1) {
    expect(await importAll(desk)).toMatchObject({ isWhole: true, outcomes: { 'recorded-live': 1, new: 0 } });
    const late = eventsOf(desk, id).slice(7);
    expect(late).toMatchObject([
      { type: 'run.source', part: 'prompts' },
      {
        type: 'user.message',
        origin: 'prompt',
        content: [{ text: 'first' }],
        turn: 1,
        late: true,
        src: { line: 2 },
      },
    ]);
  }
  expect((await importAll(desk, { alsoLive: true })).outcomes.new).toBe(1);
  expect(sessionsOf(desk)).toEqual([id, `${id}.file`]);
  expect((await importAll(desk, { alsoLive: true })).outcomes.unchanged).toBe(1);
});

test('without the word for it a file is final when it did not change for a day', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, {
    'a.jsonl': linesOf(
      rolloutLine('session_meta', meta(idA), 0),
      rolloutLine('event_msg', { type: 'user_message', message: 'hi' }),
      rolloutLine('response_item', message('assistant', 'one')),
    ),
  });
  await importAll(desk, { final: false });
  const ends = (): number =>
    eventsOf(desk, `codex-${idA}`).filter(({ type }) => type === 'turn.completed').length;
  expect(ends()).toBe(0);
  desk.clock.advance(23 * 3_600_000);
  expect((await importAll(desk, { final: false })).outcomes.unchanged).toBe(1);
  desk.clock.advance(3_600_000);
  expect((await importAll(desk, { final: false })).outcomes.grown).toBe(1);
  expect(ends()).toBe(1);
  expect((await importAll(desk, { final: false })).outcomes.unchanged).toBe(1);
});

test('a rewritten file gives what is new in it; what is gone from it stays and is counted', async () => {
  const desk = makeThreadDesk();
  await importOne(desk, thread(idA, 'one', 'two', 'three'), { final: false });
  const report = await importOne(
    desk,
    linesOf(
      rolloutLine('session_meta', meta(idA), 0),
      rolloutLine('response_item', message('assistant', 'one')),
      rolloutLine('response_item', message('assistant', 'new')),
    ),
  );
  expect(report.error).toBe(null);
  expect(report).toMatchObject({ outcome: 'rewritten', vanishedCount: 2 });
  const texts = eventsOf(desk, `codex-${idA}`).flatMap((event) => member(event, 'item', 'text') ?? []);
  expect(texts).toEqual(['one', 'two', 'three', 'new']);
});

const times: readonly (readonly [name: string, value: unknown, ts: string | null, derived: boolean])[] = [
  ['seconds', 1_775_000_000, '2026-03-31T23:33:20.000Z', false],
  ['milliseconds', 1_775_000_000_125, '2026-03-31T23:33:20.125Z', false],
  ['RFC 3339 with an offset', '2026-04-01T01:33:20.125+02:00', '2026-03-31T23:33:20.125Z', false],
  ['no day of a calendar', '2026-02-30T10:00:00.000Z', '2026-03-01T00:00:00.000Z', true],
  ['a number of no known age', 12, '2026-03-01T00:00:00.000Z', true],
];

test.each(times)('B100, B49 a time that is %s', async (_name, timestamp, ts, isDerived) => {
  const desk = makeThreadDesk();
  const header = { timestamp: '2026-03-01T00:00:00.000Z', type: 'session_meta', payload: meta(idA) };
  await importOne(
    desk,
    linesOf(header, { timestamp, type: 'response_item', payload: message('assistant', 'x') }),
  );
  const record = recordsOf(desk, `codex-${idA}`).find(({ type }) => type === 'item.completed');
  expect(record?.ts).toBe(ts);
  expect(member(record?.readEvent(), 'src', 'derived')).toEqual(isDerived ? ['ts'] : undefined);
});

test('without any time there is none, however often a thread grows, and never that of the import', async () => {
  const desk = makeThreadDesk();
  const lines = [
    { timestamp: '', type: 'session_meta', payload: meta(idA) },
    { timestamp: 0, type: 'response_item', payload: message('assistant', 'x') },
    { timestamp: null, type: 'response_item', payload: message('assistant', 'y') },
    { timestamp: 1_775_000_000, type: 'response_item', payload: message('assistant', 'z') },
    { type: 'response_item', payload: message('assistant', 'last') },
  ];
  for (let count = 2; count <= lines.length; count += 1) {
    await importOne(desk, linesOf(...lines.slice(0, count)), { final: false });
    desk.clock.advance(60_000);
  }
  const times = recordsOf(desk, `codex-${idA}`).map(({ type, ts }) => [type, ts]);
  const known = times.findIndex(([, ts]) => ts !== null);
  expect(times.slice(0, known).filter(([type]) => type === 'run.imported')).toHaveLength(2);
  expect(new Set(times.slice(known).map(([, ts]) => ts))).toEqual(new Set(['2026-03-31T23:33:20.000Z']));
  expect(times.slice(known).filter(([type]) => type === 'run.imported')).toHaveLength(2);
});

const cases = join(__dirname, '..', '..', '..', '..', 'shared', 'cases', 'B12-codex-bad-middle-line');

if (existsSync(cases)) {
  test('B12 a bad line in the middle: listed, its neighbours imported, the line named, imported with damage', async () => {
    const name = 'rollout-2026-01-05T10-00-00-aaaaaaaa-0000-4000-8000-00000000000a.jsonl';
    const desk = makeThreadDesk();
    plantFiles(desk, {
      [`sessions/2026/01/05/${name}`]: readFileSync(join(cases, 'sessions', '2026', '01', '05', name)),
    });
    const report = await importAll(desk);
    expect(report).toMatchObject({ damagedCount: 1, isWhole: false, outcomes: { new: 1, failed: 0 } });
    const [source] = report.sources;
    expect(source?.sessionId).toBe(`codex-${idA}`);
    expect(source?.refused.map(({ line, reason }) => [line, reason])).toEqual([[2, 'bad-json']]);
    const records = Object.entries(source?.ledger.records ?? {}).filter(
      ([kind]) => !kind.startsWith('refused'),
    );
    expect(records.reduce((sum, [, count]) => sum + count, 0)).toBe(3);
    const texts = eventsOf(desk, `codex-${idA}`).map(
      (event) => member(event, 'item', 'text') ?? member(event, 'content', '0', 'text'),
    );
    expect(texts).toEqual(expect.arrayContaining(['synthetic question', 'synthetic answer']));
  });
}

test('two imports at the same time come to one session with every record once', async () => {
  const desk = makeThreadDesk();
  const bytes = handMade();
  plantFiles(desk, { 'one.jsonl': bytes });
  const reports = await Promise.all([importAll(desk), importAll(desk)]);
  const outcomes = reports.map(({ sources }) =>
    sources.map(({ outcome, error }) => error?.code ?? outcome).join(),
  );
  expect(outcomes.sort()).toEqual(['new', 'unchanged']);
  expect(sessionsOf(desk)).toEqual(['codex-hand-made']);
  const alone = makeThreadDesk();
  await importOne(alone, bytes);
  const logOf = (each: ThreadDesk): string =>
    Buffer.from(each.fs.contentOf(`${storeSessions}/codex-hand-made/events.jsonl`)).toString();
  expect(logOf(desk)).toBe(logOf(alone));
});
