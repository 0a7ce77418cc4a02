import {
  countTools,
  filesView,
  goalsNow,
  memoryView,
  progressView,
  publishViews,
  toolCalls,
  toolsView,
  touchedFiles,
  type View,
  viewRecord,
} from '@turnlog/views';
import { caseLog, line, logOf, TestStore, turnCompleted, turnStarted } from './support.js';

async function fold<State>(view: View<State>, log: string | Uint8Array): Promise<State> {
  const place = await TestStore.make();
  place.plant('case', log);
  return place.reading('case', (reader) =>
    [...reader.records()].map(viewRecord).reduce(view.evolve, view.initial('case')),
  );
}

const item = (type: string, value: object): object => ({ type: `item.${type}`, item: value });
const invocation = (id: string, more: object = {}): object => ({
  id,
  type: 'tool_invocation',
  tool_name: 'shell',
  status: 'completed',
  ...more,
});

describe('tools', () => {
  const counts = async (log: string | Uint8Array): Promise<unknown> => {
    const state = await fold(toolsView, log);
    return [...countTools(toolCalls(state))].map(([tool, { calls, failed }]) => [tool, calls, failed]);
  };

  test('B46 names that every object has are counted like any other, and no prototype is touched', async () => {
    const log = caseLog('B46-proto-keys/events.jsonl');
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const made = logOf(
      names.map((tool_name, index) => item('completed', invocation(`i${index}`, { tool_name }))),
    );
    for (const bytes of [log ?? made, made])
      expect(await counts(bytes)).toEqual(names.map((name) => [name, 1, 0]));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted');
    const place = await TestStore.make();
    place.plant('case', made);
    publishViews(place.store, 'case');
    expect(place.json('case', 'tools')).toMatchObject({ tools: names.map((tool) => ({ tool, calls: 1 })) });
  });

  test('B93: one call recorded four times is one call', async () => {
    const snapshots = ['started', 'updated', 'completed', 'completed'];
    expect(await counts(logOf(snapshots.map((type) => item(type, invocation('i1')))))).toEqual([
      ['shell', 1, 0],
    ]);
    const others = ['i1', 'i2', 'i3', 'i4'].map((id) =>
      item('completed', invocation(id, { tool_call_id: 'c1' })),
    );
    expect(await counts(logOf([turnStarted, ...others]))).toEqual([['shell', 1, 0]]);
  });

  test('C-11: an id that begins again behind its end is another call, and a call id of another turn too', async () => {
    const again = [
      item('started', invocation('i1')),
      item('completed', invocation('i1')),
      item('started', invocation('i1')),
    ];
    expect(await counts(logOf(again))).toEqual([['shell', 2, 0]]);
    const turn = (id: string): readonly object[] => [
      turnStarted,
      item('completed', invocation(id, { tool_call_id: 'c1' })),
      turnCompleted(1, 1),
    ];
    expect(await counts(logOf([...turn('i1'), ...turn('i2')]))).toEqual([['shell', 2, 0]]);
  });

  test('commands, searches and calls without a name go by the type of their item; the last status counts', async () => {
    const log = logOf([
      item('started', { id: 'a', type: 'command_execution', command: 'ls', status: 'in_progress' }),
      item('completed', { id: 'a', type: 'command_execution', command: 'ls', status: 'failed' }),
      item('completed', { id: 'b', type: 'web_search', query: 'x' }),
      item('completed', { id: 'c', type: 'mcp_tool_call', tool_name: 'mcp__a__b', status: 'completed' }),
      item('completed', { id: 'd', type: 'mcp_tool_call', tool_name: 7 }),
      item('completed', { id: 'e', type: 'agent_message', text: 'x' }),
      item('completed', { id: 'e:output', type: 'tool_output', call_id: 'e', status: 'completed' }),
    ]);
    expect(await counts(log)).toEqual([
      ['command_execution', 1, 1],
      ['web_search', 1, 0],
      ['mcp__a__b', 1, 0],
      ['mcp_tool_call', 1, 0],
    ]);
  });

  test('B94: a call that was never answered is there, with its turn and time', async () => {
    const log = caseLog('B94-orphan-tool-call/events.jsonl');
    if (log === null) return;
    const calls = toolCalls(await fold(toolsView, log));
    expect(calls).toEqual([
      {
        tool: 'shell',
        callId: 'c1',
        seq: 4,
        turn: 1,
        tsMs: Date.parse('2026-01-05T10:00:04Z'),
        status: 'in_progress',
      },
    ]);
  });
});

