import type { ClaudeVoice } from './claude-voice.js';
import { RawJson } from './json-text.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import type { SourceValue } from './source-value.js';

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
export function tokensIn(usage: SourceValue): TokenCounts {
  const count = (name: string): bigint => {
    const text = usage.member(name)?.text ?? '';
    return wholeNumber.test(text) ? BigInt(text) : 0n;
  };
  const cached = count('cache_read_input_tokens');
  const creation = count('cache_creation_input_tokens');
  const input = added(count('input_tokens'), added(cached, creation));
  return { input, cached, creation, output: count('output_tokens') };
}

/** One answer of the model, by the newest of its rows. */
interface Answer<Row> {
  readonly id: string;
  readonly requestId: string | undefined;
  readonly model: string | undefined;
  readonly tokens: TokenCounts;
  readonly raw: RawJson | string;
  readonly isReliable: boolean;
  readonly row: Row;
}

/** What a row says of its answer. Its figures are read only when no later row takes its place. */
class RowAnswer<Row> implements Answer<Row> {
  readonly id: string;
  readonly requestId: string | undefined;
  readonly model: string | undefined;
  readonly isReliable: boolean;
  readonly row: Row;
  readonly #usage: SourceValue;

  constructor(
    id: string,
    said: Pick<Answer<Row>, 'requestId' | 'model' | 'isReliable' | 'row'>,
    usage: SourceValue,
  ) {
    this.id = id;
    this.requestId = said.requestId;
    this.model = said.model;
    this.isReliable = said.isReliable;
    this.row = said.row;
    this.#usage = usage;
  }

  get tokens(): TokenCounts {
    return tokensIn(this.#usage);
  }

  get raw(): RawJson | string {
    return this.#usage.passed();
  }

  /** As a state keeps it. */
  toJSON(): Answer<Row> {
    const { id, requestId, model, tokens, raw, isReliable, row } = this;
    return { id, requestId, model, tokens, raw, isReliable, row };
  }
}

/** What is known of the answers of a thread. */
export interface AnswersState<Row> {
  present: Answer<Row> | null;
  /** Tokens of the answers that began in the open turn. */
  turn: Map<string, TokenCounts>;
  /** Answers of the turn before: their late rows belong there. */
  closed: readonly string[];
  total: TokenCounts;
  count: number;
}

export function firstAnswersState<Row>(): AnswersState<Row> {
  return { present: null, turn: new Map(), closed: [], total: noTokens, count: 0 };
}

export interface AnswersOptions<Row> {
  /** Gives the voice of the record that stands for an answer. */
  readonly voiceOf: (row: Row, identity: string) => ClaudeVoice;
  /** Another session that has this answer. */
  readonly sessionOfAnswer?: (answerId: string) => string | null;
}

/** Rows of one answer are snapshots: the last counts, once, in the turn of the first. */
export class ClaudeAnswers<Row> {
  readonly #state: AnswersState<Row>;
  readonly #options: AnswersOptions<Row>;
  /** Output counts of the producer's older versions are placeholders. */
  isReliable = false;

  constructor(state: AnswersState<Row>, options: AnswersOptions<Row>) {
    this.#state = state;
    this.#options = options;
  }

  get total(): TokenCounts {
    return this.#state.total;
  }

  get hasAny(): boolean {
    return this.#state.count > 0;
  }

  note(object: SourceObject, message: Members, row: Row): void {
    const id = textMember(message, 'id');
    const usage = object.at('message', 'usage');
    if (id === undefined || usage === undefined || !isMembers(usage.value)) return;
    const { present } = this.#state;
    if (present !== null && present.id !== id) this.flush();
    const requestId = textMember(object.value, 'requestId') ?? textMember(object.value, 'request_id');
    const model = textMember(message, 'model');
    this.#state.present = new RowAnswer(id, { requestId, model, isReliable: this.isReliable, row }, usage);
  }

  /** Writes down the answer whose rows are over. */
  flush(): void {
    const answer = this.#state.present;
    if (answer === null) return;
    this.#state.present = null;
    const { id, tokens, raw: passed, row } = answer;
    const repeatOf = this.#options.sessionOfAnswer?.(id) ?? undefined;
    if (!this.#state.closed.includes(id))
      this.#state.turn.set(id, repeatOf === undefined ? tokens : noTokens);
    const raw = passed instanceof RawJson ? passed.text : passed;
    this.#options.voiceOf(row, `answer\0${id}\0${raw}`).emit({
      type: 'run.answer',
      answer_id: id,
      request_id: answer.requestId,
      model: answer.model,
      usage: usageOf(tokens),
      raw: passed,
      reliable: answer.isReliable,
      repeat_of: repeatOf,
    });
  }

  /** The usage of the turn that ends here; null when no answer of it said any. */
  closeTurn(): TokenCounts | null {
    this.flush();
    const { turn } = this.#state;
    const used = [...turn.values()].reduce(addTokens, noTokens);
    this.#state.total = addTokens(this.#state.total, used);
    this.#state.count += turn.size;
    this.#state.closed = [...turn.keys()];
    this.#state.turn = new Map();
    return turn.size === 0 ? null : used;
  }
}

/** Whether a version of the producer reports counts that can be believed: 2.1.90 and later do. */
export function reportsReliably(version: string | undefined): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(version ?? '');
  if (parts === null) return false;
  const [major = 0, minor = 0, patch = 0] = parts.slice(1).map(Number);
  return major > 2 || (major === 2 && (minor > 1 || (minor === 1 && patch >= 90)));
}
