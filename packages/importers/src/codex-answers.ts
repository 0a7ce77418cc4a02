import { sha256Hex } from '@turnlog/kernel';
import { type CodexRecord, codexRecord, contentTexts, passedMember } from './codex-record.js';
import type { CodexState } from './codex-state.js';
import type { CodexTurns } from './codex-turns.js';
import type { CodexVoice } from './codex-voice.js';
import { isMembers, textMember } from './source-object.js';
import type { Lookahead, ThreadMapping } from './thread-format.js';

/** What a model says is said twice, as an event and as an item: no more unpaired ones are remembered. */
const unpairedMax = 64;
/** The item that joins summaries stands no farther behind them. */
const twinRecordsMax = 64;

type Side = 'event' | 'item';

/** What the model says and thinks. */
export class CodexAnswers {
  readonly #state: CodexState;
  readonly #turns: CodexTurns;

  constructor(state: CodexState, turns: CodexTurns) {
    this.#state = state;
    this.#turns = turns;
  }

  message(record: CodexRecord, side: Side, voice: CodexVoice): ThreadMapping {
    const { kind, payload } = record;
    const text =
      side === 'event' ? (textMember(payload, 'message') ?? '') : contentTexts(payload['content']).join('\n');
    if (this.#isTwin(text, side)) return { place: 'echo', kind };
    this.#turns.ensure(voice).hasFailed = false;
    this.#state.messageCount += 1;
    const id = this.#nextId('msg');
    voice.tell({ type: 'item.completed', item: { id, type: 'agent_message', text } });
    return { place: 'mapped', kind };
  }

  /** One summary. The item behind it has all summaries of an answer, so it is waited for. */
  summary(record: CodexRecord, ahead: Lookahead, voice: CodexVoice): ThreadMapping | 'wait' {
    const { kind } = record;
    const text = textMember(record.payload, 'text') ?? '';
    const isJoined = this.#isJoinedAhead(text, ahead);
    if (isJoined === 'wait') return 'wait';
    if (isJoined) return { place: 'echo', kind };
    this.#think(text, voice);
    this.#note(text, 'event');
    return { place: 'mapped', kind };
  }

  reasoning(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { kind, payload } = record;
    const texts = [...contentTexts(payload['summary']), ...contentTexts(payload['content'])];
    if (texts.length === 0) {
      this.#turns.ensure(voice);
      voice.release();
      return { place: 'kept', kind };
    }
    const known = texts.filter((text) => this.#isUnpaired(text, 'event'));
    if (known.length === texts.length) {
      for (const text of texts) this.#isTwin(text, 'item');
      return { place: 'echo', kind };
    }
    this.#think(texts.join('\n\n'), voice);
    return { place: 'mapped', kind };
  }

  error(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const { kind, payload } = record;
    const { error } = payload;
    const stated = isMembers(error) ? textMember(error, 'message') : undefined;
    const message = textMember(payload, 'message') ?? stated ?? '';
    const turn = this.#turns.present;
    if (turn !== null) turn.hasFailed = true;
    voice.tell({ type: 'item.completed', item: { id: this.#nextId('err'), type: 'error', message } });
    return { place: 'mapped', kind };
  }

  /** A search comes as an event and as an item, which share no id. */
  search(record: CodexRecord, side: Side, voice: CodexVoice): ThreadMapping {
    const { kind, payload } = record;
    const action = isMembers(payload['action']) ? payload['action'] : {};
    const stated = [textMember(payload, 'query'), textMember(action, 'query'), textMember(action, 'url')];
    const query = stated.find((text) => text !== undefined && text !== '') ?? '';
    const twin = this.#state.searches.findIndex(({ from }) => from !== side);
    const known = this.#state.searches[twin];
    if (known !== undefined) {
      this.#state.searches = this.#state.searches.filter((_, at) => at !== twin);
      if (side === 'item' || query === '') return { place: 'echo', kind };
    }
    this.#turns.ensure(voice);
    const itemId = known?.itemId ?? textMember(payload, 'call_id') ?? this.#nextId('ws');
    if (known === undefined) {
      this.#state.searches = [...this.#state.searches, { from: side, itemId }].slice(-unpairedMax);
    }
    const passed = passedMember(record, 'action');
    const results = resultsOf(payload['results']);
    voice.tell({
      type: 'item.completed',
      item: { id: itemId, type: 'web_search', query, results, action: passed },
    });
    return { place: 'mapped', kind };
  }

  #think(text: string, voice: CodexVoice): void {
    this.#turns.ensure(voice).hasFailed = false;
    const id = this.#nextId('rsn');
    voice.tell({ type: 'item.completed', item: { id, type: 'reasoning', text } });
  }

  #nextId(prefix: string): string {
    this.#state.itemCount += 1;
    return `${prefix}_${this.#state.itemCount}`;
  }

  /** Whether the other side has said the same in this turn; else it is remembered. */
  #isTwin(text: string, from: Side): boolean {
    const sha = sha256Hex(new TextEncoder().encode(text));
    const at = this.#state.unpaired.findIndex((entry) => entry.sha === sha && entry.from !== from);
    if (at === -1) {
      this.#note(text, from);
      return false;
    }
    this.#state.unpaired = this.#state.unpaired.filter((_, index) => index !== at);
    return true;
  }

  #isUnpaired(text: string, from: Side): boolean {
    const sha = sha256Hex(new TextEncoder().encode(text));
    return this.#state.unpaired.some((entry) => entry.sha === sha && entry.from === from);
  }

  #note(text: string, from: Side): void {
    const sha = sha256Hex(new TextEncoder().encode(text));
    this.#state.unpaired = [...this.#state.unpaired, { from, sha }].slice(-unpairedMax);
  }

  #isJoinedAhead(text: string, ahead: Lookahead): boolean | 'wait' {
    for (let n = 1; n <= twinRecordsMax; n += 1) {
      const next = ahead.peek(n);
      if (next === 'later') return 'wait';
      if (typeof next === 'string') return false;
      const { type, detail, payload } = codexRecord(next);
      if (detail === 'reasoning' && contentTexts(payload['summary']).includes(text)) return true;
      if (endsAnswer.has(detail) || (type === 'response_item' && detail !== 'reasoning')) return false;
    }
    return false;
  }
}

const endsAnswer: ReadonlySet<string> = new Set([
  'task_started',
  'task_complete',
  'turn_aborted',
  'user_message',
]);

/** Titles and addresses of what a search found. */
function resultsOf(results: unknown): readonly string[] | undefined {
  if (!Array.isArray(results)) return undefined;
  return results
    .filter(isMembers)
    .map((found) =>
      [textMember(found, 'title'), textMember(found, 'url')].filter((part) => part !== undefined).join(' '),
    );
}
