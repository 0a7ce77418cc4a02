import { sha256Text } from '@turnlog/kernel';
import { ClaudeAnswers, firstAnswersState, noTokens, type TokenCounts, usageOf } from './claude-answers.js';
import {
  type Block,
  blocksOf,
  contentOf,
  firstTextOf,
  imageCountOf,
  isResult,
  splitContext,
} from './claude-blocks.js';
import { type CallPlace, type ClaudeCall, emitCall, emitResult, formOf, resultOf } from './claude-calls.js';
import { type ClaudeOrigin, isOwnWords, markedText, messageIn, originOf, recordId } from './claude-text.js';
import { type ClaudeThreadState, firstThreadState, nextBlock } from './claude-thread-state.js';
import { apart, type ClaudeVoice } from './claude-voice.js';
import { RawJson } from './json-text.js';
import { keptEvent } from './kept-event.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';

export interface ThreadOptions<Row> {
  readonly threadId: string;
  readonly place: 'main' | 'child';
  /**
   * `stated`: the source says where turns end, and words that come before reached a running turn. `opener`: a turn
   * ends where the next begins.
   */
  readonly turnEnds: 'stated' | 'opener';
  /** The user's words when the stream does not hold them. */
  readonly prompt?: string | undefined;
  /** What stands for a record after it is gone. */
  readonly rowOf: (object: SourceObject) => Row;
  readonly voiceOf: (row: Row, identity: string) => ClaudeVoice;
  readonly sessionOfAnswer?: (answerId: string) => string | null;
  /** Called before the user's words end the open turn, if any, and open the next. */
  readonly beforeOpening?: () => void;
}

/** How a turn ended. */
export interface TurnEnd {
  /** Null for a turn that was completed. */
  readonly failure: string | null;
  readonly completedAt?: string | undefined;
  readonly durationMs?: RawJson | string | undefined;
  /** What the source says of the turn's usage, where no answer said any. */
  readonly usage?: TokenCounts | undefined;
}

/** The fold over the messages of one thread, the session's own or that of a sub-agent. */
export class ClaudeThread<Row> {
  readonly answers: ClaudeAnswers<Row>;
  readonly #options: ThreadOptions<Row>;
  readonly #state: ClaudeThreadState<Row>;
  #prompt: string | undefined;

  constructor(options: ThreadOptions<Row>, state: ClaudeThreadState<Row> = firstThreadState()) {
    this.#options = options;
    this.#state = state;
    this.#prompt = options.prompt;
    this.answers = new ClaudeAnswers(state.answers, options);
  }

  get isInTurn(): boolean {
    return this.#state.isInTurn;
  }

  get turnCount(): number {
    return this.#state.turnCount;
  }

