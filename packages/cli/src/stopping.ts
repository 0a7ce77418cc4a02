import { type Clock, limits, TurnlogError } from '@turnlog/kernel';
import type { Arguments } from './arguments.js';
import { signalExits } from './exit-codes.js';
import { timeoutFlag, waitFlag } from './flags.js';
import type { Io, StopSignal } from './io.js';

/** What ends a command before its work is done, behind the record in hand: a signal, or `--timeout`. */
export class Stopping {
  readonly #ending = new AbortController();
  readonly #timeoutMs: number | null;
  readonly #unlisten: () => void;
  readonly #cancel: () => void;
  #cause: StopSignal | 'timeout' | null = null;

  constructor(io: Io, clock: Clock, args: Arguments) {
    this.#timeoutMs = args.get(timeoutFlag) ?? null;
    this.#unlisten = io.onStop((signal) => this.#stop(signal));
    this.#cancel =
      this.#timeoutMs === null ? () => undefined : clock.after(this.#timeoutMs, () => this.#stop('timeout'));
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Why a command ended before its work was done, when its time was over; null for every other end. */
  get overdue(): TurnlogError | null {
    if (this.#cause !== 'timeout') return null;
    const details = { flag: timeoutFlag.name, timeoutMs: this.#timeoutMs };
    const message = 'it was not done within --timeout; what was done by then stays';
    return new TurnlogError('TURNLOG_BUSY', { details, message });
  }

  /** The exit of a command that has ended with `exit`. */
  exitFor(exit: number): number {
    return this.#cause === null || this.#cause === 'timeout' ? exit : signalExits[this.#cause];
  }

  close(): void {
    this.#unlisten();
    this.#cancel();
  }

  #stop(cause: StopSignal | 'timeout'): void {
    this.#cause ??= cause;
    this.#ending.abort();
  }
}

/** How long to wait for another writer: as `--wait` says, and never longer than the whole command may take. */
export function lockWaitOf(args: Arguments): { readonly waitMs: number } {
  const waitMs = args.get(waitFlag) ?? limits.sharedLockWaitMs;
  return { waitMs: Math.min(waitMs, args.get(timeoutFlag) ?? Number.POSITIVE_INFINITY) };
}
