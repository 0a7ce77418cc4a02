import { assert } from './assert.js';
import { limits } from './limits.js';
import { TurnlogError } from './turnlog-error.js';

/** A value that JSON can hold. Whole numbers that a double cannot hold are bigints, or texts. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/**
 * The one text of a value, whatever order its members were added in: members sorted by UTF-16 code units (RFC 8785),
 * no blanks, numbers and strings as `JSON.stringify` writes them, bigints as their digits. Two values are equal
 * exactly when their texts are.
 *
 * @throws TURNLOG_TOO_DEEP beyond the reader's nesting.
 */
export function canonicalJson(value: JsonValue): string {
  return textOf(value, 1);
}

function textOf(value: JsonValue, level: number): string {
  if (level > limits.readerNestingLevelsMax) {
    const nestingLevelsMax = limits.readerNestingLevelsMax;
    throw new TurnlogError('TURNLOG_TOO_DEEP', { details: { nestingLevels: level, nestingLevelsMax } });
  }
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return scalarText(value);
  if (isList(value)) return `[${value.map((entry) => textOf(entry, level + 1)).join(',')}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${textOf(value[name] ?? null, level + 1)}`).join(',')}}`;
}

function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function scalarText(value: null | boolean | number | string): string {
  assert(typeof value !== 'number' || Number.isFinite(value), 'JSON has no such number');
  return JSON.stringify(value);
}
