import type { RecordRole } from '@turnlog/events';
import { compactJson, listOf, memberOf, numberText, textOf } from './json-members.js';
import type { EventKind } from './roles.js';

/** What one record says, before it is laid out. Nothing in it is safe to print yet. */
export interface Described {
  readonly role: RecordRole;
  readonly kind: EventKind;
  /** One word for the margin. */
  readonly label: string;
  /** The text, of any number of lines. */
  readonly text: string;
  /** A closing remark, as an exit code. */
  readonly outcome: string;
}

export function described(
  role: RecordRole,
  kind: EventKind,
  label: string,
  text: string,
  outcome = '',
): Described {
  return { role, kind, label, text, outcome };
}

type Describer = (item: unknown) => Described;

const itemDescribers: ReadonlyMap<string, Describer> = new Map<string, Describer>([
  ['agent_message', (item) => described('agent', 'message', 'agent', textOf(item, 'text'))],
  ['plan', (item) => described('agent', 'plan', 'plan', textOf(item, 'text'))],
  ['reasoning', (item) => described('agent', 'reasoning', 'thinks', textOf(item, 'text'))],
  ['decision', describeDecision],
  ['command_execution', describeCommand],
  ['tool_invocation', describeInvocation],
  ['tool_output', describeOutput],
  ['file_change', describeFileChange],
  ['mcp_tool_call', describeMcpCall],
  ['web_search', describeWebSearch],
  ['harness', describeHarness],
  ['error', (item) => described('system', 'error', 'error', textOf(item, 'message'))],
]);

/** What an item says; one of a type that is not known is shown by its type and members. */
export function describeItem(item: unknown): Described {
  const type = textOf(item, 'type');
  const describer = itemDescribers.get(type);
  if (describer !== undefined) return describer(item);
  return described('unknown', 'unknown', 'item', `${type} ${JSON.stringify(item)}`);
}

function describeDecision(item: unknown): Described {
  const reason = textOf(item, 'rationale');
  const summary = textOf(item, 'summary');
  return described('agent', 'decision', 'decides', reason === '' ? summary : `${summary}\n${reason}`);
}

/** Exit code, else status; nothing when all went well. */
function outcomeOf(item: unknown): string {
  const exitCode = numberText(item, 'exit_code');
  if (exitCode !== '') return exitCode === '0' ? '' : `exit ${exitCode}`;
  const outcome = textOf(item, 'outcome');
  const status = outcome === '' || outcome === 'success' ? textOf(item, 'status') : outcome;
  return status === 'completed' ? '' : status;
}

function describeCommand(item: unknown): Described {
  const output = textOf(item, 'aggregated_output').trimEnd();
  const command = `$ ${textOf(item, 'command')}`;
  return described(
    'tool',
    'command',
    'command',
    output === '' ? command : `${command}\n${output}`,
    outcomeOf(item),
  );
}

function describeInvocation(item: unknown): Described {
  const call = `${textOf(item, 'tool_name')} ${compactJson(item, 'arguments')}`.trimEnd();
  return described('tool', 'tool_call', 'tool', call, outcomeOf(item));
}

function describeOutput(item: unknown): Described {
  return described('tool', 'tool_output', 'output', textOf(item, 'output').trimEnd(), outcomeOf(item));
}

function describeFileChange(item: unknown): Described {
  const files = listOf(item, 'changes').map(
    (change) => `${textOf(change, 'kind')} ${textOf(change, 'path')}`,
  );
  const [added, removed] = [numberText(item, 'additions'), numberText(item, 'deletions')];
  const counts = added === '' && removed === '' ? '' : ` (+${added || '0'} -${removed || '0'})`;
  const diff = textOf(item, 'unified_diff').trimEnd();
  const text = `${files.join(', ')}${counts}`;
  return described('tool', 'file_change', 'files', diff === '' ? text : `${text}\n${diff}`, outcomeOf(item));
}

function describeMcpCall(item: unknown): Described {
  const server = textOf(item, 'server');
  const name = `${server === '' ? '' : `${server}/`}${textOf(item, 'tool_name')}`;
  const result = textOf(item, 'result').trimEnd();
  const call = `${name} ${compactJson(item, 'arguments')}`.trimEnd();
  return described('tool', 'tool_call', 'tool', result === '' ? call : `${call}\n${result}`, outcomeOf(item));
}

function describeWebSearch(item: unknown): Described {
  const results = listOf(item, 'results').filter((result) => typeof result === 'string');
  return described('tool', 'web_search', 'search', [textOf(item, 'query'), ...results].join('\n'));
}

function describeHarness(item: unknown): Described {
  const parts = ['event', 'message', 'command', 'path'].map((name) => textOf(item, name));
  return described(
    'system',
    'harness',
    'harness',
    parts.filter((part) => part !== '').join(' '),
    outcomeOf(item),
  );
}

/** Id and stage of the item that an event carries; null for other events. */
export function itemOf(event: unknown): { readonly id: string; readonly isDone: boolean } | null {
  const type = textOf(event, 'type');
  if (!/^item\.(?:started|updated|completed)$/.test(type)) return null;
  return { id: textOf(memberOf(event, 'item'), 'id'), isDone: type === 'item.completed' };
}
