/** Lines of transcripts made by hand. */
import { linesOf } from './stream-lines.js';

let clock = 0;
let count = 0;

export const threadA = '11111111-1111-4111-8111-111111111111';
export const threadB = '22222222-2222-4222-8222-222222222222';

export interface LineOptions {
  readonly [name: string]: unknown;
}

/** Begins a new file: ids and times start again. */
export function restart(): void {
  clock = 0;
  count = 0;
}

/** A line with an envelope, a second after the one before, its parent the line before. */
export function line(type: string, more: LineOptions = {}): object {
  clock += 1_000;
  count += 1;
  return {
    parentUuid: count === 1 ? null : `u${count - 1}`,
    isSidechain: false,
    cwd: '/repo',
    sessionId: threadA,
    version: '2.1.90',
    gitBranch: 'main',
    type,
    uuid: `u${count}`,
    timestamp: new Date(Date.UTC(2026, 0, 5) + clock).toISOString(),
    ...more,
  };
}

export function user(content: unknown, more: LineOptions = {}): object {
  return line('user', { message: { role: 'user', content }, ...more });
}

export const tokens = (input: number, output: number): object => ({
  input_tokens: input,
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 3,
  output_tokens: output,
});

/** A line of an answer: one block, as the program writes them. */
export function answer(
  id: string,
  block: object,
  more: LineOptions = {},
  usage: object = tokens(10, 4),
): object {
  return line('assistant', {
    requestId: `req_${id}`,
    message: { id, role: 'assistant', model: 'm1', content: [block], usage },
    ...more,
  });
}

export const text = (words: string): object => ({ type: 'text', text: words });

export const call = (id: string, name = 'Bash', input: object = { command: 'ls' }): object => ({
  type: 'tool_use',
  id,
  name,
  input,
});

export function result(id: string, content: unknown = 'done', more: LineOptions = {}): object {
  return user([{ type: 'tool_result', tool_use_id: id, content }], more);
}

const queueLine = (operation: string, content?: string): object => ({
  type: 'queue-operation',
  operation,
  timestamp: new Date(Date.UTC(2026, 0, 5) + clock).toISOString(),
  sessionId: threadA,
  content,
});

const progress = (agentId: string, callId: string, message: object): object =>
  line('progress', {
    toolUseID: 'x',
    parentToolUseID: callId,
    data: { type: 'agent_progress', agentId, message, normalizedMessages: [message] },
  });

/** A transcript of some turns with one of everything that takes two records. */
export function handMade(): Uint8Array {
  restart();
  const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAEC' } };
  return linesOf(
    { type: 'summary', summary: 'old title', leafUuid: 'elsewhere' },
    { type: 'file-history-snapshot', messageId: 'm', snapshot: { trackedFileBackups: {} } },
    user('<ide_selection>lines</ide_selection>do it', { parentUuid: 'nowhere' }),
    answer('msg_1', { type: 'thinking', thinking: 'hm', signature: 's' }, {}, tokens(10, 1)),
    answer('msg_1', text('I will'), {}, tokens(10, 2)),
    answer('msg_1', call('c1', 'Bash', { command: 'ls', big: 2 })),
    answer('msg_1', call('c2', 'Edit', { file_path: '/repo/a.txt' })),
    result('c3', [{ type: 'text', text: 'early' }, png]),
    answer('msg_1', call('c3', 'Read', { file_path: '/repo/p.png' })),
    result('c1', 'a.txt'),
    result('c2', 'ok', {
      toolUseResult: {
        filePath: '/repo/a.txt',
        structuredPatch: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ['-a', '+b'] }],
      },
    }),
    queueLine('enqueue', 'and that too'),
    queueLine('enqueue', '<task-notification>it ended</task-notification>'),
    queueLine('enqueue', 'taken back'),
    queueLine('remove'),
    line('attachment', {
      attachment: { type: 'queued_command', prompt: 'and that too', commandMode: 'prompt' },
    }),
    queueLine('remove'),
    queueLine('popAll'),
    answer('msg_2', call('c4', 'Task', { prompt: 'look' })),
    progress('a1', 'c4', {
      type: 'user',
      uuid: 'i1',
      message: { role: 'user', content: [{ type: 'text', text: 'look' }] },
    }),
    progress('a1', 'c4', {
      type: 'assistant',
      uuid: 'i2',
      message: { id: 'msg_i', model: 'm2', content: [call('ci', 'Grep', {})], usage: tokens(7, 3) },
    }),
    progress('a1', 'c4', {
      type: 'user',
      uuid: 'i3',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'ci', content: 'found' }] },
    }),
    result('c4', 'looked', { toolUseResult: { agentId: 'a1', totalTokens: 99, usage: tokens(50, 50) } }),
    line('progress', { data: { type: 'hook_progress', hookName: 'Stop' } }),
    line('system', { subtype: 'turn_duration', durationMs: 1234 }),
    { type: 'mode', mode: 'normal', sessionId: threadA },
    { type: 'mode', mode: 'normal', sessionId: threadA },
    user('<command-name>/model</command-name>'),
    user('<local-command-stdout>set</local-command-stdout>'),
    user('<bash-input>pwd</bash-input>', { cwd: '/repo/sub' }),
    user('<bash-stdout>/repo/sub</bash-stdout><bash-stderr></bash-stderr>'),
    user([text('a picture'), png], { gitBranch: 'topic' }),
    answer('msg_3', call('c5', 'ExitPlanMode', { plan: '- [ ] all' })),
    user([
      {
        type: 'tool_result',
        tool_use_id: 'c5',
        is_error: true,
        content: "The user doesn't want to proceed with this tool use.",
      },
      text('[Request interrupted by user for tool use]'),
    ]),
    user('once more', { planContent: '- [x] all' }),
    answer('msg_4', text('said'), {
      message: { id: 'msg_4', model: '<synthetic>', content: [text('API Error')], usage: tokens(0, 0) },
      isApiErrorMessage: true,
    }),
    line('system', { subtype: 'compact_boundary', compactMetadata: { trigger: 'manual', preTokens: 5 } }),
    user('summary so far', { isCompactSummary: true }),
    line('system', { subtype: 'local_command', content: '<local-command-stdout>x</local-command-stdout>' }),
    line('system', { subtype: 'api_error', error: { message: 'Connection error.' } }),
    line('brand-new', { more: [1] }),
    answer('msg_5', { type: 'fallback' }),
    answer('msg_5', call('c1', 'mcp__ide__look', {})),
    queueLine('enqueue', 'still waiting'),
  );
}
