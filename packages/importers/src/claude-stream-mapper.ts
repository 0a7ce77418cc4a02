import { addTokens, noTokens, reportsReliably, tokensIn, usageOf } from './claude-answers.js';
import { recordId } from './claude-text.js';
import { ClaudeThread } from './claude-thread.js';
import type { RawJson } from './json-text.js';
import { keptEvent } from './kept-event.js';
import { Occurrences, RecordEmitter } from './record-emitter.js';
import { childSessionId, threadSessionId } from './session-name.js';
import { isMembers, type SourceObject, textMember } from './source-object.js';
import type { StepBuilder } from './step-builder.js';
import type { Mapping, StreamMapper } from './stream-mapper.js';
import type { MappedEvent, StreamOptions } from './stream-types.js';

const format = 'claude-stream';
/** Version of the rules below, for `run.source`. */
const mappingVersion = '1';

/** Records whose text stands in other records: counted, without an event. */
const silentTypes: ReadonlySet<string> = new Set(['stream_event', 'keep_alive']);

/** Ids remembered to know a record that is sent again. */
const rememberedIdsMax = 65_536;

/** Members of `system/init` whose change is a record, and what they are called there. */
const changingFields: readonly (readonly [member: string, field: string])[] = [
  ['cwd', 'cwd'],
  ['claude_code_version', 'version'],
  ['model', 'model'],
  ['permissionMode', 'permission'],
];

interface LastResult {
  readonly subtype: string;
  readonly result: string | undefined;
  readonly stopReason: string | undefined;
  readonly cost: RawJson | string | undefined;
}

interface Child {
  readonly sessionId: string;
  readonly thread: ClaudeThread<SourceObject>;
}

/**
 * The lines of `claude -p --output-format stream-json --verbose`. Each `result` ends a turn; what carries a
 * `parent_tool_use_id` belongs to a sub-agent, whose session is its own. Prompts are in the stream only when
 * they were asked for.
 */
