import { type Event, eventsOf, member, type ThreadDesk, turnsOf } from './thread-files.js';

/** What the table of counts has of one session. */
export interface ClaudeCounts {
  readonly turns: number;
  readonly prompts: number;
  /** calls/results, and how many of these are errors. */
  readonly calls: string;
  readonly text: number;
  readonly think: number;
  readonly ans: number;
  /** input/cached/cache creation/output, or none. */
  readonly usage: string;
  readonly failed: number;
  readonly open: number;
  readonly interrupted: number;
  readonly implicit: number;
  readonly slash: number;
  readonly queued: number;
  readonly subPrompts: number;
  readonly interrupts: number;
  readonly summaries: number;
  readonly notifications: number;
  readonly injected: number;
  readonly compact: number;
  readonly errors: number;
}

const callTypes: ReadonlySet<unknown> = new Set([
  'command_execution',
  'tool_invocation',
  'mcp_tool_call',
  'web_search',
]);

/** Counts a session by its log alone. */
export function countsOf(desk: ThreadDesk, sessionId: string): ClaudeCounts {
  return countEvents(eventsOf(desk, sessionId), turnsOf(desk, sessionId));
}

export function countEvents(events: readonly Event[], turns: readonly string[]): ClaudeCounts {
  const said = (...origins: readonly string[]): number =>
    events.filter(({ type, origin }) => type === 'user.message' && origins.includes(String(origin))).length;
  const status = (name: string): number => turns.filter((turn) => turn === name).length;
  const completed = (type: string): number =>
    new Set(itemsOf(events, 'item.completed', (each) => each === type).map(({ id }) => id)).size;
  return {
    turns: turns.length,
    prompts: said('prompt', 'slash_command', 'shell_bang', 'queued'),
    calls: callsOf(events),
    text: completed('agent_message'),
    think: completed('reasoning'),
    ans: new Set(answersOf(events).map((answer) => answer['answer_id'])).size,
    usage: usageOf(events),
    failed: status('failed'),
    open: status('open'),
    interrupted: status('interrupted'),
    implicit: events.filter(({ type, implicit }) => type === 'turn.started' && implicit === true).length,
    slash: said('slash_command'),
    queued: said('queued'),
    subPrompts: said('subagent_prompt'),
    interrupts: said('interrupt'),
    summaries: said('compact_summary'),
    notifications: said('notification'),
    injected: said('injected'),
    compact: events.filter(({ type }) => type === 'thread.compact_boundary').length,
    errors: completed('error'),
  };
}

function callsOf(events: readonly Event[]): string {
  const started = new Set(itemsOf(events, 'item.started', (type) => callTypes.has(type)).map(({ id }) => id));
  const ended = itemsOf(events, 'item.completed', (type) => callTypes.has(type));
  const strays = itemsOf(events, 'item.completed', (type) => type === 'tool_output').filter(
    (item) => !ended.some(({ id }) => id === item['call_id']),
  );
  const failed = [...ended, ...strays].filter((item) => item['status'] === 'failed').length;
  const results = new Set([...ended.map(({ id }) => id), ...strays.map((item) => item['call_id'])]).size;
  return `${started.size}/${results}${failed === 0 ? '' : `(${failed})`}`;
}

function itemsOf(
  events: readonly Event[],
  name: string,
  isWanted: (type: unknown) => boolean,
): readonly Event[] {
  return events
    .filter((event) => event['type'] === name && isWanted(member(event, 'item', 'type')))
    .map((event) => event['item'] as Event);
}

/** The last of each answer, without those that another session has. */
function answersOf(events: readonly Event[]): readonly Event[] {
  const answers = new Map<unknown, Event>();
  for (const event of events) {
    if (event['type'] === 'run.answer' && event['repeat_of'] === undefined)
      answers.set(event['answer_id'], event);
  }
  return [...answers.values()];
}

function usageOf(events: readonly Event[]): string {
  const answers = answersOf(events);
  if (answers.length === 0) return 'none';
  const sum = (name: string): number =>
    answers.reduce((total, answer) => total + Number(member(answer, 'usage', name)), 0);
  return ['input_tokens', 'cached_input_tokens', 'cache_creation_tokens', 'output_tokens'].map(sum).join('/');
}

/** The records of a session's passes by class and kind. */
export function ledgerRecords(desk: ThreadDesk, sessionId: string): ReadonlyMap<string, number> {
  const records = new Map<string, number>();
  for (const { type, ledger } of eventsOf(desk, sessionId)) {
    if (type !== 'run.imported') continue;
    for (const [name, count] of Object.entries(member(ledger, 'records') as Record<string, number>)) {
      records.set(name, (records.get(name) ?? 0) + count);
    }
  }
  return records;
}

/** How many records of one class, whatever their kind. */
export function recordCount(desk: ThreadDesk, sessionId: string, place = ''): number {
  return [...ledgerRecords(desk, sessionId)]
    .filter(([name]) => name.startsWith(place))
    .reduce((sum, [, count]) => sum + count, 0);
}
