import {
  type AnswerEmitterMaker,
  ClaudeAnswers,
  noTokens,
  type TokenCounts,
  usageOf,
} from './claude-answers.js';
import { type CallPlace, type ClaudeCall, emitCall, emitResult, formOf, resultOf } from './claude-calls.js';
import {
  type ClaudeOrigin,
  isContextBlock,
  isOwnWords,
  markedText,
  messageIn,
  originOf,
  recordId,
} from './claude-text.js';
import { elementSpans, memberSpans, passedOn, type RawJson, type Span, textOf } from './json-text.js';
import { keptEvent } from './kept-event.js';
import type { RecordEmitter } from './record-emitter.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';

/** One block of a message, with its place. */
interface Block {
  readonly value: Members;
  readonly span: Span;
  /** Position in the message, from 0. */
  readonly place: number;
}

export interface ThreadOptions {
  readonly threadId: string;
  readonly place: 'main' | 'child';
  /** The user's words when the stream does not hold them. */
  readonly prompt: string | undefined;
  readonly makeEmitter: AnswerEmitterMaker;
}

/** How a turn ended. */
export interface TurnEnd {
  /** Null for a turn that was completed. */
  readonly failure: string | null;
  readonly durationMs?: RawJson | string | undefined;
  /** What the source says of the turn's usage, where no answer said any. */
  readonly usage?: TokenCounts | undefined;
}

