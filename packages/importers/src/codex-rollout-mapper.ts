import { CodexAnswers } from './codex-answers.js';
import { CodexCalls } from './codex-calls.js';
import { judgeCopied, lacks } from './codex-copy.js';
import { outputOf } from './codex-output.js';
import { type CodexRecord, codexRecord, isOldHeader, payloadBytes, recordMs } from './codex-record.js';
import { CodexStart } from './codex-start.js';
import { type CodexCopy, type CodexState, restoredCodexState, savedCodexState } from './codex-state.js';
import { CodexTurns } from './codex-turns.js';
import { CodexVoice } from './codex-voice.js';
import { CodexWords } from './codex-words.js';
import { keptEvent } from './kept-event.js';
import { isMembers, textMember } from './source-object.js';
import type {
  Lookahead,
  ThreadContext,
  ThreadMapper,
  ThreadMapping,
  ThreadRecord,
  ThreadStep,
} from './thread-format.js';

/** Known, and without an event: what they say stands elsewhere, or concerns the program alone. */
const keptDetails: ReadonlySet<string> = new Set([
  'message:developer',
  'message:system',
  'ghost_snapshot',
  'tool_search_call',
  'tool_search_output',
  'entered_review_mode',
  'exited_review_mode',
  'guardian_assessment',
  'item_completed',
  'sub_agent_activity',
  'thread_goal_updated',
  'thread_settings_applied',
  'undo_completed',
  'view_image_tool_call',
]);
const keptHeads: readonly string[] = ['collab_', 'dynamic_tool_call_', 'image_generation_'];
const keptTypes: ReadonlySet<string> = new Set([
  'world_state',
  'state',
  'inter_agent_communication_metadata',
]);

/** What changes from turn to turn, and what it is called. */
const contextFields: readonly (readonly [member: string, field: string])[] = [
  ['cwd', 'cwd'],
  ['model', 'model'],
  ['effort', 'effort'],
  ['approval_policy', 'permission'],
];

/** The fold over the lines of a rollout. */
export class CodexRolloutMapper implements ThreadMapper {
  readonly #state: CodexState;
  readonly #context: ThreadContext;
  readonly #start: CodexStart;
  readonly #turns: CodexTurns;
  readonly #words: CodexWords;
  readonly #answers: CodexAnswers;
  readonly #calls: CodexCalls;

  constructor(context: ThreadContext, saved: unknown) {
    const state = restoredCodexState(saved);
    this.#state = state;
    this.#context = context;
    this.#start = new CodexStart(state, context);
    this.#turns = new CodexTurns(state);
    this.#words = new CodexWords(state, this.#turns);
    this.#answers = new CodexAnswers(state, this.#turns);
    this.#calls = new CodexCalls(state);
  }

  get unansweredCount(): number {
    return this.#calls.openCount;
  }

  get withoutUsageCount(): number {
    return this.#state.withoutUsageCount;
  }

