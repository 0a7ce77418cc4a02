import { sha256Hex } from '@turnlog/kernel';
import { FirstRecordSurvey } from './first-record-survey.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import type { ThreadFormat, ThreadIdentity } from './thread-format.js';
import { type MessageShape, VtcodeMessagesMapper } from './vtcode-messages.js';

/** What VT Code writes of a conversation before it is shortened: `history/<session>_<turn>_<time>.jsonl`. */
export const vtcodeHistory: ThreadFormat = {
  name: 'vtcode-history',
  mapping: '1',
  prefix: 'vtcode',
  hasLogs: true,
  recognises: (value) => headerIn(value) !== null || isMessage(value),
  survey: ({ name }) => new FirstRecordSurvey((first) => identityOf(first, name)),
  recordId: ({ value }) => (headerIn(value) === null ? messageId(value) : 'metadata'),
  recordTime: ({ value }) => value['timestamp'] ?? headerIn(value)?.['written_at'],
  sharing: 'on-demand',
  sharedIdentity: () => undefined,
  mapper: (context, state) => new VtcodeMessagesMapper(context, state, shape),
};

const shape: MessageShape = {
  kindOf: (value) => {
    if (headerIn(value) !== null) return ['header', 'metadata'];
    const role = textMember(value, 'role');
    return role === undefined ? ['unknown', 'object'] : ['message', `message/${role}`];
  },
  headerOf: (value) => headerIn(value) ?? {},
};

/** The members of a metadata line, which stand in the line or in a member of it; null for other lines. */
function headerIn(value: Members): Members | null {
  const inner = value['_metadata'];
  const header = isMembers(inner) ? inner : value;
  const { session_id: sessionId, turn_number: turn } = header;
  return typeof sessionId === 'string' && typeof turn === 'number' ? header : null;
}

function isMessage({ turn, role, content, timestamp }: Members): boolean {
  const isText = typeof role === 'string' && typeof content === 'string';
  return isText && typeof turn === 'number' && typeof timestamp === 'string';
}

/**
 * A message has no id, and its time is that of the writing of the file: what it says is what it is, so that a later
 * file of the thread that holds it goes on from the earlier one.
 */
function messageId(value: Members): string | undefined {
  if (!isMessage(value)) return undefined;
  const { turn, role, content, tool_call_id: callId } = value;
  return sha256Hex(new TextEncoder().encode(JSON.stringify([turn, role, content, callId ?? null]))).slice(
    0,
    32,
  );
}

const nameForm = /^(.+)_\d+_[0-9TZ]+\.jsonl$/;

function identityOf(first: SourceObject, name: string): ThreadIdentity {
  const nameId = nameForm.exec(name)?.[1];
  const stated = textMember(headerIn(first.value) ?? {}, 'session_id');
  const threadId = stated ?? nameId ?? first.sha256.slice(0, 32);
  const aliases = nameId === undefined || nameId === threadId ? [] : [nameId];
  // An archive of the same session says more, and comes first.
  return { threadId, derived: stated === undefined ? ['thread_id'] : [], aliases, after: [threadId] };
}
