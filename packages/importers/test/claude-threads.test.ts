import { countEvents, countsOf, recordCount } from './claude-counts.js';
import { answer, call, line, restart, result, text, threadA, threadB, user } from './claude-lines.js';
import { corpusBytes, hasCorpus, linesOf, sayWithoutCorpus } from './stream-lines.js';
import {
  contentOf,
  type Event,
  eventsOf,
  importAll,
  importOne,
  makeThreadDesk,
  member,
  plantFiles,
  sessionsOf,
  type ThreadDesk,
} from './thread-files.js';

sayWithoutCorpus('claude-threads');

const cli = ['claude', 'entireio-cli'] as const;
const git = ['claude', 'entireio-git-sync'] as const;
const agents = ['claude', 'codemie', 'incremental-subagents'] as const;
const parentId = 'claude-e1bc91d1-2731-4b12-bf00-44f4dcddffd1';
const forkId = 'claude-b4dcf65c-8a8f-4be8-80c2-fcebbda55946';
const agentParent = 'claude-e9fb405b-169f-40eb-9396-7e75076f045d';
const agentSession = `${agentParent}.a485154`;

function runOf(desk: ThreadDesk, sessionId: string): Event | undefined {
  return eventsOf(desk, sessionId).find(({ type }) => type === 'run.started');
}

function uuidsIn(bytes: Uint8Array): ReadonlySet<string> {
  const lines = new TextDecoder().decode(bytes).trimEnd().split('\n');
  const ids = lines.map((each) => member(JSON.parse(each), 'uuid'));
  return new Set(ids.filter((id) => typeof id === 'string'));
}

/** How many sessions have events of a record, each counted once. */
function holdersOf(desk: ThreadDesk, id: string): number {
  return sessionsOf(desk).filter((session) =>
    eventsOf(desk, session).some(
      (event) =>
        member(event, 'src', 'id') === id &&
        event['type'] !== 'run.started' &&
        event['type'] !== 'thread.started',
    ),
  ).length;
}

