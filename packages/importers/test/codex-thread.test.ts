import { linesOf } from './stream-lines.js';
import {
  type Event,
  eventsOf,
  importOne,
  makeThreadDesk,
  member,
  recordsOf,
  turnsOf,
} from './thread-files.js';
import { handMade, message, meta, rolloutLine, tokens, usage } from './thread-samples.js';

/** One line per event: the line of its record, its type, and what matters of it. */
function outline(events: readonly Event[]): readonly string[] {
  return events.map((event) => {
    const { item } = event;
    const told =
      item === undefined
        ? [
            event['origin'],
            event['field'],
            event['message'],
            event['implicit'] === true ? 'implicit' : undefined,
          ]
        : [member(item, 'id'), member(item, 'type'), member(item, 'status'), member(item, 'outcome')];
    return [member(event, 'src', 'line') ?? '-', event['type'], ...told]
      .filter((part) => part !== undefined)
      .join(' ');
  });
}

test('a thread becomes turns: the prompt stands behind its turn, calls and results pair, twins are said once', async () => {
  const desk = makeThreadDesk();
  const report = await importOne(desk, handMade());
  expect(outline(eventsOf(desk, String(report.sessionId)))).toEqual([
    '1 thread.started',
    '1 run.started',
    '- run.source',
    '2 turn.started',
    '7 user.message prompt',
    '4 user.message injected',
    '5 run.changed model',
    '5 run.changed effort',
    '5 run.changed permission',
    '11 item.completed rsn_1 reasoning',
    '12 item.started c1 command_execution in_progress',
    '13 run.answer',
    '14 item.completed c1 command_execution completed',
    '16 item.started c2 command_execution in_progress',
    '17 item.updated c2 command_execution in_progress',
    '18 item.started c3 tool_invocation in_progress',
    '19 item.completed c3 tool_invocation completed success',
    '19 item.completed c3:output tool_output completed',
    '19 item.completed c2 command_execution failed',
    '20 item.started c4 tool_invocation in_progress',
    '21 item.completed c4 tool_invocation completed success',
    '21 item.completed c4:output tool_output completed',
    '21 item.completed c4:change file_change completed',
    '22 item.completed ws1 web_search',
    '24 run.answer',
    '26 item.completed msg_2 agent_message',
    '28 turn.completed',
    '29 turn.started',
    '32 user.message prompt',
    '30 thread.compact_boundary',
    '30 user.message compact_summary',
    '33 run.kept',
    '34 item.started c1~2 command_execution in_progress',
    '35 user.message injected',
    '36 item.completed c1~2 command_execution failed cancelled',
    '36 turn.failed interrupted',
    '37 turn.started',
    '37 user.message prompt',
    '38 item.completed msg_3 agent_message',
    '38 turn.completed',
    '- run.imported',
  ]);
  expect(turnsOf(desk, String(report.sessionId))).toEqual(['completed', 'failed', 'completed']);
  expect(report).toMatchObject({ unansweredCount: 0, withoutUsageCount: 2 });
});

test('numbers and characters pass as they are; times never run backwards and the source keeps its own', async () => {
  const desk = makeThreadDesk();
  const { sessionId } = await importOne(desk, handMade());
  const records = recordsOf(desk, String(sessionId));
  const stored = records.map((record) => Buffer.from(record.eventBytes()).toString());
  expect(stored.find((text) => text.includes('"id":"c1"'))).toContain(
    '{"cmd":"ls","deep":2512292042121000001}',
  );
  const prompt = records.find(({ type }) => type === 'user.message')?.readEvent();
  expect(member(prompt, 'content', '0', 'text')).toBe('a\u2028b\u0085c\u000bd é 😀');
  const times = records.map(({ ts }) => String(ts));
  expect(times).toEqual([...times].sort());
  const context = records.find((record) => member(record.readEvent(), 'origin') === 'injected');
  expect([context?.ts, member(context?.readEvent(), 'src', 'ts')]).toEqual([
    '2026-04-01T00:00:07.000Z',
    '2026-04-01T00:00:04.000Z',
  ]);
});

