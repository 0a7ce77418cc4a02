import { assert } from '@turnlog/kernel';
import {
  elementSpans,
  isNestedTooDeep,
  memberSpans,
  passedLevelsMax,
  passedOn,
  RawJson,
  type Span,
  textOf,
} from './json-text.js';

/** The text that values stand in. */
export interface SourceText {
  readonly bytes: Uint8Array;
  /**
   * Whether the text is the one that `JSON.stringify` makes of its value. Then every value inside is written as
   * `JSON.stringify` writes it, and need not be looked for in the bytes.
   */
  readonly isAsStringified: boolean;
}

/** A value of a source: for reading, and as it is written there. */
export class SourceValue {
  readonly value: unknown;
  readonly #source: SourceText;
  /** Where it stands, or the value that it is a member or element of. */
  readonly #place: Span | { readonly outer: SourceValue; readonly name: string | number };
  #members: ReadonlyMap<string, Span> | null = null;
  #elements: readonly Span[] | null = null;

  constructor(
    source: SourceText,
    value: unknown,
    place: Span | { outer: SourceValue; name: string | number },
  ) {
    this.#source = source;
    this.value = value;
    this.#place = place;
  }

  /** The member of that name; undefined when there is none. */
  member(name: string): SourceValue | undefined {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    const member: unknown = Reflect.get(value, name);
    return new SourceValue(this.#source, member, { outer: this, name });
  }

  /** Names of the members, in the order in which they are written. */
  get names(): readonly string[] {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return this.#source.isAsStringified ? Object.keys(value) : [...this.#memberSpans().keys()];
  }

  /** The elements of a list; none when it is no list. */
  get elements(): readonly SourceValue[] {
    const { value } = this;
    if (!Array.isArray(value)) return [];
    return value.map(
      (element: unknown, name) => new SourceValue(this.#source, element, { outer: this, name }),
    );
  }

  /** As it is written. */
  get text(): string {
    const { bytes, isAsStringified } = this.#source;
    return isAsStringified ? JSON.stringify(this.value) : textOf(bytes, this.span);
  }

  get span(): Span {
    if (!('outer' in this.#place)) return this.#place;
    const { outer, name } = this.#place;
    const span = typeof name === 'string' ? outer.#memberSpans().get(name) : outer.#elementSpans()[name];
    assert(span !== undefined, 'what was parsed stands in the text');
    return span;
  }

  /** The value as it stands in the source; one that is nested very deep, as text that holds its JSON. */
  passed(): RawJson | string {
    const { bytes, isAsStringified } = this.#source;
    if (!isAsStringified) return passedOn(bytes, this.span);
    return isNestedTooDeep(this.value, passedLevelsMax) ? this.text : new RawJson(this.text);
  }

  #memberSpans(): ReadonlyMap<string, Span> {
    this.#members ??= memberSpans(this.#source.bytes, this.span);
    return this.#members;
  }

  #elementSpans(): readonly Span[] {
    this.#elements ??= elementSpans(this.#source.bytes, this.span);
    return this.#elements;
  }
}
