import { noTokens, usageOf } from './claude-answers.js';
import type { RecordEmitter } from './record-emitter.js';
import { isMembers, type Members, textMember } from './source-object.js';
import { fromTagged, toTagged } from './tagged-json.js';
import type { RecordPlace, ThreadContext, ThreadStep } from './thread-format.js';
import type { VtcodeCall } from './vtcode-calls.js';

/** All that the fold over a thread of loose files depends on. */
interface TurnsState {
  isStarted: boolean;
  isInTurn: boolean;
  /** Identity of the record that opened the turn. */
  turnKey: string;
  /** The number that the source gives the open turn, where it gives any. */
  turnNumber: number | null;
  withoutUsageCount: number;
  last: RecordPlace | null;
  calls: Map<string, VtcodeCall>;
  /** How often each id of a call was used. */
  usedIds: Map<string, number>;
}

/** The turns and open calls of a thread whose files say neither when turns end nor what they used. */
export class VtcodeTurns {
  readonly #context: ThreadContext;
  readonly #state: TurnsState;

  constructor(context: ThreadContext, saved: unknown) {
    this.#context = context;
    const value = fromTagged(saved);
    this.#state = isSaved(value) ? value : firstState();
  }

  get unansweredCount(): number {
    return this.#state.calls.size;
  }

  get withoutUsageCount(): number {
    return this.#state.withoutUsageCount;
  }

  get turnNumber(): number | null {
    return this.#state.isInTurn ? this.#state.turnNumber : null;
  }

  state(): unknown {
    return toTagged(this.#state);
  }

  /** Says once where the thread ran, as far as its first record knows. */
  begin(place: RecordPlace, header: Members, step: ThreadStep): void {
    this.#state.last = place;
    if (this.#state.isStarted) return;
    this.#state.isStarted = true;
    const { threadId, aliases, derived, after } = this.#context.identity;
    const emitter = step.emitter(place, { identity: `start\0${threadId}` });
    emitter.emit({ type: 'thread.started', thread_id: threadId });
    const [parent] = after.filter((id) => id !== threadId);
    const session = parent === undefined ? null : this.#context.store.sessionOf(parent);
    emitter.emit({
      type: 'run.started',
      program: 'vtcode',
      cwd: textMember(header, 'workspace_path') ?? '',
      model: textMember(header, 'model'),
      agent: 'primary',
      // Nothing says how much of it was copied: its messages have no ids.
      forked_from:
        parent === undefined ? undefined : { session: session ?? undefined, thread_id: parent, records: 0 },
      aliases: aliases.length === 0 ? undefined : aliases,
      derived: derived.length === 0 ? undefined : derived,
    });
  }

  /** Closes the open turn, if any, and opens the next. */
  open(place: RecordPlace, members: object, step: ThreadStep, turnNumber: number | null = null): void {
    this.close(place, step);
    Object.assign(this.#state, { isInTurn: true, turnKey: place.identity, turnNumber });
    step.emitter(place, { part: 'turn' }).emit({ type: 'turn.started', ...members });
  }

  /** What the model says belongs to a turn, also where no words of the user opened one. */
  ensure(place: RecordPlace, step: ThreadStep): void {
    if (!this.#state.isInTurn) this.open(place, { implicit: true }, step);
  }

  close(place: RecordPlace, step: ThreadStep): void {
    const { isInTurn, turnKey } = this.#state;
    if (!isInTurn) return;
    this.#state.isInTurn = false;
    this.#state.withoutUsageCount += 1;
    const emitter = step.emitter(place, { identity: turnKey, part: 'end' });
    emitter.emit({ type: 'turn.completed', usage: usageOf(noTokens), without_usage: true });
  }

  finish(step: ThreadStep): void {
    if (this.#state.last !== null) this.close(this.#state.last, step);
  }

  /** Begins a call; an id that an earlier call had gets a number. */
  started(call: VtcodeCall, emitter: RecordEmitter, itemOf: (call: VtcodeCall) => object): VtcodeCall {
    const { usedIds, calls } = this.#state;
    const uses = (usedIds.get(call.callId) ?? 0) + 1;
    usedIds.set(call.callId, uses);
    const begun = uses === 1 ? call : { ...call, itemId: `${call.callId}~${uses}` };
    calls.set(call.callId, begun);
    emitter.emit({ type: 'item.started', item: itemOf(begun) });
    return begun;
  }

  /** The open call of a result, which then is answered; null when there is none. */
  answered(callId: string): VtcodeCall | null {
    const call = this.#state.calls.get(callId) ?? null;
    this.#state.calls.delete(callId);
    return call;
  }
}

function firstState(): TurnsState {
  return {
    isStarted: false,
    isInTurn: false,
    turnKey: '',
    turnNumber: null,
    withoutUsageCount: 0,
    last: null,
    calls: new Map(),
    usedIds: new Map(),
  };
}

/** Whether a value is what was saved; its digest has been checked by whoever read it. */
function isSaved(value: unknown): value is TurnsState {
  if (!isMembers(value)) return false;
  const { calls, usedIds, turnKey, isStarted } = value;
  return calls instanceof Map && usedIds instanceof Map && typeof turnKey === 'string' && isStarted === true;
}
