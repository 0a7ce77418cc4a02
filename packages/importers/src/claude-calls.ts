import { outcomeOf } from './claude-text.js';
import type { ClaudeVoice } from './claude-voice.js';
import { partTextOf, planText } from './codex-item.js';
import type { RawJson } from './json-text.js';
import { isMembers, type Members, textMember } from './source-object.js';
import type { SourceValue } from './source-value.js';

type CallForm = 'command' | 'edit' | 'mcp' | 'search' | 'todo' | 'plan' | 'tool';

/** A call of the model, until its result has come. */
export interface ClaudeCall {
  readonly itemId: string;
  readonly callId: string;
  readonly name: string;
  readonly form: CallForm;
  readonly input: Members;
  readonly passed: RawJson | string;
  /** The call stands in the history that this thread was forked from. */
  readonly isInherited?: boolean;
}

export interface ClaudeResult {
  readonly isError: boolean;
  readonly text: string;
  /** Parts that are no text, as they are. */
  readonly others: readonly (RawJson | string)[];
  /** Parts of it that are stored as assets. */
  readonly attachments: readonly object[];
  /** What the program itself kept of the result. */
  readonly detail: unknown;
}

/** What plan approvals name. */
export interface CallPlace {
  readonly threadId: string;
  readonly turnId: string;
}

const forms: ReadonlyMap<string, CallForm> = new Map([
  ['Bash', 'command'],
  ['Edit', 'edit'],
  ['MultiEdit', 'edit'],
  ['Write', 'edit'],
  ['NotebookEdit', 'edit'],
  ['WebSearch', 'search'],
  ['web_search', 'search'],
  ['TodoWrite', 'todo'],
  ['ExitPlanMode', 'plan'],
]);

const mcpName = /^mcp__(.+?)__(.+)$/;

export function formOf(name: string): CallForm {
  return forms.get(name) ?? (mcpName.test(name) ? 'mcp' : 'tool');
}

/** The result of a call from its block: texts joined, other parts kept. */
export function resultOf(
  content: SourceValue | undefined,
  block: Members,
  detail: unknown,
  voice: ClaudeVoice,
): ClaudeResult {
  const isError = block['is_error'] === true;
  if (content === undefined || typeof content.value === 'string') {
    const text = typeof content?.value === 'string' ? content.value : '';
    return { isError, text, others: [], attachments: spooledParts(text, voice), detail };
  }
  const texts: string[] = [];
  const others: (RawJson | string)[] = [];
  const attachments: object[] = [];
  for (const part of content.elements) {
    const { value } = part;
    if (!isMembers(value) || value['type'] === 'text') {
      texts.push(partTextOf(part));
      continue;
    }
    const medium = voice.media?.(value);
    if (medium === undefined) others.push(part.passed());
    else attachments.push(medium);
  }
  const text = texts.join('\n');
  return { isError, text, others, attachments: [...attachments, ...spooledParts(text, voice)], detail };
}

function spooledParts(text: string, voice: ClaudeVoice): readonly object[] {
  const part = voice.spooled?.(text);
  return part === undefined ? [] : [part];
}

/** The event of a call that begins, and what goes with it. */
export function emitCall(call: ClaudeCall, place: CallPlace, emitter: ClaudeVoice): void {
  emitter.emit({ type: 'item.started', item: callItem(call, null) });
  const plan = call.form === 'plan' ? textMember(call.input, 'plan') : undefined;
  if (plan === undefined) return;
  emitter.emit({ type: 'item.updated', item: { id: 'plan', type: 'plan', text: plan } });
  const { threadId, turnId } = place;
  emitter.emit({ type: 'plan.approval.requested', thread_id: threadId, turn_id: turnId });
}

