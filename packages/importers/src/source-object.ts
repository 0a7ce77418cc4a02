import { sha256Hex } from '@turnlog/kernel';
import { type RawJson, type Span, textOf } from './json-text.js';
import { type SourceText, SourceValue } from './source-value.js';

export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a member that is one. */
export function textMember(members: Members, name: string): string | undefined {
  const value = members[name];
  return typeof value === 'string' ? value : undefined;
}

/** One JSON object of a stream: its value for reading, its bytes, which nobody changes, for what is passed on. */
export class SourceObject implements SourceText {
  readonly value: Members;
  readonly span: Span;
  /** Physical line, from 1, and position of the object in the stream. */
  readonly line: number;
  readonly offset: number;
  /** The bytes that all spans of this object point into. */
  readonly bytes: Uint8Array;
  #sha256: string | null = null;
  #isAsStringified: boolean | null = null;

  constructor(bytes: Uint8Array, span: Span, line: number, offset: number) {
    this.bytes = bytes;
    this.span = span;
    this.line = line;
    this.offset = offset;
    const value: unknown = JSON.parse(textOf(bytes, span));
    this.value = isMembers(value) ? value : {};
  }

  get length(): number {
    return this.span.end - this.span.start;
  }

  get text(): string {
    return textOf(this.bytes, this.span);
  }

  get isAsStringified(): boolean {
    this.#isAsStringified ??= JSON.stringify(this.value) === this.text;
    return this.#isAsStringified;
  }

  /** SHA-256 of the object's bytes, 64 hex digits. */
  get sha256(): string {
    this.#sha256 ??= sha256Hex(this.bytes.subarray(this.span.start, this.span.end));
    return this.#sha256;
  }

  get type(): string {
    return textMember(this.value, 'type') ?? '';
  }

  /** The member at `path`; undefined when it is not there. */
  at(...path: readonly string[]): SourceValue | undefined {
    let found: SourceValue | undefined = new SourceValue(this, this.value, this.span);
    for (const name of path) found = found?.member(name);
    return found;
  }

  /** Where the member at `path` stands; undefined when it is not there. */
  spanOf(...path: readonly string[]): Span | undefined {
    return this.at(...path)?.span;
  }

  /** The member at `path` as it stands in the source. */
  passed(...path: readonly string[]): RawJson | string | undefined {
    return this.at(...path)?.passed();
  }
}
