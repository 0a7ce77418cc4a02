import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRedactor, type Egress, passThrough } from '@turnlog/store';
import { type ExportFormat, type ExportOptions, exportSession, type SessionExport } from '@turnlog/views';
import { logOf, type TestStore, turnStarted, usage } from './support.js';

export const redactor: Egress = createRedactor({ key: new Uint8Array(32) });
export { passThrough };

/** Matches the shape of a provider's key; made here, it opens nothing. */
export const secret: string = ['sk', 'proj', `${'aB3dE5fG7hJ9kL2mN4pQ'.repeat(2)}`].join('-');

export function bytesOf(chunks: Iterable<string | Uint8Array>): Buffer {
  return Buffer.concat([...chunks].map((chunk) => Buffer.from(chunk)));
}

export interface Exported {
  readonly bytes: Buffer;
  readonly text: string;
  readonly report: SessionExport['report'];
}

export function exported(
  { store }: TestStore,
  id: string,
  format: ExportFormat,
  options: ExportOptions = {},
  egress: Egress = passThrough,
): Exported {
  const document = exportSession({ store, id, format, redactor: egress, options });
  const bytes = bytesOf(document);
  return { bytes, text: bytes.toString('utf8'), report: document.report };
}

const goldenCases = join(__dirname, '../../../test/golden/cases');

/** A log of the failure log, as it is kept with the project. */
export function goldenCase(name: string): Buffer {
  return readFileSync(join(goldenCases, name, 'events.jsonl'));
}

export const said = (text: string, origin = 'prompt', id = 'm-1'): object => ({
  type: 'user.message',
  id,
  origin,
  content: [{ type: 'text', text }],
});

export const item = (value: object, type = 'item.completed'): object => ({ type, item: value });

export const message = (id: string, text: string): object => item({ id, type: 'agent_message', text });

export const invocation = (id: string, tool: string, more: object = {}): object =>
  item({ id, type: 'tool_invocation', tool_name: tool, status: 'completed', ...more });

export const output = (callId: string, text: string, more: object = {}): object =>
  item({
    id: `${callId}:output`,
    type: 'tool_output',
    call_id: callId,
    output: text,
    status: 'completed',
    ...more,
  });

/** A session in which every kind of text that a document shows is `text`. */
export function sessionOf(text: string): string {
  return logOf([
    { type: 'thread.started', thread_id: text },
    { type: 'run.started', program: text, version: text, cwd: text, workspace: text, agent: text },
    { type: 'journal.set', title: text, tags: [text], model: { reference: text } },
    {
      ...turnStarted,
      context: { task_id: text, turn_id: text, actor_id: text, origin: text, timestamp: text, goal: text },
    },
    {
      type: 'user.message',
      id: text,
      origin: 'prompt',
      content: [
        { type: 'text', text },
        { type: 'asset', sha256: 'a'.repeat(64), bytes: 1, media_type: text, name: text },
      ],
    },
    said(text, text),
    { type: 'interjected', text, source: text, image_count: 0, redirect_kind: text },
    message(`a${text}`, text),
    item({ id: `r${text}`, type: 'reasoning', text, stage: text }),
    item({ id: `p${text}`, type: 'plan', text }),
    item({
      id: `d${text}`,
      type: 'decision',
      summary: text,
      rationale: text,
      alternatives: [text],
      evidence_ids: [text],
    }),
    invocation(`t${text}`, text, { tool_call_id: text, arguments: { [text]: [text] }, outcome: text }),
    output(`t${text}`, text, { status: text, content: [{ type: 'text', text: `${text}!` }] }),
    item({
      id: `c${text}`,
      type: 'command_execution',
      command: text,
      aggregated_output: text,
      exit_code: 3,
      status: 'failed',
    }),
    item({ id: `m${text}`, type: 'mcp_tool_call', tool_name: text, result: text, status: text }),
    item({ id: `w${text}`, type: 'web_search', query: text, provider: text, results: [text] }),
    item({
      id: `f${text}`,
      type: 'file_change',
      changes: [{ path: text, kind: text }],
      status: text,
      unified_diff: `+++ b/${text}\n@@ -1 +1,2 @@\n-${text}\n+${text}\n+x`,
    }),
    item({
      id: `h${text}`,
      type: 'harness',
      event: text,
      message: text,
      command: text,
      error_category: text,
    }),
    item({ id: `e${text}`, type: 'error', message: text }),
    item({ id: `u${text}`, type: `strange${text}`, [text]: text }),
    output('nobody', text, { call_id: text }),
    { type: 'permission.resolved', tool_name: text, decision: text, wait_ms: 1 },
    { type: 'plan.approval.resolved', thread_id: 'x', turn_id: 'x', decision: text, automatic: false },
    { type: 'log.summary', id: text, text, facts: [text], by: text },
    { type: `x.${text}`, value: text },
    { type: 'error', message: text },
    { type: 'turn.blocked', message: text, last_tool: text },
    { type: 'turn.failed', message: text, usage: usage(5, 7) },
    {
      type: 'thread.completed',
      thread_id: text,
      session_id: text,
      subtype: text,
      outcome_code: text,
      result: text,
      usage: usage(5, 7),
      num_turns: 1,
    },
  ]);
}

/** An event nested so deep that no reader builds its value. */
export function deepLine(seq: number, levels: number): string {
  const nested = `${'['.repeat(levels)}${']'.repeat(levels)}`;
  return `{"schema_version":"0.18.0","seq":${seq},"ts":"2026-01-05T10:00:00.000Z","event":{"type":"item.completed","item":{"id":"deep","type":"tool_invocation","tool_name":"t","arguments":${nested},"status":"completed"}}}\n`;
}
