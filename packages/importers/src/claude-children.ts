import { reportsReliably } from './claude-answers.js';
import type { ClaudeFields } from './claude-fields.js';
import { programMembers, startIdentity } from './claude-header.js';
import type { ClaudeChild, ClaudeState } from './claude-state.js';
import { recordId } from './claude-text.js';
import { ClaudeThread } from './claude-thread.js';
import { firstThreadState } from './claude-thread-state.js';
import { type ClaudeRow, type ClaudeVoice, type RowTools, RowVoice } from './claude-voice.js';
import { childFile, sharedDigest } from './record-places.js';
import { childSessionId } from './session-name.js';
import { isMembers, type Members, SourceObject, textMember } from './source-object.js';
import type { RecordPlace, ThreadContext } from './thread-format.js';

/** A record of a sub-agent that stands among those of its parent. */
export interface ChildRecord {
  readonly agentId: string;
  readonly callId: string | undefined;
  /** The record itself, which may stand inside another. */
  readonly object: SourceObject;
}

/** The record inside an `agent_progress` line; null when the line has none. */
export function progressRecord(object: SourceObject): ChildRecord | null {
  const { data } = object.value;
  const span = object.spanOf('data', 'message');
  if (!isMembers(data) || span === undefined || !isMembers(data['message'])) return null;
  const agentId = textMember(data, 'agentId');
  if (agentId === undefined) return null;
  const offset = object.offset + span.start - object.span.start;
  const inner = new SourceObject(object.bytes, span, object.line, offset);
  return { agentId, callId: textMember(object.value, 'parentToolUseID'), object: inner };
}

/** Sub-agents whose records stand in the file of their parent: each has a session of its own. */
export class ClaudeChildren {
  readonly #state: ClaudeState;
  readonly #context: ThreadContext;
  readonly #fields: ClaudeFields;

  constructor(state: ClaudeState, context: ThreadContext, fields: ClaudeFields) {
    this.#state = state;
    this.#context = context;
    this.#fields = fields;
  }

  unansweredCount(tools: RowTools): number {
    const threads = [...this.#state.children].map(([agentId, child]) =>
      this.#threadOf(agentId, child, tools),
    );
    return threads.reduce((sum, thread) => sum + thread.unansweredCount, 0);
  }

  take(
    { agentId, callId, object }: ChildRecord,
    outer: ClaudeRow,
    tools: RowTools,
  ): 'mapped' | 'repeat' | 'kept' {
    const id = recordId(object.value);
    if (id !== undefined && !this.#state.seen.add(sharedDigest(`${agentId}\0${id}`))) return 'repeat';
    const known = this.#state.children.get(agentId);
    const sessionId = known?.sessionId ?? childSessionId(this.#context.sessionId, 'claude', agentId);
    const place = inChild(outer.place, known?.newestMs ?? null);
    const row = { place, id, child: sessionId, parent: textMember(object.value, 'parentUuid') };
    const child = known ?? this.#begin(agentId, callId, sessionId, row, tools);
    child.last = row;
    child.newestMs = place.tsMs;
    const thread = this.#threadOf(agentId, child, tools);
    const voice = new RowVoice(row, tools);
    if (object.type === 'assistant') thread.assistant(object, voice);
    else if (object.type === 'user') thread.user(object, voice);
    else return 'kept';
    return 'mapped';
  }

  /** The result of a call ends the turn of the sub-agent that it started. */
  answered(callIds: readonly string[], outer: ClaudeRow, tools: RowTools): void {
    for (const [agentId, child] of this.#state.children) {
      if (child.callId === undefined || !callIds.includes(child.callId)) continue;
      child.last = { place: inChild(outer.place, child.newestMs), child: child.sessionId };
      child.newestMs = child.last.place.tsMs;
      this.#threadOf(agentId, child, tools).closeTurn(new RowVoice(child.last, tools));
    }
  }

  finish(tools: RowTools): void {
    for (const [agentId, child] of this.#state.children) {
      this.#threadOf(agentId, child, tools).closeTurn(new RowVoice(child.last, tools));
    }
  }

  #begin(
    agentId: string,
    callId: string | undefined,
    sessionId: string,
    row: ClaudeRow,
    tools: RowTools,
  ): ClaudeChild {
    const { sessionId: session, identity } = this.#context;
    const child: ClaudeChild = {
      sessionId,
      callId,
      thread: firstThreadState(),
      last: row,
      newestMs: row.place.tsMs,
    };
    this.#state.children.set(agentId, child);
    if (callId !== undefined) this.#state.links.set(agentId, callId);
    const voice = new RowVoice(row, tools);
    const telling = { identity: startIdentity(agentId) };
    const parent = { session, thread_id: identity.threadId, call_id: callId };
    voice.emit({ type: 'thread.started', thread_id: agentId }, telling);
    voice.emit({ ...programMembers(this.#fields, 'subagent'), parent }, telling);
    return child;
  }

  /** The session of an answer, where that is not the sub-agent's own, which may have a file as well. */
  #otherSessionOf(answerId: string, child: ClaudeChild): string | null {
    const session = this.#context.store.sessionOfAnswer(answerId);
    return session === child.sessionId ? null : session;
  }

  #threadOf(agentId: string, child: ClaudeChild, tools: RowTools): ClaudeThread<ClaudeRow> {
    const options = {
      threadId: agentId,
      place: 'child',
      turnEnds: 'opener',
      rowOf: (): ClaudeRow => child.last,
      voiceOf: (row: ClaudeRow, identity: string): ClaudeVoice =>
        voiceAs({ ...row, place: inChild(row.place, child.newestMs) }, identity, tools),
      sessionOfAnswer: (id: string): string | null => this.#otherSessionOf(id, child),
    } as const;
    const thread = new ClaudeThread<ClaudeRow>(options, child.thread);
    thread.answers.isReliable = reportsReliably(this.#fields.get('version'));
    return thread;
  }
}

/** A place in the parent's file, under a name that no file of the child has, and not before the child's newest time. */
function inChild(place: RecordPlace, newestMs: number | null): RecordPlace {
  const { file, line, offset, bytes, sha256, identity, tsMs, statedTs, isTimeDerived } = place;
  return {
    ...{ file: childFile(file), line, offset, bytes, sha256, identity },
    tsMs: newestMs === null ? tsMs : Math.max(tsMs ?? newestMs, newestMs),
    statedTs,
    isTimeDerived,
  };
}

/** The voice of a record for events that are keyed by something else than the record. */
export function voiceAs(row: ClaudeRow, identity: string, tools: RowTools): ClaudeVoice {
  const voice = new RowVoice(row, tools);
  return { identity, emit: (event, telling) => voice.emit(event, { identity, ...telling }) };
}

/** The agent that a line of another file's thread belongs to. */
export function sideAgentOf(value: Members): string | undefined {
  return value['isSidechain'] === true ? textMember(value, 'agentId') : undefined;
}