/** The fold over the messages of one thread, the session's own or that of a sub-agent. */
export class ClaudeThread {
  readonly answers: ClaudeAnswers;
  readonly #options: ThreadOptions;
  readonly #calls = new Map<string, ClaudeCall>();
  readonly #usedIds = new Map<string, number>();
  /** Blocks of the present message so far: a message comes in several records. */
  #message: { readonly id: string; blocks: number } = { id: '', blocks: 0 };
  #prompt: string | undefined;
  #openShell: { readonly id: string; readonly command: string } | null = null;
  #isSummaryNext = false;
  #isInterrupted = false;
  isInTurn = false;
  turnCount = 0;
  /** Records of user and model since the last compaction. */
  messageCount = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#prompt = options.prompt;
    this.answers = new ClaudeAnswers(options.makeEmitter);
  }

  get unansweredCount(): number {
    return this.#calls.size;
  }

  assistant(object: SourceObject, emitter: RecordEmitter): void {
    const message = messageIn(object.value);
    this.messageCount += 1;
    this.#ensureTurn(emitter);
    const id = textMember(message, 'id') ?? recordId(object.value) ?? 'message';
    if (this.#message.id !== id) this.#message = { id, blocks: 0 };
    const isSynthetic = message['model'] === '<synthetic>';
    if (!isSynthetic) this.answers.note(object, message);
    for (const block of blocksOf(object, message)) {
      const itemId = `${id}#${this.#message.blocks}`;
      this.#message.blocks += 1;
      if (isSynthetic) this.#synthetic(object.value, block, itemId, emitter);
      else this.#block(object, block, itemId, emitter);
    }
  }

  user(object: SourceObject, emitter: RecordEmitter): readonly string[] {
    const message = messageIn(object.value);
    this.messageCount += 1;
    const blocks = blocksOf(object, message);
    const results = blocks.filter(({ value }) => isResult(value));
    if (results.length === 0) {
      this.#words(object, blocks, emitter);
      return [];
    }
    this.#ensureTurn(emitter);
    const ids = results.map((block) => this.#result(object, block, emitter));
    for (const block of blocks.filter(({ value }) => !isResult(value))) {
      const isInterrupt = textMember(block.value, 'text')?.startsWith('[Request interrupted') === true;
      this.#say(object, isInterrupt ? 'interrupt' : 'injected', [block], emitter);
    }
    return ids;
  }

  compacted(): void {
    this.messageCount = 0;
    this.#isSummaryNext = true;
  }

  /** Closes the open turn; one that was interrupted has failed, whatever else is said. */
  endTurn(end: TurnEnd, emitter: RecordEmitter): void {
    this.#ensureTurn(emitter);
    this.isInTurn = false;
    const tokens = this.answers.closeTurn() ?? end.usage ?? null;
    const failure = end.failure ?? (this.#isInterrupted ? 'interrupted' : null);
    this.#isInterrupted = false;
    const usage = tokens === null ? undefined : usageOf(tokens);
    const rest = { duration_ms: end.durationMs, without_usage: tokens === null ? true : undefined };
    if (failure !== null) {
      emitter.emit({ type: 'turn.failed', message: failure, usage, ...rest });
      return;
    }
    emitter.emit({ type: 'turn.completed', usage: usage ?? usageOf(noTokens), ...rest });
  }

  get #place(): CallPlace {
    return { threadId: this.#options.threadId, turnId: `turn-${this.turnCount}` };
  }

  /** Records of the model belong to a turn, also where nothing in the stream opened one. */
  #ensureTurn(emitter: RecordEmitter): void {
    if (this.isInTurn) return;
    const prompt = this.#prompt;
    if (prompt === undefined) {
      this.#openTurn(emitter, { implicit: true });
      return;
    }
    this.#openTurn(emitter, {});
    const content = [{ type: 'text', text: prompt }];
    emitter.emit({ type: 'user.message', id: `turn-${this.turnCount}.prompt`, origin: 'prompt', content });
  }

  #openTurn(emitter: RecordEmitter, members: object): void {
    this.isInTurn = true;
    this.turnCount += 1;
    this.#prompt = undefined;
    emitter.emit({ type: 'turn.started', ...members });
  }

  #block(object: SourceObject, block: Block, itemId: string, emitter: RecordEmitter): void {
    const { value } = block;
    const type = textMember(value, 'type') ?? '';
    switch (type) {
      case 'text':
        emitter.emit(completed({ id: itemId, type: 'agent_message', text: textMember(value, 'text') ?? '' }));
        return;
      case 'thinking':
        emitter.emit(completed({ id: itemId, type: 'reasoning', text: textMember(value, 'thinking') ?? '' }));
        return;
      case 'tool_use':
      case 'server_tool_use':
        this.#call(object, block, itemId, emitter);
        return;
      default:
        if (isResult(value)) this.#result(object, block, emitter);
        else emitter.emit(keptEvent(`assistant:${type}`, 'unknown-block', object));
    }
  }

  /** Words that the program put in place of an answer. */
  #synthetic(record: Members, block: Block, itemId: string, emitter: RecordEmitter): void {
    const text = textMember(block.value, 'text') ?? '';
    const isError = record['isApiErrorMessage'] === true || textMember(record, 'error') !== undefined;
    const item = isError
      ? { id: itemId, type: 'error', message: text }
      : { id: itemId, type: 'agent_message', text, synthetic: true };
    emitter.emit(completed(item));
  }

  #call(object: SourceObject, block: Block, itemId: string, emitter: RecordEmitter): void {
    const { value, span } = block;
    const callId = textMember(value, 'id') ?? itemId;
    const uses = (this.#usedIds.get(callId) ?? 0) + 1;
    this.#usedIds.set(callId, uses);
    const name = textMember(value, 'name') ?? '';
    const inputSpan = memberSpans(object.bytes, span).get('input');
    const call: ClaudeCall = {
      itemId: uses === 1 ? callId : `${callId}~${uses}`,
      callId,
      name,
      form: formOf(name),
      input: isMembers(value['input']) ? value['input'] : {},
      passed: inputSpan === undefined ? '' : passedOn(object.bytes, inputSpan),
    };
    this.#calls.set(callId, call);
    emitCall(call, this.#place, emitter);
  }

  #result(object: SourceObject, block: Block, emitter: RecordEmitter): string {
    const callId = textMember(block.value, 'tool_use_id') ?? '';
    const call = this.#calls.get(callId) ?? null;
    this.#calls.delete(callId);
    const detail = object.value['tool_use_result'] ?? object.value['toolUseResult'];
    const contentSpan = memberSpans(object.bytes, block.span).get('content');
    const result = resultOf(object.bytes, contentSpan, block.value, detail);
    emitResult(call, callId, result, this.#place, emitter);
    return callId;
  }

  /** Text under the user's role: the user's own words, or what a harness says in their place. */
  #words(object: SourceObject, blocks: readonly Block[], emitter: RecordEmitter): void {
    const context = blocks.filter(({ value }) => isContextBlock(textMember(value, 'text') ?? ''));
    const words = blocks.filter((block) => !context.includes(block));
    const first = words.find(({ value }) => value['type'] === 'text');
    const text = first === undefined ? '' : (textMember(first.value, 'text') ?? '');
    const origin = this.#originOf(object.value, text);
    if (words.length > 0) this.#word(object, origin, words, text, emitter);
    if (context.length > 0) this.#say(object, 'injected', context, emitter);
  }

  #originOf(record: Members, text: string): ClaudeOrigin {
    const origin = originOf(record, text, this.#options.place);
    const isSummary = this.#isSummaryNext && (origin === 'injected' || origin === 'compact_summary');
    if (isSummary || isOwnWords(origin)) this.#isSummaryNext = false;
    return isSummary ? 'compact_summary' : origin;
  }

  #word(
    object: SourceObject,
    origin: ClaudeOrigin,
    words: readonly Block[],
    text: string,
    emitter: RecordEmitter,
  ): void {
    if (origin === 'shell_output') {
      this.#shellOutput(text, emitter);
      return;
    }
    const isSubagent = origin === 'subagent_prompt' && !this.isInTurn;
    if (!isOwnWords(origin) && !isSubagent) {
      this.#say(object, origin, words, emitter);
      return;
    }
    if (this.isInTurn) {
      const imageCount = words.filter(({ value }) => value['type'] === 'image').length;
      const interjection = { text, source: 'direct', image_count: imageCount };
      emitter.emit({ type: 'interjected', ...interjection, redirect_kind: 'interjection' });
      this.#say(object, 'queued', words, emitter);
      return;
    }
    this.#openTurn(emitter, {});
    this.#say(object, origin, words, emitter);
    if (origin === 'shell_bang') this.#shellInput(object, text, emitter);
  }

  #say(
    object: SourceObject,
    origin: ClaudeOrigin | 'queued',
    blocks: readonly Block[],
    emitter: RecordEmitter,
  ): void {
    if (origin === 'interrupt') this.#isInterrupted = this.isInTurn;
    const content = blocks.map(({ value, span }) =>
      value['type'] === 'text'
        ? { type: 'text', text: textMember(value, 'text') ?? '' }
        : passedOn(object.bytes, span),
    );
    const id = recordId(object.value) ?? Buffer.from(object.digest).toString('hex').slice(0, 32);
    // One record may hold several messages; their ids are told apart by the place of their first block.
    const place = blocks[0]?.place ?? 0;
    emitter.emit({ type: 'user.message', id: place === 0 ? id : `${id}#${place}`, origin, content });
  }

  #shellInput(object: SourceObject, text: string, emitter: RecordEmitter): void {
    const id = `${recordId(object.value) ?? `turn-${this.turnCount}`}#shell`;
    const command = markedText(text, 'bash-input');
    this.#openShell = { id, command };
    const item = { id, type: 'command_execution', command, aggregated_output: '', status: 'in_progress' };
    emitter.emit({ type: 'item.started', item });
  }

  #shellOutput(text: string, emitter: RecordEmitter): void {
    const { id, command } = this.#openShell ?? { id: `turn-${this.turnCount}#shell`, command: '' };
    this.#openShell = null;
    const output = markedText(text, 'bash-stdout') + markedText(text, 'bash-stderr');
    const item = { id, type: 'command_execution', command, aggregated_output: output, status: 'completed' };
    emitter.emit(completed(item));
  }
}

function completed(item: object): object {
  return { type: 'item.completed', item };
}

function isResult(block: Members): boolean {
  const type = textMember(block, 'type') ?? '';
  return type === 'tool_result' || type.endsWith('_tool_result');
}

/** The blocks of a message; a plain text is one block. */
function blocksOf(object: SourceObject, message: Members): readonly Block[] {
  const span = object.spanOf('message', 'content');
  if (span === undefined) return [];
  const { content } = message;
  if (typeof content === 'string') return [{ value: { type: 'text', text: content }, span, place: 0 }];
  return elementSpans(object.bytes, span).flatMap((element, place) => {
    const value: unknown = JSON.parse(textOf(object.bytes, element));
    return isMembers(value) ? [{ value, span: element, place }] : [];
  });
}
