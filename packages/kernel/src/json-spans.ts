import { JsonTokenizer } from './json-tokenizer.js';

/**
 * Where the parts of a JSON text stand in its bytes, so that they can be passed on as they were written, without
 * building values: big integers, key order and escapes survive.
 */

/** A place in bytes, `[start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text in `span`; bytes that are not UTF-8 read as U+FFFD. */
export function textOf(bytes: Uint8Array, span: Span): string {
  return decoder.decode(bytes.subarray(span.start, span.end));
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
