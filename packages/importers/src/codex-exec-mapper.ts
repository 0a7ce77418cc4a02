import { codexItem, isCodexItemType } from './codex-item.js';
import { keptEvent } from './kept-event.js';
import { importKey, Occurrences, RecordEmitter } from './record-emitter.js';
import { threadSessionId } from './session-name.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import type { StepBuilder } from './step-builder.js';
import type { Mapping, StreamMapper } from './stream-mapper.js';
import type { EarlierRuns, StreamOptions } from './stream-types.js';
import { usageMembers } from './usage-members.js';

const format = 'codex-exec';
/** Version of the rules below, for `run.source`. */
const mappingVersion = '1';

const callTypes: ReadonlySet<string> = new Set(['command_execution', 'mcp_tool_call', 'web_search']);

/**
 * The lines of `codex exec --json`. A run begins with `thread.started`; a resumed thread is a further run, whose
 * item ids start again and get the number of the run in front. The stream holds neither times nor the prompt.
 */
export class CodexExecMapper implements StreamMapper {
  readonly kind = 'codex-exec' as const;
  readonly #options: StreamOptions;
  readonly #occurrences = new Occurrences();
  readonly #openCalls = new Set<string>();
  #prompt: string | undefined;
  #threadId: string | null = null;
  /** Runs of the session before this stream, and runs begun in it. */
  #runsBefore = 0;
  #runsHere = 0;
  #isInTurn = false;
  /** Objects that wait until it is known which run this is. */
  #held: SourceObject[] = [];
  #earlier: EarlierRuns | null = null;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#prompt = options.prompt;
  }

  get unansweredCount(): number {
    return this.#openCalls.size;
  }

  continueFrom(earlier: EarlierRuns): void {
    if (earlier.sameRun !== undefined) this.#runsBefore = earlier.sameRun - 1;
    else if (earlier.runCount > 0) this.#earlier = earlier;
  }

  map(object: SourceObject, step: StepBuilder): Mapping {
    if (this.#threadId === null) {
      this.#nameThread(object, step);
      return this.#hold(object);
    }
    if (this.#earlier !== null && !isTelling(object) && !this.#held.some(isTelling)) {
      return this.#hold(object);
    }
    this.#release(object, step);
    return this.#mapNow(object, step);
  }

  end(step: StepBuilder): 'complete' | 'in-turn' {
    this.#release(null, step);
    if (!this.#isInTurn) return 'complete';
    this.#isInTurn = false;
    this.#emitter(null, 'end', step).emit({ type: 'turn.failed', message: 'stream ended' });
    return 'in-turn';
  }

  get #run(): number {
    return this.#runsBefore + this.#runsHere;
  }

  #nameThread(object: SourceObject, step: StepBuilder): void {
    const stated = object.type === 'thread.started' ? textMember(object.value, 'thread_id') : undefined;
    this.#threadId = stated ?? object.sha256.slice(0, 32);
    step.suggest(threadSessionId('codex', this.#threadId));
  }

  /** The first object names the thread; what it says waits until the caller has looked for earlier runs. */
  #hold(object: SourceObject): Mapping {
    this.#held.push(object);
    return mappingOf(object, this.#threadId);
  }

  #release(next: SourceObject | null, step: StepBuilder): void {
    if (this.#held.length === 0) return;
    this.#runsBefore = this.#findRunsBefore(next);
    this.#earlier = null;
    const held = this.#held;
    this.#held = [];
    for (const object of held) this.#mapNow(object, step);
  }

  /** This stream repeats the earlier run that holds its first telling record; without one it is a new run. */
  #findRunsBefore(next: SourceObject | null): number {
    const earlier = this.#earlier;
    if (earlier === null) return this.#runsBefore;
    const telling = [...this.#held, ...(next === null ? [] : [next])].find(isTelling);
    if (telling === undefined) return earlier.runCount;
    const identity = new Occurrences().identityOf(telling);
    for (let run = earlier.runCount; run >= 1; run -= 1) {
      if (earlier.hasKey(importKey(format, `${this.#threadId}\0${run}\0${identity}`, 0))) return run - 1;
    }
    return earlier.runCount;
  }

  #emitter(object: SourceObject | null, identity: string, step: StepBuilder): RecordEmitter {
    const origin = { object, source: this.#options.source };
    const whole = `${this.#threadId}\0${this.#run}\0${identity}`;
    return new RecordEmitter(format, whole, origin, {}, (event) => step.add(event));
  }

  #mapNow(object: SourceObject, step: StepBuilder): Mapping {
    const mapping = mappingOf(object, this.#threadId);
    const startsRun = object.type === 'thread.started' && mapping.place === 'mapped';
    if (startsRun || this.#runsHere === 0) this.#startRun(startsRun ? object : null, step);
    if (startsRun) return mapping;
    const emitter = this.#emitter(object, this.#occurrences.identityOf(object), step);
    if (mapping.place === 'kept') emitter.emit(keptEvent(mapping.kind, 'unknown-type', object));
    else this.#emitMapped(object, emitter);
    return mapping;
  }

  /** `null` when the stream begins with something else: then the thread's id is derived from its first record. */
  #startRun(object: SourceObject | null, step: StepBuilder): void {
    this.#runsHere += 1;
    this.#occurrences.clear();
    const identity = object === null ? 'derived' : this.#occurrences.identityOf(object);
    const emitter = this.#emitter(object, identity, step);
    const started = new Map<string, unknown>([
      ['type', 'thread.started'],
      ['thread_id', this.#threadId],
    ]);
    emitter.emit(object === null ? started : withRest(object, started));
    emitter.emit({
      type: 'run.started',
      program: 'codex',
      cwd: this.#options.workspace ?? '',
      workspace: this.#options.workspace,
      agent: 'headless',
      derived: object === null ? ['thread_id'] : undefined,
    });
    const { source } = this.#options;
    if (source === undefined) return;
    const { file, path, name } = source;
    emitter.emit({ type: 'run.source', file, format, mapping: mappingVersion, path, name });
  }

  #emitMapped(object: SourceObject, emitter: RecordEmitter): void {
    switch (object.type) {
      case 'turn.started':
        this.#openTurn(object, emitter);
        return;
      case 'turn.completed':
      case 'turn.failed':
        this.#isInTurn = false;
        emitter.emit(turnEnd(object));
        return;
      case 'item.plan.delta':
        emitter.emit(this.#planDelta(object));
        return;
      case 'error':
        emitter.emit(withRest(object, new Map([['type', 'error']]).set('message', messageOf(object.value))));
        return;
      default:
        this.#emitItem(object, emitter);
    }
  }

  #openTurn(object: SourceObject, emitter: RecordEmitter): void {
    this.#isInTurn = true;
    const prompt = this.#prompt;
    this.#prompt = undefined;
    const started = new Map<string, unknown>([['type', 'turn.started']]);
    if (prompt === undefined) started.set('prompt_missing', true);
    emitter.emit(withRest(object, started));
    if (prompt === undefined) return;
    const content = [{ type: 'text', text: prompt }];
    emitter.emit({ type: 'user.message', id: this.#itemId('prompt'), origin: 'prompt', content });
  }

  #emitItem(object: SourceObject, emitter: RecordEmitter): void {
    const source = object.at('item');
    const item = object.value['item'];
    if (source === undefined || !isMembers(item)) return;
    if (!this.#isInTurn) {
      this.#isInTurn = true;
      emitter.emit({ type: 'turn.started', implicit: true });
    }
    const id = this.#itemId(textMember(item, 'id') ?? 'item');
    this.#noteCall(object.type, id, textMember(item, 'type') ?? '');
    const event = new Map<string, unknown>([
      ['type', object.type],
      ['item', codexItem(source, item, id)],
    ]);
    emitter.emit(withRest(object, event));
  }

  #noteCall(eventType: string, id: string, itemType: string): void {
    if (!callTypes.has(itemType)) return;
    if (eventType === 'item.completed') this.#openCalls.delete(id);
    else if (eventType === 'item.started') this.#openCalls.add(id);
  }

  /** The item ids of a thread start again with every run. */
  #itemId(id: string): string {
    return this.#run > 1 ? `r${this.#run}.${id}` : id;
  }

  #planDelta(object: SourceObject): Map<string, unknown> {
    const delta = new Map<string, unknown>([
      ['type', 'plan.delta'],
      ['thread_id', this.#threadId],
      ['turn_id', textMember(object.value, 'turn_id') ?? ''],
      ['item_id', this.#itemId(textMember(object.value, 'item_id') ?? 'item')],
      ['delta', textMember(object.value, 'delta') ?? ''],
    ]);
    return withRest(object, delta);
  }
}

