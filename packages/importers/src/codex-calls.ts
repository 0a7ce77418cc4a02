import { commandOutput, outcomeOfText, outputOf, parsedJson } from './codex-output.js';
import { type CodexChanges, changesOfEvent, changesOfPatch } from './codex-patch.js';
import type { CodexRecord } from './codex-record.js';
import type { CodexCall, CodexCallForm, CodexState } from './codex-state.js';
import type { CodexVoice } from './codex-voice.js';
import { isNestedTooDeep, onOneLine, passedLevelsMax, RawJson } from './json-text.js';
import { isMembers, type Members, textMember } from './source-object.js';
import type { ThreadMapping } from './thread-format.js';

const forms: ReadonlyMap<string, CodexCallForm> = new Map([
  ['exec_command', 'command'],
  ['shell', 'command'],
  ['local_shell', 'command'],
  ['container.exec', 'command'],
  ['shell_command', 'command'],
  ['apply_patch', 'edit'],
  ['update_plan', 'plan'],
  ['write_stdin', 'stdin'],
]);

/** What of a running command's output is kept for its next snapshot. */
const runningOutputMax = 65_536;
const straysMax = 64;

/** The calls of a thread: what was called, what came of it. */
export class CodexCalls {
  readonly #state: CodexState;

  constructor(state: CodexState) {
    this.#state = state;
  }

