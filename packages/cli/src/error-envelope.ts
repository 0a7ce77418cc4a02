import { type ErrorCode, errnoOf, errorCodes, isTurnlogError, TurnlogError } from '@turnlog/kernel';
import { type Egress, safeLine } from '@turnlog/store';
import { errorExits, shownCode } from './exit-codes.js';
import { jsonVersion } from './output/json.js';

/** Failures that may be gone at the next try. */
const retryableCodes: ReadonlySet<ErrorCode> = new Set([
  'TURNLOG_LOCKED',
  'TURNLOG_BUSY',
  'TURNLOG_LOCK_LOST',
  'TURNLOG_STALE_HEAD',
  'TURNLOG_REWOUND',
]);
const retryableErrnos: ReadonlySet<string> = new Set([
  'EAGAIN',
  'EBUSY',
  'EMFILE',
  'ENFILE',
  'EINTR',
  'ENOSPC',
]);

/** A failure as the interface tells it. */
export interface ErrorEnvelope {
  readonly schema_version: number;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly retryable: boolean;
    readonly details: Readonly<Record<string, unknown>>;
  };
}

/** Any failure as one of the closed list; what is none is a defect of ours. */
export function asTurnlogError(error: unknown): TurnlogError {
  if (isTurnlogError(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const message = `a defect in turnlog: ${reason}`;
  return new TurnlogError('TURNLOG_INTERNAL', { details: { reason }, cause: error, message });
}

const messageCodePointsMax = 1_000;

/** Nothing of it says a secret: messages and details quote what was read. */
export function envelopeOf(error: TurnlogError, egress: Egress): ErrorEnvelope {
  return {
    schema_version: jsonVersion,
    error: {
      code: shownCode(error.code),
      message: safeLine(egress.text(error.message), messageCodePointsMax),
      hint: errorCodes[error.code].hint,
      retryable: retryableCodes.has(error.code) || retryableErrnos.has(errnoOf(error) ?? ''),
      details: egress.value(error.details),
    },
  };
}

export function exitOf(error: TurnlogError): number {
  return errorExits[error.code];
}

/** Failures that a document on stdout already tells. */
const told = new WeakSet<TurnlogError>();

/** Notes that stdout needs no envelope of its own for this failure; returns it, to be thrown. */
export function toldOnStdout(error: TurnlogError): TurnlogError {
  told.add(error);
  return error;
}

export function isToldOnStdout(error: TurnlogError): boolean {
  return told.has(error);
}
