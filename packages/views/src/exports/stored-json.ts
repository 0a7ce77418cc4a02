/**
 * JSON as it is stored, written anew for people and other programs: numbers keep their digits whatever a double makes
 * of them, members keep their order, and halves of surrogate pairs become U+FFFD. No value is built.
 */

import { type JsonToken, JsonTokenizer } from '@turnlog/kernel';
import { wholeText } from './whole-text.js';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The bytes of a member's value, found by the names that lead to it; null when there is none, or it is null. */
export function memberBytes(bytes: Uint8Array, ...names: readonly string[]): Uint8Array | null {
  let found: Uint8Array | null = bytes;
  for (const name of names) found = found === null ? null : ownMemberBytes(found, name);
  return found === null || decoder.decode(found.subarray(0, 4)) === 'null' ? null : found;
}

function ownMemberBytes(bytes: Uint8Array, name: string): Uint8Array | null {
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  if (tokenizer.next() !== 'object-start') return null;
  let found: Uint8Array | null = null;
  while (tokenizer.next() === 'key') {
    const isWanted = stringAt(bytes, tokenizer) === name;
    const token = tokenizer.next();
    const { start } = tokenizer;
    if (token === 'object-start' || token === 'array-start') tokenizer.skipContainer();
    if (isWanted) found = bytes.subarray(start, tokenizer.end);
  }
  return found;
}

/** On one line, without blanks. */
export function compactJson(bytes: Uint8Array): string {
  return [...jsonParts(bytes, null)].join('');
}

/** A member to a line, two blanks a level. */
export function prettyJson(bytes: Uint8Array): string {
  return [...jsonParts(bytes, '  ')].join('');
}

function* jsonParts(bytes: Uint8Array, indent: string | null): Iterable<string> {
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  let before: JsonToken | null = null;
  for (let token = tokenizer.next(); token !== 'end' && token !== 'error'; token = tokenizer.next()) {
    yield gapBefore(token, before, tokenizer.depth, indent);
    yield tokenText(bytes, tokenizer, token);
    before = token;
  }
}

function gapBefore(token: JsonToken, before: JsonToken | null, depth: number, indent: string | null): string {
  if (before === null) return '';
  if (before === 'key') return indent === null ? ':' : ': ';
  const opens = token === 'object-start' || token === 'array-start';
  const isFirst = before === 'object-start' || before === 'array-start';
  const isEnd = token === 'object-end' || token === 'array-end';
  if (isFirst && isEnd) return '';
  const comma = isFirst || isEnd ? '' : ',';
  if (indent === null) return comma;
  return `${comma}\n${indent.repeat(opens ? depth - 1 : depth)}`;
}

function tokenText(bytes: Uint8Array, tokenizer: JsonTokenizer, token: JsonToken): string {
  if (token === 'key' || token === 'string') return JSON.stringify(wholeText(stringAt(bytes, tokenizer)));
  return decoder.decode(bytes.subarray(tokenizer.start, tokenizer.end));
}

function stringAt(bytes: Uint8Array, { start, end }: JsonTokenizer): string {
  const value: unknown = JSON.parse(decoder.decode(bytes.subarray(start, end)));
  return String(value);
}

/** JSON that is copied into a document as it is. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type DocumentJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | RawJson
  | readonly DocumentJson[]
  | DocumentObject;

/** Members that are undefined are left out. */
export interface DocumentObject {
  readonly [member: string]: DocumentJson | undefined;
}

/** The text of a value that an export has made: shallow, so that it can recurse. */
export function documentJson(value: DocumentJson): string {
  if (value instanceof RawJson) return value.text;
  if (typeof value === 'string') return JSON.stringify(wholeText(value));
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map((entry) => documentJson(entry)).join(',')}]`;
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [`${JSON.stringify(wholeText(name))}:${documentJson(member)}`],
  );
  return `{${members.join(',')}}`;
}

function isList(value: readonly DocumentJson[] | DocumentObject): value is readonly DocumentJson[] {
  return Array.isArray(value);
}
