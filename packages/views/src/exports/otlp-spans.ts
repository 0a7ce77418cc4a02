import { messageText, type UsageCounts } from '@turnlog/events';
import type { LogReader } from '@turnlog/log';
import { ownMember, ownText } from '../internal/members.js';
import { type UsageEntry, usageEntries } from '../usage-entries.js';
import { callOutcome } from './call-outcome.js';
import type { ExportTally } from './export-tally.js';
import { KnownTime } from './known-time.js';
import type { AttributeValue, Span } from './otlp-span.js';
import { callOutput } from './output-text.js';
import type { Entry, ItemEntry, ShownEvent, TurnEndEntry, TurnEntry } from './session-entries.js';
import type { SessionPlan } from './session-plan.js';
import { compactJson, type DocumentObject, documentJson, memberBytes } from './stored-json.js';

export interface OtlpContext {
  readonly content: 'with' | 'without';
  /** Of the first turn: the call that started the session. */
  readonly links: readonly DocumentObject[];
  readonly safe: (text: string) => string;
  readonly tally: ExportTally;
}

interface RunningTurn {
  readonly entry: TurnEntry;
  readonly agentId: string | null;
  readonly said: string[];
  failure: string | null;
}

type Values = Readonly<Record<string, AttributeValue>>;

/** Turns what happens in a session into spans; that of a turn comes when the turn is over. */
export class OtlpSpans {
  readonly #session: string;
  readonly #context: OtlpContext;
  readonly #plan: SessionPlan;
  readonly #times: KnownTime;
  readonly #answers = new Map<string, UsageEntry>();
  readonly #usageOfTurn = new Map<number, UsageCounts>();
  #thread: UsageEntry | null = null;
  #threadEnd: ShownEvent | null = null;
  #turn: RunningTurn | null = null;
  #links: readonly DocumentObject[];

  constructor(reader: LogReader, plan: SessionPlan, context: OtlpContext) {
    this.#session = reader.sessionId;
    this.#context = context;
    this.#plan = plan;
    this.#times = new KnownTime(reader);
    this.#links = context.links;
    for (const entry of usageEntries(plan.usage)) {
      if (entry.source === 'thread') this.#thread = entry;
      else if (entry.answerKey !== null) this.#answers.set(shownKey(entry.answerKey, context), entry);
      else if (entry.turn !== null && entry.usage !== null) this.#usageOfTurn.set(entry.turn, entry.usage);
    }
  }

