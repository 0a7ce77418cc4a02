import { countsOf, ledgerRecords } from './claude-counts.js';
import {
  answer,
  call,
  handMade,
  restart,
  result,
  text,
  threadA,
  threadB,
  tokens,
  user,
} from './claude-lines.js';
import { linesOf } from './stream-lines.js';
import {
  type Event,
  eventsOf,
  importAll,
  importOne,
  makeThreadDesk,
  member,
  plantFiles,
  turnsOf,
} from './thread-files.js';

async function eventsIn(bytes: Uint8Array): Promise<readonly Event[]> {
  const desk = makeThreadDesk();
  const report = await importOne(desk, bytes);
  expect(report.ledger.mapped + report.ledger.kept).toBe(bytes.length);
  return eventsOf(desk, String(report.sessionId));
}

const ofType = (events: readonly Event[], type: string): readonly Event[] =>
  events.filter((event) => event['type'] === type);

const textOf = (event: Event | undefined): unknown => member(event, 'content', '0', 'text');

const itemOf = (events: readonly Event[], id: string): Event | undefined =>
  events.filter((event) => member(event, 'item', 'id') === id).at(-1);

describe('a transcript made by hand', () => {
  let events: readonly Event[] = [];
  let records: ReadonlyMap<string, number> = new Map();
  let turns: readonly string[] = [];
  let unanswered = -1;

  beforeAll(async () => {
    const desk = makeThreadDesk();
    const report = await importOne(desk, handMade());
    const sessionId = String(report.sessionId);
    events = eventsOf(desk, sessionId);
    records = ledgerRecords(desk, sessionId);
    turns = turnsOf(desk, sessionId);
    unanswered = report.unansweredCount;
  });

  test('begins with who runs where, at the first time that is known', () => {
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      'thread.started',
      'run.started',
      'run.source',
    ]);
    expect(events[1]).toMatchObject({
      program: 'claude',
      version: '2.1.90',
      cwd: '/repo',
      agent: 'primary',
      git: { branch: 'main' },
      src: { line: 1, derived: ['ts'] },
    });
  });

  test('opens a turn at the words of the user, and fails one that ended in an interrupt', () => {
    expect(turns).toEqual(['completed', 'completed', 'completed', 'failed', 'completed']);
    const ends = events.filter(({ type }) => type === 'turn.completed' || type === 'turn.failed');
    expect(ends[0]).toMatchObject({ duration_ms: 1234, usage: { input_tokens: 30, output_tokens: 8 } });
    expect(ends[0]?.['completed_at']).toMatch(/^2026-01-05T/);
    expect(ends.map(({ message }) => message)).toEqual([
      undefined,
      undefined,
      undefined,
      'interrupted',
      undefined,
    ]);
    expect(ends[1]).toMatchObject({ without_usage: true });
  });

  test('takes the last row of an answer, and says what it reported', () => {
    const answers = ofType(events, 'run.answer');
    expect(answers.map(({ answer_id: id }) => id)).toEqual(['msg_1', 'msg_2', 'msg_3', 'msg_5']);
    expect(answers[0]).toMatchObject({
      usage: { output_tokens: 4 },
      raw: { input_tokens: 10 },
      reliable: true,
    });
  });

  test('writes a result that stands before its call behind it, with its pictures', () => {
    const at = (type: string, id: string): number =>
      events.findIndex((event) => event['type'] === type && member(event, 'item', 'id') === id);
    expect(at('item.started', 'c3')).toBeLessThan(at('item.completed', 'c3'));
    expect(itemOf(events, 'c3:output')).toMatchObject({
      item: { output: 'early', attachments: [{ type: 'asset', bytes: 3, media_type: 'image/png' }] },
    });
    expect(unanswered).toBe(1);
  });

  test('tells the change of a file, and its difference', () => {
    expect(itemOf(events, 'c2:change')).toMatchObject({
      item: {
        type: 'file_change',
        unified_diff: '--- /repo/a.txt\n+++ /repo/a.txt\n@@ -1,1 +1,1 @@\n-a\n+b\n',
      },
    });
  });

  test('writes words of the queue once, and says which were never delivered', () => {
    const queued = ofType(events, 'user.message').filter(({ origin }) => origin === 'queued');
    expect(queued.map(textOf)).toEqual(['and that too', 'still waiting']);
    expect(queued.map(({ delivered }) => delivered)).toEqual([undefined, false]);
    expect(ofType(events, 'interjected')).toMatchObject([
      { text: 'and that too', source: 'queue', image_count: 0 },
      { text: 'still waiting', source: 'queue', image_count: 0 },
    ]);
    const notified = ofType(events, 'user.message').filter(({ origin }) => origin === 'notification');
    expect(notified.map(textOf)).toEqual(['<task-notification>it ended</task-notification>']);
    expect(notified[0]?.['delivered']).toBeUndefined();
  });

  test('runs the commands that the user typed', () => {
    const item = {
      type: 'command_execution',
      command: 'pwd',
      aggregated_output: '/repo/sub',
      status: 'completed',
    };
    const shell = events.filter((event) => String(member(event, 'item', 'id')).endsWith('#shell'));
    expect(shell.map(({ type }) => type)).toEqual(['item.started', 'item.completed']);
    expect(shell[1]).toMatchObject({ item });
  });

  test('stores pictures beside the words', () => {
    const said = ofType(events, 'user.message').find((event) => textOf(event) === 'a picture');
    expect(member(said, 'content', '1')).toMatchObject({ type: 'asset', bytes: 3, media_type: 'image/png' });
  });

  test('says what changes in the session, not what stays', () => {
    const changes = ofType(events, 'run.changed').map(({ field, value }) => `${field}=${value}`);
    expect(changes).toEqual([
      'title=old title',
      'model=m1',
      'mode=normal',
      'cwd=/repo/sub',
      'cwd=/repo',
      'branch=topic',
      'branch=main',
    ]);
    expect(records.get('echo:mode')).toBe(1);
  });

  test('asks about a plan, and goes on with the approved one', () => {
    expect(ofType(events, 'plan.approval.requested')).toHaveLength(1);
    expect(ofType(events, 'plan.approval.resolved')).toMatchObject([{ decision: 'revise' }]);
    const plans = events.filter((event) => member(event, 'item', 'type') === 'plan');
    expect(plans.map((event) => member(event, 'item', 'text'))).toEqual(['- [ ] all', '- [x] all']);
  });

  test('keeps what it does not know, and counts what has no event', () => {
    expect(ofType(events, 'run.kept').map(({ kind }) => kind)).toEqual(['brand-new', 'assistant:fallback']);
    expect(records.get('kept:progress/hook_progress')).toBe(1);
    expect(records.get('kept:file-history-snapshot')).toBe(1);
    expect(records.get('kept:queue-operation/popAll')).toBe(1);
  });

  test('numbers an id that a second call uses, and names the server of a tool', () => {
    expect(itemOf(events, 'c1~2')).toMatchObject({
      item: { type: 'mcp_tool_call', server: 'ide', tool_name: 'look' },
    });
  });

  test('gives records their parents, and the one before where there is no such record', () => {
    const prompt = ofType(events, 'user.message')[0];
    expect(prompt).toMatchObject({ origin: 'prompt', content: [{ text: 'do it' }] });
    const src = events.map((event) => member(event, 'src'));
    expect(src.find((each) => member(each, 'id') === 'u2')).toMatchObject({ parent: 'u1' });
  });
});