  get unansweredCount(): number {
    return [...this.#state.calls.values()].filter(({ isInherited }) => isInherited !== true).length;
  }

  isOpenCall(callId: string): boolean {
    return this.#state.calls.has(callId);
  }

  assistant(object: SourceObject, voice: ClaudeVoice): void {
    const message = messageIn(object.value);
    this.#state.messageCount += 1;
    this.#ensureTurn(voice);
    const id = textMember(message, 'id') ?? recordId(object.value) ?? 'message';
    const isSynthetic = message['model'] === '<synthetic>';
    if (!isSynthetic) {
      this.#state.failure = null;
      this.answers.note(object, message, this.#options.rowOf(object));
    }
    for (const block of blocksOf(object)) {
      const itemId = `${id}#${nextBlock(this.#state, id)}`;
      if (isSynthetic) this.#synthetic(object.value, block, itemId, voice);
      else this.#block(object, block, itemId, voice);
    }
  }

  /** Gives the ids of the calls that were answered. */
  user(object: SourceObject, voice: ClaudeVoice): readonly string[] {
    this.#state.messageCount += 1;
    const blocks = blocksOf(object);
    const results = blocks.filter(({ value }) => isResult(value));
    if (results.length === 0) {
      this.#words(object, blocks, voice);
      return [];
    }
    this.#ensureTurn(voice);
    const ids = results.map((block) => this.#result(object, block, voice));
    for (const block of blocks.filter(({ value }) => !isResult(value))) {
      const isInterrupt = textMember(block.value, 'text')?.startsWith('[Request interrupted') === true;
      this.#say(object, isInterrupt ? 'interrupt' : 'injected', [block], voice);
    }
    return ids;
  }

  compacted({ value }: SourceObject, voice: ClaudeVoice): void {
    const metadata = value['compact_metadata'] ?? value['compactMetadata'];
    const trigger = isMembers(metadata) ? textMember(metadata, 'trigger') : undefined;
    const boundary = {
      type: 'thread.compact_boundary',
      thread_id: this.#options.threadId,
      trigger: trigger ?? 'unknown',
      mode: 'provider',
      original_message_count: this.#state.messageCount,
      compacted_message_count: 1,
    };
    voice.emit(boundary, { part: 'compact', derived: ['original_message_count', 'compacted_message_count'] });
    this.#state.messageCount = 0;
    this.#state.isSummaryNext = true;
  }

  /** What the program says of the end of the open turn, which others may still follow; false when none is open. */
  noteEnding(ending: NonNullable<ClaudeThreadState<Row>['ending']>): boolean {
    if (this.#state.isInTurn) this.#state.ending = ending;
    return this.#state.isInTurn;
  }

  /** Closes the open turn as far as the source says how it ended. */
  closeTurn(voice: ClaudeVoice): void {
    if (!this.#state.isInTurn) return;
    const { ending, failure, isInterrupted } = this.#state;
    const durationMs = ending?.durationMs;
    this.endTurn(
      {
        failure: isInterrupted ? 'interrupted' : failure,
        completedAt: ending?.completedAt,
        durationMs: durationMs === undefined ? undefined : new RawJson(durationMs),
      },
      voice,
    );
  }

  /** Closes the open turn; one that was interrupted has failed, whatever else is said. */
  endTurn(end: TurnEnd, voice: ClaudeVoice): void {
    const state = this.#state;
    this.#ensureTurn(voice);
    state.isInTurn = false;
    const tokens = this.answers.closeTurn() ?? end.usage ?? null;
    const failure = end.failure ?? (state.isInterrupted ? 'interrupted' : null);
    const { turnKey } = state;
    Object.assign(state, { isInterrupted: false, failure: null, ending: null, turnKey: undefined });
    if (tokens === null) state.withoutUsageCount += 1;
    const usage = tokens === null ? undefined : usageOf(tokens);
    const rest = { duration_ms: end.durationMs, without_usage: tokens === null ? true : undefined };
    const telling = { part: 'end', ...(turnKey === undefined ? {} : { identity: turnKey }) };
    const { completedAt } = end;
    const event =
      failure === null
        ? { type: 'turn.completed', completed_at: completedAt, usage: usage ?? usageOf(noTokens), ...rest }
        : { type: 'turn.failed', completed_at: completedAt, message: failure, usage, ...rest };
    voice.emit(event, telling);
  }

  /** What came before was copied from another thread: own records begin, perhaps inside a turn. */
  beginOwn(): void {
    const state = this.#state;
    const { isInTurn, calls, messages, usedIds, messageCount, answers } = state;
    Object.assign(state, firstThreadState<Row>(), { answers, messages, usedIds, messageCount });
    Object.assign(answers, firstAnswersState<Row>());
    for (const [id, call] of calls) state.calls.set(id, { ...call, isInherited: true });
    state.isInsideFork = isInTurn;
  }

  get #place(): CallPlace {
    return { threadId: this.#options.threadId, turnId: `turn-${this.#state.turnCount}` };
  }

  /** Records of the model belong to a turn, also where nothing in the stream opened one. */
  #ensureTurn(voice: ClaudeVoice): void {
    if (this.#state.isInTurn) return;
    const prompt = this.#prompt;
    if (prompt === undefined) {
      this.#openTurn(voice, { implicit: true });
      return;
    }
    this.#openTurn(voice, {});
    const content = [{ type: 'text', text: prompt }];
    const id = `turn-${this.#state.turnCount}.prompt`;
    voice.emit({ type: 'user.message', id, origin: 'prompt', content });
  }

  #openTurn(voice: ClaudeVoice, members: object): void {
    this.#state.isInTurn = true;
    this.#state.isInsideFork = false;
    this.#state.turnKey = voice.identity;
    this.#state.turnCount += 1;
    this.#prompt = undefined;
    voice.emit({ type: 'turn.started', ...members }, { part: 'turn' });
  }

  #block(object: SourceObject, block: Block, itemId: string, voice: ClaudeVoice): void {
    const { value } = block;
    const type = textMember(value, 'type') ?? '';
    switch (type) {
      case 'text':
        emitText({ id: itemId, type: 'agent_message', text: textMember(value, 'text') ?? '' }, block, voice);
        return;
      case 'thinking':
        emitText({ id: itemId, type: 'reasoning', text: textMember(value, 'thinking') ?? '' }, block, voice);
        return;
      case 'tool_use':
      case 'server_tool_use':
        this.#call(block, itemId, apart(voice, `call\0${block.place}`));
        return;
      default:
        if (isResult(value)) this.#result(object, block, voice);
        else
          voice.emit(keptEvent(`assistant:${type}`, 'unknown-block', object), {
            part: `kept\0${block.place}`,
          });
    }
  }

  /** Words that the program put in place of an answer. */
  #synthetic(record: Members, block: Block, itemId: string, voice: ClaudeVoice): void {
    const text = textMember(block.value, 'text') ?? '';
    const isError = record['isApiErrorMessage'] === true || textMember(record, 'error') !== undefined;
    if (isError) this.#state.failure = text;
    const item = isError
      ? { id: itemId, type: 'error', message: text }
      : { id: itemId, type: 'agent_message', text, synthetic: true };
    voice.emit(completed(item), { part: `synthetic\0${block.place}` });
  }

  #call(block: Block, itemId: string, voice: ClaudeVoice): void {
    const { value, source } = block;
    const { usedIds, calls } = this.#state;
    const callId = textMember(value, 'id') ?? itemId;
    const uses = (usedIds.get(callId) ?? 0) + 1;
    usedIds.set(callId, uses);
    const name = textMember(value, 'name') ?? '';
    const call: ClaudeCall = {
      itemId: uses === 1 ? callId : `${callId}~${uses}`,
      callId,
      name,
      form: formOf(name),
      input: isMembers(value['input']) ? value['input'] : {},
      passed: source.member('input')?.passed() ?? '',
    };
    calls.set(callId, call);
    emitCall(call, this.#place, voice);
  }

  #result(object: SourceObject, block: Block, record: ClaudeVoice): string {
    const voice = apart(record, `result\0${block.place}`);
    const callId = textMember(block.value, 'tool_use_id') ?? '';
    const call = this.#state.calls.get(callId) ?? null;
    this.#state.calls.delete(callId);
    const detail = object.value['tool_use_result'] ?? object.value['toolUseResult'];
    const result = resultOf(block.source.member('content'), block.value, detail, voice);
    emitResult(call, callId, result, this.#place, voice);
    return callId;
  }

  /** Text under the user's role: the user's own words, or what a harness says in their place. */
  #words(object: SourceObject, blocks: readonly Block[], voice: ClaudeVoice): void {
    const { words, context } = splitContext(blocks);
    const text = firstTextOf(words);
    const origin = this.#originOf(object.value, text);
    if (words.length > 0) this.#word(object, origin, words, text, voice);
    if (context.length > 0) this.#say(object, 'injected', context, voice);
  }

  #originOf(record: Members, text: string): ClaudeOrigin {
    const state = this.#state;
    const origin = originOf(record, text, this.#options.place);
    const isSummary = state.isSummaryNext && (origin === 'injected' || origin === 'compact_summary');
    if (isSummary || isOwnWords(origin)) state.isSummaryNext = false;
    return isSummary ? 'compact_summary' : origin;
  }

  #word(
    object: SourceObject,
    origin: ClaudeOrigin,
    words: readonly Block[],
    text: string,
    voice: ClaudeVoice,
  ): void {
    if (origin === 'shell_output') {
      this.#shellOutput(text, voice);
      return;
    }
    const isSubagent = origin === 'subagent_prompt' && !this.isInTurn;
    if (!isOwnWords(origin) && !isSubagent) {
      this.#say(object, origin, words, voice);
      return;
    }
    if (this.isInTurn && this.#options.turnEnds === 'stated') {
      const interjection = { text, source: 'direct', image_count: imageCountOf(words) };
      voice.emit({ type: 'interjected', ...interjection, redirect_kind: 'interjection' });
      this.#say(object, 'queued', words, voice);
      return;
    }
    this.#options.beforeOpening?.();
    this.closeTurn(voice);
    this.#openTurn(voice, {});
    this.#say(object, origin, words, voice);
    if (origin === 'shell_bang') this.#shellInput(object, text, voice);
  }

