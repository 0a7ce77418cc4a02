import { type CodexRecord, spawnOf } from './codex-record.js';
import type { CodexCopy, CodexState } from './codex-state.js';
import { CodexVoice } from './codex-voice.js';
import { RawJson, writeJson } from './json-text.js';
import { keptEvent } from './kept-event.js';
import { isMembers, type Members, textMember } from './source-object.js';
import type { ThreadContext, ThreadMapping, ThreadStep } from './thread-format.js';

/** The beginning of a thread: what its header says, and what of it was copied from another. */
export class CodexStart {
  readonly #state: CodexState;
  readonly #context: ThreadContext;

  constructor(state: CodexState, context: ThreadContext) {
    this.#state = state;
    this.#context = context;
  }

  /** `copiedFrom` is the thread of a second header directly behind the first. */
  header(record: CodexRecord, copiedFrom: string | undefined, voice: CodexVoice): void {
    const { payload } = record;
    const state = this.#state;
    state.isStarted = true;
    state.threadId = this.#context.identity.threadId;
    state.isSubagent = isMembers(payload['source']) && payload['source']['subagent'] !== undefined;
    const members = this.#runStarted(payload, copiedFrom);
    const branch = isMembers(payload['git']) ? textMember(payload['git'], 'branch') : undefined;
    if (branch !== undefined) state.fields.set('branch', branch);
    for (const [field, member] of noted) {
      const value = members.get(member);
      if (typeof value === 'string') state.fields.set(field, value);
    }
    state.start = {
      place: voice.place,
      members: [...members]
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, writeJson(value)]),
    };
    if (copiedFrom !== undefined && copiedFrom !== state.threadId) this.#beginCopy(copiedFrom);
    // How much was copied is told when it is known; a parent that is absent tells nothing.
    if (state.copy === null || state.copy.parentSession === null) this.emitPending(voice);
  }

  /** A file that begins with something else: its name or first record names the thread. */
  withoutHeader(voice: CodexVoice): void {
    const state = this.#state;
    state.isStarted = true;
    state.threadId = this.#context.identity.threadId;
    const start = voice.part('start').deriving('thread_id');
    start.emit({ type: 'thread.started', thread_id: state.threadId });
    start.emit({ type: 'run.started', program: 'codex', cwd: '', agent: 'primary', derived: ['thread_id'] });
  }

  /** History of another thread is copied into the middle of the file. */
  copyBegins({ kind, object }: CodexRecord, threadId: string, voice: CodexVoice): ThreadMapping {
    voice.release();
    const copy = this.#beginCopy(threadId);
    copy.records = 1;
    if (copy.parentSession !== null) return { place: 'inherited', kind };
    voice.emit(keptEvent(`copied:${kind}`, 'parent-absent', object));
    return { place: 'kept', kind: `copied:${kind}` };
  }

  ownBegins(voice: CodexVoice): void {
    this.emitPending(voice);
    this.#state.copy = null;
  }

  /** Emits the header, with what is known by now. */
  emitPending(voice: CodexVoice): void {
    const { start } = this.#state;
    if (start === null) return;
    this.#emit(start, voice.at(start.place));
  }

  flush(step: ThreadStep): void {
    const { start } = this.#state;
    if (start !== null) this.#emit(start, new CodexVoice(this.#state, start.place, step));
  }

  #emit(start: NonNullable<CodexState['start']>, voice: CodexVoice): void {
    const { copy, threadId } = this.#state;
    this.#state.start = null;
    voice.emit({ type: 'thread.started', thread_id: threadId });
    const members = new Map<string, unknown>(start.members.map(([name, json]) => [name, new RawJson(json)]));
    if (copy !== null && copy.parentSession !== null) {
      members.set('forked_from', {
        session: copy.parentSession,
        thread_id: copy.threadId,
        records: copy.records,
      });
    }
    voice.emit(members);
  }

  #beginCopy(threadId: string): CodexCopy {
    const copy: CodexCopy = {
      parentSession: this.#context.store.sessionOf(threadId),
      threadId,
      lastMs: null,
      isBounded: false,
      isPast: false,
      records: 0,
    };
    this.#state.copy = copy;
    return copy;
  }

  #runStarted(payload: Members, copiedFrom: string | undefined): Map<string, unknown> {
    const { identity, store } = this.#context;
    const forkedFrom = textMember(payload, 'forked_from_id') ?? copiedFrom;
    const parentId = identity.child?.parentThreadId;
    const session = (id: string): string | undefined => store.sessionOf(id) ?? undefined;
    const parentSession = parentId === undefined ? undefined : session(parentId);
    const callId = parentSession === undefined ? null : store.callOf(parentSession, identity.threadId);
    return new Map<string, unknown>([
      ['type', 'run.started'],
      ['program', 'codex'],
      ['version', textMember(payload, 'cli_version')],
      ['cwd', textMember(payload, 'cwd') ?? ''],
      ['agent', agentOf(payload)],
      [
        'parent',
        parentId === undefined
          ? undefined
          : { session: parentSession, thread_id: parentId, call_id: callId ?? undefined },
      ],
      [
        'forked_from',
        forkedFrom === undefined ? undefined : { session: session(forkedFrom), thread_id: forkedFrom },
      ],
      ['model', textMember(payload, 'model')],
      ['git', gitOf(payload['git'])],
      ['aliases', identity.aliases.length === 0 ? undefined : identity.aliases],
      ['derived', identity.derived.length === 0 ? undefined : identity.derived],
      ['originator', textMember(payload, 'originator')],
      ['agent_name', textMember(payload, 'agent_nickname') ?? textMember(spawnOf(payload), 'agent_nickname')],
    ]);
  }
}

const noted: readonly (readonly [field: string, member: string])[] = [
  ['cwd', 'cwd'],
  ['version', 'version'],
  ['model', 'model'],
];

function agentOf(payload: Members): string {
  const { source, originator } = payload;
  if (isMembers(source) && source['subagent'] !== undefined) return 'subagent';
  return originator === 'codex_exec' || source === 'exec' ? 'headless' : 'primary';
}

function gitOf(git: unknown): object | undefined {
  if (!isMembers(git)) return undefined;
  const branch = textMember(git, 'branch');
  const commit = textMember(git, 'commit_hash');
  const url = textMember(git, 'repository_url');
  if (branch === undefined && commit === undefined && url === undefined) return undefined;
  return { branch, commit, url };
}
