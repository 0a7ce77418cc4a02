import {
  type Clock,
  type HeldLock,
  type Host,
  type LockHolder,
  type LockMode,
  type LockRequest,
  type OwnerState,
  type TakeOver,
  TurnlogError,
  type WriterLocks,
} from '@turnlog/kernel';

interface Holder {
  state: OwnerState;
  isLost: boolean;
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly mode: LockMode;
  readonly program: string;
  readonly onLost: (cause: unknown) => void;
}

/** The locks of one modelled disk, which outlive the processes that took them. */
export class FakeLockTable {
  readonly holders: Map<string, Holder> = new Map();

  /** The machine stops: nobody holds anything any more, and the next writer finds dead owners. */
  crash(): void {
    for (const holder of this.holders.values()) holder.state = 'dead';
  }

  /** What everybody takes the holder of `directory` for from now on. */
  judge(directory: string, state: OwnerState): void {
    const holder = this.holders.get(directory);
    if (holder !== undefined) holder.state = state;
  }

  /** The lock is taken away behind its holder's back. */
  lose(directory: string, cause: unknown): void {
    const holder = this.holders.get(directory);
    if (holder === undefined) return;
    this.holders.delete(directory);
    holder.isLost = true;
    holder.onLost(cause);
  }
}

export interface FakeLocksOptions {
  readonly table: FakeLockTable;
  readonly clock: Clock;
  readonly host: Pick<Host, 'pid' | 'hostname'>;
  readonly program?: string;
}

/** Writer locks in memory that keep the contract of the real ones. */
export function createFakeLocks(options: FakeLocksOptions): WriterLocks {
  return {
    acquire: (directory, request) => acquire(options, directory, request),
    inspect(directory: string): LockHolder | null {
      const holder = options.table.holders.get(directory);
      if (holder === undefined) return null;
      const { state, pid, host, since, mode, program } = holder;
      return { state, pid, host, since, mode, program };
    },
  };
}

async function acquire(
  options: FakeLocksOptions,
  directory: string,
  request: LockRequest,
): Promise<HeldLock> {
  const { table, clock } = options;
  const deadlineMs = clock.monotonicMs() + request.waitMs;
  for (;;) {
    const present = table.holders.get(directory);
    if (present === undefined) return hold(options, directory, request, null);
    if (present.state === 'dead' || request.force === true) {
      const { state, pid, host, since } = present;
      table.lose(directory, new Error('the lock was taken over'));
      return hold(options, directory, request, { state, pid, host, since });
    }
    const leftMs = deadlineMs - clock.monotonicMs();
    if (leftMs <= 0) throw locked(directory, present);
    await clock.sleep(Math.min(leftMs, 10));
  }
}

function hold(
  options: FakeLocksOptions,
  directory: string,
  request: LockRequest,
  takenOver: TakeOver | null,
): HeldLock {
  const { table, clock, host } = options;
  const holder: Holder = {
    state: 'alive',
    isLost: false,
    pid: host.pid,
    host: host.hostname,
    since: new Date(clock.now()).toISOString(),
    mode: request.mode,
    program: options.program ?? 'turnlog/test',
    onLost: request.onLost,
  };
  table.holders.set(directory, holder);
  let place = directory;
  return {
    takenOver,
    check(): void {
      if (!holder.isLost && table.holders.get(place) === holder) return;
      throw new TurnlogError('TURNLOG_LOCK_LOST', { details: { path: place } });
    },
    movedTo(moved: string): void {
      if (table.holders.get(place) !== holder) return;
      table.holders.delete(place);
      table.holders.set(moved, holder);
      place = moved;
    },
    release(): Promise<void> {
      if (table.holders.get(place) === holder) table.holders.delete(place);
      return Promise.resolve();
    },
  };
}

function locked(directory: string, holder: Holder): TurnlogError {
  const { pid, host, since } = holder;
  return new TurnlogError('TURNLOG_LOCKED', { details: { path: directory, pid, host, since } });
}
