import { isMembers, type Members, textMember } from './source-object.js';
import type { SourceValue } from './source-value.js';

/** An item of `codex exec`, as ours; null when it is of a type that has no item of ours. */
export function codexItem(source: SourceValue, item: Members, id: string): Map<string, unknown> | null {
  const type = textMember(item, 'type') ?? '';
  if (passedTypes.has(type)) return passedItem(source, head(id, type));
  switch (type) {
    case 'file_change':
      return fileChange(source, id);
    case 'mcp_tool_call':
      return mcpCall(source, item, id);
    case 'todo_list':
      return todoList(item, id);
    default:
      return null;
  }
}

const passedTypes: ReadonlySet<string> = new Set([
  'agent_message',
  'reasoning',
  'command_execution',
  'web_search',
  'error',
]);

/** Whether an item of this type has one of ours. */
export function isCodexItemType(type: string): boolean {
  return passedTypes.has(type) || type === 'file_change' || type === 'mcp_tool_call' || type === 'todo_list';
}

function head(id: string, type: string): Map<string, unknown> {
  return new Map([
    ['id', id],
    ['type', type],
  ]);
}

/** The members of the source behind those that are set. */
function passedItem(source: SourceValue, set: Map<string, unknown>): Map<string, unknown> {
  for (const name of source.names) {
    if (!set.has(name)) set.set(name, source.member(name)?.passed());
  }
  return set;
}

/** The source says which files were changed, not how. */
function fileChange(source: SourceValue, id: string): Map<string, unknown> {
  const set = head(id, 'file_change');
  if (source.member('unified_diff') === undefined) set.set('diff_incomplete', true);
  return passedItem(source, set);
}

function mcpCall(source: SourceValue, item: Members, id: string): Map<string, unknown> {
  const call = head(id, 'mcp_tool_call').set('tool_name', textMember(item, 'tool') ?? '');
  const callArguments = source.member('arguments');
  if (callArguments !== undefined) call.set('arguments', callArguments.passed());
  const result = mcpResult(source.member('result'), item);
  if (result !== undefined) call.set('result', result);
  const status = item['status'];
  if (status !== undefined) call.set('status', status === 'in_progress' ? 'started' : status);
  for (const name of source.names) {
    if (!call.has(name) && name !== 'tool' && name !== 'result')
      call.set(name, source.member(name)?.passed());
  }
  return call;
}

/** The text of a result: the texts of its parts, other parts as JSON; the error where there is no result. */
function mcpResult(source: SourceValue | undefined, item: Members): string | undefined {
  const { result, error } = item;
  if (source === undefined || result === null) {
    return isMembers(error) ? textMember(error, 'message') : undefined;
  }
  if (typeof result === 'string') return result;
  const texts = (source.member('content')?.elements ?? []).map(partTextOf);
  if (texts.length > 0) return texts.join('\n');
  return (source.member('structured_content') ?? source).text;
}

/** One part of a tool's result as text. */
export function partTextOf(part: SourceValue): string {
  const { value } = part;
  if (typeof value === 'string') return value;
  return (isMembers(value) && value['type'] === 'text' ? textMember(value, 'text') : undefined) ?? part.text;
}

function todoList(item: Members, id: string): Map<string, unknown> {
  const text = planText(item['items'], (entry) => entry['completed'] === true);
  return head(id, 'plan').set('text', text);
}

/** A to-do list as lines of `[x]` and `[ ]`. */
export function planText(items: unknown, isDone: (entry: Members) => boolean): string {
  if (!Array.isArray(items)) return '';
  return items
    .filter(isMembers)
    .map(
      (entry) =>
        `[${isDone(entry) ? 'x' : ' '}] ${textMember(entry, 'text') ?? textMember(entry, 'content') ?? ''}`,
    )
    .join('\n');
}
