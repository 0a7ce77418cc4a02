import { type ErrorCode, errorCodes } from './error-codes.js';

/** Facts about a failure: the path, id, seq or place it concerns. Never text of a log. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface ErrorOptions {
  /** What the error is about; at least the path or id that is concerned. */
  readonly details: ErrorDetails;
  /** The error that led to this one. */
  readonly cause?: unknown;
  /** One sentence for people; by default the meaning of the code. */
  readonly message?: string;
}

/** The one error class: every deliberate throw of Turnlog is one. */
export class TurnlogError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, options: ErrorOptions) {
    const message = options.message ?? errorCodes[code].meaning;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TurnlogError';
    this.code = code;
    this.details = options.details;
  }
}

/** Whether `error` is a `TurnlogError`, of `code` when one is given. */
export function isTurnlogError(error: unknown, code?: ErrorCode): error is TurnlogError {
  return error instanceof TurnlogError && (code === undefined || error.code === code);
}

/** The errno text (`'ENOSPC'`) of a file-system failure, or null when `error` is none. */
export function errnoOf(error: unknown): string | null {
  if (!isTurnlogError(error, 'TURNLOG_IO')) return null;
  const errno = error.details['errno'];
  return typeof errno === 'string' ? errno : null;
}
