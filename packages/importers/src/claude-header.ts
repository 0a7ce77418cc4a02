import type { ClaudeFields } from './claude-fields.js';
import type { ClaudeState } from './claude-state.js';
import { type ClaudeRow, type RowTools, RowVoice } from './claude-voice.js';
import { isMembers, type Members, textMember } from './source-object.js';
import { sourceTimeMs } from './source-time.js';
import type { ThreadContext } from './thread-format.js';

/** Name of the format, and version of its rules. */
export const transcriptFormat = { name: 'claude-code', mapping: '1' } as const;

/** The beginning of a session: who runs where, and from which thread it goes on. */
export class ClaudeHeader {
  readonly #state: ClaudeState;
  readonly #context: ThreadContext;
  readonly #fields: ClaudeFields;

  constructor(state: ClaudeState, context: ThreadContext, fields: ClaudeFields) {
    this.#state = state;
    this.#context = context;
    this.#fields = fields;
  }

  /** `first` is the first record that has an id, where one is near: it says where the program runs. */
  begin(first: Members | null, row: ClaudeRow, tools: RowTools): void {
    const state = this.#state;
    state.isStarted = true;
    const { identity, recorded, store } = this.#context;
    if (first !== null) this.#fields.begin(first);
    const entrypoint = first === null ? '' : (textMember(first, 'entrypoint') ?? '');
    const isChild = identity.child !== undefined;
    state.header = {
      row: timed(row, first),
      agent: isChild ? 'subagent' : entrypoint.startsWith('sdk') ? 'headless' : 'primary',
    };
    const id = first === null ? undefined : textMember(first, 'uuid');
    if (recorded !== null) this.#copyAsBefore(recorded['forked_from']);
    else if (id !== undefined && !isChild) this.#copyFrom(store.holderOf(id));
    if (state.copy === null) this.emit(tools);
  }

  emit(tools: RowTools): void {
    const { header, copy } = this.#state;
    if (header === null) return;
    this.#state.header = null;
    const { identity } = this.#context;
    const { threadId, aliases, derived } = identity;
    const voice = new RowVoice(header.row, tools);
    const telling = { identity: startIdentity(threadId) };
    voice.emit({ type: 'thread.started', thread_id: threadId }, telling);
    const run = {
      ...programMembers(this.#fields, header.agent),
      parent: this.#parent(),
      forked_from: copy === null ? undefined : forkOf(copy),
      aliases: aliases.length === 0 ? undefined : aliases,
      derived: derived.length === 0 ? undefined : derived,
    };
    voice.emit(run, telling);
  }

  #parent(): object | undefined {
    const { identity, store } = this.#context;
    if (identity.child === undefined) return undefined;
    const { parentThreadId, agentId } = identity.child;
    const session = store.sessionOf(parentThreadId);
    const callId = session === null ? null : store.callOf(session, agentId);
    return { session: session ?? undefined, thread_id: parentThreadId, call_id: callId ?? undefined };
  }

  #copyFrom(session: string | null): void {
    if (session !== null) this.#state.copy = { session, limit: null, records: 0, lastId: undefined };
  }

  /** What was decided at the first import stays decided. */
  #copyAsBefore(forkedFrom: unknown): void {
    if (!isMembers(forkedFrom)) return;
    const { session, records } = forkedFrom;
    if (typeof session !== 'string' || typeof records !== 'number') return;
    this.#state.copy = { session, limit: records, records: 0, lastId: undefined };
  }
}

/** The first lines of many files have no time: the session begins at the first that is told. */
function timed(row: ClaudeRow, first: Members | null): ClaudeRow {
  const ms = first === null ? null : sourceTimeMs(first['timestamp']);
  if (row.place.tsMs !== null || ms === null) return row;
  const { file, line, offset, bytes, sha256, id, identity } = row.place;
  return {
    ...row,
    place: { file, line, offset, bytes, sha256, id, identity, tsMs: ms, isTimeDerived: true },
  };
}

/** What the first records of a thread are keyed by, whichever file they are found in. */
export function startIdentity(threadId: string): string {
  return `start\0${threadId}`;
}

/** `run.started` as far as lines say it. */
export function programMembers(fields: ClaudeFields, agent: string): object {
  const branch = fields.get('branch');
  return {
    type: 'run.started',
    program: 'claude',
    version: fields.get('version'),
    cwd: fields.get('cwd') ?? '',
    agent,
    git: branch === undefined ? undefined : { branch },
  };
}

function forkOf({ session, records, lastId }: NonNullable<ClaudeState['copy']>): object {
  return { session, thread_id: session.replace(/^claude-/, ''), records, last_id: lastId };
}
