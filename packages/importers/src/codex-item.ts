import { elementSpans, memberSpans, passedOn, type Span, textOf } from './json-text.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';

/** An item of `codex exec`, as ours; null when it is of a type that has no item of ours. */
export function codexItem(
  object: SourceObject,
  span: Span,
  item: Members,
  id: string,
): Map<string, unknown> | null {
  const type = textMember(item, 'type') ?? '';
  if (passedTypes.has(type)) return passedItem(object.bytes, span, head(id, type));
  switch (type) {
    case 'file_change':
      return fileChange(object.bytes, span, id);
    case 'mcp_tool_call':
      return mcpCall(object.bytes, span, item, id);
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
function passedItem(bytes: Uint8Array, span: Span, set: Map<string, unknown>): Map<string, unknown> {
  for (const [name, member] of memberSpans(bytes, span)) {
    if (!set.has(name)) set.set(name, passedOn(bytes, member));
  }
  return set;
}

/** The source says which files were changed, not how. */
function fileChange(bytes: Uint8Array, span: Span, id: string): Map<string, unknown> {
  const set = head(id, 'file_change');
  if (!memberSpans(bytes, span).has('unified_diff')) set.set('diff_incomplete', true);
  return passedItem(bytes, span, set);
}

function mcpCall(bytes: Uint8Array, span: Span, item: Members, id: string): Map<string, unknown> {
  const given = memberSpans(bytes, span);
  const call = head(id, 'mcp_tool_call').set('tool_name', textMember(item, 'tool') ?? '');
  const callArguments = given.get('arguments');
  if (callArguments !== undefined) call.set('arguments', passedOn(bytes, callArguments));
  const result = mcpResult(bytes, given.get('result'), item);
  if (result !== undefined) call.set('result', result);
  const status = item['status'];
  if (status !== undefined) call.set('status', status === 'in_progress' ? 'started' : status);
  for (const [name, member] of given) {
    if (!call.has(name) && name !== 'tool' && name !== 'result') call.set(name, passedOn(bytes, member));
  }
  return call;
}

/** The text of a result: the texts of its parts, other parts as JSON; the error where there is no result. */
function mcpResult(bytes: Uint8Array, span: Span | undefined, item: Members): string | undefined {
  const { result, error } = item;
  if (span === undefined || result === null) {
    return isMembers(error) ? textMember(error, 'message') : undefined;
  }
  if (typeof result === 'string') return result;
  const members = memberSpans(bytes, span);
  const content = members.get('content');
  const texts =
    content === undefined ? [] : elementSpans(bytes, content).map((part) => partText(bytes, part));
  if (texts.length > 0) return texts.join('\n');
  const structured = members.get('structured_content');
  return textOf(bytes, structured ?? span);
}

/** One part of a tool's result as text. */
export function partText(bytes: Uint8Array, span: Span): string {
  const text = textOf(bytes, span);
  const part: unknown = JSON.parse(text);
  if (typeof part === 'string') return part;
  return (isMembers(part) && part['type'] === 'text' ? textMember(part, 'text') : undefined) ?? text;
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
