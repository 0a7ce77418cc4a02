import { isTurnlogError, TurnlogError } from '@turnlog/kernel';

type HandleState =
  | { readonly kind: 'open' }
  | { readonly kind: 'poisoned'; readonly cause: unknown }
  | { readonly kind: 'closed' };

/** Whether a writing handle may still write: open, poisoned by a failure, or closed. */
export class HandleGuard {
  readonly #path: string;
  #state: HandleState = { kind: 'open' };
  #isBuilding = false;

  constructor(path: string) {
    this.#path = path;
  }

  get isOpen(): boolean {
    return this.#state.kind === 'open';
  }

  get isClosed(): boolean {
    return this.#state.kind === 'closed';
  }

  /** Whether the handle is poisoned because the lock was lost. */
  get isPoisonedByLock(): boolean {
    return this.#state.kind === 'poisoned' && isTurnlogError(this.#state.cause, 'TURNLOG_LOCK_LOST');
  }

  /**
   * @throws TURNLOG_CLOSED, TURNLOG_POISONED with the failure as its cause; TURNLOG_INVALID_EVENT while a batch is
   *   being built: nothing may come between its records.
   */
  check(): void {
    const details = { path: this.#path };
    if (this.#isBuilding) {
      const rule = 'nothing is appended or written from inside of a batch that is being built';
      throw new TurnlogError('TURNLOG_INVALID_EVENT', {
        details: { ...details, place: '', rule },
        message: rule,
      });
    }
    if (this.#state.kind === 'closed') throw new TurnlogError('TURNLOG_CLOSED', { details });
    if (this.#state.kind === 'poisoned') {
      throw new TurnlogError('TURNLOG_POISONED', { details, cause: this.#state.cause });
    }
  }

  /** Refuses everything else while `build` adds the records of a batch. */
  during(build: () => void): void {
    this.#isBuilding = true;
    try {
      build();
    } finally {
      this.#isBuilding = false;
    }
  }

  /** Ends all writing; reading goes on. The first cause stays. */
  poison(cause: unknown): void {
    if (this.#state.kind === 'open') this.#state = { kind: 'poisoned', cause };
  }

  /** Lets a poisoned handle write again, after its cause has been dealt with. */
  reopen(): void {
    this.#state = { kind: 'open' };
  }

  close(): void {
    this.#state = { kind: 'closed' };
  }
}
