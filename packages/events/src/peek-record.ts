import { type JsonToken, JsonTokenizer } from '@turnlog/kernel';
import { NameTable } from './internal/name-table.js';
import { stringValue } from './internal/text-codec.js';
import { type LifecycleKind, lifecycleKindOf } from './lifecycle-kind.js';
import { knownEventNames } from './reserved-names.js';
import { schemaVersion } from './schema-version.js';

/**
 * Why bytes hold no record.
 *
 * `blank`, `nul-run`: nothing but blanks, or zero bytes. `unreadable`: not one JSON text. `not-a-record`: JSON
 * without version, event or type. `duplicate-key`: a member that identifies the record stands there twice.
 * `lifecycle`: a lifecycle event without what the state machine needs. `fused-stub`: in front of a record on
 * its line. `too-long`: over the reader's limit. `torn-tail`: unfinished last bytes.
 */
export type DamageKind =
  | 'blank'
  | 'nul-run'
  | 'unreadable'
  | 'not-a-record'
  | 'duplicate-key'
  | 'lifecycle'
  | 'fused-stub'
  | 'too-long'
  | 'torn-tail';

/** What a scan needs to know of a record, without building its value. */
export interface PeekedRecord {
  /** The event's type, escapes decoded. */
  readonly type: string;
  /** What the record is to the state machine; a redacted record counts as what it was. */
  readonly kind: LifecycleKind;
  /** Null when missing or not a whole number from 1 to 2^53-1. */
  readonly statedSeq: number | null;
  /** Whether a member `seq` is there at all. */
  readonly hasSeq: boolean;
  /** The stated time as written when it is a string, else null. */
  readonly ts: string | null;
  readonly hasTs: boolean;
  readonly key: string | null;
  readonly schemaVersion: string;
  /** Whether a member's name or a text in it is `asset`: no other record names a blob. */
  readonly hasAssetWord: boolean;
  /** Levels of nesting, those of the envelope and the event included. */
  readonly nestingLevels: number;
  /** Where the event object begins and ends within the bytes that were given. */
  readonly eventStart: number;
  readonly eventEnd: number;
}

/** What an event object by itself tells. */
export interface PeekedEvent {
  readonly type: string;
  readonly kind: LifecycleKind;
}

/** A member's value as it stands in the bytes; `token` null while it has not been met. */
interface Slot {
  token: JsonToken | null;
  start: number;
  end: number;
  isPlain: boolean;
}

function makeSlots(count: number): readonly Slot[] {
  return Array.from({ length: count }, () => ({ token: null, start: 0, end: 0, isPlain: true }));
}

const envelopeNames: NameTable = new NameTable(['schema_version', 'seq', 'ts', 'key', 'salt', 'event']);
const [versionAt, seqAt, tsAt, keyAt, saltAt, eventAt] = [0, 1, 2, 3, 4, 5] as const;

const eventNames: NameTable = new NameTable([
  'type',
  'thread_id',
  'session_id',
  'subtype',
  'outcome_code',
  'usage',
  'num_turns',
  'message',
  'original_type',
]);
const [
  typeAt,
  threadIdAt,
  sessionIdAt,
  subtypeAt,
  outcomeCodeAt,
  usageAt,
  numTurnsAt,
  messageAt,
  originalTypeAt,
] = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;

const typeNames: NameTable = new NameTable(knownEventNames);
const versionNames: NameTable = new NameTable([schemaVersion]);

const digitZero = 0x30;

/** A whole number from 1 to 2^53-1 written in digits, or null. */
function positiveInteger(bytes: Uint8Array, start: number, end: number): number | null {
  if (end - start > 16) return null;
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] as number) - digitZero;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value >= 1 && value <= Number.MAX_SAFE_INTEGER ? value : null;
}

function isDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] as number) - digitZero;
    if (digit < 0 || digit > 9) return false;
  }
  return true;
}

/**
 * Reads the members that matter of one envelope, or of one event object. One of it serves all calls: reading
 * is synchronous, and what it has found is taken out before the next call.
 */
