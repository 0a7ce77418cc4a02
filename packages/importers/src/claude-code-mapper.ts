import { reportsReliably } from './claude-answers.js';
import {
  answeredIn,
  blocksIn,
  blocksOf,
  callsIn,
  contentOf,
  firstTextOf,
  imageCountOf,
} from './claude-blocks.js';
import { ClaudeChildren, progressRecord, sideAgentOf, voiceAs } from './claude-children.js';
import { ClaudeFields, isFieldLine } from './claude-fields.js';
import { ClaudeHeader } from './claude-header.js';
import { ClaudeQueue, emitQueued, kindOfQueued } from './claude-queue.js';
import {
  comesSoon,
  errorText,
  firstWithId,
  isKnown,
  kindOf,
  placeless,
  silentStep,
} from './claude-record.js';
import { type ClaudeCopy, type ClaudeState, restoredClaudeState, savedClaudeState } from './claude-state.js';
import { messageIn, recordId } from './claude-text.js';
import { ClaudeThread } from './claude-thread.js';
import { type ClaudeRow, type RowTools, RowVoice } from './claude-voice.js';
import { keptEvent } from './kept-event.js';
import { sharedDigest } from './record-places.js';
import { isMembers, type Members, SourceObject, textMember } from './source-object.js';
import type {
  Lookahead,
  ThreadContext,
  ThreadMapper,
  ThreadMapping,
  ThreadRecord,
  ThreadStep,
} from './thread-format.js';

/** The record, with the step that takes what it gives. */
interface Taken {
  readonly object: SourceObject;
  readonly row: ClaudeRow;
  readonly voice: RowVoice;
  readonly tools: RowTools;
}

/** The fold over the lines of a transcript. */
export class ClaudeCodeMapper implements ThreadMapper {
  readonly #state: ClaudeState;
  readonly #context: ThreadContext;
  readonly #fields: ClaudeFields;
  readonly #header: ClaudeHeader;
  readonly #children: ClaudeChildren;
  readonly #queue: ClaudeQueue;
  readonly #thread: ClaudeThread<ClaudeRow>;
  /** The record in hand, and how what is emitted for earlier ones is said. */
  #row: ClaudeRow | null = null;
  #tools: RowTools;

  constructor(context: ThreadContext, saved: unknown) {
    const state = restoredClaudeState(saved);
    this.#state = state;
    this.#context = context;
    this.#tools = { step: silentStep, readBeside: () => null, sound: 'muted' };
    this.#fields = new ClaudeFields(state.fields);
    this.#header = new ClaudeHeader(state, context, this.#fields);
    this.#children = new ClaudeChildren(state, context, this.#fields);
    this.#queue = new ClaudeQueue(state.queue, (row) => new RowVoice(row, this.#tools));
    const { identity, store } = context;
    this.#thread = new ClaudeThread<ClaudeRow>(
      {
        threadId: identity.threadId,
        place: identity.child === undefined ? 'main' : 'child',
        turnEnds: 'opener',
        rowOf: (object) => this.#row ?? { place: placeless(object) },
        voiceOf: (row, id) => voiceAs(row, id, this.#tools),
        sessionOfAnswer: (id) => store.sessionOfAnswer(id),
        beforeOpening: () => this.#queue.flush('opening'),
      },
      state.thread,
    );
  }

