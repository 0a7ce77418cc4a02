/** Whether `value` is an object that is no list. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of the object itself, never one that every object has; undefined when it is absent. */
export function ownMember(value: unknown, name: string): unknown {
  return isPlainObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A member that is a text; null for any other. */
export function ownText(value: unknown, name: string): string | null {
  const found = ownMember(value, name);
  return typeof found === 'string' ? found : null;
}

/** A member that is a list; an empty one for any other. */
export function ownList(value: unknown, name: string): readonly unknown[] {
  const found = ownMember(value, name);
  return Array.isArray(found) ? found : [];
}

/** The first code units of a text, no pair of surrogates split. */
export function beginningOf(value: string, codeUnitsMax: number): string {
  if (value.length <= codeUnitsMax) return value;
  const last = value.charCodeAt(codeUnitsMax - 1);
  return value.slice(0, last >= 0xd800 && last <= 0xdbff ? codeUnitsMax - 1 : codeUnitsMax);
}