test('a turn whose last answer is an error has failed; one that goes on behind it has not', async () => {
  restart();
  const message = { id: 'e', model: '<synthetic>', content: [text('API Error: 500')] };
  const failed = (): object => answer('e', text(''), { message, isApiErrorMessage: true });
  const events = await eventsIn(
    linesOf(user('one'), failed(), user('two'), failed(), answer('m', text('a')), user('three'), failed()),
  );
  const ends = events.filter(({ type }) => type === 'turn.completed' || type === 'turn.failed');
  expect(ends.map((end) => end['message'])).toEqual(['API Error: 500', undefined, 'API Error: 500']);
});

test('a parent that stands behind is named; one that stands nowhere is the line before', async () => {
  restart();
  const first = user('one', { uuid: 'a', parentUuid: null });
  const events = await eventsIn(
    linesOf(
      first,
      user('two', { uuid: 'b', parentUuid: 'c' }),
      user('three', { uuid: 'c', parentUuid: 'a' }),
      user('four', { uuid: 'd', parentUuid: 'gone' }),
    ),
  );
  const said = ofType(events, 'user.message').map((event) => member(event, 'src'));
  expect(said.map((src) => [member(src, 'parent'), member(src, 'derived')])).toEqual([
    [undefined, undefined],
    ['c', undefined],
    ['a', undefined],
    ['c', ['parent']],
  ]);
});

