import { parsedJson } from './codex-output.js';
import {
  elementSpans,
  isNestedTooDeep,
  memberSpans,
  onOneLine,
  passedOn,
  RawJson,
  type Span,
} from './json-text.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';

type CallForm = 'command' | 'edit' | 'plan' | 'search' | 'tool';

/** A call of the model, until its result has come. */
export interface VtcodeCall {
  readonly itemId: string;
  readonly callId: string;
  readonly name: string;
  readonly form: CallForm;
  readonly input: Members;
  readonly passed: RawJson | string;
}

const forms: ReadonlyMap<string, CallForm> = new Map([
  ...['run_pty_cmd', 'run_terminal_cmd', 'run_command', 'execute_command', 'exec_command'].map(
    (name) => [name, 'command'] as const,
  ),
  ...['unified_exec', 'shell', 'bash'].map((name) => [name, 'command'] as const),
  ...['edit_file', 'write_file', 'create_file', 'search_replace', 'apply_patch', 'delete_file'].map(
    (name) => [name, 'edit'] as const,
  ),
  ['update_plan', 'plan'],
  ['web_search', 'search'],
]);

const passedLevelsMax = 64;

/** A call as far as a log of calls alone has it. */
export function plainCall(
  itemId: string,
  name: string,
  passed: RawJson | string,
  input: unknown,
): VtcodeCall {
  const form = forms.get(name) ?? 'tool';
  return { itemId, callId: itemId, name, form, input: isMembers(input) ? input : {}, passed };
}

/** The calls that a message of the model names; `idOf` gives an id for one that has none, by its place. */
export function callsOf(object: SourceObject, idOf: (place: number) => string): readonly VtcodeCall[] {
  const list = object.spanOf('tool_calls');
  const values = object.value['tool_calls'];
  if (list === undefined || !Array.isArray(values)) return [];
  return elementSpans(object.bytes, list).flatMap((span, place) => {
    const value: unknown = values[place];
    if (!isMembers(value)) return [];
    const id = textMember(value, 'id') ?? idOf(place);
    const called = isMembers(value['function']) ? value['function'] : value;
    const inner = called === value ? span : (memberSpans(object.bytes, span).get('function') ?? span);
    return [{ ...plainCall(id, textMember(called, 'name') ?? '', ...argumentsOf(object, called, inner)) }];
  });
}

/** Arguments are JSON in a string, or JSON. */
function argumentsOf(
  object: SourceObject,
  called: Members,
  span: Span,
): readonly [passed: RawJson | string, input: unknown] {
  const given = called['arguments'];
  if (typeof given === 'string') {
    const value = parsedJson(given);
    const isPassed = isMembers(value) && !isNestedTooDeep(value, passedLevelsMax);
    return [isPassed ? new RawJson(onOneLine(given)) : given, value];
  }
  const place = memberSpans(object.bytes, span).get('arguments');
  return place === undefined ? ['', undefined] : [passedOn(object.bytes, place), given];
}

/** The item of a call; `output` is null while its result has not come, or where none was kept. */
export function callItem(call: VtcodeCall, status: string, output: string | null): object {
  const { itemId: id, name, passed, input, form } = call;
  if (form === 'command') {
    const exitCode = output === null ? undefined : exitCodeIn(output);
    const ran = { command: commandOf(input), arguments: passed, aggregated_output: output ?? '' };
    return { id, type: 'command_execution', ...ran, exit_code: exitCode, status };
  }
  if (form === 'search') {
    const query = textMember(input, 'query') ?? '';
    return { id, type: 'web_search', query, results: output === null ? undefined : [output] };
  }
  return {
    id,
    type: 'tool_invocation',
    tool_name: name,
    arguments: passed,
    tool_call_id: call.callId,
    status,
  };
}

/** The events of a result. `call` is null when nobody knows the call: then the output stands alone. */
export function resultEvents(call: VtcodeCall | null, callId: string, output: string): readonly object[] {
  const item = { call_id: call?.itemId ?? callId, tool_call_id: callId, output, status: 'completed' };
  const told = {
    type: 'item.completed',
    item: { id: `${item.call_id}:output`, type: 'tool_output', ...item },
  };
  if (call === null) return [told];
  const events: object[] = [{ type: 'item.completed', item: callItem(call, 'completed', output) }];
  if (call.form !== 'command' && call.form !== 'search') events.push(told);
  if (call.form === 'edit') events.push({ type: 'item.completed', item: changeItem(call) });
  if (call.form === 'plan') {
    events.push({ type: 'item.updated', item: { id: 'plan', type: 'plan', text: planOf(call.input) } });
  }
  return events;
}

function commandOf({ command }: Members): string {
  if (Array.isArray(command)) return command.map(String).join(' ');
  return typeof command === 'string' ? command : '';
}

function exitCodeIn(output: string): number | undefined {
  const value = output.startsWith('{') ? parsedJson(output) : undefined;
  const code = isMembers(value) ? value['exit_code'] : undefined;
  return typeof code === 'number' && Number.isInteger(code) ? code : undefined;
}

/** The source says which file was changed, not how. */
function changeItem({ itemId, name, input }: VtcodeCall): object {
  const path = textMember(input, 'path') ?? textMember(input, 'file_path') ?? '';
  const kind = name === 'create_file' ? 'add' : name === 'delete_file' ? 'delete' : 'update';
  const changes = [{ path, kind }];
  return { id: `${itemId}:change`, type: 'file_change', diff_incomplete: true, changes, status: 'completed' };
}

function planOf({ plan }: Members): string {
  if (!Array.isArray(plan)) return '';
  const lines = plan
    .filter(isMembers)
    .map((step) => `[${step['status'] === 'completed' ? 'x' : ' '}] ${textMember(step, 'step') ?? ''}`);
  return lines.join('\n');
}
