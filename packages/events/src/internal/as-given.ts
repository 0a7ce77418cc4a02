import { limits, TurnlogError } from '@turnlog/kernel';
import type {
  AnyRule,
  IntegerRule,
  ListBounds,
  ListRule,
  MemberRule,
  ObjectRule,
  TaggedRule,
} from '../shape.js';
import { compareCodePoints } from './code-point-order.js';

/**
 * The fast path of writing: whether a value fits its rule and `JSON.stringify` writes it as it must stand in
 * the log. It never explains and gives up at anything out of the ordinary; the writer in `event-writer.ts`
 * then does the whole work and says what is wrong.
 */

/** How many characters the value may still hold; every value takes at least one. */
const budget = { characters: 0 };

/**
 * Whether `JSON.stringify(event)` is the text to store.
 *
 * @throws TURNLOG_RECORD_TOO_LARGE when what was seen of the value already cannot fit into a line.
 */
export function isStoredAsGiven(event: unknown, rule: AnyRule): boolean {
  budget.characters = limits.writerLineBytesMax;
  const isFit = fits(event, rule, 2);
  if (budget.characters >= 0) return isFit;
  throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', {
    details: { lineBytesMax: limits.writerLineBytesMax },
  });
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isText(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  budget.characters -= value.length;
  return true;
}

function isInteger(value: unknown, rule: IntegerRule): boolean {
  return (
    Number.isSafeInteger(value) && Number(value) >= Number(rule.least) && Number(value) <= Number(rule.most)
  );
}

function fits(value: unknown, rule: AnyRule, level: number): boolean {
  budget.characters -= 1;
  switch (rule.kind) {
    case 'any':
      return isSafe(value, level);
    case 'text':
    case 'choice':
      return isText(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'number':
      return Number.isFinite(value);
    case 'integer':
      return isInteger(value, rule);
    case 'list':
      return fitsList(value, rule, level);
    case 'map':
      return fitsMap(value, rule.element, level);
    case 'object':
      return fitsObject(value, rule, level);
    case 'tagged':
      return fitsTagged(value, rule, level);
  }
}

function isWithin(level: number): boolean {
  return level <= limits.writerNestingLevelsMax && budget.characters >= 0;
}

/** Bytes are for the careful path to count. */
function isBounded(items: readonly unknown[], bounds: ListBounds): boolean {
  const isCounted = bounds.bytesMax === undefined && bounds.itemBytesMax === undefined;
  return isCounted && items.length <= bounds.itemsMax;
}

function fitsList(value: unknown, rule: ListRule, level: number): boolean {
  if (!Array.isArray(value) || !isWithin(level)) return false;
  if (rule.bounds !== null && !isBounded(value, rule.bounds)) return false;
  for (let index = 0; index < value.length; index += 1) {
    if (!fits(value[index], rule.element, level + 1)) return false;
  }
  return true;
}

function fitsMap(value: unknown, element: AnyRule, level: number): boolean {
  if (!isPlainObject(value) || !isWithin(level)) return false;
  let previous: string | null = null;
  for (const name of Object.keys(value)) {
    if (previous !== null && compareCodePoints(previous, name) > 0) return false;
    previous = name;
    if (!fits(value[name], element, level + 1)) return false;
  }
  return true;
}

function fitsTagged(value: unknown, rule: TaggedRule, level: number): boolean {
  if (!isPlainObject(value)) return false;
  const type = value['type'];
  return typeof type === 'string' && fitsObject(value, rule.variants.get(type) ?? rule.other, level);
}

function mayBeAbsent(member: MemberRule): boolean {
  return member.presence === 'optional' || member.isOmittedWhenEmpty;
}

function fitsMember(value: unknown, member: MemberRule, level: number): boolean {
  if (value === null) return member.presence === 'nullable';
  if (member.isOmittedWhenEmpty && Array.isArray(value) && value.length === 0) return false;
  return fits(value, member.rule, level);
}

/** The position of the member `name` from `from` on, when all before it may be absent; -1 when one must not be. */
function advance(members: readonly MemberRule[], from: number, name: string | null): number {
  let position = from;
  while (position < members.length) {
    const member = members[position] as MemberRule;
    if (member.name === name) return position;
    if (!mayBeAbsent(member)) return -1;
    position += 1;
  }
  return position;
}

/** The known members must stand in the order of the table and before the unknown ones. */
function fitsObject(value: unknown, rule: ObjectRule, level: number): boolean {
  if (!isPlainObject(value) || !isWithin(level)) return false;
  const members = rule.members;
  let position = 0;
  for (const name of Object.keys(value)) {
    position = advance(members, position, name);
    if (position < 0) return false;
    const member = members[position];
    if (member === undefined) {
      if (rule.positions.has(name) || !isSafeMember(name, value[name], level + 1)) return false;
    } else {
      if (!fitsMember(value[name], member, level + 1)) return false;
      position += 1;
    }
  }
  return advance(members, position, null) >= 0;
}

/** An undefined member is left out, so its name takes no room. */
function isSafeMember(name: string, value: unknown, level: number): boolean {
  if (value === undefined) return true;
  budget.characters -= name.length;
  return isSafe(value, level);
}

/** Whether `JSON.stringify` keeps a value of any form as it is. */
function isSafe(value: unknown, level: number): boolean {
  budget.characters -= 1;
  switch (typeof value) {
    case 'string':
      return isText(value);
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
      return true;
    case 'object':
      return value === null || (Array.isArray(value) ? isSafeList(value, level) : isSafeObject(value, level));
    default:
      return false;
  }
}

function isSafeList(value: readonly unknown[], level: number): boolean {
  if (!isWithin(level)) return false;
  for (let index = 0; index < value.length; index += 1) {
    if (!isSafe(value[index], level + 1)) return false;
  }
  return true;
}

function isSafeObject(value: unknown, level: number): boolean {
  if (!isPlainObject(value) || !isWithin(level)) return false;
  for (const name of Object.keys(value)) {
    if (!isSafeMember(name, value[name], level + 1)) return false;
  }
  return true;
}