/** Whether a record is unlikely to begin two runs alike. */
function isTelling({ type }: SourceObject): boolean {
  return type.startsWith('item.') || type === 'turn.completed' || type === 'turn.failed';
}

/** What becomes of an object, whatever came before it. */
function mappingOf(object: SourceObject, threadId: string | null): Mapping {
  const { type, value } = object;
  switch (type) {
    case 'thread.started': {
      const isSame = threadId === null || textMember(value, 'thread_id') === threadId;
      return isSame ? { place: 'mapped', kind: type } : { place: 'kept', kind: type };
    }
    case 'item.started':
    case 'item.updated':
    case 'item.completed': {
      const itemType = isMembers(value['item']) ? textMember(value['item'], 'type') : undefined;
      const isKnown = itemType !== undefined && isCodexItemType(itemType);
      return isKnown ? { place: 'mapped', kind: type } : { place: 'kept', kind: `item:${itemType ?? ''}` };
    }
    case 'turn.started':
    case 'turn.completed':
    case 'turn.failed':
    case 'item.plan.delta':
    case 'error':
      return { place: 'mapped', kind: type };
    default:
      return { place: 'kept', kind: type };
  }
}

function messageOf(value: Members): string {
  const { error } = value;
  return textMember(value, 'message') ?? (isMembers(error) ? textMember(error, 'message') : undefined) ?? '';
}

function turnEnd(object: SourceObject): Map<string, unknown> {
  const usage = object.at('usage');
  const hasUsage = usage !== undefined && isMembers(usage.value);
  const end = new Map<string, unknown>([['type', object.type]]);
  if (object.type === 'turn.failed') end.set('message', messageOf(object.value));
  if (hasUsage || object.type === 'turn.completed') {
    end.set('usage', usageMembers(hasUsage ? usage : undefined));
  }
  if (!hasUsage) end.set('without_usage', true);
  return withRest(object, end, isMembers(object.value['error']) ? 'error' : 'usage');
}

/** The members of the source's object behind those that are set. */
function withRest(object: SourceObject, set: Map<string, unknown>, without = ''): Map<string, unknown> {
  for (const name of object.at()?.names ?? []) {
    if (!set.has(name) && name !== without) set.set(name, object.passed(name));
  }
  return set;
}
