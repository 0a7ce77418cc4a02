/**
 * Secrets out of JSON that stays as it is written: only the strings that hold one are written anew, every other
 * byte is copied, numbers and blanks included. Values are never built, so nesting costs nothing.
 */

import { type JsonToken, JsonTokenizer } from '@turnlog/kernel';
import { NameContext, type Replace } from './redaction-context.js';

/** A string token, quotes included, and what takes its place. */
export interface JsonEdit {
  readonly start: number;
  readonly end: number;
  readonly json: string;
}

interface StringPlace {
  readonly start: number;
  readonly end: number;
}

/** The text between two offsets of what is tokenized. */
type RawText = (start: number, end: number) => string;

/** The edits that take all secrets out of one JSON text, in order; null when `bytes` is none. */
export function jsonEdits(bytes: Uint8Array, rawOf: RawText, replace: Replace): readonly JsonEdit[] | null {
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  const editing = new Editing(tokenizer, rawOf, replace);
  for (let token = tokenizer.next(); token !== 'end'; token = tokenizer.next()) {
    if (token === 'error') return null;
    editing.take(token);
  }
  return editing.edits();
}

class Editing {
  readonly #tokenizer: JsonTokenizer;
  readonly #rawOf: RawText;
  readonly #replace: Replace;
  readonly #context = new NameContext<StringPlace>();
  readonly #edits = new Map<number, JsonEdit>();

  constructor(tokenizer: JsonTokenizer, rawOf: RawText, replace: Replace) {
    this.#tokenizer = tokenizer;
    this.#rawOf = rawOf;
    this.#replace = replace;
  }

  /** The last token of the tokenizer. */
  take(token: JsonToken): void {
    const context = this.#context;
    if (token === 'object-start') context.open('object');
    else if (token === 'array-start') context.open('array');
    else if (token === 'object-end' || token === 'array-end') this.#close();
    else if (token === 'key' || token === 'string') this.#string(token);
    else context.other();
  }

  edits(): readonly JsonEdit[] {
    return [...this.#edits.values()].sort((one, other) => one.start - other.start);
  }

  #close(): void {
    const late = this.#context.close();
    if (late !== null) this.#edit(late.place, late.text, late.name);
  }

  #string(token: 'key' | 'string'): void {
    const place = { start: this.#tokenizer.start, end: this.#tokenizer.end };
    const text = stringOf(this.#rawOf(place.start, place.end), this.#tokenizer.isPlain);
    if (token === 'key') this.#context.key(text);
    this.#edit(place, text, token === 'key' ? null : this.#context.text(text, place));
  }

  #edit(place: StringPlace, text: string, name: string | null): void {
    const replaced = this.#replace(text, name);
    if (replaced !== text) this.#edits.set(place.start, { ...place, json: JSON.stringify(replaced) });
  }
}

export function withEdits(text: string, edits: readonly JsonEdit[]): string {
  const parts: string[] = [];
  let copied = 0;
  for (const { start, end, json } of edits) {
    parts.push(text.slice(copied, start), json);
    copied = end;
  }
  parts.push(text.slice(copied));
  return parts.join('');
}

/** The value of a string token that the tokenizer has judged. */
function stringOf(raw: string, isPlain: boolean): string {
  if (isPlain) return raw.slice(1, -1);
  const value: unknown = JSON.parse(raw);
  return String(value);
}

/** One byte per UTF-16 unit, so that offsets are the same in both; what is not ASCII only needs to be in strings. */
export function unitBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    bytes[at] = Math.min(text.charCodeAt(at), 0x80);
  }
  return bytes;
}
