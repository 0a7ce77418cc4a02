/** What this process can know of itself, its machine and its neighbours. */
export interface Host {
  readonly pid: number;
  readonly hostname: string;
  /** Changes with each start of the machine; null where the system does not tell. */
  readonly bootId: string | null;
  /** The process-id namespace; pids of another one say nothing. Null where the system does not tell. */
  readonly pidNamespace: string | null;
  /** Effective user; null where the system knows none. */
  readonly uid: number | null;
  /** Whether a process of this pid exists. */
  isAlive(pid: number): boolean;
  /** Start time of a process as the system counts it; null when unknown or not running. */
  startOf(pid: number): string | null;
  /** How long the machine has been running, in milliseconds; null where the system does not tell. */
  uptimeMs(): number | null;
  /** Calls `callback` once when the process exits by itself; returns how to take that back. */
  onExit(callback: () => void): () => void;
}
