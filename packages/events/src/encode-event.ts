import { limits, TurnlogError } from '@turnlog/kernel';
import { eventRule } from './event-shapes.js';
import { isStoredAsGiven } from './internal/as-given.js';
import { writeEvent } from './internal/event-writer.js';
import { utf8Bytes } from './internal/text-codec.js';
import { type LifecycleKind, lifecycleKindOf } from './lifecycle-kind.js';
import { recordPeeker } from './peek-record.js';

/** The text of one event object, checked and ready to be embedded in a line. */
export interface EncodedEvent {
  readonly text: string;
  readonly type: string;
  /** What the event is to the state machine; a redacted record counts as what it was. */
  readonly kind: LifecycleKind;
}

/** Line separators that common splitters cut at; escaped although JSON allows them raw. */
const separators: readonly (readonly [character: string, replacement: string])[] = [
  ['\u0085', '\\u0085'],
  ['\u2028', '\\u2028'],
  ['\u2029', '\\u2029'],
];

/** JSON text with the three separators as escapes; they can only stand inside of strings. */
export function withEscapedSeparators(text: string): string {
  let escaped = text;
  for (const [character, replacement] of separators) {
    if (escaped.includes(character)) escaped = escaped.replaceAll(character, replacement);
  }
  return escaped;
}

function refuse(place: string, rule: string): never {
  throw new TurnlogError('TURNLOG_INVALID_EVENT', { details: { place, rule } });
}

/**
 * The text of an event that is given as a value (C-2, C-3), at the full level: an event of a known type must
 * be valid. Members of known shapes stand in the order of their table, with the defaults that are always
 * written; others follow in their own order. `undefined` members are left out, BigInt is written as digits.
 *
 * @throws TURNLOG_INVALID_EVENT when JSON would change the value or it breaks a rule of its type; details:
 *   place (a JSON pointer into the event), rule. TURNLOG_TOO_DEEP beyond the writer's nesting, the envelope
 *   being level 1. TURNLOG_RECORD_TOO_LARGE when it cannot fit into a line.
 */
export function encodeEvent(event: unknown): EncodedEvent {
  const plain = isStoredAsGiven(event, eventRule) ? JSON.stringify(event) : writeEvent(event, eventRule);
  const text = withEscapedSeparators(plain);
  const type = leadingType(text);
  if (type === 'log.redacted') return { text, type, kind: originalKind(text) };
  return { text, type, kind: lifecycleKindOf(type) };
}

const typeHead = '{"type":"';

/** The type, which every text that was written by rule begins with. It must not need an escape (C-2). */
function leadingType(text: string): string {
  const end = text.indexOf('"', typeHead.length);
  const type = text.slice(typeHead.length, end);
  return type.includes('\\') ? refuse('/type', 'no escape') : type;
}

function originalKind(text: string): LifecycleKind {
  const bytes = utf8Bytes(text);
  const peeked = recordPeeker.peekEvent(bytes, 0, bytes.length);
  return typeof peeked === 'string' ? 'other' : peeked.kind;
}

const loneSurrogate = /\p{Surrogate}/gu;

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`;
}

/**
 * The text of an event that is given as JSON (C-4), kept as it is: only line ends between tokens become
 * blanks, and half surrogate pairs, which have no bytes, become their escapes. The lifecycle level applies,
 * so an event of a known type need not be valid in every member.
 *
 * @throws TURNLOG_INVALID_EVENT when it is not one JSON object with one text `type`, or lacks what a
 *   lifecycle event needs; details: place, rule (the kind of damage the line would be). TURNLOG_TOO_DEEP,
 *   TURNLOG_RECORD_TOO_LARGE as for values.
 */
export function encodeRawEvent(text: string): EncodedEvent {
  if (text.length > limits.writerLineBytesMax) {
    throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', {
      details: { lineBytesMax: limits.writerLineBytesMax },
    });
  }
  const bytes = utf8Bytes(text);
  const peeked = recordPeeker.peekEvent(bytes, 0, bytes.length);
  if (typeof peeked === 'string') return refuse('', peeked);
  if (recordPeeker.deepest + 1 > limits.writerNestingLevelsMax) {
    throw new TurnlogError('TURNLOG_TOO_DEEP', {
      details: { nestingLevelsMax: limits.writerNestingLevelsMax },
    });
  }
  // A line end inside of a string would not have parsed, so all that are left stand between tokens.
  const line = text.replaceAll('\n', ' ').replaceAll('\r', ' ').replace(loneSurrogate, escapeOf);
  return { text: line, type: peeked.type, kind: peeked.kind };
}
