import { sha256Hex } from '@turnlog/kernel';
import type { ModelFileSystem } from '@turnlog/testkit';
import { linesOf } from './stream-lines.js';

const git = 'entireio-git-sync';

/** The rollouts among the files of other agents. */
export const codexFiles: readonly (readonly [name: string, path: readonly string[]])[] = [
  ['A 2025-11-17', ['acidicsoil', 'rollout-2025-11-17T15-30-28-019a93b9-f380-7600-98ff-940e6b99603c.jsonl']],
  [
    'C 2026-01-02T18-39',
    ['codemie', 'rollout-2026-01-02T18-39-45-019b7f94-51b4-7593-922e-ba12b5b73b52.jsonl'],
  ],
  [
    'C 2026-01-02T19-00',
    ['codemie', 'rollout-2026-01-02T19-00-00-019b7f95-0000-7000-0000-000000000001.jsonl'],
  ],
  [
    'C 2026-05-11T13-28',
    ['codemie', 'rollout-2026-05-11T13-28-45-019e1695-0522-7c83-8b39-0dd379793f80.jsonl'],
  ],
  ['G 0.118-fork-child-compacted', [git, '0.118-fork-child-compacted.jsonl']],
  ['G 0.118-fork-parent', [git, '0.118-fork-parent.jsonl']],
  ['G 0.120-turn-aborted', [git, '0.120-turn-aborted.jsonl']],
  ['G 0.126-desktop', [git, '0.126-desktop.jsonl']],
  ['G 0.139-review-subagent', [git, '0.139-review-subagent.jsonl']],
  ['G concatenated-line', [git, 'concatenated-line.excerpt.jsonl']],
];

let clock = 0;

/** A line of a rollout, a second after the one before. */
export function rolloutLine(type: string, payload: object, ms?: number): object {
  clock = ms ?? clock + 1_000;
  return { timestamp: new Date(Date.UTC(2026, 3, 1) + clock).toISOString(), type, payload };
}

export const message = (role: string, text: string): object => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});

export const usage = (input: number, output: number): object => ({
  input_tokens: input,
  cached_input_tokens: 1,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: input + output,
});

export const tokens = (total: object, last: object): object => ({
  type: 'token_count',
  info: { total_token_usage: total, last_token_usage: last },
});

export const meta = (id: string, more: object = {}): object => ({
  id,
  timestamp: '2026-04-01T00:00:00.000Z',
  cwd: '/repo',
  originator: 'codex-tui',
  cli_version: '0.118.0',
  source: 'cli',
  git: { commit_hash: 'abc', branch: 'main' },
  ...more,
});

