import { JsonTokenizer } from '@turnlog/kernel';

/** JSON as it was written: it is passed on, never parsed and printed. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A place in bytes, `[start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The deepest nesting of a value that is passed on as JSON; deeper ones are passed on as text. */
const passedLevelsMax = 64;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function textOf(bytes: Uint8Array, span: Span): string {
  return decoder.decode(bytes.subarray(span.start, span.end));
}

/** Members in the order in which they are written. A map takes names that an object would not, as `__proto__`. */
export type MemberList = ReadonlyMap<string, unknown>;

/** The JSON text of a value in which `RawJson` stands for itself; undefined members are left out. */
export function writeJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof RawJson) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((element) => writeJson(element)).join(',')}]`;
  let text = '';
  const entries: Iterable<readonly [unknown, unknown]> = value instanceof Map ? value : Object.entries(value);
  for (const [name, member] of entries) {
    if (member === undefined) continue;
    text += `${text === '' ? '{' : ','}${nameText(String(name))}${writeJson(member)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

const plainName = /^[\w.-]{1,40}$/;

/** A name as JSON, and the colon. */
function nameText(name: string): string {
  return plainName.test(name) ? `"${name}":` : `${JSON.stringify(name)}:`;
}

const tokenizer = new JsonTokenizer();

/** Passes over the value whose first token is `token`; null when the text is broken. */
function valueSpan(token: string): Span | null {
  const { start } = tokenizer;
  if (token === 'error' || token === 'end') return null;
  if ((token === 'object-start' || token === 'array-start') && !tokenizer.skipContainer()) return null;
  return { start, end: tokenizer.end };
}

/** Where the values of an object's members stand. Of a name that is given twice the last counts, as in JSON.parse. */
export function memberSpans(bytes: Uint8Array, object: Span): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span>();
  tokenizer.reset(bytes, object.start, object.end);
  if (tokenizer.next() !== 'object-start') return spans;
  while (tokenizer.next() === 'key') {
    const key = textOf(bytes, tokenizer);
    const span = valueSpan(tokenizer.next());
    if (span === null) return spans;
    spans.set(String(JSON.parse(key)), span);
  }
  return spans;
}

/** Where the elements of a list stand; none when it is no list. */
export function elementSpans(bytes: Uint8Array, list: Span): readonly Span[] {
  const spans: Span[] = [];
  tokenizer.reset(bytes, list.start, list.end);
  if (tokenizer.next() !== 'array-start') return spans;
  for (;;) {
    const token = tokenizer.next();
    const span = token === 'array-end' ? null : valueSpan(token);
    if (span === null) return spans;
    spans.push(span);
  }
}

/** How deep the value in `span` is nested. */
export function nestingLevels(bytes: Uint8Array, span: Span): number {
  tokenizer.reset(bytes, span.start, span.end);
  for (let token = tokenizer.next(); token !== 'end' && token !== 'error'; ) token = tokenizer.next();
  return tokenizer.deepest;
}

/** A value of the source as it stands there; one that is nested very deep, as text that holds its JSON. */
export function passedOn(bytes: Uint8Array, span: Span): RawJson | string {
  const text = textOf(bytes, span);
  if (nestingLevels(bytes, span) > passedLevelsMax) return text;
  // A carriage return can only stand between tokens here.
  return new RawJson(text.includes('\r') ? text.replaceAll('\r', ' ') : text);
}
