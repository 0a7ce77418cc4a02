import { type ErrorDetails, TurnlogError } from '@turnlog/kernel';

/** The errno text of an error of the runtime, as in `'ENOENT'`; null when it carries none. */
export function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
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