  get unansweredCount(): number {
    if (this.#state.copy !== null) return 0;
    return this.#thread.unansweredCount + this.#children.unansweredCount(this.#tools);
  }

  get withoutUsageCount(): number {
    return this.#state.copy === null ? this.#state.thread.withoutUsageCount : 0;
  }

  get activeLeaf(): string | undefined {
    return this.#state.leafId;
  }

  state(): unknown {
    return savedClaudeState(this.#state);
  }

  take({ object, place }: ThreadRecord, ahead: Lookahead, step: ThreadStep): ThreadMapping | 'wait' {
    const first = this.#state.isStarted ? null : firstWithId(object, ahead);
    const lineage = this.#lineageOf(object, ahead);
    const callId = this.#lateCallOf(object, ahead);
    if (first === 'later' || lineage === 'wait' || callId === 'wait') return 'wait';
    const row: ClaudeRow = { place, id: place.id, ...lineage };
    const tools = this.#tune(step, 'heard');
    if (!this.#state.isStarted) this.#header.begin(first, row, tools);
    const { id } = place;
    if (id !== undefined && !this.#state.seen.add(sharedDigest(id))) {
      return { place: 'repeat', kind: kindOf(object) };
    }
    const mapping = this.#mapping(object, row, step, callId?.id);
    this.#noteLast(object, row);
    return mapping;
  }

  #mapping(
    object: SourceObject,
    row: ClaudeRow,
    step: ThreadStep,
    lateCallId: string | undefined,
  ): ThreadMapping {
    if (lateCallId === undefined) {
      return this.#copied(object, row, step) ?? this.#own(this.#taken(object, row, step, 'heard'));
    }
    this.#state.early.set(lateCallId, { row, json: object.text });
    return { place: 'mapped', kind: kindOf(object) };
  }

  finish(step: ThreadStep): void {
    const tools = this.#tune(step, 'heard');
    this.#header.emit(tools);
    const { last, copy } = this.#state;
    // Nothing of what was only copied so far is closed here.
    if (last === null || copy !== null) return;
    for (const callId of [...this.#state.early.keys()]) this.#answerEarly(callId, tools);
    this.#queue.flush('end');
    this.#children.finish(tools);
    this.#thread.closeTurn(new RowVoice(last, tools));
  }

  #tune(step: ThreadStep, sound: RowTools['sound']): RowTools {
    this.#tools = { step, readBeside: this.#context.readBeside, sound };
    return this.#tools;
  }

  #taken(object: SourceObject, row: ClaudeRow, step: ThreadStep, sound: RowTools['sound']): Taken {
    const tools = this.#tune(step, sound);
    this.#row = row;
    return { object, row, tools, voice: new RowVoice(row, tools) };
  }

  #noteLast({ value, type }: SourceObject, row: ClaudeRow): void {
    this.#state.last = row;
    if (row.id === undefined) return;
    this.#state.lastId = row.id;
    const isTalk = type === 'user' || type === 'assistant';
    if (isTalk && sideAgentOf(value) === undefined) this.#state.leafId = row.id;
  }

  /** The parent of a record as it says, or the record before when there is no such record. */
  #lineageOf({ value }: SourceObject, ahead: Lookahead): Pick<ClaudeRow, 'parent' | 'derived'> | 'wait' {
    const stated = textMember(value, 'parentUuid');
    if (stated === undefined) return {};
    // Nearly always it is the record before.
    const isBefore = stated === this.#state.lastId || this.#state.seen.has(sharedDigest(stated));
    if (isBefore) return { parent: stated };
    const isLate = comesSoon(ahead, (next) => recordId(next) === stated);
    if (isLate === 'wait') return 'wait';
    if (isLate) return { parent: stated };
    const { lastId } = this.#state;
    return lastId === undefined ? {} : { parent: lastId, derived: ['parent'] };
  }

  /** The call that a record answers although it comes behind it, as parallel calls are written. */
  #lateCallOf({ type, value }: SourceObject, ahead: Lookahead): { readonly id: string } | null | 'wait' {
    if (type !== 'user') return null;
    const [callId] = answeredIn(messageIn(value)).filter((id) => !this.#thread.isOpenCall(id));
    if (callId === undefined) return null;
    const isLate = comesSoon(ahead, (next) => callsIn(messageIn(next)).includes(callId));
    if (isLate === 'wait') return 'wait';
    return isLate ? { id: callId } : null;
  }

