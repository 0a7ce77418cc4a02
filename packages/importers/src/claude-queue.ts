import type { HeldWords } from './claude-state.js';
import { originOf } from './claude-text.js';
import type { ClaudeRow, ClaudeVoice } from './claude-voice.js';
import type { Members } from './source-object.js';

/** Words that are held at the same time; earlier ones are written. */
const heldMax = 256;

/** Words as they reach a thread. */
export interface QueuedWords {
  readonly id: string;
  readonly text: string;
  readonly content: readonly unknown[];
  readonly imageCount: number;
  readonly kind: 'queued' | 'notification';
  /** The session ended with them waiting. */
  readonly isWaiting?: boolean;
}

/** Says words that waited in a queue: to the model, or of what goes on beside it. */
export function emitQueued(words: QueuedWords, voice: ClaudeVoice): void {
  const { id, text, content, imageCount, kind } = words;
  if (kind === 'queued') {
    const interjection = { text, source: 'queue', image_count: imageCount, redirect_kind: 'interjection' };
    voice.emit({ type: 'interjected', ...interjection }, { part: 'queued' });
  }
  const delivered = words.isWaiting === true ? false : undefined;
  voice.emit({ type: 'user.message', id, origin: kind, content, delivered }, { part: 'queued' });
}

/** What words in a queue are, by their beginning, and what the record says of them. */
export function kindOfQueued(record: Members, text: string): QueuedWords['kind'] {
  if (record['commandMode'] === 'task-notification') return 'notification';
  const origin = originOf(record, text.trimStart(), 'main');
  return origin === 'notification' || origin === 'injected' ? 'notification' : 'queued';
}

/**
 * The queue of words: they are held until a record carries them, are taken back, or reached the thread without a
 * record of their own, as in older versions.
 */
export class ClaudeQueue {
  readonly #held: HeldWords[];
  readonly #voiceOf: (row: ClaudeRow) => ClaudeVoice;

  constructor(held: HeldWords[], voiceOf: (row: ClaudeRow) => ClaudeVoice) {
    this.#held = held;
    this.#voiceOf = voiceOf;
  }

  hold(row: ClaudeRow, text: string): void {
    this.#held.push({ row, text, isTaken: false });
    if (this.#held.length > heldMax) this.#emit(this.#held.shift());
  }

  /** Words leave the queue: these, or the first. */
  take(text: string | undefined): void {
    const found = this.#held.find(
      (words) => !words.isTaken && (text === undefined || isSame(words.text, text)),
    );
    if (found !== undefined) found.isTaken = true;
  }

  takeBack(): void {
    this.#keep(({ isTaken }) => isTaken);
  }

  /** Another record has the words. */
  carried(text: string): void {
    const found = this.#held.find((words) => isSame(words.text, text));
    if (found !== undefined) this.#keep((words) => words !== found);
  }

  /** No record will carry what is held: it is written from the queue. */
  flush(at: 'opening' | 'end'): void {
    const held = this.#held.splice(0);
    for (const words of held) this.#emit(words, at === 'end' && !words.isTaken);
  }

  clear(): void {
    this.#held.length = 0;
  }

  #keep(isKept: (words: HeldWords) => boolean): void {
    this.#held.splice(0, this.#held.length, ...this.#held.filter(isKept));
  }

  #emit(words: HeldWords | undefined, isWaiting: boolean = false): void {
    if (words === undefined) return;
    const { row, text } = words;
    const id = row.id ?? row.place.sha256.slice(0, 32);
    const content = [{ type: 'text', text }];
    const kind = kindOfQueued({}, text);
    emitQueued({ id, text, content, imageCount: 0, kind, isWaiting }, this.#voiceOf(row));
  }
}

function isSame(a: string, b: string): boolean {
  return a === b || a.trim() === b.trim();
}
