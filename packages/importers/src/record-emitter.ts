import { sha256Text } from '@turnlog/kernel';
import { noLine } from './document-window.js';
import { writeJson } from './json-text.js';
import type { SourceObject } from './source-object.js';
import type { MappedEvent, StreamSource } from './stream-types.js';

/** The idempotency key of the n-th event of a record: the first 128 bits of a digest. */
export function importKey(format: string, identity: string, ordinal: number): string {
  const digest = sha256Text(`${format}\0${identity}\0${ordinal}`, 'base64url');
  // The 22nd digit has two of the 128 bits, and four that follow them.
  const last = digest.charCodeAt(21);
  return `im1:${digest.slice(0, 21)}${lastDigits[last] ?? ''}`;
}

/** By a digit of base64url: the digit with the same first two bits and none of the others. */
const lastDigits: readonly string[] = lastDigitTable();

function lastDigitTable(): string[] {
  const table: string[] = [];
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (let value = 0; value < digits.length; value += 1) {
    table[digits.charCodeAt(value)] = digits.charAt(value & 0x30);
  }
  return table;
}

/** What a record of the source says of itself beside its place. */
export interface RecordMarks {
  readonly id?: string | undefined;
  readonly parent?: string | undefined;
  /** Its time, where its events have another. */
  readonly ts?: string | undefined;
  readonly derived?: readonly string[] | undefined;
}

/** Where an object of the source stands. */
export interface Located {
  readonly line: number;
  readonly offset: number;
  readonly length: number;
  /** Of its bytes, 64 hex digits. */
  readonly sha256: string;
}

/** Changes the members of an event before they are written. */
export type Preparation = (members: object) => object;

/** Writes the events of one record of the source: text, key and, for files, where it came from. */
export class RecordEmitter {
  readonly #format: string;
  readonly #identity: string;
  readonly #object: Located | null;
  readonly #source: Pick<StreamSource, 'file'> | undefined;
  readonly #marks: RecordMarks;
  readonly #sink: (event: MappedEvent) => void;
  readonly #prepare: Preparation;
  #ordinal = 0;
  #srcText: string | null = null;

  constructor(
    format: string,
    identity: string,
    origin: { readonly object: Located | null; readonly source: Pick<StreamSource, 'file'> | undefined },
    marks: RecordMarks,
    sink: (event: MappedEvent) => void,
    prepare: Preparation = (members) => members,
  ) {
    this.#format = format;
    this.#identity = identity;
    this.#object = origin.object;
    this.#source = origin.source;
    this.#marks = marks;
    this.#sink = sink;
    this.#prepare = prepare;
  }

  /** Emits one event; `members` begin with `type`. */
  emit(members: object): void {
    const text = writeJson(this.#prepare(members));
    const src = this.#src();
    const event = { raw: src === null ? text : `${text.slice(0, -1)},"src":${src}}` };
    this.#sink({ event, key: importKey(this.#format, this.#identity, this.#ordinal) });
    this.#ordinal += 1;
  }

  #src(): string | null {
    const object = this.#object;
    if (this.#source === undefined || object === null) return null;
    this.#srcText ??= srcText(this.#source.file, object, this.#marks);
    return this.#srcText;
  }
}

/** Where an event came from, as JSON. Every event has one, so it is put together here. */
function srcText(file: string, { line, offset, length, sha256 }: Located, marks: RecordMarks): string {
  const place = line === noLine ? '' : `,"line":${line}`;
  let text = `{"file":${JSON.stringify(file)}${place},"offset":${offset},"bytes":${length},"sha256":"${sha256}"`;
  for (const name of markNames) {
    const mark = marks[name];
    if (mark !== undefined) text += `,"${name}":${JSON.stringify(mark)}`;
  }
  return `${text}}`;
}

const markNames = ['id', 'parent', 'ts', 'derived'] as const;

/** Counts how often each record has come: its identity where it has no id of its own. */
export class Occurrences {
  readonly #counts = new Map<string, number>();

  /** Digest and occurrence number of a record, from 1. */
  identityOf(object: SourceObject): string {
    const digest = Buffer.from(object.sha256, 'hex').toString('base64url');
    const count = (this.#counts.get(digest) ?? 0) + 1;
    this.#counts.set(digest, count);
    return `${digest}\0${count}`;
  }

  clear(): void {
    this.#counts.clear();
  }
}
