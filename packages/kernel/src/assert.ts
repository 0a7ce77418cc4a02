/** Our own bugs. Never caught on purpose, never part of the error codes. */
export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

/** Throws when `condition` does not hold: a bug of Turnlog, not of its caller. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** For the end of an exhaustive switch: reaching it is a bug. */
export function assertNever(value: never): never {
  throw new AssertionFailure(`unexpected value ${String(value)}`);
}
