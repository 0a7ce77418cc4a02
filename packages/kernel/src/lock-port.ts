/** The writer lock of one log directory, as the engine sees it. */
export interface WriterLocks {
  /**
   * Takes the lock of `directory`, which must exist.
   *
   * @throws TURNLOG_LOCKED when another writer, in this process too, still holds it after `waitMs`; details:
   *   path, pid, host, since (null where unknown). TURNLOG_UNSAFE_PATH when something else has the lock's name.
   */
  acquire(directory: string, request: LockRequest): Promise<HeldLock>;
  /** Who holds the lock now, without taking or changing anything; null when nobody does. */
  inspect(directory: string): LockHolder | null;
}

/** `owned`: held from open to close. `shared`: taken for one transaction. */
export type LockMode = 'owned' | 'shared';

export interface LockRequest {
  readonly mode: LockMode;
  /** How long to wait for a busy lock, in milliseconds; 0 fails at once. */
  readonly waitMs: number;
  /** Displace the holder even when it lives. Only an operator says so. */
  readonly force?: boolean;
  /** Called at most once, when the lock turns out to be lost; must not throw. */
  readonly onLost: (cause: unknown) => void;
}

export interface HeldLock {
  /** The owner that was displaced to get the lock, for the report; null when it was free. */
  readonly takenOver: TakeOver | null;
  /** Looks whether the lock is still ours. @throws TURNLOG_LOCK_LOST */
  check(): void;
  /**
   * The holder has renamed the locked directory, and the lock with it: it stays held, as that of `directory`. Called
   * right after the rename, before anything else comes to work.
   */
  movedTo(directory: string): void;
  /** Gives the lock back. Resolves also when it was lost. */
  release(): Promise<void>;
}

export type OwnerState = 'dead' | 'alive' | 'unknown';

export interface TakeOver {
  readonly state: OwnerState;
  readonly pid: number | null;
  readonly host: string | null;
  readonly since: string | null;
}

export interface LockHolder {
  readonly state: OwnerState;
  readonly pid: number | null;
  readonly host: string | null;
  readonly since: string | null;
  readonly mode: LockMode | null;
  readonly program: string | null;
}