  get openCount(): number {
    return [...this.#state.calls.values()].filter(({ state }) => state === 'open').length;
  }

  begin(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { payload, kind } = record;
    const callId = textMember(payload, 'call_id') ?? textMember(payload, 'id') ?? `call_${voice.place.line}`;
    const uses = (this.#state.usedIds.get(callId) ?? 0) + 1;
    this.#state.usedIds.set(callId, uses);
    const name = textMember(payload, 'name') ?? '';
    const given = textMember(payload, 'arguments') ?? textMember(payload, 'input') ?? '';
    const value = given.startsWith('{') ? parsedJson(given) : undefined;
    const passed = value === undefined ? given : onOneLine(given);
    const form = forms.get(name) ?? 'tool';
    const call: CodexCall = {
      itemId: uses === 1 ? callId : `${callId}~${uses}`,
      callId,
      name,
      form,
      passed,
      isJson: isMembers(value) && !isNestedTooDeep(value, passedLevelsMax),
      command: form === 'command' ? commandOf(isMembers(value) ? value : {}, passed) : '',
      state: 'open',
      output: '',
      exitCode: null,
      hasChange: false,
    };
    this.#state.calls.set(callId, call);
    voice.tell({ type: 'item.started', item: itemOf(call, 'in_progress', undefined) });
    return { place: 'mapped', kind };
  }

  /** The result that the model was given. */
  result(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { payload, kind } = record;
    const callId = textMember(payload, 'call_id') ?? '';
    const call = this.#state.calls.get(callId);
    const result = outputOf(record);
    if (call === undefined) {
      this.#stray(callId, result.text, voice);
      return { place: 'mapped', kind };
    }
    if (call.form === 'command') return { place: this.#commandResult(call, result.text, voice), kind };
    if (call.state === 'ended') return { place: 'echo', kind };
    const outcome = outcomeOfText(result.text, result.isError);
    const status = outcome === 'success' ? 'completed' : 'failed';
    call.state = 'answered';
    voice.tell({ type: 'item.completed', item: itemOf(call, status, outcome) });
    const parts = { output: result.text, status, content: contentOf(result.others, voice) };
    voice.tell({ type: 'item.completed', item: { ...outputItem(call.itemId, callId), ...parts } });
    if (call.form === 'edit' && status === 'completed') this.#changedByPatch(call, voice);
    if (call.form === 'plan') this.#plan(call, voice);
    if (call.form === 'stdin') this.#heardFrom(call, result.text, voice);
    return { place: 'mapped', kind };
  }

  /** The end of a command, with all that it wrote. */
  execEnd(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { payload, kind } = record;
    const callId = textMember(payload, 'call_id') ?? '';
    const output = textMember(payload, 'aggregated_output') ?? '';
    const exitCode = typeof payload['exit_code'] === 'number' ? payload['exit_code'] : null;
    const call = this.#state.calls.get(callId) ?? this.#unknownCommand(callId, payload);
    if (call === null) {
      const status = exitCode === 0 ? 'completed' : 'failed';
      const item = { ...outputItem(callId, callId), output, exit_code: exitCode ?? undefined, status };
      voice.tell({ type: 'item.completed', item });
      return { place: 'mapped', kind };
    }
    const isTold = call.state === 'answered' && call.exitCode === exitCode && call.output === output;
    this.#end(call, output, exitCode);
    if (isTold) return { place: 'echo', kind };
    voice.tell({ type: 'item.completed', item: itemOf(call, statusOf(exitCode), undefined) });
    return { place: 'mapped', kind };
  }

  patchEnd(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { payload, kind } = record;
    const callId = textMember(payload, 'call_id') ?? '';
    const call = this.#state.calls.get(callId);
    if (call !== undefined) call.hasChange = true;
    const status = payload['success'] === false ? 'failed' : 'completed';
    const changes = changesOfEvent(payload['changes']);
    voice.tell({ type: 'item.completed', item: changeItem(call?.itemId ?? callId, changes, status) });
    return { place: 'mapped', kind };
  }

  mcpEnd(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { payload, kind } = record;
    const callId = textMember(payload, 'call_id') ?? '';
    const call = this.#state.calls.get(callId);
    if (call !== undefined) call.state = 'ended';
    const invocation = isMembers(payload['invocation']) ? payload['invocation'] : {};
    const result = isMembers(payload['result']) ? payload['result'] : {};
    const failure = result['Err'];
    const answer = isMembers(result['Ok']) ? result['Ok'] : {};
    const isFailed = failure !== undefined || answer['isError'] === true;
    const item = {
      id: call?.itemId ?? callId,
      type: 'mcp_tool_call',
      tool_name: textMember(invocation, 'tool') ?? '',
      arguments: record.object.passed(...record.path, 'invocation', 'arguments'),
      result: typeof failure === 'string' ? failure : resultText(record),
      status: isFailed ? 'failed' : 'completed',
      server: textMember(invocation, 'server'),
    };
    voice.tell({ type: 'item.completed', item });
    return { place: 'mapped', kind };
  }

  /** What was still running when the user stopped the turn will not be answered. */
  abort(voice: CodexVoice): void {
    for (const call of this.#state.calls.values()) {
      if (call.state !== 'open') continue;
      call.state = 'answered';
      const item = itemOf(call, 'failed', 'cancelled');
      voice.tell({ type: 'item.completed', item: { ...item, outcome: 'cancelled' } });
    }
  }

  /** A call that started another thread. */
  spawned(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { payload, kind } = record;
    const call = this.#state.calls.get(textMember(payload, 'call_id') ?? '');
    const threadId = textMember(payload, 'new_thread_id');
    if (call === undefined || threadId === undefined) return { place: 'kept', kind };
    this.#state.children.set(threadId, call.itemId);
    const item = { ...itemOf(call, 'in_progress', undefined), child_thread_id: threadId };
    voice.tell({ type: 'item.updated', item });
    return { place: 'mapped', kind };
  }

  #commandResult(call: CodexCall, text: string, voice: CodexVoice): 'mapped' | 'echo' {
    if (call.state === 'ended') return 'echo';
    const { output, exitCode, runningId } = commandOutput(text);
    if (runningId !== null) {
      this.#state.running.set(runningId, call.callId);
      this.#running(call, output, voice);
      return 'mapped';
    }
    const outcome = outcomeOfText(text, null);
    call.state = 'answered';
    call.output = output;
    call.exitCode = exitCode;
    const status = outcome === 'success' ? statusOf(exitCode) : 'failed';
    voice.tell({ type: 'item.completed', item: itemOf(call, status, outcome) });
    return 'mapped';
  }

  #running(call: CodexCall, output: string, voice: CodexVoice): void {
    call.state = 'running';
    call.output = `${call.output}${output}`.slice(-runningOutputMax);
    voice.tell({ type: 'item.updated', item: itemOf(call, 'in_progress', undefined) });
  }

  /** A result of `write_stdin` is news of the command that it was written to. */
  #heardFrom(stdin: CodexCall, text: string, voice: CodexVoice): void {
    const value = parsedJson(stdin.passed);
    const sessionId = isMembers(value) ? String(value['session_id']) : '';
    const call = this.#state.calls.get(this.#state.running.get(sessionId) ?? '');
    if (call === undefined || call.state !== 'running') return;
    const { output, exitCode, runningId } = commandOutput(text);
    if (runningId !== null || exitCode === null) {
      if (output !== '') this.#running(call, output, voice);
      return;
    }
    this.#state.running.delete(sessionId);
    call.state = 'answered';
    call.output = `${call.output}${output}`.slice(-runningOutputMax);
    call.exitCode = exitCode;
    voice.tell({ type: 'item.completed', item: itemOf(call, statusOf(exitCode), undefined) });
  }

