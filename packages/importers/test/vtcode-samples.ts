/** Loose files of VT Code, made by hand. */
import { linesOf } from './stream-lines.js';
import { turnLines, vtLine } from './vtcode-files.js';

const call = (id: string, name: string, given: object): object => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(given) },
});

const metadata = {
  workspace_label: 'w',
  workspace_path: '/repo',
  model: 'm-1',
  provider: 'p',
  external_thread_id: 'outer',
};

export const messages: readonly object[] = [
  { role: 'system', content: 'rules', tool_call_id: null },
  { role: 'user', content: 'list it', tool_call_id: null },
  {
    role: 'assistant',
    content: 'I will',
    reasoning: 'hm',
    tool_calls: [
      call('c1', 'run_pty_cmd', { command: 'ls', big: 1 }),
      call('c2', 'edit_file', { path: 'a.txt' }),
      call('c3', 'grep_file', { pattern: 'x' }),
    ],
  },
  { role: 'tool', content: '{"output":"a.txt","exit_code":0}', tool_call_id: 'c1' },
  { role: 'tool', content: 'done', tool_call_id: 'c2' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'and this' },
      { type: 'image', data: 'AAEC', mime_type: 'image/png' },
    ],
  },
  {
    role: 'assistant',
    content: 'yes é',
    tool_calls: [call('c1', 'update_plan', { plan: [{ step: 's', status: 'completed' }] })],
  },
];

export function archive(list: readonly object[] = messages, more: object = {}): Uint8Array {
  const value = {
    metadata: { ...metadata, ...more },
    started_at: '2026-03-12T11:33:04.5Z',
    ended_at: '2026-03-12T11:40:00Z',
    total_messages: list.length,
    distinct_tools: ['run_pty_cmd'],
    transcript: ['list it', 'I will'],
    messages: list,
    progress: { turn_number: 2, recent_messages: [] },
    error_logs: [],
  };
  return new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
}

export const archiveName: string = 'session-w-20260312T113304Z_500000-00042';
export const archiveSession: string = `vtcode-${archiveName}`;

export const historyLine = (turn: number, role: string, content: string, more: object = {}): object => ({
  turn,
  role,
  content,
  timestamp: '2026-03-12T11:36:00Z',
  ...more,
});

export function history(turn: number, ...lines: readonly object[]): Uint8Array {
  const header = {
    session_id: 's-1',
    turn_number: turn,
    reason: 'summarization',
    message_count: lines.length,
  };
  return linesOf(
    { _type: 'metadata', _metadata: { ...header, written_at: '2026-03-12T11:36:00Z' } },
    ...lines,
  );
}

export const told: readonly object[] = [
  historyLine(1, 'user', 'do it'),
  historyLine(2, 'assistant', 'I will'),
  historyLine(3, 'tool', '[Tool response from x: y]', { tool_call_id: 'c9', tool_name: 'x' }),
];

export const trajectory: Uint8Array = linesOf(
  { kind: 'route', turn: 1, selected_model: 'm', ts: 1_773_315_185 },
  { kind: 'tool', turn: 1, name: 'run_pty_cmd', args: { command: 'ls', n: 2 }, ok: true, ts: 1_773_315_186 },
  { kind: 'tool', turn: 1, name: 'grep_file', args: {}, ok: false, is_subagent: false, ts: 1_773_315_187 },
  { kind: 'tool', turn: 2, name: 'grep_file', args: {}, ok: true, ts: 1_773_315_190 },
);

export const memory = (session: string, summary: string): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify(
      { session_id: session, summary, grounded_facts: [], generated_at: '2026-03-12T11:39:00Z' },
      null,
      2,
    ),
  );

export const native: Uint8Array = new TextEncoder().encode(
  vtLine({ type: 'thread.started', thread_id: 's-1' }) + turnLines('one'),
);
