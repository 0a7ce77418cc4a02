import { elementSpans, memberSpans, nestingLevels, type Span, textOf } from '@turnlog/kernel';

export { elementSpans, memberSpans, type Span, textOf };

/** JSON as it was written: it is passed on, never parsed and printed. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The deepest nesting of a value that is passed on as JSON; deeper ones are passed on as text. */
export const passedLevelsMax = 64;

/** Members in the order in which they are written. A map takes names that an object would not, as `__proto__`. */
export type MemberList = ReadonlyMap<string, unknown>;

/** The JSON text of a value in which `RawJson` stands for itself; undefined members are left out. */
export function writeJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof RawJson) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((element) => writeJson(element)).join(',')}]`;
  let text = '';
  if (value instanceof Map) {
    for (const [name, member] of value) text += memberText(text, String(name), member);
  } else {
    for (const name of Object.keys(value)) text += memberText(text, name, Reflect.get(value, name));
  }
  return text === '' ? '{}' : `${text}}`;
}

/** A member behind the text of those before. */
function memberText(before: string, name: string, member: unknown): string {
  if (member === undefined) return '';
  return `${before === '' ? '{' : ','}${nameText(name)}${writeJson(member)}`;
}

const plainName = /^[\w.-]{1,40}$/;

/** A name as JSON, and the colon. */
function nameText(name: string): string {
  return plainName.test(name) ? `"${name}":` : `${JSON.stringify(name)}:`;
}

/** Whether a value has more than `levels` levels of objects and lists. */
export function isNestedTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const member of members) {
    if (typeof member === 'object' && member !== null && isNestedTooDeep(member, levels - 1)) return true;
  }
  return false;
}

/** A value of the source as it stands there; one that is nested very deep, as text that holds its JSON. */
export function passedOn(bytes: Uint8Array, span: Span): RawJson | string {
  const text = textOf(bytes, span);
  if (nestingLevels(bytes, span) > passedLevelsMax) return text;
  // A carriage return can only stand between tokens here.
  return new RawJson(text.includes('\r') ? text.replaceAll('\r', ' ') : text);
}

const brokenCharacter = /[\n\r]|\p{Surrogate}/u;

/** JSON as it was written, but on one line and with half characters as escapes. */
export function onOneLine(json: string): string {
  if (!brokenCharacter.test(json)) return json;
  const line = json.replaceAll('\n', ' ').replaceAll('\r', ' ');
  return line.replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}