  #say(
    object: SourceObject,
    origin: ClaudeOrigin | 'queued',
    blocks: readonly Block[],
    voice: ClaudeVoice,
  ): void {
    if (origin === 'interrupt') {
      if (this.#state.isInsideFork) this.#ensureTurn(voice);
      this.#state.isInterrupted = this.isInTurn;
    }
    const id = recordId(object.value) ?? object.sha256.slice(0, 32);
    // One record may hold several messages; their ids are told apart by the place of their first block.
    const place = blocks[0]?.place ?? 0;
    const message = {
      id: place === 0 ? id : `${id}#${place}`,
      origin,
      content: contentOf(blocks, voice),
    };
    voice.emit({ type: 'user.message', ...message }, { part: `said\0${place}` });
  }

  #shellInput(object: SourceObject, text: string, voice: ClaudeVoice): void {
    const id = `${recordId(object.value) ?? `turn-${this.#state.turnCount}`}#shell`;
    const command = markedText(text, 'bash-input');
    this.#state.openShell = { id, command };
    const item = { id, type: 'command_execution', command, aggregated_output: '', status: 'in_progress' };
    voice.emit({ type: 'item.started', item });
  }

  #shellOutput(text: string, voice: ClaudeVoice): void {
    const { id, command } = this.#state.openShell ?? {
      id: `turn-${this.#state.turnCount}#shell`,
      command: '',
    };
    this.#state.openShell = null;
    const output = markedText(text, 'bash-stdout') + markedText(text, 'bash-stderr');
    const item = { id, type: 'command_execution', command, aggregated_output: output, status: 'completed' };
    voice.emit(completed(item));
  }
}

function completed(item: object): object {
  return { type: 'item.completed', item };
}

/** A text that is not the same any more is a new snapshot of its item, and keyed as one. */
function emitText(
  item: { readonly id: string; readonly type: string; readonly text: string },
  { place }: Block,
  voice: ClaudeVoice,
): void {
  const digest = sha256Text(item.text, 'base64url');
  voice.emit(completed(item), { part: `text\0${place}\0${digest.slice(0, 22)}` });
}
