/** Members of a value that came from a file: it may be of any shape, and only what is its own counts. */

export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}

/** A text member; empty when there is none. */
export function textOf(value: unknown, name: string): string {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : '';
}

/** A number member as text; empty when there is none. Numbers that no double holds are texts already. */
export function numberText(value: unknown, name: string): string {
  const member = memberOf(value, name);
  if (typeof member === 'number') return String(member);
  return typeof member === 'string' && /^-?\d+$/.test(member) ? member : '';
}

export function listOf(value: unknown, name: string): readonly unknown[] {
  const member = memberOf(value, name);
  return Array.isArray(member) ? member : [];
}

/** JSON of a member for people; empty when it is absent or null. */
export function compactJson(value: unknown, name: string): string {
  const member = memberOf(value, name);
  return member === undefined || member === null ? '' : JSON.stringify(member);
}
