import { JsonTokenizer, limits, nestingLevels, TurnlogError } from '@turnlog/kernel';

/**
 * A JSON value as its text has it: numbers are the text they were written as, so that `1.0`, `1e400` and integers
 * beyond 2^53 stay what they are. Of a member that is given twice the last counts, as in JSON.parse.
 */
export type StoredValue =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, StoredValue> }
  | { readonly kind: 'array'; readonly items: readonly StoredValue[] }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'literal'; readonly text: 'true' | 'false' | 'null' };

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function invalid(rule: string): TurnlogError {
  return new TurnlogError('TURNLOG_INVALID_EVENT', { details: { place: '', rule } });
}

/** @throws TURNLOG_INVALID_EVENT when the bytes are no JSON text; TURNLOG_TOO_DEEP beyond the reader's nesting. */
export function readStored(bytes: Uint8Array, start = 0, end: number = bytes.length): StoredValue {
  const levels = nestingLevels(bytes, { start, end });
  if (levels > limits.readerNestingLevelsMax) {
    throw new TurnlogError('TURNLOG_TOO_DEEP', {
      details: { nestingLevels: levels, nestingLevelsMax: limits.readerNestingLevelsMax },
    });
  }
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, start, end);
  const value = valueFrom(tokenizer, bytes, tokenizer.next());
  if (tokenizer.next() !== 'end') throw invalid('unreadable');
  return value;
}

function valueFrom(tokenizer: JsonTokenizer, bytes: Uint8Array, token: string): StoredValue {
  switch (token) {
    case 'object-start':
      return objectFrom(tokenizer, bytes);
    case 'array-start':
      return arrayFrom(tokenizer, bytes);
    case 'string':
      return { kind: 'string', text: stringAt(tokenizer, bytes) };
    case 'number':
      return { kind: 'number', text: textAt(tokenizer, bytes) };
    case 'literal':
      return literal(textAt(tokenizer, bytes));
    default:
      throw invalid('unreadable');
  }
}

function objectFrom(tokenizer: JsonTokenizer, bytes: Uint8Array): StoredValue {
  const members = new Map<string, StoredValue>();
  for (let token = tokenizer.next(); token !== 'object-end'; token = tokenizer.next()) {
    if (token !== 'key') throw invalid('unreadable');
    const name = stringAt(tokenizer, bytes);
    members.set(name, valueFrom(tokenizer, bytes, tokenizer.next()));
  }
  return { kind: 'object', members };
}

function arrayFrom(tokenizer: JsonTokenizer, bytes: Uint8Array): StoredValue {
  const items: StoredValue[] = [];
  for (let token = tokenizer.next(); token !== 'array-end'; token = tokenizer.next()) {
    items.push(valueFrom(tokenizer, bytes, token));
  }
  return { kind: 'array', items };
}

function textAt({ start, end }: JsonTokenizer, bytes: Uint8Array): string {
  return decoder.decode(bytes.subarray(start, end));
}

function stringAt(tokenizer: JsonTokenizer, bytes: Uint8Array): string {
  const text = textAt(tokenizer, bytes);
  return tokenizer.isPlain ? text.slice(1, -1) : String(JSON.parse(text));
}

function literal(text: string): StoredValue {
  return { kind: 'literal', text: text === 'true' ? 'true' : text === 'false' ? 'false' : 'null' };
}

/** The JSON text of a value, members in their order, numbers as they were written. */
export function storedText(value: StoredValue): string {
  return textOfValue(value, (members) => [...members], asIs);
}

/** The one text of a value whatever the order of its members: names sorted by code units. */
export function canonicalText(value: StoredValue, stringOf: (text: string) => string = asIs): string {
  const sorted = (members: ReadonlyMap<string, StoredValue>): (readonly [string, StoredValue])[] =>
    [...members].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return textOfValue(value, sorted, stringOf);
}

const asIs = (text: string): string => text;

function textOfValue(
  value: StoredValue,
  inOrder: (members: ReadonlyMap<string, StoredValue>) => readonly (readonly [string, StoredValue])[],
  stringOf: (text: string) => string,
): string {
  if (value.kind === 'object') {
    const parts = inOrder(value.members).map(
      ([name, member]) => `${JSON.stringify(stringOf(name))}:${textOfValue(member, inOrder, stringOf)}`,
    );
    return `{${parts.join(',')}}`;
  }
  if (value.kind === 'array')
    return `[${value.items.map((item) => textOfValue(item, inOrder, stringOf)).join(',')}]`;
  return value.kind === 'string' ? JSON.stringify(stringOf(value.text)) : value.text;
}

/** A member of an object; undefined when there is none, or the value is no object. */
export function storedMember(value: StoredValue | undefined, name: string): StoredValue | undefined {
  return value?.kind === 'object' ? value.members.get(name) : undefined;
}

/** A member that is a text; null for any other. */
export function storedString(value: StoredValue | undefined, name: string): string | null {
  const member = storedMember(value, name);
  return member?.kind === 'string' ? member.text : null;
}

/** A member that is a whole number which a double holds; null for any other. */
export function storedCount(value: StoredValue | undefined, name: string): number | null {
  const member = storedMember(value, name);
  if (member?.kind !== 'number' || !/^\d{1,16}$/.test(member.text)) return null;
  const count = Number(member.text);
  return Number.isSafeInteger(count) ? count : null;
}

export function objectOf(members: Readonly<Record<string, StoredValue | undefined>>): StoredValue {
  const present = new Map<string, StoredValue>();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) present.set(name, value);
  return { kind: 'object', members: present };
}

export function stringOf(text: string): StoredValue {
  return { kind: 'string', text };
}

export const storedNull: StoredValue = { kind: 'literal', text: 'null' };
