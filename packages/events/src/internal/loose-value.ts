/** An object of a parsed event. Its members are what the log holds: nothing is known of them. */
export type LooseObject = Readonly<Record<string, unknown>>;

/** Whether `value` is an object that is no list. */
export function isLooseObject(value: unknown): value is LooseObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of the object itself, never one that every object has; undefined when it is absent. */
export function ownMember(value: unknown, name: string): unknown {
  return isLooseObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A member that is a text; null for any other. */
export function ownText(value: unknown, name: string): string | null {
  const member = ownMember(value, name);
  return typeof member === 'string' ? member : null;
}

/** A member that is a list; an empty one for any other. */
export function ownList(value: unknown, name: string): readonly unknown[] {
  const member = ownMember(value, name);
  return Array.isArray(member) ? member : [];
}
