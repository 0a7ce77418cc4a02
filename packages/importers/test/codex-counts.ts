import { type Event, eventsOf, member, type ThreadDesk, turnsOf } from './thread-files.js';

/** What the tables of counts have of one session. */
export interface CodexCounts {
  readonly turns: number;
  readonly prompts: number;
  readonly calls: number;
  readonly results: number;
  readonly text: number;
  readonly think: number;
  /** input/cached/output/reasoning, or none. */
  readonly usage: string;
  readonly subPrompts: number;
  readonly injected: number;
  readonly notifications: number;
  readonly queued: number;
  readonly compact: number;
  readonly searches: number;
  readonly changes: number;
  readonly failed: number;
  readonly open: number;
  readonly interrupted: number;
  readonly implicit: number;
  readonly strays: number;
}

const callTypes: ReadonlySet<unknown> = new Set(['command_execution', 'tool_invocation', 'mcp_tool_call']);

export function countsOf(desk: ThreadDesk, sessionId: string): CodexCounts {
  const events = eventsOf(desk, sessionId);
  const turns = turnsOf(desk, sessionId);
  const origin = (...names: readonly string[]): number =>
    events.filter((event) => event['type'] === 'user.message' && names.includes(String(event['origin'])))
      .length;
  const status = (name: string): number => turns.filter((turn) => turn === name).length;
  const started = new Set(idsOf(events, 'item.started', (type) => callTypes.has(type)));
  const outputs = idsOf(events, 'item.completed', (type) => type === 'tool_output').map((id) =>
    id.slice(0, -':output'.length),
  );
  const strays = new Set(outputs.filter((id) => !started.has(id)));
  const heard = new Set([
    ...outputs,
    ...idsOf(events, 'item.completed', (type) => callTypes.has(type)),
    ...idsOf(events, 'item.updated', (type) => type === 'command_execution'),
  ]);
  return {
    turns: turns.length,
    prompts: origin('prompt', 'slash_command', 'shell_bang', 'queued'),
    calls: started.size,
    results: [...started].filter((id) => heard.has(id)).length + strays.size,
    text: idsOf(events, 'item.completed', (type) => type === 'agent_message').length,
    think: idsOf(events, 'item.completed', (type) => type === 'reasoning').length,
    usage: usageOf(events),
    subPrompts: origin('subagent_prompt'),
    injected: origin('injected'),
    notifications: origin('notification'),
    queued: origin('queued'),
    compact: events.filter(({ type }) => type === 'thread.compact_boundary').length,
    searches: new Set(idsOf(events, 'item.completed', (type) => type === 'web_search')).size,
    changes: new Set(idsOf(events, 'item.completed', (type) => type === 'file_change')).size,
    failed: status('failed'),
    open: status('open'),
    interrupted: status('interrupted'),
    implicit: events.filter((event) => event['type'] === 'turn.started' && event['implicit'] === true).length,
    strays: strays.size,
  };
}

function idsOf(
  events: readonly Event[],
  name: string,
  isWanted: (type: unknown) => boolean,
): readonly string[] {
  return events
    .filter((event) => event['type'] === name && isWanted(member(event, 'item', 'type')))
    .map((event) => String(member(event, 'item', 'id')));
}

/** The sum over the answers. */
function usageOf(events: readonly Event[]): string {
  const answers = events.filter(({ type }) => type === 'run.answer');
  if (answers.length === 0) return 'none';
  const sum = (name: string): number =>
    answers.reduce((total, answer) => total + Number(member(answer, 'usage', name)), 0);
  return ['input_tokens', 'cached_input_tokens', 'output_tokens', 'reasoning_output_tokens']
    .map(sum)
    .join('/');
}
