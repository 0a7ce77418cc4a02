import { sha256 } from '@turnlog/kernel';
import { memberSpans, passedOn, type RawJson, type Span, textOf } from './json-text.js';

export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a member that is one. */
export function textMember(members: Members, name: string): string | undefined {
  const value = members[name];
  return typeof value === 'string' ? value : undefined;
}

/** One JSON object of a stream: its value for reading, its bytes for what is passed on. */
export class SourceObject {
  readonly value: Members;
  readonly span: Span;
  /** Physical line, from 1, and position of the object in the stream. */
  readonly line: number;
  readonly offset: number;
  readonly #bytes: Uint8Array;
  #digest: Uint8Array | null = null;
  #sha256: string | null = null;

  constructor(bytes: Uint8Array, span: Span, line: number, offset: number) {
    this.#bytes = bytes;
    this.span = span;
    this.line = line;
    this.offset = offset;
    const value: unknown = JSON.parse(textOf(bytes, span));
    this.value = isMembers(value) ? value : {};
  }

  /** The same object with bytes of its own: those it was read from are used again for the next line. */
  copy(): SourceObject {
    const bytes = this.#bytes.slice(this.span.start, this.span.end);
    return new SourceObject(bytes, { start: 0, end: bytes.length }, this.line, this.offset);
  }

  get length(): number {
    return this.span.end - this.span.start;
  }

  get text(): string {
    return textOf(this.#bytes, this.span);
  }

  /** SHA-256 of the object's bytes. */
  get digest(): Uint8Array {
    this.#digest ??= sha256(this.#bytes.subarray(this.span.start, this.span.end));
    return this.#digest;
  }

  /** The same as 64 hex digits. */
  get sha256(): string {
    this.#sha256 ??= Buffer.from(this.digest).toString('hex');
    return this.#sha256;
  }

  get type(): string {
    return textMember(this.value, 'type') ?? '';
  }

  /** Where the member at `path` stands; undefined when it is not there. */
  spanOf(...path: readonly string[]): Span | undefined {
    let span: Span | undefined = this.span;
    for (const name of path) {
      if (span === undefined) return undefined;
      span = memberSpans(this.#bytes, span).get(name);
    }
    return span;
  }

  /** The bytes that all spans of this object point into. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** The member at `path` as it stands in the source. */
  passed(...path: readonly string[]): RawJson | string | undefined {
    const span = this.spanOf(...path);
    return span === undefined ? undefined : passedOn(this.#bytes, span);
  }
}