export class ClaudeStreamMapper implements StreamMapper {
  readonly kind = 'claude-stream' as const;
  readonly #options: StreamOptions;
  readonly #occurrences = new Occurrences();
  readonly #seen = new Set<string>();
  readonly #children = new Map<string, Child>();
  readonly #fields = new Map<string, string>();
  #step: StepBuilder | null = null;
  #threadId = '';
  #sessionId = '';
  #main: ClaudeThread<SourceObject> | null = null;
  #hasRun = false;
  #last: LastResult | null = null;
  #reported = noTokens;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  get unansweredCount(): number {
    const children = [...this.#children.values()].map(({ thread }) => thread.unansweredCount);
    return children.reduce((sum, count) => sum + count, this.#main?.unansweredCount ?? 0);
  }

  continueFrom(): void {
    // Ids of this format are never used twice: a resumed session needs no number of its run.
  }

  map(object: SourceObject, step: StepBuilder): Mapping {
    this.#step = step;
    const { type } = object;
    if (this.#isSeen(object)) return { place: 'repeat', kind: type };
    const id = recordId(object.value);
    const identity = id ?? `${this.#threadId}\0${this.#occurrences.identityOf(object)}`;
    const emitter = this.#emitter(object, identity);
    const main = this.#main ?? this.#begin(object, emitter, step);
    this.#startRun(object, main, emitter);
    const parent = textMember(object.value, 'parent_tool_use_id');
    if (parent !== undefined) return this.#mapChild(object, identity, parent);
    switch (type) {
      case 'assistant':
        main.assistant(object, emitter);
        break;
      case 'user':
        this.#endChildren(main.user(object, emitter), object, identity);
        break;
      case 'result':
        this.#result(object, main, emitter);
        break;
      case 'system':
        return this.#system(object, main, emitter);
      default:
        return keep(object, type, emitter);
    }
    return { place: 'mapped', kind: type };
  }

  end(step: StepBuilder): 'complete' | 'in-turn' {
    this.#step = step;
    const main = this.#main;
    if (main === null) return 'complete';
    const isOpen = main.isInTurn;
    for (const [callId, { sessionId, thread }] of this.#children) {
      if (!thread.isInTurn) continue;
      thread.endTurn({ failure: 'stream ended' }, this.#emitter(null, `end\0${callId}`, sessionId));
    }
    const emitter = this.#emitter(null, `${this.#threadId}\0${main.turnCount}\0end`);
    if (isOpen) main.endTurn({ failure: 'stream ended' }, emitter);
    else this.#complete(main, emitter);
    return isOpen ? 'in-turn' : 'complete';
  }

  #isSeen(object: SourceObject): boolean {
    const id = recordId(object.value);
    if (id === undefined) return false;
    if (this.#seen.has(id)) return true;
    this.#seen.add(id);
    const [oldest] = this.#seen;
    if (this.#seen.size > rememberedIdsMax && oldest !== undefined) this.#seen.delete(oldest);
    return false;
  }

  #emitter(object: SourceObject | null, identity: string, childId?: string): RecordEmitter {
    const origin = { object, source: this.#options.source };
    const id = object === null ? undefined : recordId(object.value);
    const sink = (event: MappedEvent): void => {
      if (childId === undefined) this.#step?.add(event);
      else this.#step?.addToChild(childId, event);
    };
    return new RecordEmitter(format, identity, origin, id === undefined ? {} : { id }, sink);
  }

  #makeThread(threadId: string, place: 'main' | 'child', childId?: string): ClaudeThread<SourceObject> {
    const prompt = place === 'main' ? this.#options.prompt : undefined;
    const voiceOf = (row: SourceObject, identity: string): RecordEmitter =>
      this.#emitter(row, `${this.#threadId}\0${identity}`, childId);
    const rowOf = (object: SourceObject): SourceObject => object;
    return new ClaudeThread({ threadId, place, turnEnds: 'stated', prompt, rowOf, voiceOf });
  }

  /** The first record names the session, whatever it is. */
  #begin(object: SourceObject, emitter: RecordEmitter, step: StepBuilder): ClaudeThread<SourceObject> {
    this.#threadId = textMember(object.value, 'session_id') ?? '';
    this.#sessionId = threadSessionId('claude', this.#threadId);
    step.suggest(this.#sessionId);
    const main = this.#makeThread(this.#threadId, 'main');
    this.#main = main;
    emitter.emit({ type: 'thread.started', thread_id: this.#threadId });
    return main;
  }

  /** What hooks say may come before the program's own first words, which `run.started` is made of. */
  #startRun(object: SourceObject, main: ClaudeThread<SourceObject>, emitter: RecordEmitter): void {
    const isInit = textMember(object.value, 'subtype') === 'init';
    if (this.#hasRun || (object.type === 'system' && !isInit)) return;
    this.#hasRun = true;
    for (const [member, field] of isInit ? changingFields : []) {
      const stated = textMember(object.value, member);
      if (stated !== undefined) this.#fields.set(field, stated);
    }
    main.answers.isReliable = reportsReliably(this.#fields.get('version'));
    emitter.emit({ type: 'run.started', ...this.#program('headless'), model: this.#fields.get('model') });
    this.#nameSource(emitter);
  }

  #nameSource(emitter: RecordEmitter): void {
    const { source } = this.#options;
    if (source === undefined) return;
    const { file, path, name } = source;
    emitter.emit({ type: 'run.source', file, format, mapping: mappingVersion, path, name });
  }

  #program(agent: string): object {
    return {
      program: 'claude',
      version: this.#fields.get('version'),
      // Where the stream says where it runs, that counts, not where it is recorded.
      cwd: this.#fields.get('cwd') ?? this.#options.workspace ?? '',
      workspace: this.#fields.has('cwd') ? undefined : this.#options.workspace,
      agent,
    };
  }

  #system(object: SourceObject, main: ClaudeThread<SourceObject>, emitter: RecordEmitter): Mapping {
    const subtype = textMember(object.value, 'subtype') ?? '';
    const kind = `system:${subtype}`;
    if (subtype === 'init') {
      this.#noteChanges(object, main, emitter);
    } else if (subtype === 'compact_boundary') {
      main.compacted(object, emitter);
    } else {
      return keep(object, kind, emitter);
    }
    return { place: 'mapped', kind };
  }

  /** Every turn begins with the same words about the program: only what changed is a record. */
  #noteChanges(object: SourceObject, main: ClaudeThread<SourceObject>, emitter: RecordEmitter): void {
    for (const [member, field] of changingFields) {
      const value = textMember(object.value, member);
      if (value === undefined || this.#fields.get(field) === value) continue;
      this.#fields.set(field, value);
      emitter.emit({ type: 'run.changed', field, value });
    }
    main.answers.isReliable = reportsReliably(this.#fields.get('version'));
  }

  #result(object: SourceObject, main: ClaudeThread<SourceObject>, emitter: RecordEmitter): void {
    const { value } = object;
    const subtype = textMember(value, 'subtype') ?? 'unknown';
    const result = textMember(value, 'result');
    const stated = object.at('usage');
    const usage = stated !== undefined && isMembers(stated.value) ? tokensIn(stated) : undefined;
    const cost = object.passed('total_cost_usd');
    const stopReason = textMember(value, 'stop_reason');
    this.#last = {
      subtype,
      result,
      stopReason,
      cost: typeof value['total_cost_usd'] === 'number' ? cost : undefined,
    };
    // A second result without a record in between says the same of the same turn.
    if (!main.isInTurn && main.turnCount > 0) return;
    if (usage !== undefined) this.#reported = addTokens(this.#reported, usage);
    const reason = subtype === 'success' ? (result ?? subtype) : subtype;
    const hasFailed = value['is_error'] === true || subtype !== 'success';
    const durationMs = typeof value['duration_ms'] === 'number' ? object.passed('duration_ms') : undefined;
    main.endTurn({ failure: hasFailed ? reason : null, durationMs, usage }, emitter);
  }

  #complete(main: ClaudeThread<SourceObject>, emitter: RecordEmitter): void {
    const last = this.#last;
    if (last === null) return;
    emitter.emit({
      type: 'thread.completed',
      thread_id: this.#threadId,
      session_id: this.#threadId,
      subtype: last.subtype,
      outcome_code: last.subtype,
      result: last.result,
      stop_reason: last.stopReason,
      usage: usageOf(main.answers.hasAny ? main.answers.total : this.#reported),
      total_cost_usd: last.cost,
      num_turns: main.turnCount,
    });
  }

  #mapChild(object: SourceObject, identity: string, callId: string): Mapping {
    const sessionId = childSessionId(this.#sessionId, 'claude', callId);
    const emitter = this.#emitter(object, identity, sessionId);
    const known = this.#children.get(callId);
    const { thread } = known ?? this.#beginChild(callId, sessionId, emitter);
    switch (object.type) {
      case 'assistant':
        thread.assistant(object, emitter);
        break;
      case 'user':
        this.#endChildren(thread.user(object, emitter), object, identity);
        break;
      default:
        return keep(object, object.type, emitter);
    }
    return { place: 'mapped', kind: object.type };
  }

  #beginChild(callId: string, sessionId: string, emitter: RecordEmitter): Child {
    const thread = this.#makeThread(callId, 'child', sessionId);
    thread.answers.isReliable = reportsReliably(this.#fields.get('version'));
    const child = { sessionId, thread };
    this.#children.set(callId, child);
    const parent = { session: this.#sessionId, thread_id: this.#threadId, call_id: callId };
    emitter.emit({ type: 'thread.started', thread_id: callId });
    emitter.emit({ type: 'run.started', ...this.#program('subagent'), parent });
    // Keyed apart, so that what else the record says keeps its keys.
    this.#nameSource(this.#emitter(null, `${this.#threadId}\0${callId}\0source`, sessionId));
    return child;
  }

  /** The result of a call ends the turn of the sub-agent that it started. */
  #endChildren(callIds: readonly string[], object: SourceObject, identity: string): void {
    for (const callId of callIds) {
      const child = this.#children.get(callId);
      if (child === undefined || !child.thread.isInTurn) continue;
      const emitter = this.#emitter(object, `${identity}\0${callId}`, child.sessionId);
      child.thread.endTurn({ failure: null }, emitter);
    }
  }
}

function keep(object: SourceObject, kind: string, emitter: RecordEmitter): Mapping {
  if (!silentTypes.has(object.type)) emitter.emit(keptEvent(kind, 'unknown-type', object));
  return { place: 'kept', kind };
}