test("words that reach a running turn are queued, in a sub-agent all words are its parent's", async () => {
  const lines = (more: object): Uint8Array =>
    linesOf(
      rolloutLine('session_meta', meta('q', more), 0),
      rolloutLine('event_msg', { type: 'task_started', turn_id: 't' }),
      rolloutLine('event_msg', { type: 'user_message', message: 'first' }),
      rolloutLine('response_item', message('assistant', 'working')),
      rolloutLine('event_msg', {
        type: 'user_message',
        message: 'and this',
        images: ['data:image/png;base64,AA=='],
      }),
    );
  const said = (events: readonly Event[]): readonly string[] =>
    outline(events).filter((line) => /user\.message|interjected/.test(line));
  const primary = makeThreadDesk();
  const { sessionId } = await importOne(primary, lines({}));
  const events = eventsOf(primary, String(sessionId));
  expect(said(events)).toEqual(['3 user.message prompt', '5 interjected', '5 user.message queued']);
  expect(events.find(({ type }) => type === 'interjected')).toMatchObject({
    source: 'direct',
    image_count: 1,
  });
  const spawn = { thread_spawn: { parent_thread_id: 'boss', agent_nickname: 'Hilbert' } };
  const child = makeThreadDesk();
  const report = await importOne(child, lines({ source: { subagent: spawn } }));
  expect(report.sessionId).toBe('codex-boss.q');
  const childEvents = eventsOf(child, 'codex-boss.q');
  expect(said(childEvents)).toEqual(['3 user.message subagent_prompt', '5 user.message subagent_prompt']);
  expect(childEvents[1]).toMatchObject({
    agent: 'subagent',
    parent: { thread_id: 'boss' },
    agent_name: 'Hilbert',
  });
});

test('a call that started another thread is named on both sides', async () => {
  const desk = makeThreadDesk();
  await importOne(
    desk,
    linesOf(
      rolloutLine('session_meta', meta('boss'), 0),
      rolloutLine('response_item', {
        type: 'function_call',
        call_id: 's1',
        name: 'spawn_agent',
        arguments: '{}',
      }),
      rolloutLine('event_msg', { type: 'collab_agent_spawn_end', call_id: 's1', new_thread_id: 'kid' }),
    ),
  );
  expect(eventsOf(desk, 'codex-boss').map((event) => member(event, 'item', 'child_thread_id'))).toContain(
    'kid',
  );
  const source = { subagent: { thread_spawn: { parent_thread_id: 'boss' } } };
  await importOne(
    desk,
    linesOf(
      rolloutLine('session_meta', meta('kid', { source }), 0),
      rolloutLine('response_item', message('assistant', 'x')),
    ),
  );
  expect(eventsOf(desk, 'codex-boss.kid')[1]).toMatchObject({
    parent: { session: 'codex-boss', thread_id: 'boss', call_id: 's1' },
  });
});

test('the same record twice is there twice, and once however often it is imported', async () => {
  const desk = makeThreadDesk();
  const line = rolloutLine('response_item', message('assistant', 'again'), 5_000);
  const bytes = linesOf(rolloutLine('session_meta', meta('twice'), 0), line, line, line);
  for (let round = 0; round < 2; round += 1) {
    await importOne(desk, bytes);
    const texts = eventsOf(desk, 'codex-twice').filter((event) => member(event, 'item', 'text') === 'again');
    expect(texts).toHaveLength(3);
    desk.fs.removeFile('/store/sessions/codex-twice/derived/import.json');
  }
});