  state(): unknown {
    return savedCodexState(this.#state);
  }

  take({ object, place }: ThreadRecord, ahead: Lookahead, step: ThreadStep): ThreadMapping | 'wait' {
    const record = codexRecord(object);
    const voice = new CodexVoice(this.#state, place, step);
    if (!this.#state.isStarted) {
      if (record.type === 'session_meta') return this.#header(record, ahead, voice);
      this.#start.withoutHeader(voice);
    }
    const { copy } = this.#state;
    if (copy !== null) {
      const mapping = this.#copied(copy, record, ahead, voice);
      if (mapping !== null) return mapping;
    }
    return this.#own(record, ahead, voice);
  }

  finish(step: ThreadStep): void {
    this.#start.flush(step);
    this.#state.copy = null;
    const last = this.#lastVoice(step);
    if (last === null) return;
    last.release();
    const { turn } = this.#state;
    if (turn !== null && turn.by !== 'task') this.#turns.close(null, {}, last);
  }

  /** What ends with the source is said of its last record. */
  #lastVoice(step: ThreadStep): CodexVoice | null {
    const { last } = this.#state;
    return last === null ? null : new CodexVoice(this.#state, last, step, ['turn_end'], 'end');
  }

  #header(record: CodexRecord, ahead: Lookahead, voice: CodexVoice): ThreadMapping | 'wait' {
    const next = ahead.peek(1);
    if (next === 'later') return 'wait';
    const second = typeof next === 'string' ? null : codexRecord(next);
    const copied = second?.type === 'session_meta' ? textMember(second.payload, 'id') : undefined;
    this.#state.last = voice.place;
    this.#state.isOld = isOldHeader(record.object.value);
    this.#start.header(record, copied, voice);
    return { place: 'mapped', kind: record.kind };
  }

  /** Null when own records have begun. */
  #copied(
    copy: CodexCopy,
    record: CodexRecord,
    ahead: Lookahead,
    voice: CodexVoice,
  ): ThreadMapping | 'wait' | null {
    const lacksPayload = lacks(this.#context.store, copy, payloadBytes(record.object));
    const { verdict, isPast } = judgeCopied(copy, record.object, ahead, lacksPayload);
    if (verdict === 'wait') return 'wait';
    copy.isBounded ||= lacksPayload;
    copy.isPast ||= isPast;
    copy.lastMs = recordMs(record.object) ?? copy.lastMs;
    if (verdict === 'own') {
      this.#start.ownBegins(voice);
      return null;
    }
    this.#state.last = voice.place;
    if (verdict === 'notice') {
      this.#start.emitPending(voice);
      this.#words.notice(outputOf(record).text, voice);
      return { place: 'mapped', kind: record.kind };
    }
    return this.#inherit(copy, record, voice);
  }

  #inherit(copy: CodexCopy, record: CodexRecord, voice: CodexVoice): ThreadMapping {
    copy.records += 1;
    if (record.detail === 'token_count') this.#turns.noteCopiedTotal(record);
    if (copy.parentSession !== null) return { place: 'inherited', kind: record.kind };
    voice.emit(keptEvent(`copied:${record.kind}`, 'parent-absent', record.object));
    return { place: 'kept', kind: `copied:${record.kind}` };
  }

