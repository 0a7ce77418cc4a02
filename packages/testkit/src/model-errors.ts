import { type ErrorDetails, TurnlogError } from '@turnlog/kernel';

/**
 * The machine has stopped. Not a `TurnlogError`, because no code of Turnlog may handle it: a scenario ends here,
 * and what it would have done next has not happened.
 */
export class CrashSignal extends Error {
  override readonly name = 'CrashSignal';

  constructor() {
    super('the modelled machine has crashed');
  }
}

/** A failure as the port reports it. */
export function modelError(
  operation: string,
  path: string,
  errno: string,
  more?: ErrorDetails,
): TurnlogError {
  return new TurnlogError('TURNLOG_IO', {
    details: { operation, path, errno, ...more },
    message: `${operation} failed with ${errno}: ${path}`,
  });
}

export function modelUnsafe(path: string, reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_UNSAFE_PATH', {
    details: { path, reason },
    message: `refused: ${reason}`,
  });
}