  *take(entry: Entry): Iterable<Span> {
    switch (entry.kind) {
      case 'turn':
        this.#turn = {
          entry,
          agentId: ownText(ownMember(entry.event.value, 'context'), 'actor_id'),
          said: [],
          failure: null,
        };
        return;
      case 'turn-end':
        yield* this.#turnSpan(entry);
        this.#turn = null;
        return;
      case 'event':
        yield* this.#event(entry.event);
        return;
      case 'item':
        yield* this.#item(entry);
    }
  }

  /** A thread's own figure counts where no turn states any: then it has a span of its own. */
  *end(): Iterable<Span> {
    if (this.#thread === null || this.#threadEnd === null) return;
    const { seq, tsMs } = this.#threadEnd;
    yield {
      ...this.#span(seq, tsMs, tsMs),
      parentSeq: null,
      name: 'invoke_agent',
      kind: 1,
      values: { ...this.#common('invoke_agent', seq, tsMs), ...usageValues(this.#thread.usage) },
      error: null,
      links: [],
    };
  }

  *#event(event: ShownEvent): Iterable<Span> {
    const { type, value, tsMs } = event;
    this.#times.of(tsMs);
    if (type === 'run.answer') yield* this.#answer(event);
    else if (type === 'thread.completed') this.#threadEnd = event;
    else if (type === 'user.message') this.#turn?.said.push(messageText(ownMember(value, 'content')));
    else if (type === 'turn.failed' && this.#turn !== null) {
      this.#turn.failure = ownText(value, 'message') ?? '';
    } else if (type !== 'turn.started' && type !== 'turn.completed') this.#context.tally.noteSkipped(type);
  }

  /** The first row of an answer, with what its last row says; one that was counted elsewhere has none. */
  *#answer(event: ShownEvent): Iterable<Span> {
    const id = ownText(event.value, 'answer_id');
    const key = JSON.stringify([id, ownText(event.value, 'request_id')]);
    const entry = this.#answers.get(key);
    if (entry === undefined || entry.model === null) {
      if (entry?.usage !== undefined && entry.usage !== null) yield* this.#unnamedAnswer(event, entry);
      this.#answers.delete(key);
      return;
    }
    this.#answers.delete(key);
    const model = this.#context.safe(entry.model);
    yield {
      ...this.#chat(event, model),
      values: {
        ...this.#common('chat', event.seq, event.tsMs),
        'gen_ai.request.model': model,
        'gen_ai.provider.name': ownText(event.value, 'provider'),
        'gen_ai.response.id': id,
        ...usageValues(entry.usage),
      },
    };
  }

  /** Without a model it is no `chat`, but what it used was used. */
  *#unnamedAnswer(event: ShownEvent, { usage }: UsageEntry): Iterable<Span> {
    yield {
      ...this.#chat(event, ''),
      name: 'invoke_agent',
      kind: 1,
      values: { ...this.#common('invoke_agent', event.seq, event.tsMs), ...usageValues(usage) },
    };
  }

  *#item(entry: ItemEntry): Iterable<Span> {
    const { type, event, plan } = entry;
    if (plan.call !== null || type === 'web_search') yield this.#toolSpan(entry, plan.call?.callId ?? null);
    else if (type === 'agent_message' && this.#plan.usage.answers.size === 0) yield* this.#message(entry);
    else {
      this.#times.of(event.tsMs);
      this.#context.tally.noteSkipped(type);
    }
  }

  /** Where answers are not named, each message of the agent stands for one. */
  *#message({ event, item }: ItemEntry): Iterable<Span> {
    const known = this.#plan.usage.turns.get(event.turn ?? -1)?.model ?? this.#plan.usage.model;
    if (known === null) {
      this.#context.tally.noteSkipped('agent_message');
      return;
    }
    const model = this.#context.safe(known);
    const text = ownText(item, 'text') ?? '';
    yield {
      ...this.#chat(event, model),
      values: {
        ...this.#common('chat', event.seq, event.tsMs),
        'gen_ai.request.model': model,
        'gen_ai.output.messages': this.#spoken('assistant', [text]),
      },
    };
  }

  #chat(event: ShownEvent, model: string): Span {
    return {
      ...this.#span(event.seq, event.tsMs, event.tsMs),
      parentSeq: this.#turn?.entry.event.seq ?? null,
      name: `chat ${model}`,
      kind: 3,
      values: {},
      error: null,
      links: [],
    };
  }

  #toolSpan(entry: ItemEntry, callId: string | null): Span {
    const { item, type, event, lastMs } = entry;
    const tool = ownText(item, 'tool_name') ?? type;
    const { outcome, tone } = callOutcome(entry);
    const given = memberBytes(event.bytes, 'item', 'arguments');
    const isWith = this.#context.content === 'with';
    const input = given === null ? (ownText(item, 'command') ?? ownText(item, 'query')) : compactJson(given);
    return {
      ...this.#span(event.seq, event.tsMs, lastMs),
      parentSeq: this.#turn?.entry.event.seq ?? null,
      name: `execute_tool ${tool}`,
      kind: 1,
      values: {
        ...this.#common('execute_tool', event.seq, event.tsMs),
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': callId,
        'error.type': tone === 'bad' ? (ownText(item, 'outcome') ?? 'tool_error') : null,
        'turnlog.verdict': outcome,
        'turnlog.tool.input': isWith ? input : null,
        'turnlog.tool.output': isWith ? callOutput(entry) : null,
      },
      error: tone === 'bad' ? outcome : null,
      links: [],
    };
  }

  *#turnSpan({ turn, status, startMs, endMs }: TurnEndEntry): Iterable<Span> {
    if (this.#turn === null) return;
    const { entry, agentId, said, failure } = this.#turn;
    const { seq } = entry.event;
    const model = this.#plan.usage.turns.get(turn)?.model ?? null;
    const isBad = status === 'failed';
    yield {
      session: this.#session,
      seq,
      startMs: startMs ?? this.#times.of(null).ms,
      endMs: endMs ?? startMs ?? this.#times.of(null).ms,
      parentSeq: null,
      name: 'invoke_agent',
      kind: 1,
      values: {
        ...this.#common('invoke_agent', seq, startMs),
        'gen_ai.agent.id': agentId,
        'gen_ai.request.model': model === null ? null : this.#context.safe(model),
        ...usageValues(this.#usageOfTurn.get(turn) ?? null),
        'gen_ai.input.messages': this.#spoken('user', said),
        'error.type': isBad ? 'turn_failed' : null,
        'turnlog.turn': turn,
        'turnlog.verdict': status,
      },
      // The message is content: without it, the span says only that it failed.
      error: isBad ? (this.#context.content === 'with' ? (failure ?? '') : 'the turn failed') : null,
      links: this.#links,
    };
    this.#usageOfTurn.delete(turn);
    this.#links = [];
  }

  #span(
    seq: number,
    startMs: number | null,
    endMs: number | null,
  ): Pick<Span, 'session' | 'seq' | 'startMs' | 'endMs'> {
    const { ms } = this.#times.of(startMs);
    return { session: this.#session, seq, startMs: ms, endMs: endMs ?? ms };
  }

  #common(operation: string, seq: number, tsMs: number | null): Values {
    return {
      'gen_ai.operation.name': operation,
      'gen_ai.conversation.id': this.#session,
      'turnlog.seq': seq,
      'turnlog.time_unknown': tsMs === null ? true : null,
    };
  }

  #spoken(role: string, texts: readonly string[]): string | null {
    if (this.#context.content === 'without' || texts.length === 0) return null;
    return documentJson([{ role, parts: texts.map((content) => ({ type: 'text', content })) }]);
  }
}

/** The key of an answer as it reads behind the redactor, which is what the records of the document have. */
function shownKey(answerKey: string, { safe }: OtlpContext): string {
  const names: unknown = JSON.parse(answerKey);
  const shown = Array.isArray(names)
    ? names.map((name) => (typeof name === 'string' ? safe(name) : null))
    : [];
  return JSON.stringify(shown);
}

function usageValues(usage: UsageCounts | null): Values {
  if (usage === null) return {};
  return {
    'gen_ai.usage.input_tokens': usage.input,
    'gen_ai.usage.output_tokens': usage.output,
    'turnlog.usage.cached_tokens': usage.cached,
    'turnlog.usage.cache_creation_tokens': usage.creation === 0n ? null : usage.creation,
  };
}