describe('files', () => {
  const change = (id: string, path: string, kind: string, status = 'completed'): object => ({
    id,
    type: 'file_change',
    changes: [{ path, kind }],
    status,
  });

  test('paths of changes and of what calls name, the last snapshot of each item, failures left out', async () => {
    const state = await fold(
      filesView,
      logOf([
        item('started', change('a', 'src/old.ts', 'add')),
        item('completed', change('a', 'src/new.ts', 'add')),
        item('completed', change('b', 'src/new.ts', 'update')),
        item('completed', change('c', 'src/no.ts', 'update', 'failed')),
        item('completed', change('d', 'src/new.ts', 'renamed')),
        item(
          'completed',
          invocation('e', {
            arguments: { path: 'src/new.ts', file_path: '/srv/x', paths: ['y', 7, '', 'y'] },
          }),
        ),
        item('completed', invocation('f', { arguments: 'path' })),
      ]),
    );
    const found = touchedFiles(state).map(({ path, changes, callCount, first, last }) => [
      path,
      [...changes],
      callCount,
      first.seq,
      last.seq,
    ]);
    expect(found).toEqual([
      [
        'src/new.ts',
        [
          ['add', 1],
          ['update', 1],
          ['renamed', 1],
        ],
        1,
        1,
        6,
      ],
      ['/srv/x', [], 1, 6, 6],
      ['y', [], 1, 6, 6],
    ]);
  });

  test('a path of any length and a list of any length stay within bounds', async () => {
    const log = logOf([
      item('completed', {
        id: 'a',
        type: 'file_change',
        status: 'completed',
        changes: Array.from({ length: 3_000 }, (_, index) => ({ path: `f${index}`, kind: 'add' })),
      }),
      item('completed', change('b', `${'x'.repeat(4_095)}\u{1f600}`, 'add')),
    ]);
    const files = touchedFiles(await fold(filesView, log));
    expect(files).toHaveLength(1_025);
    expect(files.at(-1)?.path).toBe('x'.repeat(4_095));
  });
});

describe('progress', () => {
  const started = (taskId: string, goal?: string): object => ({
    type: 'turn.started',
    context: { task_id: taskId, goal },
  });
  const failed = { type: 'turn.failed', message: 'x' };
  const note = { type: 'error', message: 'x' };

  test('the time of a goal is that of its turns, counted once, also while one is open', async () => {
    // One second per record: 1-3 for t1, 4-5 for t2, 6-7 outside, 8-9 for t1 and open.
    const events = [
      started('t1', 'parse'),
      note,
      turnCompleted(1, 1),
      started('t2', 'print'),
      failed,
      note,
      note,
      started('t1'),
      note,
    ];
    const state = await fold(progressView, logOf(events));
    expect(goalsNow(state)).toEqual([
      { taskId: 't1', goal: 'parse', completed: 1, failed: 0, interrupted: 0, elapsedMs: 3_000 },
      { taskId: 't2', goal: 'print', completed: 0, failed: 1, interrupted: 0, elapsedMs: 1_000 },
    ]);
    expect(goalsNow(state)).toEqual(goalsNow(state));
    const later = await fold(progressView, logOf([...events, turnCompleted(1, 1)]));
    expect(goalsNow(later)[0]).toMatchObject({ completed: 2, elapsedMs: 4_000 });
  });

  test('a turn that another one begins in is interrupted; no time is negative, and an unknown one adds nothing', async () => {
    const back = [
      line(1, started('t1'), '2026-01-05T10:00:10.000Z'),
      line(2, turnCompleted(1, 1), '2026-01-05T10:00:05.000Z'),
      line(3, started('t1'), null),
      line(4, failed, null),
      line(5, started('t1'), '2026-01-05T10:00:10.000Z'),
      line(6, started('t1'), '2026-01-05T10:00:12.000Z'),
    ].join('');
    const state = await fold(progressView, back);
    expect(goalsNow(state)).toEqual([
      { taskId: 't1', goal: null, completed: 1, failed: 1, interrupted: 1, elapsedMs: 0 },
    ]);
  });

  test('milestones are the tasks of the newest snapshots, a status that is not known stays', async () => {
    const snapshot = (revision: number, ...statuses: readonly string[]): object => ({
      type: 'matrix.updated',
      spec: {
        id: 'm',
        tasks: statuses.map((_, index) => ({ id: `t${index}`, instructions: `do ${index}`, checks: [] })),
      },
      tasks: statuses.map((status, index) => ({ id: `t${index}`, status })),
      lifecycle: 'running',
      generation: null,
      revision,
    });
    const log = logOf([
      snapshot(1, 'queued'),
      snapshot(2, 'verified', 'executed', 'timed_out', 'queued', 'strange'),
    ]);
    const document = progressView.toDocument?.(await fold(progressView, log));
    expect(document).toMatchObject({
      milestones: [
        { id: 't0', description: 'do 0', status: 'done' },
        { id: 't1', status: 'in_progress' },
        { id: 't2', status: 'blocked' },
        { id: 't3', status: 'pending' },
        { id: 't4', status: 'strange' },
      ],
    });
  });

  test('a stall begins with the first turn that did not complete and ends with the next that does', async () => {
    const document = async (events: readonly object[]): Promise<unknown> =>
      progressView.toDocument?.(await fold(progressView, logOf(events)));
    const stalled = [turnStarted, turnCompleted(1, 1), turnStarted, failed, turnStarted, failed];
    expect(await document(stalled)).toMatchObject({
      stalled_since: '2026-01-05T10:00:03.000Z',
      confidence: 0.33,
      updated_at: '2026-01-05T10:00:06.000Z',
    });
    expect(await document([...stalled, turnStarted, turnCompleted(1, 1)])).toMatchObject({
      stalled_since: null,
      confidence: 0.5,
    });
    expect(await document([note])).toMatchObject({
      session_id: 'case',
      goal: '',
      milestones: [],
      confidence: 1,
      stalled_since: null,
    });
  });
});

