/** The one clock. `now` may step back; `monotonicMs` never does. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed moment of this process. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds, or as soon as `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `callback` once after `ms` milliseconds without keeping the process alive; returns how to cancel it. */
  after(ms: number, callback: () => void): () => void;
}
