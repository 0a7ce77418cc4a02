import { recordId } from './claude-text.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import type { Lookahead, RecordPlace, ThreadStep } from './thread-format.js';

/** How far behind a record its parent, or the call that it answers, is looked for. */
const lateRecordsMax = 16;

/** Known, and without an event: they concern the program alone, or say again what stands elsewhere. */
const keptTypes: ReadonlySet<string> = new Set([
  'progress',
  'attachment',
  'queue-operation',
  'last-prompt',
  'file-history-snapshot',
  'bridge-session',
  'started',
  'result',
  'frame-link',
]);
const keptSubtypes: ReadonlySet<string> = new Set([
  'turn_duration',
  'stop_hook_summary',
  'microcompact_boundary',
  'away_summary',
  'bridge_status',
  'session_start',
  'api_refusal',
  'model_refusal_fallback',
  'error',
]);

/** Whether a record that is looked for stands directly behind the present ones. */
export function comesSoon(ahead: Lookahead, isIt: (value: Members) => boolean): boolean | 'wait' {
  for (let n = 1; n <= lateRecordsMax; n += 1) {
    const next = ahead.peek(n);
    if (next === 'later') return 'wait';
    if (typeof next === 'string') return false;
    if (isIt(next.value)) return true;
  }
  return false;
}

/** The record itself or the first behind it that has an id; null when none is near. */
export function firstWithId(object: SourceObject, ahead: Lookahead): Members | null | 'later' {
  if (recordId(object.value) !== undefined) return object.value;
  for (let n = 1; ; n += 1) {
    const next = ahead.peek(n);
    if (next === 'later') return 'later';
    if (typeof next === 'string') return null;
    if (recordId(next.value) !== undefined) return next.value;
  }
}

/** What the counts call a record, as in `system/turn_duration`. */
export function kindOf({ type, value }: SourceObject): string {
  const { data, attachment } = value;
  const detail =
    textMember(value, 'subtype') ??
    textMember(value, 'operation') ??
    (isMembers(data) ? textMember(data, 'type') : undefined) ??
    (isMembers(attachment) ? textMember(attachment, 'type') : undefined);
  return detail === undefined ? type : `${type}/${detail}`;
}

export function isKnown({ type, value }: SourceObject): boolean {
  return keptTypes.has(type) || (type === 'system' && keptSubtypes.has(textMember(value, 'subtype') ?? ''));
}

export function errorText({ error, content }: Members): string {
  if (isMembers(error)) return textMember(error, 'formatted') ?? textMember(error, 'message') ?? 'error';
  return typeof content === 'string' ? content : 'error';
}

export function placeless(object: SourceObject): RecordPlace {
  const { line, offset, length: bytes, sha256 } = object;
  return { file: '', line, offset, bytes, sha256, identity: sha256, tsMs: null };
}

/** Nothing is emitted before the first record is taken. */
export const silentStep: ThreadStep = {
  emitter: () => {
    throw new TypeError('no record is being taken');
  },
  asset: () => {
    throw new TypeError('no record is being taken');
  },
};
