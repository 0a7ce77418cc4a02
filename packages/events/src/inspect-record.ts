import { type JsonToken, JsonTokenizer, limits, TurnlogError } from '@turnlog/kernel';
import { eventRule } from './event-shapes.js';
import { pointerOf } from './internal/json-pointer.js';
import { hasLoneSurrogate, isInexact, isInteger } from './internal/scalar-checks.js';
import { stringValue } from './internal/text-codec.js';
import { isUtf8 } from './internal/utf8-check.js';
import { recordPeeker } from './peek-record.js';
import {
  type AnyRule,
  any,
  type MemberRule,
  type ObjectRule,
  object,
  optional,
  type Rule,
  required,
  type Shape,
  type TaggedRule,
  text,
} from './shape.js';

/** What the full level says of a record. None of it is damage. */
export type ContentFlag =
  | 'unknown-type'
  | 'unknown-item'
  | 'unknown-enum'
  | 'invalid'
  | 'inexact-number'
  | 'lone-surrogate'
  | 'duplicate-member'
  | 'too-deep'
  | 'invalid-utf8'
  | 'misplaced';

/** Where a record breaks the table of its type: a JSON pointer into the record, and the rule that it breaks. */
export interface Fault {
  readonly place: string;
  readonly rule: string;
}

export interface Inspection {
  /** Each at most once, in alphabetical order. */
  readonly flags: readonly ContentFlag[];
  /** At most 100; there is one whenever the flag `invalid` is set. */
  readonly faults: readonly Fault[];
}

const faultsMax = 100;

interface EnvelopeMembers {
  schema_version: string;
  seq?: unknown;
  ts?: unknown;
  key?: string | null;
  salt?: string | null;
  event: unknown;
}

/** Number and time have flags of their own, which depend on the records before. */
const envelopeShape: Shape<EnvelopeMembers> = {
  schema_version: required(text),
  seq: optional(any),
  ts: optional(any),
  key: optional(text),
  salt: optional(text),
  event: { ...required(any), rule: eventRule },
};
const envelopeRule: Rule<EnvelopeMembers> = object(envelopeShape);

/** An open object or list. */
interface Frame {
  readonly rule: AnyRule;
  readonly isObject: boolean;
  /** Names met so far; made with the first. */
  names: Set<string> | null;
  /** One bit for each listed member that was met. */
  met: number;
  /** Name of the member, or position in the list, of the value that is being read. */
  at: string | number;
  member: MemberRule | null;
}

function memberRules(rule: AnyRule): readonly MemberRule[] {
  return rule.kind === 'object' ? rule.members : [];
}

/** The word of the notation for what a rule wants. */
function wordOf(rule: AnyRule): string {
  switch (rule.kind) {
    case 'text':
    case 'choice':
      return 'str';
    case 'flag':
      return 'bool';
    case 'number':
      return 'num';
    case 'integer':
      return rule.name;
    case 'list':
      return 'list';
    default:
      return 'object';
  }
}