/** A thread of two turns with one of everything that takes two records. */
export function handMade(): Uint8Array {
  clock = 0;
  const text = 'a\u2028b\u0085c\u000bd é 😀';
  const call = { name: 'exec_command', arguments: '{"cmd":"ls","deep":2512292042121000001}' };
  return linesOf(
    rolloutLine('session_meta', meta('hand-made')),
    rolloutLine('event_msg', { type: 'task_started', turn_id: 't1' }),
    rolloutLine('response_item', message('developer', 'rules')),
    rolloutLine('response_item', message('user', '<environment_context>here</environment_context>')),
    rolloutLine('turn_context', {
      turn_id: 't1',
      cwd: '/repo',
      model: 'm1',
      effort: 'high',
      approval_policy: 'never',
    }),
    rolloutLine('response_item', message('user', text)),
    rolloutLine('event_msg', { type: 'user_message', message: text, images: [] }),
    rolloutLine('event_msg', { type: 'token_count', info: null }),
    rolloutLine('event_msg', { type: 'agent_reasoning', text: 'one' }),
    rolloutLine('event_msg', { type: 'agent_reasoning', text: 'two' }),
    rolloutLine('response_item', {
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: 'one' },
        { type: 'summary_text', text: 'two' },
      ],
    }),
    rolloutLine('response_item', { type: 'function_call', call_id: 'c1', ...call }),
    rolloutLine('event_msg', tokens(usage(100, 10), usage(100, 10))),
    rolloutLine('event_msg', {
      type: 'exec_command_end',
      call_id: 'c1',
      command: ['bash', '-lc', 'ls'],
      aggregated_output: 'x\n',
      exit_code: 0,
    }),
    rolloutLine('response_item', {
      type: 'function_call_output',
      call_id: 'c1',
      output: 'Chunk ID: 1\nProcess exited with code 0\nOutput:\nx\n',
    }),
    rolloutLine('response_item', { type: 'function_call', call_id: 'c2', ...call }),
    rolloutLine('response_item', {
      type: 'function_call_output',
      call_id: 'c2',
      output: 'Chunk ID: 2\nProcess running with session ID 7\nOutput:\na',
    }),
    rolloutLine('response_item', {
      type: 'function_call',
      call_id: 'c3',
      name: 'write_stdin',
      arguments: '{"session_id":7,"chars":""}',
    }),
    rolloutLine('response_item', {
      type: 'function_call_output',
      call_id: 'c3',
      output: 'Chunk ID: 3\nProcess exited with code 3\nOutput:\nb',
    }),
    rolloutLine('response_item', {
      type: 'custom_tool_call',
      call_id: 'c4',
      name: 'apply_patch',
      input: '*** Begin Patch\n*** Add File: n.txt\n+n\n*** Update File: o.txt\n@@\n-a\n+b\n*** End Patch',
    }),
    rolloutLine('response_item', { type: 'custom_tool_call_output', call_id: 'c4', output: 'Success.' }),
    rolloutLine('event_msg', {
      type: 'web_search_end',
      call_id: 'ws1',
      query: 'q',
      action: { type: 'search' },
    }),
    rolloutLine('response_item', { type: 'web_search_call', status: 'completed' }),
    rolloutLine('event_msg', tokens(usage(250, 30), usage(150, 20))),
    rolloutLine('event_msg', tokens(usage(250, 30), usage(150, 20))),
    rolloutLine('event_msg', { type: 'agent_message', message: 'done' }),
    rolloutLine('response_item', message('assistant', 'done')),
    rolloutLine('event_msg', {
      type: 'task_complete',
      turn_id: 't1',
      last_agent_message: 'done',
      duration_ms: 5,
    }),
    rolloutLine('event_msg', { type: 'task_started', turn_id: 't2' }),
    rolloutLine('compacted', { message: 'summary', replacement_history: [message('user', text)] }),
    rolloutLine('event_msg', { type: 'context_compacted' }),
    rolloutLine('event_msg', {
      type: 'user_message',
      message: 'more',
      images: ['data:image/png;base64,AAEC'],
    }),
    rolloutLine('event_msg', { type: 'brand_new', more: [1] }),
    rolloutLine('response_item', { type: 'function_call', call_id: 'c1', ...call }),
    rolloutLine('response_item', message('user', '<turn_aborted>\n')),
    rolloutLine('event_msg', { type: 'turn_aborted', turn_id: 't2', reason: 'interrupted' }),
    rolloutLine('event_msg', { type: 'user_message', message: 'after the turn' }),
    rolloutLine('response_item', message('assistant', 'last')),
  );
}

/** Writes a state anew as if other rules had made it; its digest fits. */
export function forgetMapping(fs: ModelFileSystem, path: string): void {
  const text = new TextDecoder().decode(fs.contentOf(path));
  const start = text.indexOf('"body":') + '"body":'.length;
  const body = text.slice(start, -2).replace(/"mapping":"[^"]*"/, '"mapping":"0"');
  const head = `{"turnlog":"import","v":1,"sha256":"${sha256Hex(new TextEncoder().encode(body))}","body":`;
  fs.plantFile(path, new TextEncoder().encode(`${head}${body}}\n`));
}
