/**
 * Reading small derived files (manifest, index lines, markers) from text that may be anything: members are
 * taken by name from own properties only, so `__proto__` and unknown keys have no effect.
 */
export type FoundMembers = Readonly<Record<string, unknown>>;

/** The own members of the JSON object in `text`, without a prototype; null when the text is no object. */
export function readMembers(text: string): FoundMembers | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  return ownMembers(value);
}

/**
 * The own members of `value`, which was parsed here and is nobody else's yet: it loses its prototype, which costs
 * less than a copy. Null when it is no object.
 */
export function ownMembers(value: unknown): FoundMembers | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.setPrototypeOf(value, null);
}

/** A whole number from 0 that a double holds exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

export function isCountOrNull(value: unknown): value is number | null {
  return value === null || isCount(value);
}

const sha256Form = /^[0-9a-f]{64}$/;

/** A SHA-256 in 64 lower-case hex digits. */
export function isSha256Hex(value: unknown): value is string {
  return typeof value === 'string' && sha256Form.test(value);
}