class RecordInspector {
  readonly #tokenizer = new JsonTokenizer();
  readonly #ahead = new JsonTokenizer();
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #frames: Frame[] = [];
  readonly flags: Set<ContentFlag> = new Set();
  readonly faults: Fault[] = [];

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#end = end;
    this.#tokenizer.reset(bytes, start, end);
  }

  run(): void {
    for (let token = this.#tokenizer.next(); token !== 'end'; token = this.#tokenizer.next()) {
      if (token === 'error') return;
      if (token === 'key') this.#key();
      else if (token === 'object-end' || token === 'array-end') this.#close();
      else this.#value(token);
    }
  }

  #fault(rule: string, ...below: readonly string[]): void {
    this.flags.add('invalid');
    if (this.faults.length >= faultsMax) return;
    this.faults.push({ place: pointerOf([...this.#frames.map((frame) => frame.at), ...below]), rule });
  }

  #string(): string {
    const { start, end, isPlain } = this.#tokenizer;
    if (!isPlain && hasLoneSurrogate(this.#bytes, start, end)) this.flags.add('lone-surrogate');
    return stringValue(this.#bytes, start, end, isPlain);
  }

  #key(): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    const name = this.#string();
    frame.names ??= new Set();
    if (frame.names.has(name)) this.flags.add('duplicate-member');
    frame.names.add(name);
    frame.at = name;
    const position = frame.rule.kind === 'object' ? frame.rule.positions.get(name) : undefined;
    frame.member = position === undefined ? null : (memberRules(frame.rule)[position] ?? null);
    if (position !== undefined) frame.met |= 1 << position;
  }

  #close(): void {
    const frame = this.#frames.pop();
    if (frame === undefined) return;
    for (const [position, member] of memberRules(frame.rule).entries()) {
      const isNeeded = member.presence === 'required' || member.presence === 'nullable';
      if (isNeeded && (frame.met & (1 << position)) === 0) this.#fault('required', member.name);
    }
  }

  #value(token: JsonToken): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      this.#open(token, envelopeRule);
      return;
    }
    if (!frame.isObject) frame.at = typeof frame.at === 'number' ? frame.at + 1 : 0;
    const rule = this.#ruleWithin(frame);
    if (token === 'object-start' || token === 'array-start') this.#container(token, rule);
    else this.#scalar(token, rule, frame.member);
  }

  #ruleWithin(frame: Frame): AnyRule {
    switch (frame.rule.kind) {
      case 'object':
        return frame.member?.rule ?? any;
      case 'list':
      case 'map':
        return frame.rule.element;
      default:
        return any;
    }
  }

  #container(token: JsonToken, rule: AnyRule): void {
    if (rule.kind === 'any') this.#open(token, any);
    else if (token === 'array-start' && rule.kind === 'list') this.#open(token, rule);
    else if (token === 'object-start' && rule.kind === 'tagged') this.#open(token, this.#variantOf(rule));
    else if (token === 'object-start' && (rule.kind === 'object' || rule.kind === 'map'))
      this.#open(token, rule);
    else {
      this.#fault(wordOf(rule));
      this.#open(token, any);
    }
  }

  /** What lies deeper than a reader decodes is passed over. */
  #open(token: JsonToken, rule: AnyRule): void {
    if (this.#tokenizer.depth > limits.readerNestingLevelsMax) {
      this.flags.add('too-deep');
      this.#tokenizer.skipContainer();
      return;
    }
    const isObject = token === 'object-start';
    this.#frames.push({ rule, isObject, names: null, met: 0, at: isObject ? '' : -1, member: null });
  }

  #variantOf(rule: TaggedRule): ObjectRule {
    const type = this.#typeAhead();
    if (type === null) return rule.other;
    const variant = rule.variants.get(type);
    if (variant === undefined && !rule.isKnown(type)) this.flags.add(rule.unknownFlag);
    return variant ?? rule.other;
  }

  /** The text of the member `type` of the object that has just begun, wherever it stands in it. */
  #typeAhead(): string | null {
    const ahead = this.#ahead;
    let type: string | null = null;
    ahead.reset(this.#bytes, this.#tokenizer.start, this.#end);
    ahead.next();
    while (ahead.next() === 'key') {
      const isType = stringValue(this.#bytes, ahead.start, ahead.end, ahead.isPlain) === 'type';
      const token = ahead.next();
      const isString = token === 'string';
      if (isType) type = isString ? stringValue(this.#bytes, ahead.start, ahead.end, ahead.isPlain) : null;
      if (token === 'object-start' || token === 'array-start') ahead.skipContainer();
    }
    return type;
  }

  #scalar(token: JsonToken, rule: AnyRule, member: MemberRule | null): void {
    const { start, end } = this.#tokenizer;
    if (token === 'string') this.#text(this.#string(), rule);
    else if (token === 'number') this.#number(start, end, rule);
    else if (this.#bytes[start] === 0x6e) this.#null(rule, member);
    else if (rule.kind !== 'flag' && rule.kind !== 'any') this.#fault(wordOf(rule));
  }

  #text(value: string, rule: AnyRule): void {
    if (rule.kind === 'choice') {
      if (!rule.values.has(value)) this.flags.add(rule.unknownFlag);
    } else if (rule.kind !== 'text' && rule.kind !== 'any') this.#fault(wordOf(rule));
  }

  #number(start: number, end: number, rule: AnyRule): void {
    if (isInexact(this.#bytes, start, end)) this.flags.add('inexact-number');
    if (rule.kind === 'any' || rule.kind === 'number') return;
    if (rule.kind !== 'integer' || !isInteger(this.#bytes, start, end, rule)) this.#fault(wordOf(rule));
  }

  #null(rule: AnyRule, member: MemberRule | null): void {
    if (member === null) {
      if (rule.kind !== 'any') this.#fault('not null');
    } else if (member.presence === 'required' || member.presence === 'defaulted') this.#fault('not null');
  }
}

/**
 * Inspects one record at the full level: what is unknown, what breaks the table of its type, and what
 * readers of other kinds could trip over. Takes any depth; memory stays within the reader's nesting.
 *
 * @param isFirstRecord whether it is the first record of its log: the only place where `log.evicted` counts.
 * @throws TURNLOG_INVALID_EVENT when the line is no record; details: place, rule (the kind of damage).
 */
export function inspectRecord(
  bytes: Uint8Array,
  start: number,
  end: number,
  isFirstRecord: boolean,
): Inspection {
  const peeked = recordPeeker.peekRecord(bytes, start, end);
  if (typeof peeked === 'string') {
    throw new TurnlogError('TURNLOG_INVALID_EVENT', { details: { place: '', rule: peeked } });
  }
  const inspector = new RecordInspector(bytes, start, end);
  inspector.run();
  if (!isUtf8(bytes, start, end)) inspector.flags.add('invalid-utf8');
  if (peeked.type === 'log.evicted' && !isFirstRecord) inspector.flags.add('misplaced');
  return { flags: [...inspector.flags].sort(), faults: inspector.faults };
}
