import { type CodexRecord, passedMember } from './codex-record.js';
import { type CodexState, type CodexTokens, type CodexTurn, noCodexTokens } from './codex-state.js';
import type { CodexVoice } from './codex-voice.js';
import { isMembers, type Members, textMember } from './source-object.js';
import type { ThreadMapping } from './thread-format.js';

function countIn(members: Members, name: string): number {
  const value = members[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function tokensIn(members: Members): CodexTokens {
  return {
    input: countIn(members, 'input_tokens'),
    cached: countIn(members, 'cached_input_tokens'),
    creation: countIn(members, 'cache_write_input_tokens'),
    output: countIn(members, 'output_tokens'),
    reasoning: countIn(members, 'reasoning_output_tokens'),
  };
}

function combined(a: CodexTokens, b: CodexTokens, sign: 1 | -1): CodexTokens {
  return {
    input: a.input + sign * b.input,
    cached: a.cached + sign * b.cached,
    creation: a.creation + sign * b.creation,
    output: a.output + sign * b.output,
    reasoning: a.reasoning + sign * b.reasoning,
  };
}

function isZero(tokens: CodexTokens): boolean {
  return Object.values(tokens).every((count) => count === 0);
}

function hasNegative(tokens: CodexTokens): boolean {
  return Object.values(tokens).some((count) => count < 0);
}

function usageOf(tokens: CodexTokens): object {
  return {
    input_tokens: tokens.input,
    cached_input_tokens: tokens.cached,
    cache_creation_tokens: tokens.creation,
    output_tokens: tokens.output,
    reasoning_output_tokens: tokens.reasoning,
  };
}

/** Opens, closes and pays for turns. */
export class CodexTurns {
  readonly #state: CodexState;

  constructor(state: CodexState) {
    this.#state = state;
  }

  get present(): CodexTurn | null {
    return this.#state.turn;
  }

  /** A turn that has no end record of its own ends where the next begins. */
  open(by: CodexTurn['by'], members: object, voice: CodexVoice): CodexTurn {
    voice.release();
    if (this.#state.turn !== null && this.#state.turn.by !== 'task') this.close(null, {}, voice);
    const turn: CodexTurn = {
      by,
      hasPrompt: false,
      awaitsPrompt: by === 'task',
      used: noCodexTokens,
      hasUsage: false,
      hasFailed: false,
    };
    this.#state.turn = turn;
    this.#state.turnCount += 1;
    this.#state.unpaired = [];
    this.#state.searches = [];
    this.#forgetEndedCalls();
    voice.emit({ type: 'turn.started', ...members });
    return turn;
  }

  /** What the model or a tool does belongs to a turn, also where nothing opened one. */
  ensure(voice: CodexVoice): CodexTurn {
    return this.#state.turn ?? this.open('implicit', { implicit: true }, voice);
  }

  /** `failure` is null for a turn that was completed. */
  close(failure: string | null, members: object, voice: CodexVoice): void {
    const { turn } = this.#state;
    if (turn === null) return;
    voice.release();
    this.#state.turn = null;
    if (!turn.hasUsage) this.#state.withoutUsageCount += 1;
    const usage = turn.hasUsage || failure === null ? usageOf(turn.used) : undefined;
    const rest = { ...members, without_usage: turn.hasUsage ? undefined : true };
    const message = failure ?? (turn.hasFailed ? 'the last answer is an error' : null);
    if (message === null) voice.emit({ type: 'turn.completed', usage, ...rest });
    else voice.emit({ type: 'turn.failed', message, usage, ...rest });
  }

  /** Totals of the thread; what is more than before was used by the answer that came just now. */
  tokenCount(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { kind } = record;
    const info = record.payload['info'];
    const stated = isMembers(info) ? info['total_token_usage'] : undefined;
    if (!isMembers(info) || !isMembers(stated)) return { place: 'kept', kind };
    const total = tokensIn(stated);
    const last = isMembers(info['last_token_usage']) ? tokensIn(info['last_token_usage']) : total;
    const { turn } = this.#state;
    const before = this.#state.total ?? combined(total, last, -1);
    const advance = combined(total, before, -1);
    this.#state.total = total;
    if (turn !== null) turn.hasUsage = true;
    if (isZero(advance)) return { place: 'repeat', kind };
    const isReset = hasNegative(advance);
    const used = isReset ? last : advance;
    if (turn !== null) turn.used = combined(turn.used, used, 1);
    this.#state.answerCount += 1;
    voice.deriving('answer_id').tell({
      type: 'run.answer',
      answer_id: `${this.#state.threadId}#${this.#state.answerCount}`,
      model: this.#state.fields.get('model'),
      usage: usageOf(used),
      raw: passedMember(record, 'info'),
      reliable: !isReset,
    });
    return { place: 'mapped', kind };
  }

  /** The totals of copied history are what own ones are counted from. */
  noteCopiedTotal({ payload }: CodexRecord): void {
    const { info } = payload;
    const stated = isMembers(info) ? info['total_token_usage'] : undefined;
    if (isMembers(stated)) this.#state.total = tokensIn(stated);
  }

  ended(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { kind, payload } = record;
    if (this.#state.turn === null) return { place: 'kept', kind };
    const isAborted = record.detail === 'turn_aborted';
    const failure = isAborted ? (textMember(payload, 'reason') ?? 'aborted') : null;
    const members = {
      turn_id: textMember(payload, 'turn_id'),
      duration_ms: typeof payload['duration_ms'] === 'number' ? payload['duration_ms'] : undefined,
    };
    this.close(failure, members, voice);
    return { place: 'mapped', kind };
  }

  /** Calls of earlier turns are kept only while something may still come of them. */
  #forgetEndedCalls(): void {
    for (const [callId, call] of this.#state.calls) {
      if (call.state === 'answered' || call.state === 'ended') this.#state.calls.delete(callId);
    }
  }
}