test('an end that comes behind the output says what the output left out; one that says the same is an echo', async () => {
  const call = { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"make"}' };
  const result = (id: string): object => ({
    type: 'function_call_output',
    call_id: id,
    output: 'Chunk ID: 1\nProcess exited with code 0\nOutput:\nshort',
  });
  const end = (id: string, output: string): object => ({
    type: 'exec_command_end',
    call_id: id,
    command: ['/bin/zsh', '-lc', 'make'],
    aggregated_output: output,
    exit_code: 0,
  });
  const desk = makeThreadDesk();
  const report = await importOne(
    desk,
    linesOf(
      rolloutLine('session_meta', meta('ends'), 0),
      rolloutLine('response_item', { ...call, call_id: 'a' }),
      rolloutLine('response_item', result('a')),
      rolloutLine('event_msg', end('a', 'short and all of the rest')),
      rolloutLine('response_item', { ...call, call_id: 'b' }),
      rolloutLine('response_item', result('b')),
      rolloutLine('event_msg', end('b', 'short')),
      rolloutLine('event_msg', end('c', 'run by hand')),
    ),
  );
  const items = eventsOf(desk, 'codex-ends').filter(({ type }) => type === 'item.completed');
  expect(
    items.map((event) => [member(event, 'item', 'id'), member(event, 'item', 'aggregated_output')]),
  ).toEqual([
    ['a', 'short'],
    ['a', 'short and all of the rest'],
    ['b', 'short'],
    ['c', 'run by hand'],
  ]);
  expect(member(items[1], 'item', 'arguments')).toEqual({ cmd: 'make' });
  expect(member(items[3], 'item', 'command')).toBe('make');
  expect(report.ledger.records['echo:event_msg/exec_command_end']).toBe(1);
});

test('files from before September 2025: a first line of their own, bare items, the words of the user among them', async () => {
  const desk = makeThreadDesk();
  const report = await importOne(
    desk,
    linesOf(
      { id: 'old', timestamp: '2025-08-01T10:00:00.000Z', instructions: null, git: { branch: 'main' } },
      { record_type: 'state' },
      message('user', '<environment_context>x</environment_context>'),
      message('user', 'a question'),
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'hm' }] },
      {
        type: 'function_call',
        id: 'f',
        name: 'shell',
        arguments: '{"command":["bash","-lc","ls -l"]}',
        call_id: 'k',
      },
      { type: 'function_call_output', call_id: 'k', output: '{"output":"x","metadata":{"exit_code":2}}' },
      message('assistant', 'an answer'),
    ),
  );
  expect(report.sessionId).toBe('codex-old');
  const events = eventsOf(desk, 'codex-old');
  expect(outline(events)).toEqual([
    '1 thread.started',
    '1 run.started',
    '- run.source',
    '3 user.message injected',
    '4 turn.started',
    '4 user.message prompt',
    '5 item.completed rsn_1 reasoning',
    '6 item.started k command_execution in_progress',
    '7 item.completed k command_execution failed',
    '8 item.completed msg_2 agent_message',
    '8 turn.completed',
    '- run.imported',
  ]);
  expect(member(events[7], 'item', 'command')).toBe('ls -l');
  expect(member(events[8], 'item', 'exit_code')).toBe(2);
  expect(new Set(recordsOf(desk, 'codex-old').map(({ ts }) => ts))).toEqual(
    new Set(['2025-08-01T10:00:00.000Z']),
  );
  expect(member(events[5], 'src', 'derived')).toEqual(['ts']);
});