  /** Takes a result that came before its call. */
  #answerEarly(callId: string, tools: RowTools): void {
    const early = this.#state.early.get(callId);
    if (early === undefined) return;
    this.#state.early.delete(callId);
    const { row, json } = early;
    const bytes = new TextEncoder().encode(json);
    const { line, offset } = row.place;
    const object = new SourceObject(bytes, { start: 0, end: bytes.length }, line, offset);
    this.#answer({ object, row, tools, voice: new RowVoice(row, tools) });
  }

  /** Null when own records have begun. */
  #copied(object: SourceObject, row: ClaudeRow, step: ThreadStep): ThreadMapping | null {
    const { copy } = this.#state;
    if (copy === null) return null;
    const { id } = row;
    const isOwn =
      id !== undefined && (copy.limit === null ? !this.#isCopied(copy, id) : copy.records >= copy.limit);
    if (isOwn) {
      this.#ownBegins(step);
      return null;
    }
    const mapping = this.#own(this.#taken(object, row, step, 'muted'));
    if (id !== undefined) {
      copy.records += 1;
      copy.lastId = id;
    }
    return id === undefined && mapping.place !== 'mapped'
      ? mapping
      : { place: 'inherited', kind: mapping.kind };
  }

  #isCopied(copy: ClaudeCopy, id: string): boolean {
    const { store } = this.#context;
    if (store.holds(copy.session, id)) return true;
    const other = store.holderOf(id);
    if (other !== null) copy.session = other;
    return other !== null;
  }

  #ownBegins(step: ThreadStep): void {
    this.#header.emit(this.#tune(step, 'heard'));
    this.#state.copy = null;
    this.#state.children.clear();
    this.#queue.clear();
    this.#thread.beginOwn();
  }

  #own(taken: Taken): ThreadMapping {
    const { object, voice } = taken;
    const kind = kindOf(object);
    this.#fields.envelope(object.value, voice);
    if (isFieldLine(object.type)) return { place: this.#fields.line(object.value, voice), kind };
    const isMapped = this.#mapped(taken);
    if (typeof isMapped === 'string') return { place: isMapped, kind };
    if (!isMapped && !isKnown(object)) voice.emit(keptEvent(kind, 'unknown-type', object), { part: 'kept' });
    return { place: isMapped ? 'mapped' : 'kept', kind };
  }

  /** False when the record gives no event. */
  #mapped(taken: Taken): boolean | ThreadMapping['place'] {
    switch (taken.object.type) {
      case 'user':
      case 'assistant':
        return this.#message(taken);
      case 'progress':
        return this.#progress(taken);
      case 'system':
        return this.#system(taken);
      case 'attachment':
        return this.#attachment(taken);
      case 'queue-operation':
        return this.#queueOperation(taken);
      default:
        return false;
    }
  }

  #message(taken: Taken): boolean | ThreadMapping['place'] {
    const { object, voice, row, tools } = taken;
    const message = messageIn(object.value);
    if (message['content'] === undefined) return false;
    const agentId = this.#context.identity.child === undefined ? sideAgentOf(object.value) : undefined;
    if (agentId !== undefined) return this.#children.take({ agentId, callId: undefined, object }, row, tools);
    this.#thread.answers.isReliable = reportsReliably(this.#fields.get('version'));
    if (object.type === 'assistant') {
      this.#fields.model(textMember(message, 'model'), voice);
      this.#thread.assistant(object, voice);
      for (const callId of callsIn(message)) this.#answerEarly(callId, tools);
      return true;
    }
    this.#queue.carried(firstTextOf(blocksOf(object)));
    this.#answer(taken);
    this.#plan(object, voice);
    return true;
  }

  /** Words under the user's role, and results of calls, which may end sub-agents. */
  #answer({ object, voice, row, tools }: Taken): void {
    const callIds = this.#thread.user(object, voice);
    this.#noteLink(object.value, callIds);
    this.#children.answered(callIds, row, tools);
  }

  /** A plan that was approved and goes on with a fresh context. */
  #plan({ value }: SourceObject, voice: RowVoice): void {
    const text = textMember(value, 'planContent');
    if (text === undefined) return;
    voice.emit({ type: 'item.updated', item: { id: 'plan', type: 'plan', text } }, { part: 'plan' });
  }

  #noteLink(value: Members, [callId]: readonly string[]): void {
    const result = value['toolUseResult'];
    const agentId = isMembers(result) ? textMember(result, 'agentId') : undefined;
    if (agentId === undefined || callId === undefined) return;
    this.#state.links.set(agentId, callId);
  }

  #progress({ object, row, tools }: Taken): boolean | ThreadMapping['place'] {
    const { data } = object.value;
    const record = isMembers(data) && data['type'] === 'agent_progress' ? progressRecord(object) : null;
    return record === null ? false : this.#children.take(record, row, tools);
  }

  #system({ object, voice, row }: Taken): boolean {
    const { value } = object;
    switch (textMember(value, 'subtype')) {
      case 'compact_boundary':
        this.#thread.compacted(object, voice);
        return true;
      case 'turn_duration':
        return this.#thread.noteEnding({
          completedAt: textMember(value, 'timestamp'),
          durationMs: typeof value['durationMs'] === 'number' ? String(value['durationMs']) : undefined,
        });
      case 'api_error': {
        const item = {
          id: row.id ?? row.place.sha256.slice(0, 32),
          type: 'error',
          message: errorText(value),
        };
        voice.emit({ type: 'item.completed', item });
        return true;
      }
      case 'local_command': {
        const content = [{ type: 'text', text: textMember(value, 'content') ?? '' }];
        const id = row.id ?? row.place.sha256.slice(0, 32);
        voice.emit({ type: 'user.message', id, origin: 'injected', content });
        return true;
      }
      default:
        return false;
    }
  }

  #attachment({ object, voice, row }: Taken): boolean {
    const { attachment } = object.value;
    const prompt = object.at('attachment', 'prompt');
    if (!isMembers(attachment) || attachment['type'] !== 'queued_command' || prompt === undefined)
      return false;
    const blocks = blocksIn(prompt);
    const text = firstTextOf(blocks);
    this.#queue.carried(text);
    emitQueued(
      {
        id: row.id ?? row.place.sha256.slice(0, 32),
        text,
        content: contentOf(blocks, voice),
        imageCount: imageCountOf(blocks),
        kind: kindOfQueued(attachment, text),
      },
      voice,
    );
    return true;
  }

  #queueOperation({ object, row }: Taken): boolean {
    const text = textMember(object.value, 'content');
    switch (object.value['operation']) {
      case 'enqueue':
        if (text === undefined) return false;
        this.#queue.hold(row, text);
        return true;
      case 'dequeue':
      case 'remove':
        this.#queue.take(text);
        return false;
      case 'popAll':
        this.#queue.takeBack();
        return false;
      default:
        return false;
    }
  }
}