test('a record that comes again under its id is a repeat, whatever else it says', async () => {
  restart();
  const prompt = user('one');
  const said = answer('msg_1', text('yes'));
  const desk = makeThreadDesk();
  const { sessionId } = await importOne(
    desk,
    linesOf(prompt, said, { ...said, cwd: '/other', version: '9.9.9' }),
  );
  expect(ledgerRecords(desk, String(sessionId)).get('repeat:assistant')).toBe(1);
  expect(ofType(eventsOf(desk, String(sessionId)), 'run.changed')).toMatchObject([{ field: 'model' }]);
});

test('two objects on one line are two records', async () => {
  restart();
  const lines = [JSON.stringify(user('one')), JSON.stringify(answer('msg_1', text('yes')))].join('');
  const events = await eventsIn(new TextEncoder().encode(`${lines}\n`));
  expect(events.filter((event) => member(event, 'src', 'line') === 1).length).toBeGreaterThan(4);
  expect(itemOf(events, 'msg_1#0')).toMatchObject({ item: { text: 'yes' } });
});

test('a text that is not the same any more is a new snapshot; what did not change stays once', async () => {
  restart();
  const prompt = user('one');
  const said = answer('msg_1', text('first words'));
  const desk = makeThreadDesk();
  await importOne(desk, linesOf(prompt, said, user('two')));
  const sessionId = `claude-${threadA}`;
  const before = eventsOf(desk, sessionId).length;
  const changed = JSON.parse(JSON.stringify(said).replace('first words', 'other words'));
  const rewritten = linesOf(
    prompt,
    changed,
    JSON.parse(
      JSON.stringify({ ...user('two'), uuid: 'u3', parentUuid: 'u2', timestamp: '2026-01-05T00:00:03.000Z' }),
    ),
  );
  const report = await importOne(desk, rewritten);
  expect(report.outcome).toBe('rewritten');
  const added = eventsOf(desk, sessionId).slice(before);
  expect(added.map(({ type }) => type)).toEqual(['item.completed', 'run.imported']);
  expect(added[0]).toMatchObject({ item: { id: 'msg_1#0', text: 'other words' } });
});

test('answers of one id in turns with another count once, in the turn of the first', async () => {
  restart();
  const events = await eventsIn(
    linesOf(
      user('one'),
      answer('msg_1', text('a'), {}, tokens(10, 1)),
      answer('msg_2', text('b'), {}, tokens(20, 2)),
      answer('msg_1', text('c'), {}, tokens(10, 7)),
      user('two'),
      answer('msg_1', text('late'), {}, tokens(10, 9)),
    ),
  );
  const [first, second] = ofType(events, 'turn.completed');
  expect(first).toMatchObject({ usage: { input_tokens: 40, output_tokens: 9 } });
  expect(second).toMatchObject({ without_usage: true });
  expect(itemOf(events, 'msg_1#1')).toMatchObject({ item: { text: 'c' } });
});

test('records of a sub-agent without a name stay in the thread, and their prompt is no word of the user', async () => {
  restart();
  const events = await eventsIn(
    linesOf(user('one'), user('look', { isSidechain: true }), answer('m', text('a'), { isSidechain: true })),
  );
  expect(ofType(events, 'user.message').map(({ origin }) => origin)).toEqual(['prompt', 'subagent_prompt']);
  expect(ofType(events, 'turn.started')).toHaveLength(1);
});

