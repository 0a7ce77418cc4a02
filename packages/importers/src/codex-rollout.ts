import { codexRecord, isOldHeader, isRolloutLine, payloadBytes, spawnOf } from './codex-record.js';
import { CodexRolloutMapper } from './codex-rollout-mapper.js';
import { restoredCodexState } from './codex-state.js';
import { FirstRecordSurvey } from './first-record-survey.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import type { ThreadFormat, ThreadIdentity } from './thread-format.js';

/** Rollouts of Codex: `sessions/YYYY/MM/DD/rollout-<local time>-<uuid>.jsonl`. */
export const codexRollout: ThreadFormat = {
  name: 'codex-rollout',
  mapping: '1',
  prefix: 'codex',
  recognises: (value) => isRolloutLine(value) || isOldHeader(value),
  survey: ({ name }) => new FirstRecordSurvey((first) => identityOf(first, name)),
  recordId: () => undefined,
  recordTime: timeOf,
  sharing: 'on-demand',
  sharedIdentity: payloadBytes,
  mapper: (context, state) => new CodexRolloutMapper(context, state),
  callOf: (state, threadId) => restoredCodexState(state).children.get(threadId),
};

/** The line's own time; the first line of old files has it among its members. */
function timeOf({ value }: SourceObject): unknown {
  return value['timestamp'];
}

const nameForm = /^rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/;

/** The first header names the thread; without one it is the file's name, or its first record. */
function identityOf(first: SourceObject, name: string): ThreadIdentity {
  const nameId = nameForm.exec(name)?.[1];
  const record = codexRecord(first);
  const stated = record.type === 'session_meta' ? textMember(record.payload, 'id') : undefined;
  const threadId = stated ?? nameId ?? first.sha256.slice(0, 32);
  const aliases = nameId === undefined || nameId === threadId ? [] : [nameId];
  const derived = stated === undefined ? ['thread_id'] : [];
  const parents = stated === undefined ? noParents : parentsOf(record.payload);
  const child =
    parents.parent === undefined ? {} : { child: { parentThreadId: parents.parent, agentId: threadId } };
  return { threadId, derived, aliases, after: parents.after, ...child };
}

interface Parents {
  readonly parent: string | undefined;
  readonly after: readonly string[];
}

const noParents: Parents = { parent: undefined, after: [] };

function parentsOf(payload: Members): Parents {
  const { source } = payload;
  const subagent = isMembers(source) ? source['subagent'] : undefined;
  const stated = textMember(payload, 'parent_thread_id') ?? textMember(spawnOf(payload), 'parent_thread_id');
  const after = [stated, textMember(payload, 'forked_from_id')].filter((id) => id !== undefined);
  return { parent: subagent === undefined ? undefined : stated, after: [...new Set(after)] };
}