class RecordPeeker {
  readonly #tokenizer = new JsonTokenizer('asset');
  readonly #envelope = makeSlots(6);
  readonly #event = makeSlots(9);
  #bytes: Uint8Array = new Uint8Array(0);
  #isDoubled = false;

  /** Levels of nesting of the text that was read last, in so far as it could be read. */
  get deepest(): number {
    return this.#tokenizer.deepest;
  }

  peekRecord(bytes: Uint8Array, start: number, end: number): PeekedRecord | DamageKind {
    this.#begin(bytes, start, end);
    const first = this.#tokenizer.next();
    if (first !== 'object-start') return this.#otherJson(first);
    if (!this.#envelopeMembers()) return 'unreadable';
    if (this.#tokenizer.next() !== 'end') return 'unreadable';
    return this.#judge();
  }

  /** As `peekRecord`, for the text of an event object alone. */
  peekEvent(bytes: Uint8Array, start: number, end: number): PeekedEvent | DamageKind {
    this.#begin(bytes, start, end);
    const first = this.#tokenizer.next();
    if (first !== 'object-start') return this.#otherJson(first);
    if (!this.#eventMembers()) return 'unreadable';
    if (this.#tokenizer.next() !== 'end') return 'unreadable';
    const type = this.#text(this.#event[typeAt], typeNames);
    if (type === null) return 'not-a-record';
    if (this.#isDoubled) return 'duplicate-key';
    const kind = lifecycleKindOf(type);
    if (!this.#hasLifecycleMembers(kind)) return 'lifecycle';
    return { type, kind: type === 'log.redacted' ? this.#originalKind() : kind };
  }

  /** Where the JSON text that begins at `start` ends; -1 when it is none, or goes on to `end` and is cut. */
  endOfObject(bytes: Uint8Array, start: number, end: number): number {
    this.#begin(bytes, start, end);
    if (this.#tokenizer.next() !== 'object-start') return -1;
    return this.#tokenizer.skipContainer() ? this.#tokenizer.end : -1;
  }

  /** The salt of the record that was read last. */
  salt(): string | null {
    return this.#text(this.#envelope[saltAt], null);
  }

  #begin(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#isDoubled = false;
    this.#tokenizer.reset(bytes, start, end);
    for (const slot of this.#envelope) slot.token = null;
    for (const slot of this.#event) slot.token = null;
  }

  /** What a text is that does not begin with an object: JSON or not. */
  #otherJson(first: JsonToken): DamageKind {
    const tokenizer = this.#tokenizer;
    if (first === 'error') return 'unreadable';
    if (tokenizer.depth > 0 && !tokenizer.skipContainer()) return 'unreadable';
    return tokenizer.next() === 'end' ? 'not-a-record' : 'unreadable';
  }

  #find(names: NameTable): number {
    const { start, end, isPlain } = this.#tokenizer;
    if (isPlain) return names.find(this.#bytes, start + 1, end - 1);
    const text = new TextEncoder().encode(stringValue(this.#bytes, start, end, false));
    return names.find(text, 0, text.length);
  }

  /** Reads up to the end of the envelope; false when the text is broken. */
  #envelopeMembers(): boolean {
    const tokenizer = this.#tokenizer;
    let token = tokenizer.next();
    while (token === 'key') {
      const position = this.#find(envelopeNames);
      const slot = this.#envelope[position];
      if (slot !== undefined && slot.token !== null) this.#isDoubled = true;
      token = tokenizer.next();
      const isRead =
        position === eventAt && token === 'object-start' ? this.#eventObject(slot) : this.#value(slot, token);
      if (!isRead) return false;
      token = tokenizer.next();
    }
    return token === 'object-end';
  }

  #eventObject(slot: Slot | undefined): boolean {
    const start = this.#tokenizer.start;
    for (const member of this.#event) member.token = null;
    if (!this.#eventMembers()) return false;
    if (slot !== undefined) {
      slot.token = 'object-start';
      slot.start = start;
      slot.end = this.#tokenizer.end;
    }
    return true;
  }

  #eventMembers(): boolean {
    const tokenizer = this.#tokenizer;
    let token = tokenizer.next();
    while (token === 'key') {
      const position = this.#find(eventNames);
      const slot = this.#event[position];
      if (position === typeAt && slot !== undefined && slot.token !== null) this.#isDoubled = true;
      if (!this.#value(slot, tokenizer.next())) return false;
      token = tokenizer.next();
    }
    return token === 'object-end';
  }

  /** Passes over the value whose first token was just read, and keeps where it stands. */
  #value(slot: Slot | undefined, token: JsonToken): boolean {
    const tokenizer = this.#tokenizer;
    const start = tokenizer.start;
    const isPlain = tokenizer.isPlain;
    if (token === 'error') return false;
    if (token === 'object-start' || token === 'array-start') {
      if (!tokenizer.skipContainer()) return false;
    }
    if (slot !== undefined) {
      slot.token = token;
      slot.start = start;
      slot.end = tokenizer.end;
      slot.isPlain = isPlain;
    }
    return true;
  }

  #text(slot: Slot | undefined, names: NameTable | null): string | null {
    if (slot === undefined || slot.token !== 'string') return null;
    if (slot.isPlain && names !== null) return names.text(this.#bytes, slot.start + 1, slot.end - 1);
    return stringValue(this.#bytes, slot.start, slot.end, slot.isPlain);
  }

  #isString(position: number): boolean {
    return this.#event[position]?.token === 'string';
  }

  #judge(): PeekedRecord | DamageKind {
    const event = this.#envelope[eventAt];
    const version = this.#text(this.#envelope[versionAt], versionNames);
    if (version === null || event === undefined || event.token !== 'object-start') return 'not-a-record';
    const type = this.#text(this.#event[typeAt], typeNames);
    if (type === null) return 'not-a-record';
    if (this.#isDoubled) return 'duplicate-key';
    const kind = lifecycleKindOf(type);
    if (!this.#hasLifecycleMembers(kind)) return 'lifecycle';
    const seq = this.#envelope[seqAt];
    return {
      type,
      kind: type === 'log.redacted' ? this.#originalKind() : kind,
      statedSeq: seq?.token === 'number' ? positiveInteger(this.#bytes, seq.start, seq.end) : null,
      hasSeq: seq?.token !== null,
      ts: this.#text(this.#envelope[tsAt], null),
      hasTs: this.#envelope[tsAt]?.token !== null,
      key: this.#text(this.#envelope[keyAt], null),
      schemaVersion: version,
      hasAssetWord: this.#tokenizer.hasMetWord,
      nestingLevels: this.#tokenizer.deepest,
      eventStart: event.start,
      eventEnd: event.end,
    };
  }

  /** A redacted record keeps its part in the lifecycle, whatever became of its members (C-17). */
  #originalKind(): LifecycleKind {
    const original = this.#text(this.#event[originalTypeAt], typeNames);
    return original === null ? 'other' : lifecycleKindOf(original);
  }

  /** What the state machine needs of each lifecycle event (C-33). */
  #hasLifecycleMembers(kind: LifecycleKind): boolean {
    switch (kind) {
      case 'thread-started':
        return this.#isString(threadIdAt);
      case 'turn-completed':
        return this.#hasUsage();
      case 'turn-failed':
        return this.#isString(messageAt);
      case 'thread-completed':
        return this.#hasThreadTexts() && this.#hasUsage() && this.#hasTurnCount();
      case 'turn-started':
      case 'other':
        return true;
    }
  }

  #hasThreadTexts(): boolean {
    return [threadIdAt, sessionIdAt, subtypeAt, outcomeCodeAt].every((position) => this.#isString(position));
  }

  #hasUsage(): boolean {
    return this.#event[usageAt]?.token === 'object-start';
  }

  #hasTurnCount(): boolean {
    const slot = this.#event[numTurnsAt];
    return slot?.token === 'number' && isDigits(this.#bytes, slot.start, slot.end);
  }
}

export const recordPeeker: RecordPeeker = new RecordPeeker();

/** One whole line, without its 0x0A, as one record; or why it is none (C-31 to C-33). Nothing is salvaged. */
export function peekRecord(bytes: Uint8Array, start: number, end: number): PeekedRecord | DamageKind {
  return recordPeeker.peekRecord(bytes, start, end);
}
