import { isOwnLine } from './events-mapper.js';
import { textOf } from './json-text.js';
import { lineParts } from './line-objects.js';
import { isMembers, type Members, textMember } from './source-object.js';
import type { StreamKind } from './stream-types.js';

/** Formats that are recognised by their content. */
export type SourceKind = 'vtcode' | 'codex-exec' | 'claude-stream' | 'events' | 'unknown';

const codexTypes: ReadonlySet<string> = new Set([
  'thread.started',
  'turn.started',
  'turn.completed',
  'turn.failed',
  'item.started',
  'item.updated',
  'item.completed',
  'item.plan.delta',
  'error',
]);

const claudeTypes: ReadonlySet<string> = new Set(['system', 'assistant', 'user', 'result', 'stream_event']);

/** The kind of stream that an object begins; null when it begins none. */
export function streamKindOf(value: Members): Exclude<StreamKind, 'auto'> | null {
  const type = textMember(value, 'type');
  if (type === undefined) return isOwnLine(value) ? 'events' : null;
  if (codexTypes.has(type) && value['schema_version'] === undefined) return 'codex-exec';
  if (claudeTypes.has(type) && textMember(value, 'session_id') !== undefined) return 'claude-stream';
  return isOwnLine(value) ? 'events' : null;
}

function sourceKindOf(value: Members): SourceKind {
  if (isOwnLine(value) && textMember(value, 'schema_version') !== undefined) return 'vtcode';
  return streamKindOf(value) ?? 'unknown';
}

/** The names that the producer of a format gives its files. They only break ties. */
const vtcodeNames = /^(?:harness-session-.*\.jsonl|events\.jsonl)$/;

/**
 * What a file is, by the first complete object among its first bytes; lines before it that hold none are passed
 * over. A line of the log contract may be VT Code's or ours: with a seq of its own it is one of ours, unless
 * the name says otherwise.
 */
export function detectSource(head: Uint8Array, name: string): SourceKind {
  const value = firstObject(head);
  if (value === null) return 'unknown';
  const kind = sourceKindOf(value);
  const isOurs = kind === 'vtcode' && value['seq'] !== undefined && !vtcodeNames.test(name);
  return isOurs ? 'events' : kind;
}

function firstObject(head: Uint8Array): Members | null {
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  for (let start = hasMark ? 3 : 0; start < head.length; ) {
    const found = head.indexOf(0x0a, start);
    const end = found === -1 ? head.length : found;
    const part = lineParts(head, start, end).find(({ kind }) => kind === 'object');
    const value: unknown = part === undefined ? null : JSON.parse(textOf(head, part));
    if (isMembers(value)) return value;
    start = end + 1;
  }
  return null;
}
