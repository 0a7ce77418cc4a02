import type { AppendResult, EventInput } from '@turnlog/log';

/** What a port gives: it can be awaited, and when it is a stream of texts, gone through as it comes. */
export type Answer = Promise<unknown> & AsyncIterable<string>;

export interface AgentClock {
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Where code under test appends its events. */
export interface AgentLog {
  readonly append: (event: EventInput) => Pick<AppendResult, 'seq'>;
}

/**
 * All that an agent takes from outside. Recorded and replayed ports have the same shape, so the code under test cannot
 * tell which of them it has.
 */
export interface AgentPorts {
  readonly model: (request: unknown) => Answer;
  readonly tool: (name: string, args?: unknown) => Answer;
  readonly port: (name: string) => (request: unknown) => Answer;
  readonly clock: AgentClock;
  readonly ids: { readonly next: (kind?: string) => string };
  readonly random: () => number;
  readonly log: AgentLog;
}

/** A promise that can also be iterated; a failure of it is told to whoever does either. */
export function answerOf(promise: Promise<unknown>): Answer {
  // Who iterates does not await: the failure comes through the iterator then.
  promise.catch(() => undefined);
  return Object.assign(promise, {
    [Symbol.asyncIterator]: (): AsyncIterator<string> => iterate(promise),
  });
}

async function* iterate(promise: Promise<unknown>): AsyncGenerator<string, void, void> {
  const value = await promise;
  if (isTextStream(value)) yield* value;
  else if (typeof value === 'string') yield value;
}

export function isTextStream(value: unknown): value is AsyncIterable<string> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
