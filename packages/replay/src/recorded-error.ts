import type { Exchange, Outcome, RecordedError } from './fixture.js';

/** The failure that an exchange ended with, as the live port threw it. */
export function errorOf({ outcome, error }: Exchange): Error {
  const told = error ?? unfinished(outcome);
  const failure = new Error(told.message);
  failure.name = told.name;
  return told.code === null ? failure : Object.assign(failure, { code: told.code });
}

function unfinished(outcome: Outcome): RecordedError {
  return { name: 'UnfinishedExchange', message: `the recording has no answer (${outcome})`, code: null };
}

/** What is kept of a failure of a live port. */
export function recordedErrorOf(failure: unknown): RecordedError {
  if (!(failure instanceof Error)) return { name: 'Error', message: String(failure), code: null };
  const code: unknown = Reflect.get(failure, 'code');
  const kept = typeof code === 'string' || typeof code === 'number' ? code : null;
  return { name: failure.name, message: failure.message, code: kept };
}

export function outcomeOf({ name, code }: RecordedError): Outcome {
  if (name === 'TimeoutError' || code === 'ETIMEDOUT') return 'timeout';
  return name === 'AbortError' ? 'cancelled' : 'error';
}
