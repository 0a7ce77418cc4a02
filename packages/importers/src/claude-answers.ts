import { memberSpans, passedOn, RawJson, type Span, textOf } from './json-text.js';
import type { RecordEmitter } from './record-emitter.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';

const largestCount = 2n ** 64n - 1n;
const wholeNumber = /^\d{1,20}$/;

/** Token counts as the contract has them: input includes what was cached and what was put into the cache. */
export interface TokenCounts {
  readonly input: bigint;
  readonly cached: bigint;
  readonly creation: bigint;
  readonly output: bigint;
}

export const noTokens: TokenCounts = { input: 0n, cached: 0n, creation: 0n, output: 0n };

function added(a: bigint, b: bigint): bigint {
  return a + b > largestCount ? largestCount : a + b;
}

export function addTokens(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    input: added(a.input, b.input),
    cached: added(a.cached, b.cached),
    creation: added(a.creation, b.creation),
    output: added(a.output, b.output),
  };
}

export function usageOf(counts: TokenCounts): object {
  return {
    input_tokens: new RawJson(String(counts.input)),
    cached_input_tokens: new RawJson(String(counts.cached)),
    cache_creation_tokens: new RawJson(String(counts.creation)),
    output_tokens: new RawJson(String(counts.output)),
  };
}

/** The counts of a usage of the provider, which reports cached tokens apart. */
export function tokensIn(bytes: Uint8Array, span: Span): TokenCounts {
  const members = memberSpans(bytes, span);
  const count = (name: string): bigint => {
    const member = members.get(name);
    const text = member === undefined ? '' : textOf(bytes, member);
    return wholeNumber.test(text) ? BigInt(text) : 0n;
  };
  const cached = count('cache_read_input_tokens');
  const creation = count('cache_creation_input_tokens');
  const input = added(count('input_tokens'), added(cached, creation));
  return { input, cached, creation, output: count('output_tokens') };
}

/** One answer of the model, by the newest of its rows. */
interface Answer {
  readonly id: string;
  readonly requestId: string | undefined;
  readonly model: string | undefined;
  readonly tokens: TokenCounts;
  readonly raw: RawJson | string;
  readonly row: SourceObject;
}

/** Makes the emitter for a record that stands for an answer. */
export type AnswerEmitterMaker = (row: SourceObject, identity: string) => RecordEmitter;

/** Rows of one answer are snapshots: the last counts, once, in the turn of the first. */
export class ClaudeAnswers {
  readonly #makeEmitter: AnswerEmitterMaker;
  #present: Answer | null = null;
  #turn: TokenCounts = noTokens;
  #turnAnswers = 0;
  #total: TokenCounts = noTokens;
  #totalAnswers = 0;
  /** Output counts of the producer's older versions are placeholders. */
  isReliable = false;

  constructor(makeEmitter: AnswerEmitterMaker) {
    this.#makeEmitter = makeEmitter;
  }

  get total(): TokenCounts {
    return this.#total;
  }

  get hasAny(): boolean {
    return this.#totalAnswers > 0;
  }

  note(object: SourceObject, message: Members): void {
    const id = textMember(message, 'id');
    const span = object.spanOf('message', 'usage');
    if (id === undefined || span === undefined || !isMembers(message['usage'])) return;
    if (this.#present !== null && this.#present.id !== id) this.flush();
    this.#present = {
      id,
      requestId: textMember(object.value, 'requestId') ?? textMember(object.value, 'request_id'),
      model: textMember(message, 'model'),
      tokens: tokensIn(object.bytes, span),
      raw: passedOn(object.bytes, span),
      row: object.copy(),
    };
  }

  /** Writes down the answer whose rows are over. */
  flush(): void {
    const answer = this.#present;
    if (answer === null) return;
    this.#present = null;
    this.#turn = addTokens(this.#turn, answer.tokens);
    this.#turnAnswers += 1;
    const raw = answer.raw instanceof RawJson ? answer.raw.text : answer.raw;
    this.#makeEmitter(answer.row, `answer\0${answer.id}\0${raw}`).emit({
      type: 'run.answer',
      answer_id: answer.id,
      request_id: answer.requestId,
      model: answer.model,
      usage: usageOf(answer.tokens),
      raw: answer.raw,
      reliable: this.isReliable,
    });
  }

  /** The usage of the turn that ends here; null when no answer of it said any. */
  closeTurn(): TokenCounts | null {
    this.flush();
    const tokens = this.#turnAnswers === 0 ? null : this.#turn;
    this.#total = addTokens(this.#total, this.#turn);
    this.#totalAnswers += this.#turnAnswers;
    this.#turn = noTokens;
    this.#turnAnswers = 0;
    return tokens;
  }
}

/** Whether a version of the producer reports counts that can be believed: 2.1.90 and later do. */
export function reportsReliably(version: string | undefined): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(version ?? '');
  if (parts === null) return false;
  const [major = 0, minor = 0, patch = 0] = parts.slice(1).map(Number);
  return major > 2 || (major === 2 && (minor > 1 || (minor === 1 && patch >= 90)));
}
