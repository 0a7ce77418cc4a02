import { utf8Bytes } from './cut-text.js';

export type ConversationPart =
  | { readonly type: 'text'; readonly text: string }
  /** `arguments` is one JSON text. */
  | { readonly type: 'tool_call'; readonly callId: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: 'tool_result';
      readonly callId: string;
      readonly text: string;
      readonly isError: boolean;
    };

export interface ConversationMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly ConversationPart[];
}

/** What stays together when the beginning is left out: a text, or a call with its result. */
export type ConversationUnit = readonly {
  readonly role: ConversationMessage['role'];
  readonly part: ConversationPart;
}[];

/** Keeps the newest units that fit into a bound. */
export class ConversationWindow {
  readonly #bytesMax: number;
  #units: { readonly unit: ConversationUnit; readonly bytes: number }[] = [];
  #first = 0;
  #bytes = 0;
  #droppedCount = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get droppedCount(): number {
    return this.#droppedCount;
  }

  add(unit: ConversationUnit): void {
    const bytes = unit.reduce((sum, { part }) => sum + partBytes(part), 0);
    this.#units.push({ unit, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax) this.#dropFirst();
  }

  *units(): Iterable<ConversationUnit> {
    for (let at = this.#first; at < this.#units.length; at += 1) yield this.#units[at]?.unit ?? [];
  }

  #dropFirst(): void {
    this.#bytes -= this.#units[this.#first]?.bytes ?? 0;
    this.#first += 1;
    this.#droppedCount += 1;
    if (this.#first < 1_024 || this.#first * 2 < this.#units.length) return;
    this.#units = this.#units.slice(this.#first);
    this.#first = 0;
  }
}

export function partBytes(part: ConversationPart): number {
  switch (part.type) {
    case 'text':
      return utf8Bytes(part.text);
    case 'tool_call':
      return utf8Bytes(part.callId) + utf8Bytes(part.name) + utf8Bytes(part.arguments);
    case 'tool_result':
      return utf8Bytes(part.callId) + utf8Bytes(part.text);
  }
}