describe('memory', () => {
  test('the envelope has every member of the shape, with what the log says and nothing else', async () => {
    const place = await TestStore.make();
    place.plant(
      's-1',
      logOf([
        turnStarted,
        { type: 'user.message', id: 'u', origin: 'injected', content: [{ type: 'text', text: 'context' }] },
        {
          type: 'user.message',
          id: 'u',
          origin: 'prompt',
          content: [{ type: 'text', text: 'fix the parser' }],
        },
        item('completed', { id: 'd', type: 'decision', summary: 'use a table', rationale: 'small' }),
        item('completed', { id: 'p', type: 'plan', text: '1. read' }),
        item('completed', {
          id: 'f',
          type: 'file_change',
          changes: [{ path: 'a.ts', kind: 'update' }],
          status: 'completed',
        }),
        item('completed', {
          id: 'h1',
          type: 'harness',
          event: 'verification_failed',
          message: 'two tests fail',
        }),
        item('completed', {
          id: 'h2',
          type: 'harness',
          event: 'delegated_agent_status',
          message: 'child is done',
        }),
        { type: 'plan.approval.requested', thread_id: 't', turn_id: 'x', plan_file: 'plan.md' },
        {
          type: 'thread.compact_boundary',
          thread_id: 't',
          trigger: 'auto',
          mode: 'local',
          original_message_count: 2,
          compacted_message_count: 1,
          history_artifact_path: 'h.jsonl',
        },
        item('completed', { id: 'm', type: 'agent_message', text: 'done' }),
      ]),
    );
    publishViews(place.store, 's-1');
    const { turnlog, turnlog_seal: _seal, ...envelope } = place.json('s-1', 'memory');
    expect(envelope).toEqual({
      session_id: 's-1',
      schema_version: 3,
      summary: 'Objective: fix the parser\nLatest words of the agent: done',
      objective: 'fix the parser',
      task_summary: null,
      spec_summary: '1. read',
      evaluation_summary: null,
      verification_summary: 'two tests fail',
      constraints: [],
      grounded_facts: [{ fact: 'use a table', source: 'seq 4' }],
      touched_files: ['a.ts'],
      open_questions: ['A plan waits for approval: plan.md'],
      verification_todo: [],
      delegation_notes: ['child is done'],
      pending_intents: [],
      applied_intent_ids: [],
      history_artifact_path: 'h.jsonl',
      generated_at: '2026-01-05T10:00:11.000Z',
    });
    expect(turnlog).toMatchObject({ v: 1, view: 'memory', session_id: 's-1' });
  });

  test('an empty log has an empty memory, a compaction its summary, and an answered plan no question', async () => {
    const envelope = async (events: readonly object[]): Promise<unknown> =>
      memoryView.toDocument?.(await fold(memoryView, logOf(events)));
    expect(await envelope([{ type: 'error', message: 'x' }])).toMatchObject({
      summary: '',
      objective: null,
      grounded_facts: [],
    });
    const compact = {
      type: 'user.message',
      id: 'u',
      origin: 'compact_summary',
      content: [{ type: 'text', text: 'so far' }],
    };
    const asked = { type: 'plan.approval.requested', thread_id: 't', turn_id: 'x' };
    const answered = {
      type: 'plan.approval.resolved',
      thread_id: 't',
      turn_id: 'x',
      decision: 'execute',
      automatic: false,
    };
    expect(await envelope([compact, asked])).toMatchObject({
      summary: 'so far',
      open_questions: ['A plan waits for approval.'],
    });
    expect(await envelope([compact, asked, answered])).toMatchObject({ open_questions: [] });
    const decisions = Array.from({ length: 9 }, (_, index) =>
      item('completed', { id: `d${index}`, type: 'decision', summary: `fact ${index}`, rationale: '' }),
    );
    expect(await envelope(decisions)).toMatchObject({
      grounded_facts: [4, 5, 6, 7, 8].map((index) => ({ fact: `fact ${index}`, source: `seq ${index + 1}` })),
    });
  });
});
