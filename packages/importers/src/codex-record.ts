import type { RawJson, Span } from './json-text.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import { sourceTimeMs } from './source-time.js';

/**
 * One line of a rollout: `{timestamp, type, payload}`, later with an `ordinal`. Before September 2025 a first line
 * `{id, timestamp, instructions, git}` and then bare response items without times.
 */
export interface CodexRecord {
  readonly object: SourceObject;
  /** As in `response_item`; a bare item is one, and the first line of old files a `session_meta`. */
  readonly type: string;
  readonly payload: Members;
  /** `payload.type`, with the role of messages, as in `message:user`. */
  readonly detail: string;
  /** What the counts call it. */
  readonly kind: string;
  /** Where the payload's members are found in the object. */
  readonly path: readonly string[];
}

export function codexRecord(object: SourceObject): CodexRecord {
  const { value } = object;
  const { payload } = value;
  if (isMembers(payload)) return recordOf(object, object.type, payload, ['payload']);
  if (isOldHeader(value)) return recordOf(object, 'session_meta', value, []);
  if (textMember(value, 'record_type') !== undefined) return recordOf(object, 'state', value, []);
  return recordOf(object, 'response_item', value, []);
}

function recordOf(
  object: SourceObject,
  type: string,
  payload: Members,
  path: readonly string[],
): CodexRecord {
  const detail = type === 'session_meta' ? '' : detailOf(payload);
  return { object, type, payload, detail, kind: detail === '' ? type : `${type}/${detail}`, path };
}

function detailOf(payload: Members): string {
  const type = textMember(payload, 'type') ?? '';
  return type === 'message' ? `message:${textMember(payload, 'role') ?? ''}` : type;
}

/** The first line of a file from before September 2025. */
export function isOldHeader(value: Members): boolean {
  const isNamed = textMember(value, 'id') !== undefined && textMember(value, 'timestamp') !== undefined;
  return isNamed && value['type'] === undefined && ('instructions' in value || 'git' in value);
}

/** What the header of a spawned agent says of that: `source.subagent.thread_spawn`. */
export function spawnOf({ source }: Members): Members {
  const subagent = isMembers(source) ? source['subagent'] : undefined;
  return isMembers(subagent) && isMembers(subagent['thread_spawn']) ? subagent['thread_spawn'] : {};
}

export function isRolloutLine(value: Members): boolean {
  return textMember(value, 'type') !== undefined && 'timestamp' in value && isMembers(value['payload']);
}

export function recordMs(object: SourceObject): number | null {
  return sourceTimeMs(object.value['timestamp']);
}

const plainHead = /^\{"timestamp":"[^"\\]*","type":"[^"\\]*","payload":/;
const headBytes = 160;

/** Where the payload stands. Nearly always it is the last member behind a head of one form. */
function payloadSpan(object: SourceObject): Span {
  const { bytes, span } = object;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset + span.start, Math.min(headBytes, object.length));
  const found = plainHead.exec(head.toString('latin1'));
  if (found !== null) return { start: span.start + found[0].length, end: span.end - 1 };
  return object.spanOf('payload') ?? span;
}

/** The bytes of the payload: what a copy in another thread has in common with this line. */
export function payloadBytes(object: SourceObject): Uint8Array {
  const { start, end } = payloadSpan(object);
  return object.bytes.subarray(start, end);
}

/** A member of the payload as it stands in the source. */
export function passedMember({ object, path }: CodexRecord, name: string): RawJson | string | undefined {
  return object.passed(...path, name);
}

/** The texts of a list of content parts, and the places of the others. */
export function contentTexts(content: unknown): readonly string[] {
  if (!Array.isArray(content)) return [];
  return content.filter(isMembers).flatMap((part) => {
    const text = textMember(part, 'text');
    return text === undefined ? [] : [text];
  });
}