  #end(call: CodexCall, output: string, exitCode: number | null): void {
    call.state = 'ended';
    call.output = output;
    call.exitCode = exitCode;
    for (const [runningId, callId] of this.#state.running) {
      if (callId === call.callId) this.#state.running.delete(runningId);
    }
  }

  /** A command that no call is known of, as one that the user ran; null when its output stands alone already. */
  #unknownCommand(callId: string, payload: Members): CodexCall | null {
    if (this.#state.strays.includes(callId)) return null;
    const { command } = payload;
    return {
      itemId: callId,
      callId,
      name: '',
      form: 'command',
      passed: '',
      isJson: false,
      command: commandText(command),
      state: 'open',
      output: '',
      exitCode: null,
      hasChange: false,
    };
  }

  #stray(callId: string, text: string, voice: CodexVoice): void {
    this.#state.strays = [...this.#state.strays, callId].slice(-straysMax);
    const item = { ...outputItem(callId, callId), output: text, status: 'completed' };
    voice.tell({ type: 'item.completed', item });
  }

  #changedByPatch(call: CodexCall, voice: CodexVoice): void {
    const value = call.isJson ? parsedJson(call.passed) : undefined;
    const patch = isMembers(value) ? (textMember(value, 'input') ?? textMember(value, 'patch')) : call.passed;
    const changes = call.hasChange ? null : changesOfPatch(patch ?? '');
    if (changes === null) return;
    call.hasChange = true;
    voice.tell({ type: 'item.completed', item: changeItem(call.itemId, changes, 'completed') });
  }

  #plan(call: CodexCall, voice: CodexVoice): void {
    const value = parsedJson(call.passed);
    const steps = isMembers(value) ? value['plan'] : undefined;
    if (!Array.isArray(steps)) return;
    const lines = steps
      .filter(isMembers)
      .map((step) => `[${step['status'] === 'completed' ? 'x' : ' '}] ${textMember(step, 'step') ?? ''}`);
    voice.tell({ type: 'item.updated', item: { id: 'plan', type: 'plan', text: lines.join('\n') } });
  }
}

function statusOf(exitCode: number | null): string {
  return exitCode === null || exitCode === 0 ? 'completed' : 'failed';
}

function itemOf(call: CodexCall, status: string, outcome: string | undefined): object {
  const passed = call.isJson ? new RawJson(call.passed) : call.passed;
  if (call.form === 'command') {
    return {
      id: call.itemId,
      type: 'command_execution',
      command: call.command,
      arguments: passed,
      aggregated_output: call.output,
      exit_code: call.exitCode ?? undefined,
      status,
      outcome: outcome === 'success' ? undefined : outcome,
    };
  }
  return {
    id: call.itemId,
    type: 'tool_invocation',
    tool_name: call.name,
    arguments: passed,
    tool_call_id: call.callId,
    status,
    outcome,
  };
}

function outputItem(itemId: string, callId: string): object {
  return { id: `${itemId}:output`, type: 'tool_output', call_id: itemId, tool_call_id: callId };
}

function changeItem(itemId: string, { changes, unifiedDiff }: CodexChanges, status: string): object {
  return {
    id: `${itemId}:change`,
    type: 'file_change',
    diff_incomplete: unifiedDiff === undefined ? true : undefined,
    changes,
    status,
    unified_diff: unifiedDiff,
  };
}

const imageForm = /^data:([\w.+-]+\/[\w.+-]+);base64,/;

/** Parts of a result that are no text: images become assets, the rest is passed on. */
function contentOf(others: readonly (RawJson | string)[], voice: CodexVoice): readonly unknown[] | undefined {
  if (others.length === 0) return undefined;
  return others.map((part) => {
    const value = parsedJson(part instanceof RawJson ? part.text : part);
    const url = isMembers(value) ? textMember(value, 'image_url') : undefined;
    return (url === undefined ? null : imagePart(url, voice)) ?? part;
  });
}

/** An image that is given as a data URL, as an asset; null for everything else. */
export function imagePart(url: string, voice: CodexVoice): object | null {
  const found = imageForm.exec(url);
  if (found === null) return null;
  return voice.asset(
    Buffer.from(url.slice(found[0].length), 'base64'),
    found[1] ?? 'application/octet-stream',
  );
}

function commandOf(value: Members, passed: string): string {
  const command = value['cmd'] ?? value['command'];
  return command === undefined ? passed : commandText(command);
}

const shells: ReadonlySet<string> = new Set(['bash', 'sh', 'zsh']);

/** A command as one line; what a shell was called for stands without the shell. */
function commandText(command: unknown): string {
  if (typeof command === 'string') return command;
  if (!Array.isArray(command)) return '';
  const words = command.map(String);
  const [program = '', option = '', script] = words;
  const isShell = shells.has(program.slice(program.lastIndexOf('/') + 1)) && /^-l?c$/.test(option);
  return isShell && script !== undefined && words.length === 3 ? script : words.join(' ');
}

/** The text of an MCP result: texts of its parts, other parts as JSON. */
function resultText(record: CodexRecord): string | undefined {
  const { result } = record.payload;
  const answer = isMembers(result) ? result['Ok'] : undefined;
  if (!isMembers(answer) || !Array.isArray(answer['content'])) return undefined;
  return answer['content']
    .map((part) => (isMembers(part) ? textMember(part, 'text') : undefined) ?? JSON.stringify(part))
    .join('\n');
}