/** The events of a result. `call` is null when nobody knows the call: then the output stands alone. */
export function emitResult(
  call: ClaudeCall | null,
  callId: string,
  result: ClaudeResult,
  place: CallPlace,
  emitter: ClaudeVoice,
): void {
  if (call !== null) emitter.emit({ type: 'item.completed', item: callItem(call, result) });
  if (call?.form !== 'command' && call?.form !== 'mcp' && call?.form !== 'search') {
    emitter.emit({ type: 'item.completed', item: outputItem(call?.itemId ?? callId, callId, result) });
  }
  if (call === null) return;
  if (call.form === 'edit' && !result.isError) {
    emitter.emit({ type: 'item.completed', item: changeItem(call, result.detail) });
  }
  if (call.form === 'todo') {
    const text = planText(call.input['todos'], (entry) => entry['status'] === 'completed');
    emitter.emit({ type: 'item.updated', item: { id: 'plan', type: 'plan', text } });
  }
  if (call.form === 'plan' && call.input['plan'] !== undefined) {
    const { threadId, turnId } = place;
    const decision = result.isError ? 'revise' : 'execute';
    emitter.emit({
      type: 'plan.approval.resolved',
      thread_id: threadId,
      turn_id: turnId,
      decision,
      automatic: false,
    });
  }
}

/** The item of a call; `null` while its result has not come. */
function callItem(call: ClaudeCall, result: ClaudeResult | null): object {
  const status = result === null ? 'in_progress' : statusOf(result);
  const { itemId: id, name, passed } = call;
  if (call.form === 'command') {
    const command = textMember(call.input, 'command') ?? '';
    const output = { aggregated_output: result === null ? '' : wholeText(result), status };
    const attachments = attachmentsOf(result);
    return { id, type: 'command_execution', command, arguments: passed, ...output, attachments };
  }
  if (call.form === 'search') {
    const query = textMember(call.input, 'query') ?? '';
    return { id, type: 'web_search', query, results: result === null ? undefined : [wholeText(result)] };
  }
  const mcp = mcpName.exec(name);
  if (mcp !== null) {
    const mcpStatus = result === null ? 'started' : status;
    const called = {
      tool_name: mcp[2],
      arguments: passed,
      result: result === null ? undefined : wholeText(result),
    };
    const rest = { server: mcp[1], attachments: attachmentsOf(result) };
    return { id, type: 'mcp_tool_call', ...called, status: mcpStatus, ...rest };
  }
  const outcome = result === null ? undefined : outcomeOf(result.isError, result.text, result.detail);
  const invoked = { tool_name: name, arguments: passed, tool_call_id: call.callId };
  return { id, type: 'tool_invocation', ...invoked, status, outcome };
}

/** A result where only text has a place: other parts follow as the JSON they are. */
function wholeText({ text, others }: ClaudeResult): string {
  const parts = others.map((part) => (typeof part === 'string' ? part : part.text));
  return [...(text === '' && parts.length > 0 ? [] : [text]), ...parts].join('\n');
}

function statusOf(result: ClaudeResult): string {
  return result.isError ? 'failed' : 'completed';
}

function outputItem(itemId: string, callId: string, result: ClaudeResult): object {
  return {
    id: `${itemId}:output`,
    type: 'tool_output',
    call_id: itemId,
    tool_call_id: callId,
    output: result.text,
    status: statusOf(result),
    content: result.others.length === 0 ? undefined : result.others,
    attachments: attachmentsOf(result),
  };
}

function attachmentsOf(result: ClaudeResult | null): readonly object[] | undefined {
  return result === null || result.attachments.length === 0 ? undefined : result.attachments;
}

function changeItem(call: ClaudeCall, detail: unknown): object {
  const { input } = call;
  const path = textMember(input, 'file_path') ?? textMember(input, 'notebook_path') ?? '';
  const kind = isMembers(detail) && detail['type'] === 'create' ? 'add' : 'update';
  const diff = isMembers(detail) ? unifiedDiff(path, detail['structuredPatch']) : undefined;
  return {
    id: `${call.itemId}:change`,
    type: 'file_change',
    diff_incomplete: diff === undefined ? true : undefined,
    changes: [{ path, kind }],
    status: 'completed',
    unified_diff: diff,
  };
}

/** The hunks that the program kept of an edit as a unified diff; undefined when it kept none. */
function unifiedDiff(path: string, hunks: unknown): string | undefined {
  if (!Array.isArray(hunks) || hunks.length === 0) return undefined;
  const lines = [`--- ${path}`, `+++ ${path}`];
  for (const hunk of hunks) {
    if (!isMembers(hunk) || !Array.isArray(hunk['lines'])) return undefined;
    lines.push(`@@ -${hunk['oldStart']},${hunk['oldLines']} +${hunk['newStart']},${hunk['newLines']} @@`);
    lines.push(...hunk['lines'].map(String));
  }
  return `${lines.join('\n')}\n`;
}
