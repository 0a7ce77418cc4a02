import { limits, TurnlogError } from '@turnlog/kernel';
import { readStored, type StoredValue } from './stored-value.js';

/** A JSON text that stands in a value and keeps its digits, as `new RawJson('1e400')`. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * A value of the program as it would be stored: as JSON.stringify sees it, but that bigints are their digits, RawJson
 * is its text, and what JSON would silently change is refused.
 *
 * @throws TURNLOG_INVALID_EVENT, TURNLOG_TOO_DEEP.
 */
export function storedOf(value: unknown): StoredValue {
  return at(value, 1) ?? refuse('a value that JSON has not');
}

function refuse(rule: string): never {
  throw new TurnlogError('TURNLOG_INVALID_EVENT', { details: { place: '', rule } });
}

function at(value: unknown, level: number): StoredValue | undefined {
  if (level > limits.readerNestingLevelsMax) {
    const nestingLevelsMax = limits.readerNestingLevelsMax;
    throw new TurnlogError('TURNLOG_TOO_DEEP', { details: { nestingLevels: level, nestingLevelsMax } });
  }
  if (value instanceof RawJson) return readStored(Buffer.from(value.text));
  if (value === null || typeof value !== 'object') return scalar(value);
  const toJson: unknown = Reflect.get(value, 'toJSON');
  if (typeof toJson === 'function') return at(Reflect.apply(toJson, value, ['']), level + 1);
  if (Array.isArray(value)) {
    const items = Array.from(value, (item: unknown) => at(item, level + 1) ?? refuse('a gap in a list'));
    return { kind: 'array', items };
  }
  if (value instanceof Map || value instanceof Set) return refuse('a Map or Set');
  const members = new Map<string, StoredValue>();
  for (const [name, member] of Object.entries(value)) {
    const stored = at(member, level + 1);
    if (stored !== undefined) members.set(name, stored);
  }
  return { kind: 'object', members };
}

function scalar(value: unknown): StoredValue | undefined {
  switch (typeof value) {
    case 'string':
      return { kind: 'string', text: value };
    case 'number':
      return Number.isFinite(value)
        ? { kind: 'number', text: JSON.stringify(value) }
        : refuse('a number that JSON has not');
    case 'bigint':
      return { kind: 'number', text: value.toString() };
    case 'boolean':
      return { kind: 'literal', text: value ? 'true' : 'false' };
    case 'undefined':
      return undefined;
    default:
      return value === null ? { kind: 'literal', text: 'null' } : refuse(`a ${typeof value}`);
  }
}

/**
 * A stored value for the program: whole numbers that a double cannot hold are bigints, other numbers doubles. Members
 * of any name, also `__proto__`, are own ones.
 */
export function liveOf(value: StoredValue): unknown {
  switch (value.kind) {
    case 'string':
      return value.text;
    case 'literal':
      return value.text === 'null' ? null : value.text === 'true';
    case 'number':
      return liveNumber(value.text);
    case 'array':
      return value.items.map(liveOf);
    case 'object': {
      const live = {};
      for (const [name, member] of value.members) {
        Object.defineProperty(live, name, {
          value: liveOf(member),
          writable: true,
          enumerable: true,
          configurable: true,
        });
      }
      return live;
    }
  }
}

function liveNumber(text: string): number | bigint {
  const double = Number(text);
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(double) ? BigInt(text) : double;
}
