import { limits } from '@turnlog/kernel';
import { headerKind } from './redaction-names.js';

/** Gives one decoded string without its secrets; `name` is the one that announces it, as a member's. */
export type Replace = (text: string, name: string | null) => string;

/** A string that stands beside the name that announces it, known when their object or array ends. */
export interface LateName<Place> {
  readonly name: string;
  readonly text: string;
  readonly place: Place;
}

interface Frame<Place> {
  readonly kind: 'object' | 'array';
  /** The name that the strings of an array stand under. */
  readonly name: string | null;
  /** The name of the present member, or the string before the present element. */
  last: string | null;
  count: number;
  /** Whether it is a record: the outermost object, after one of the members that records begin with. */
  isRecord: boolean;
  /** A name given as a value: `{"name": …, "value": …}`, `[name, value]`. */
  label: string | null;
  labelled: { readonly text: string; readonly place: Place } | null;
}

const labelNames: ReadonlySet<string> = new Set(['name', 'key', 'header', 'k']);
const valueNames: ReadonlySet<string> = new Set(['value', 'v']);
/** What records begin with, as stored and as printed. */
const recordNames: ReadonlySet<string> = new Set(['schema_version', 'seq']);
const option = /^--?[A-Za-z]/;
const ownHeader = /^x-[a-z]/i;

/**
 * Says by which name each string of a JSON value is announced, told of the value in document order. `Place` is
 * how the teller finds a string again.
 *
 * Below `limits.readerNestingLevelsMax` levels names are not followed any more.
 */
export class NameContext<Place> {
  readonly #frames: Frame<Place>[] = [];
  #beyondCount = 0;

  open(kind: 'object' | 'array'): void {
    const name = kind === 'array' ? this.#memberName() : null;
    this.#count(null);
    if (this.#beyondCount > 0 || this.#frames.length >= limits.readerNestingLevelsMax) {
      this.#beyondCount += 1;
      return;
    }
    this.#frames.push({ kind, name, last: null, count: 0, isRecord: false, label: null, labelled: null });
  }

  /** Ends an object or array; returns a string that its neighbour turns out to announce. */
  close(): LateName<Place> | null {
    if (this.#beyondCount > 0) {
      this.#beyondCount -= 1;
      return null;
    }
    const frame = this.#frames.pop();
    if (frame === undefined || frame.label === null || frame.labelled === null) return null;
    if (frame.kind === 'array' && frame.count !== 2) return null;
    return { name: frame.label, ...frame.labelled };
  }

  /** The next member has this name. */
  key(name: string): void {
    const frame = this.#frame();
    if (frame === null) return;
    frame.last = name;
    if (this.#frames.length === 1 && recordNames.has(name)) frame.isRecord = true;
  }

  /** A number or literal comes. */
  other(): void {
    this.#count(null);
  }

  /** A string comes; returns the name that announces it, or null. */
  text(text: string, place: Place): string | null {
    const frame = this.#frame();
    if (frame === null) return null;
    const name = frame.kind === 'object' ? this.#memberName() : (announcing(frame.last) ?? frame.name);
    this.#label(frame, text, place);
    this.#count(text);
    return name;
  }

  #frame(): Frame<Place> | null {
    return this.#beyondCount > 0 ? null : (this.#frames.at(-1) ?? null);
  }

  /** The name of the present member. The key of a record names it, and is no secret for that. */
  #memberName(): string | null {
    const frame = this.#frame();
    if (frame?.kind !== 'object') return frame?.name ?? null;
    return frame.isRecord && frame.last === 'key' ? null : frame.last;
  }

  #label(frame: Frame<Place>, text: string, place: Place): void {
    const isObject = frame.kind === 'object';
    const name = (frame.last ?? '').toLowerCase();
    if (isObject ? labelNames.has(name) : frame.count === 0) frame.label = text;
    if (isObject ? valueNames.has(name) : frame.count === 1) frame.labelled = { text, place };
  }

  #count(text: string | null): void {
    const frame = this.#frame();
    if (frame === null) return;
    frame.count += 1;
    if (frame.kind === 'array') frame.last = text;
  }
}

/** An element that announces the next one: an option of a command line, or the name of a header. */
function announcing(previous: string | null): string | null {
  if (previous === null) return null;
  if (option.test(previous)) return previous.replace(/^--?/, '');
  return headerKind(previous) !== null || ownHeader.test(previous) ? previous : null;
}
