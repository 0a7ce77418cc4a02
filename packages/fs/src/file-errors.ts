import { type ErrorDetails, isTurnlogError, TurnlogError } from '@turnlog/kernel';

/** The errno text of an error of the runtime, as in `'ENOENT'`; null when it carries none. */
export function codeOf(error: unknown): string | null {
  // Asked of any object: an error of another realm is no instance of this one's Error.
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** A failure of the operating system as the port reports it: which verb, on which path, with which errno. */
export function ioError(operation: string, path: string, cause: unknown, more?: ErrorDetails): TurnlogError {
  const errno = codeOf(cause);
  const message = `${operation} failed${errno === null ? '' : ` with ${errno}`}: ${path}`;
  return new TurnlogError('TURNLOG_IO', { details: { operation, path, errno, ...more }, cause, message });
}

/** A path that Turnlog refuses to touch, with the reason in plain words. */
export function unsafePath(path: string, reason: string, cause?: unknown): TurnlogError {
  const message = `refused: ${reason}`;
  return new TurnlogError('TURNLOG_UNSAFE_PATH', { details: { path, reason }, cause, message });
}

/**
 * Takes back what a failed operation has done so far: makes all `steps`, whatever becomes of each, and returns
 * the error to throw: the given one, or one of its code whose details say what could not be taken back.
 */
export function undoAfter(error: unknown, ...steps: readonly (() => void)[]): unknown {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      step();
    } catch (failure) {
      failures.push(failure);
    }
  }
  if (failures.length === 0) return error;
  const cause = new AggregateError([error, ...failures], 'taking back a failed operation failed as well');
  if (!isTurnlogError(error)) return cause;
  const details = { ...error.details, leftOver: failures.map((failure) => pathIn(failure)) };
  return new TurnlogError(error.code, { details, cause, message: error.message });
}

function pathIn(failure: unknown): unknown {
  return isTurnlogError(failure) ? failure.details['path'] : String(failure);
}
