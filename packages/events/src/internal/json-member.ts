import { type JsonToken, JsonTokenizer } from '@turnlog/kernel';
import { stringValue } from './text-codec.js';

/** The value of a member as it is written: its first token, and where it stands. */
export interface JsonSpan {
  readonly token: JsonToken;
  readonly start: number;
  readonly end: number;
}

/**
 * The members of the object at `start` whose names `isWanted` takes, the last one where a name stands twice, as
 * `JSON.parse` has it; null when there is no whole object. No value is built, so numbers can be read as they are
 * written.
 */
export function jsonMembers(
  bytes: Uint8Array,
  start: number,
  end: number,
  isWanted: (name: string) => boolean,
): ReadonlyMap<string, JsonSpan> | null {
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, start, end);
  const found = new Map<string, JsonSpan>();
  let token = tokenizer.next();
  if (token !== 'object-start') return null;
  for (token = tokenizer.next(); token === 'key'; token = tokenizer.next()) {
    const name = stringValue(bytes, tokenizer.start, tokenizer.end, tokenizer.isPlain);
    const span = valueSpan(tokenizer);
    if (span === null) return null;
    if (isWanted(name)) found.set(name, span);
  }
  return token === 'object-end' ? found : null;
}

/** One member; null when there is none, or no whole object. */
export function jsonMember(bytes: Uint8Array, start: number, end: number, name: string): JsonSpan | null {
  return jsonMembers(bytes, start, end, (member) => member === name)?.get(name) ?? null;
}

function valueSpan(tokenizer: JsonTokenizer): JsonSpan | null {
  const token = tokenizer.next();
  const { start } = tokenizer;
  if (token === 'error' || token === 'end') return null;
  const isContainer = token === 'object-start' || token === 'array-start';
  if (isContainer && !tokenizer.skipContainer()) return null;
  return { token, start, end: tokenizer.end };
}

const letterN = 0x6e;
const letterT = 0x74;

/** Whether the value is null. */
export function isJsonNull(bytes: Uint8Array, span: JsonSpan): boolean {
  return span.token === 'literal' && bytes[span.start] === letterN;
}

/** Whether the value is true. */
export function isJsonTrue(bytes: Uint8Array, span: JsonSpan): boolean {
  return span.token === 'literal' && bytes[span.start] === letterT;
}