if (hasCorpus) {
  const child = corpusBytes(...cli, '2.1.12-fork-child.first-part.jsonl');
  const parent = corpusBytes(...cli, '2.1.12-fork-parent-35-lines-2MB.jsonl');

  test.each(['batch', 'parent first', 'child first'])(
    'G-12 a fork beside its parent, %s: what they share is there once, and so is the sub-agent',
    async (order) => {
      const desk = makeThreadDesk();
      const files = { 'a-child.jsonl': child, 'b-parent.jsonl': parent };
      if (order === 'batch') plantFiles(desk, files);
      if (order === 'parent first') plantFiles(desk, { 'b-parent.jsonl': parent });
      if (order === 'child first') plantFiles(desk, { 'a-child.jsonl': child });
      const reports = [await importAll(desk)];
      plantFiles(desk, files);
      if (order !== 'batch') reports.push(await importAll(desk));
      expect(reports.every(({ isWhole }) => isWhole)).toBe(true);
      const [first, second] = order === 'child first' ? [forkId, parentId] : [parentId, forkId];
      expect(sessionsOf(desk)).toEqual([first, `${first}.a4cae29`, second].sort());

      const shared = [...uuidsIn(parent)].filter((id) => uuidsIn(child).has(id));
      expect(shared).toHaveLength(34);
      expect(shared.filter((id) => holdersOf(desk, id) > 1)).toEqual([]);
      expect(recordCount(desk, second, 'inherited:')).toBe(34);
      expect(countsOf(desk, `${first}.a4cae29`)).toMatchObject({ turns: 1, subPrompts: 1, calls: '13/13' });
      const lastId = [...uuidsIn(parent)].at(-1);
      expect(runOf(desk, second)?.['forked_from']).toEqual({
        session: first,
        thread_id: first.replace('claude-', ''),
        records: 34,
        last_id: lastId,
      });
      const own = { prompts: 1, calls: '3/3(1)', text: 2, think: 3, ans: 3, usage: '131099/121481/9592/3' };
      if (order === 'child first') {
        // Nothing is taken back: the fork has the beginning, and its own part stands behind it.
        expect(countsOf(desk, second)).toMatchObject({ turns: 0, prompts: 0, calls: '0/0', ans: 0 });
        const behind = eventsOf(desk, forkId).filter((event) => Number(member(event, 'src', 'line')) > 34);
        expect(countEvents(behind, [])).toMatchObject(own);
        expect(countsOf(desk, forkId)).toMatchObject({ turns: 2, failed: 1 });
        expect(recordCount(desk, forkId)).toBe(34 + 18);
        return;
      }
      expect(recordCount(desk, second)).toBe(34 + 18);
      expect(countsOf(desk, second)).toMatchObject({ ...own, turns: 2, implicit: 1, failed: 1 });
    },
  );

  test('G-13 a session and its sub-agent grow: only what is new comes, linked, and counted once', async () => {
    const read = (...names: readonly string[]): Uint8Array => corpusBytes(...agents, ...names);
    const agentFile = ['subagents', 'agent-a485154.jsonl'];
    const desk = makeThreadDesk();
    plantFiles(desk, {
      's.jsonl': read('turn-1.jsonl'),
      's/subagents/agent-a485154.jsonl': read('turn-1', ...agentFile),
    });
    await importAll(desk, { final: false });
    const before = recordCount(desk, agentParent);
    const agentBefore = contentOf(desk, agentSession);
    const agentIds = new Set(eventsOf(desk, agentSession).map((event) => member(event, 'src', 'id')));
    agentIds.delete(undefined);
    expect(agentIds.size).toBe(44);

    plantFiles(desk, {
      's.jsonl': read('turn-2.jsonl'),
      's/subagents/agent-a485154.jsonl': read('turn-2', ...agentFile),
    });
    const report = await importAll(desk);
    const [main, agent] = report.sources;
    expect(main).toMatchObject({ outcome: 'grown', sessionId: agentParent, vanishedCount: 0 });
    expect(recordCount(desk, agentParent) - before).toBe(25);
    const alone = makeThreadDesk();
    plantFiles(alone, { 's.jsonl': read('turn-2.jsonl') });
    await importAll(alone);
    expect(contentOf(desk, agentParent)).toEqual(contentOf(alone, agentParent));

    // The new record, at line 23, has no event of its own: what comes is the end of the turn.
    expect(agent).toMatchObject({ outcome: 'rewritten', sessionId: agentSession, vanishedCount: 0 });
    expect(agent?.ledger.records).toMatchObject({ 'kept:progress/hook_progress': 1 });
    const [, ...last] = contentOf(desk, agentSession).slice(agentBefore.length - 1);
    expect(contentOf(desk, agentSession).slice(0, agentBefore.length)).toEqual(agentBefore);
    expect(last.map((each) => JSON.parse(each.slice(each.indexOf('{'))).type)).toEqual([
      'run.answer',
      'turn.completed',
    ]);
    expect(runOf(desk, agentSession)).toMatchObject({
      agent: 'subagent',
      parent: {
        session: agentParent,
        thread_id: 'e9fb405b-169f-40eb-9396-7e75076f045d',
        call_id: 'toolu_bdrk_019PUUtqzQg8U5ogfuyQ7yLV',
      },
    });
    expect(countsOf(desk, agentSession).usage).toBe('212744/91980/115531/1845');
    const totals = eventsOf(desk, agentParent).filter(
      ({ type }) => type === 'run.answer' || type === 'turn.completed',
    );
    expect(JSON.stringify(totals.map(({ usage }) => usage))).not.toContain('212744');
    expect(countsOf(desk, agentParent).usage).toBe('381842/223343/157962/10099');
  });

  test('G-15 a resumed file is one session under the id of most lines; answers are not the sum of their rows', async () => {
    const two = makeThreadDesk();
    const bytes = corpusBytes(...cli, '2.1.12-two-session-ids.jsonl');
    const { sessionId } = await importOne(two, bytes);
    const newId = '4931d45a-d447-44b4-8475-1e6fcfcc28bf';
    const ids = [...new TextDecoder().decode(bytes).matchAll(/"sessionId":"([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id) => id === newId)).toHaveLength(201);
    const [oldId, ...others] = [...new Set(ids)].filter((id) => id !== newId);
    expect([ids.filter((id) => id === oldId).length, others]).toEqual([13, []]);
    expect(sessionId).toBe(`claude-${newId}`);
    expect(sessionsOf(two)).toEqual([`claude-${newId}`]);
    expect(runOf(two, `claude-${newId}`)).toMatchObject({ aliases: [oldId] });

    const flow = makeThreadDesk();
    const workflow = corpusBytes(...git, '2.1.159-workflow-tool.jsonl');
    const report = await importOne(flow, workflow);
    expect(countsOf(flow, String(report.sessionId)).usage).toMatch(/\/97442$/);
    const rows = new TextDecoder()
      .decode(workflow)
      .trimEnd()
      .split('\n')
      .map((each) => JSON.parse(each));
    const sum = rows.reduce(
      (total, row) => total + Number(member(row, 'message', 'usage', 'output_tokens') ?? 0),
      0,
    );
    expect(sum).toBe(305_404);
  });

  test('a compaction of the provider: 134 records became 1, by itself, and the summary follows', async () => {
    const desk = makeThreadDesk();
    const { sessionId } = await importOne(desk, corpusBytes(...cli, '2.1.14-microcompact.jsonl'));
    const events = eventsOf(desk, String(sessionId));
    const at = events.findIndex(({ type }) => type === 'thread.compact_boundary');
    expect(events[at]).toMatchObject({
      trigger: 'auto',
      mode: 'provider',
      original_message_count: 134,
      compacted_message_count: 1,
      src: { derived: ['original_message_count', 'compacted_message_count'] },
    });
    expect(events[at + 1]).toMatchObject({ type: 'user.message', origin: 'compact_summary' });
  });
}

test('a sub-agent in its own file and among the records of its parent is one session, in either order', async () => {
  restart();
  const words = user('look', { uuid: 'i1', isSidechain: true, agentId: 'a1', parentUuid: null });
  const said = answer('msg_i', call('ci', 'Grep', {}), { uuid: 'i2', isSidechain: true, agentId: 'a1' });
  const found = result('ci', 'found', { uuid: 'i3', isSidechain: true, agentId: 'a1' });
  const end = answer('msg_j', text('there'), { uuid: 'i4', isSidechain: true, agentId: 'a1' });
  restart();
  const progress = (message: object): object =>
    line('progress', { parentToolUseID: 'c1', data: { type: 'agent_progress', agentId: 'a1', message } });
  const main = linesOf(
    user('go'),
    answer('msg_1', call('c1', 'Task', { prompt: 'look' })),
    ...[words, said, found].map(progress),
    result('c1', 'there', { toolUseResult: { agentId: 'a1', totalTokens: 99 } }),
    answer('msg_2', text('done')),
  );
  const own = linesOf(words, said, found, end);
  const orders = [
    [{ 'p.jsonl': main }, { 'agent-a1.jsonl': own }],
    [{ 'agent-a1.jsonl': own }, { 'p.jsonl': main }],
    [{ 'p.jsonl': main, 'agent-a1.jsonl': own }, {}],
  ];
  for (const files of orders) {
    const desk = makeThreadDesk();
    for (const some of files) {
      plantFiles(desk, some);
      expect((await importAll(desk)).isWhole).toBe(true);
    }
    expect(sessionsOf(desk)).toEqual([`claude-${threadA}`, `claude-${threadA}.a1`]);
    expect(countsOf(desk, `claude-${threadA}.a1`)).toMatchObject({
      turns: 1,
      subPrompts: 1,
      calls: '1/1',
      text: 1,
      ans: 2,
    });
    expect(countsOf(desk, `claude-${threadA}`)).toMatchObject({ turns: 1, calls: '1/1', ans: 2 });
    const ends = eventsOf(desk, `claude-${threadA}.a1`).filter(({ type }) => type === 'turn.completed');
    expect(ends).toHaveLength(1);
    const parent = runOf(desk, `claude-${threadA}.a1`)?.['parent'];
    expect(parent).toMatchObject({ thread_id: threadA });
    if (files[0]?.['p.jsonl'] !== undefined) expect(parent).toMatchObject({ call_id: 'c1' });
    const again = contentOf(desk, `claude-${threadA}.a1`);
    expect((await importAll(desk)).outcomes.unchanged).toBe(2);
    expect(contentOf(desk, `claude-${threadA}.a1`)).toEqual(again);
  }
});

test('what a sub-agent used is its own, whichever file said it first', async () => {
  restart();
  const side = { isSidechain: true, agentId: 'a1', parentUuid: null };
  const words = user('look', { ...side, uuid: 'i1' });
  const said = answer('msg_i', text('there'), { ...side, uuid: 'i2' });
  restart();
  const progress = (message: object): object =>
    line('progress', { parentToolUseID: 'c1', data: { type: 'agent_progress', agentId: 'a1', message } });
  const calling = [user('go'), answer('msg_1', call('c1', 'Task', { prompt: 'look' }))];
  const parent = linesOf(...calling, progress(words), progress(said), result('c1', 'there'));
  const desk = makeThreadDesk();
  plantFiles(desk, {
    'agent-a1.jsonl': linesOf(words, said, answer('msg_j', text('more'), { ...side, uuid: 'i3' })),
  });
  await importAll(desk, { final: false });
  plantFiles(desk, { 'p.jsonl': parent });
  await importAll(desk, { final: false });
  const ends = eventsOf(desk, `claude-${threadA}.a1`).filter(({ type }) => type === 'turn.completed');
  expect(ends).toMatchObject([{ usage: { input_tokens: 15, output_tokens: 4 } }]);
});

test.each([
  [
    'words of the user',
    [user('other way', { uuid: 'o1' }), answer('msg_2', text('well'), { uuid: 'o2' })],
    1,
    0,
  ],
  ['an interrupt', [user('[Request interrupted by user]', { uuid: 'o1' })], 1, 1],
  ['a result', [result('c1', 'done', { uuid: 'o1' })], 1, 1],
] as const)('a fork that goes on with %s', async (_name, own, turns, implicit) => {
  restart();
  const shared = [user('go'), answer('msg_1', call('c1'))];
  const forked = [...shared, ...own].map((each) => ({ ...each, sessionId: threadB }));
  const desk = makeThreadDesk();
  plantFiles(desk, { 'a.jsonl': linesOf(...shared), 'b.jsonl': linesOf(...forked) });
  const report = await importAll(desk);
  expect(report).toMatchObject({ forkedCount: 1, unansweredCount: 1 });
  expect(countsOf(desk, `claude-${threadB}`)).toMatchObject({ turns, implicit, prompts: 1 - implicit });
  expect(runOf(desk, `claude-${threadB}`)).toMatchObject({
    forked_from: { session: `claude-${threadA}`, thread_id: threadA, records: 2, last_id: 'u2' },
  });
  const [start] = eventsOf(desk, `claude-${threadB}`).filter(({ type }) => type === 'turn.failed');
  expect(start?.['message']).toBe(_name === 'an interrupt' ? 'interrupted' : undefined);
});

/** Lines of a thread; `sessionId` as a fork writes it into what it copies. */
function threadOf(sessionId: string, lines: readonly object[]): Uint8Array {
  return linesOf(...lines.map((each) => ('uuid' in each ? { ...each, sessionId } : each)));
}

const threadC = '33333333-3333-4333-8333-333333333333';

function forksOf(desk: ThreadDesk): Readonly<Record<string, unknown>> {
  const forks = sessionsOf(desk).map((session) => [session, runOf(desk, session)?.['forked_from']]);
  return Object.fromEntries(forks.filter(([, from]) => from !== undefined));
}

restart();
const [, , early, late] = [user('go'), user('so'), user('on and '.repeat(99)), user('back')];
const snapshot = { type: 'file-history-snapshot', messageId: 'm', snapshot: { text: 'x'.repeat(2_000) } };

test.each([
  ['its first own record is older, although it is longer', early],
  ['it has no record of its own, although its file is longer', snapshot],
])('of two threads in a batch that one is the parent: %s', async (_name, ofParent) => {
  restart();
  const shared = [user('go'), user('so')];
  const parent = threadOf(threadA, [...shared, ofParent ?? {}]);
  const child = threadOf(threadB, [...shared, late ?? {}]);
  expect(parent.length).toBeGreaterThan(child.length);
  for (const files of [
    { 'a.jsonl': parent, 'b.jsonl': child },
    { 'a.jsonl': child, 'b.jsonl': parent },
  ]) {
    const desk = makeThreadDesk();
    plantFiles(desk, files);
    expect((await importAll(desk)).isWhole).toBe(true);
    expect(forksOf(desk)).toEqual({
      [`claude-${threadB}`]: { session: `claude-${threadA}`, thread_id: threadA, records: 2, last_id: 'u2' },
    });
  }
});

test('a fork of a fork goes on from the fork, in whatever order they are found; each record is there once', async () => {
  restart();
  const lines = ['one', 'two', 'three', 'four', 'five'].map((words) => user(words));
  const [first, second, third] = [
    threadOf(threadA, lines.slice(0, 2)),
    threadOf(threadB, lines.slice(0, 3)),
    threadOf(threadC, lines),
  ];
  for (const files of [
    { 'a.jsonl': first, 'b.jsonl': second, 'c.jsonl': third },
    { 'a.jsonl': third, 'b.jsonl': second, 'c.jsonl': first },
  ]) {
    const desk = makeThreadDesk();
    plantFiles(desk, files);
    await importAll(desk);
    expect(forksOf(desk)).toMatchObject({
      [`claude-${threadB}`]: { session: `claude-${threadA}`, records: 2, last_id: 'u2' },
      [`claude-${threadC}`]: { session: `claude-${threadB}`, records: 3, last_id: 'u3' },
    });
    for (const id of ['u1', 'u2', 'u3', 'u4', 'u5']) expect(holdersOf(desk, id)).toBe(1);
  }
});