  #own(record: CodexRecord, ahead: Lookahead, voice: CodexVoice): ThreadMapping | 'wait' {
    const mapping = this.#mapped(record, ahead, voice);
    if (mapping !== 'wait') this.#state.last = voice.place;
    return mapping;
  }

  #mapped(record: CodexRecord, ahead: Lookahead, voice: CodexVoice): ThreadMapping | 'wait' {
    switch (record.type) {
      case 'session_meta':
        return this.#furtherHeader(record, voice);
      case 'turn_context':
        return this.#turnContext(record, voice);
      case 'compacted':
        return this.#compacted(record, voice);
      case 'event_msg':
        return this.#event(record, ahead, voice);
      case 'response_item':
        return this.#item(record, ahead, voice);
      default:
        return this.#other(record, voice);
    }
  }

  #event(record: CodexRecord, ahead: Lookahead, voice: CodexVoice): ThreadMapping | 'wait' {
    switch (record.detail) {
      case 'task_started':
        this.#turns.open('task', { turn_id: textMember(record.payload, 'turn_id') }, voice);
        return { place: 'mapped', kind: record.kind };
      case 'task_complete':
        return this.#turns.ended(record, voice);
      case 'turn_aborted':
        this.#calls.abort(voice);
        return this.#turns.ended(record, voice);
      case 'user_message':
        return this.#words.spoken(record, voice);
      case 'agent_message':
        return this.#answers.message(record, 'event', voice);
      case 'agent_reasoning':
      case 'agent_reasoning_raw_content':
        return this.#answers.summary(record, ahead, voice);
      case 'token_count':
        return this.#turns.tokenCount(record, voice);
      case 'error':
        return this.#answers.error(record, voice);
      default:
        return this.#toolEvent(record, voice);
    }
  }

  #toolEvent(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    switch (record.detail) {
      case 'exec_command_end':
        return this.#calls.execEnd(record, voice);
      case 'patch_apply_end':
        return this.#calls.patchEnd(record, voice);
      case 'mcp_tool_call_end':
        return this.#calls.mcpEnd(record, voice);
      case 'web_search_end':
        return this.#answers.search(record, 'event', voice);
      case 'collab_agent_spawn_end':
        return this.#calls.spawned(record, voice);
      case 'context_compacted':
        return { place: this.#state.isCompacted ? 'echo' : 'kept', kind: record.kind };
      case 'thread_name_updated':
        return this.#changed(record, [['title', textMember(record.payload, 'thread_name')]], voice);
      default:
        return this.#other(record, voice);
    }
  }

  #item(record: CodexRecord, ahead: Lookahead, voice: CodexVoice): ThreadMapping | 'wait' {
    switch (record.detail) {
      case 'message:user':
        return this.#words.listed(record, ahead, voice);
      case 'message:assistant':
        return this.#answers.message(record, 'item', voice);
      case 'reasoning':
        return this.#answers.reasoning(record, voice);
      case 'function_call':
      case 'custom_tool_call':
      case 'local_shell_call':
        this.#turns.ensure(voice);
        return this.#calls.begin(record, voice);
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#turns.ensure(voice);
        return this.#calls.result(record, voice);
      case 'web_search_call':
        return this.#answers.search(record, 'item', voice);
      default:
        return this.#other(record, voice);
    }
  }

  #other(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { kind, type, detail } = record;
    const isKnown =
      keptTypes.has(type) || keptDetails.has(detail) || keptHeads.some((head) => detail.startsWith(head));
    if (!isKnown) voice.say(keptEvent(kind, 'unknown-type', record.object));
    return { place: 'kept', kind };
  }

  /** A header inside the file: of another thread it begins copied history, else the thread goes on. */
  #furtherHeader(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { payload } = record;
    const id = textMember(payload, 'id');
    if (id !== undefined && id !== this.#state.threadId) return this.#start.copyBegins(record, id, voice);
    const { git } = payload;
    const changes = [
      ['cwd', textMember(payload, 'cwd')],
      ['version', textMember(payload, 'cli_version')],
      ['branch', isMembers(git) ? textMember(git, 'branch') : undefined],
    ] as const;
    return this.#changed(record, changes, voice);
  }

  #turnContext(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { payload } = record;
    const policy = payload['sandbox_policy'];
    const mode = isMembers(policy) ? (textMember(policy, 'type') ?? textMember(policy, 'mode')) : undefined;
    const changes = contextFields.map(([member, field]) => [field, textMember(payload, member)] as const);
    return this.#changed(record, [...changes, ['mode', mode]], voice);
  }

  #changed(
    record: CodexRecord,
    changes: readonly (readonly [field: string, value: string | undefined])[],
    voice: CodexVoice,
  ): ThreadMapping {
    const { fields } = this.#state;
    const events = changes.flatMap(([field, value]) =>
      value === undefined || fields.get(field) === value ? [] : [{ type: 'run.changed', field, value }],
    );
    for (const { field, value } of events) fields.set(field, value);
    if (events.length > 0) voice.say(...events);
    return { place: events.length > 0 ? 'mapped' : 'repeat', kind: record.kind };
  }

  #compacted(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { payload, kind } = record;
    const history = payload['replacement_history'];
    const message = textMember(payload, 'message') ?? '';
    const boundary = {
      type: 'thread.compact_boundary',
      thread_id: this.#state.threadId,
      trigger: 'auto',
      mode: 'provider',
      original_message_count: this.#state.messageCount,
      compacted_message_count: Array.isArray(history) ? history.length : 1,
    };
    const content = [{ type: 'text', text: message }];
    const id = `compact_${voice.place.line}`;
    const summary = { type: 'user.message', id, origin: 'compact_summary', content };
    this.#state.messageCount = 0;
    this.#state.isCompacted = true;
    const counting = voice.deriving('original_message_count', 'compacted_message_count');
    counting.say(boundary, ...(message === '' ? [] : [summary]));
    return { place: 'mapped', kind };
  }
}