test('records of a sub-agent with a name go to its session, also in the file of its parent', async () => {
  restart();
  const side = { isSidechain: true, agentId: 'a1' };
  const desk = makeThreadDesk();
  const report = await importOne(
    desk,
    linesOf(user('one'), user('look', side), answer('m', text('a'), side), answer('n', text('b'))),
  );
  expect(report.childSessionIds).toEqual([`claude-${threadA}.a1`]);
  expect(countsOf(desk, `claude-${threadA}.a1`)).toMatchObject({ turns: 1, subPrompts: 1, text: 1, ans: 1 });
  expect(countsOf(desk, `claude-${threadA}`)).toMatchObject({ turns: 1, prompts: 1, text: 1, ans: 1 });
});

test('figures of versions before 2.1.90 are not reliable', async () => {
  restart();
  const old = { version: '2.1.89' };
  const events = await eventsIn(linesOf(user('one', old), answer('m', text('a'), old)));
  expect(ofType(events, 'run.answer')).toMatchObject([{ reliable: false }]);
});

test('a program that was started by another is headless', async () => {
  restart();
  const events = await eventsIn(linesOf(user('one', { entrypoint: 'sdk-ts' })));
  expect(events[1]).toMatchObject({ type: 'run.started', agent: 'headless' });
});

test('titles that several give by turns are said when they are new, and that of the user outranks', async () => {
  restart();
  const ai = (title: string): object => ({ type: 'ai-title', aiTitle: title, sessionId: threadA });
  const own = (title: string): object => ({ type: 'custom-title', customTitle: title, sessionId: threadA });
  const events = await eventsIn(linesOf(user('one'), ai('a'), ai('a'), own('b'), ai('a'), own('b'), ai('c')));
  expect(ofType(events, 'run.changed').map(({ value }) => value)).toEqual(['a', 'b']);
});

test('an output that was stored in a file of its own is attached', async () => {
  restart();
  const words = `<persisted-output>\nOutput too large (9KB). Full output saved to: /home/me/.claude/projects/x/${threadA}/tool-results/c1.txt\n\nPreview:\n</persisted-output>`;
  const desk = makeThreadDesk();
  plantFiles(desk, {
    [`${threadA}.jsonl`]: linesOf(user('one'), answer('m', call('c1', 'Read', {})), result('c1', words)),
    [`${threadA}/tool-results/c1.txt`]: new TextEncoder().encode('all of it'),
  });
  await importAll(desk);
  expect(itemOf(eventsOf(desk, `claude-${threadA}`), 'c1:output')).toMatchObject({
    item: { attachments: [{ type: 'asset', bytes: 9, media_type: 'text/plain', name: 'c1.txt' }] },
  });
});

test('the id in the lines counts, not that of the name, which is an alias; a copy with other records is reported', async () => {
  restart();
  const prompt = user('one');
  const same = linesOf(prompt, answer('m', text('a')));
  const desk = makeThreadDesk();
  plantFiles(desk, {
    [`${threadB}.jsonl`]: same,
    [`${threadB} (conflicted copy).jsonl`]: linesOf(prompt, { ...answer('n', text('b')), uuid: 'z' }),
  });
  const report = await importAll(desk);
  expect(report.outcomes).toMatchObject({ new: 1, conflict: 1 });
  expect(report.isWhole).toBe(false);
  const names = desk.fs.list('/store/sessions').map(({ name }) => name);
  expect(names).toEqual([`claude-${threadA}`]);
  const aliases = eventsOf(desk, `claude-${threadA}`)[1]?.['aliases'];
  expect(aliases === undefined || (Array.isArray(aliases) && aliases.includes(threadB))).toBe(true);
  expect(countsOf(desk, `claude-${threadA}`)).toMatchObject({ turns: 1, prompts: 1, ans: 1 });
});