test('long texts are cut and stored whole; totals that begin anew are not to be relied on', async () => {
  const long = 'ä'.repeat(200_000);
  const desk = makeThreadDesk();
  await importOne(
    desk,
    linesOf(
      rolloutLine('session_meta', meta('long'), 0),
      rolloutLine('response_item', message('assistant', long)),
      rolloutLine('event_msg', tokens(usage(100, 10), usage(100, 10))),
      rolloutLine('event_msg', tokens(usage(50, 5), usage(50, 5))),
    ),
  );
  const events = eventsOf(desk, 'codex-long');
  const item = events.find(({ type }) => type === 'item.completed')?.['item'];
  expect(member(item, 'text')).toBe('ä'.repeat(32_768));
  const asset = String(member(item, 'truncated', 'asset'));
  expect(member(item, 'truncated', 'bytes')).toBe(400_000);
  expect(Buffer.from(desk.fs.contentOf(`/store/assets/${asset.slice(0, 2)}/${asset}`)).toString()).toBe(long);
  const answers = events.filter(({ type }) => type === 'run.answer');
  expect(answers.map((answer) => [member(answer, 'usage', 'input_tokens'), answer['reliable']])).toEqual([
    [100, true],
    [50, false],
  ]);
});

test('ids that are none of a session, and threads without a header, get ids of their own', async () => {
  const desk = makeThreadDesk();
  const hostile = await importOne(
    desk,
    linesOf(
      rolloutLine('session_meta', meta('../../etc'), 0),
      rolloutLine('response_item', message('assistant', 'x')),
    ),
  );
  expect(hostile.sessionId).toMatch(/^codex-x[0-9a-f]{32}$/);
  const headless = await importOne(
    makeThreadDesk(),
    linesOf(rolloutLine('response_item', message('assistant', 'y'), 9_000)),
  );
  expect(headless.sessionId).toMatch(/^codex-[0-9a-f]{32}$/);
  const exec = makeThreadDesk();
  await importOne(
    exec,
    linesOf(
      rolloutLine('session_meta', meta('e', { originator: 'codex_exec' }), 0),
      rolloutLine('response_item', message('assistant', 'x')),
    ),
  );
  expect(eventsOf(exec, 'codex-e')[1]).toMatchObject({ agent: 'headless', cwd: '/repo', version: '0.118.0' });
});

test('a second header of the same thread tells what has changed, one of another thread begins copied history', async () => {
  const desk = makeThreadDesk();
  await importOne(
    desk,
    linesOf(
      rolloutLine('session_meta', meta('again'), 0),
      rolloutLine('response_item', message('assistant', 'one')),
      rolloutLine('session_meta', meta('again', { cli_version: '0.120.0' })),
      rolloutLine('session_meta', meta('again', { cli_version: '0.120.0' })),
      rolloutLine('session_meta', meta('other'), 100_000),
      rolloutLine('response_item', message('assistant', 'copied'), 100_000),
      rolloutLine('response_item', message('assistant', 'two'), 200_000),
    ),
  );
  const events = eventsOf(desk, 'codex-again');
  const texts = events.flatMap((event) => member(event, 'item', 'text') ?? []);
  expect(texts).toEqual(['one', 'two']);
  expect(events.filter(({ type }) => type === 'run.changed')).toMatchObject([
    { field: 'version', value: '0.120.0' },
  ]);
  const kept = events.filter(({ type }) => type === 'run.kept');
  expect(kept.map((event) => [event['kind'], member(event, 'src', 'line')])).toEqual([
    ['copied:session_meta', 5],
    ['copied:response_item/message:assistant', 6],
  ]);
});

test('arguments that were printed on several lines, or hold half a character, stay what they say', async () => {
  const desk = makeThreadDesk();
  const given = '{\n  "cmd": "echo \\n",\r\n  "half": "\ud800"\n}';
  const call = { type: 'function_call', call_id: 'c', name: 'exec_command', arguments: given };
  const report = await importOne(
    desk,
    linesOf(rolloutLine('session_meta', meta('printed'), 0), rolloutLine('response_item', call)),
  );
  expect(report).toMatchObject({ outcome: 'new', error: null });
  const started = recordsOf(desk, 'codex-printed').find(({ type }) => type === 'item.started');
  expect(member(started?.readEvent(), 'item', 'arguments')).toEqual({ cmd: 'echo \n', half: '\ud800' });
  expect(Buffer.from(started?.eventBytes() ?? []).toString()).toContain('"half": "\\ud800"');
});
