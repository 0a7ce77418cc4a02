/**
 * Failures that did not fail an append: what was appended is safe, what is derived from it is late. None is
 * dropped; each reaches the listeners at once and the next result of the handle.
 */
export interface MaintenanceReport {
  readonly step:
    | 'publish'
    | 'flush'
    | 'close'
    | 'lock-taken-over'
    | 'modes'
    /** The log is over its cap and stays so for now. */
    | 'cap'
    /** Turns could not be summarized, archived, or taken out of the log: they are still in it. */
    | 'summary'
    | 'archive'
    | 'rewrite';
  /** What happened, for people. */
  readonly message: string;
  readonly cause: unknown;
}

export type MaintenanceListener = (report: MaintenanceReport) => void;

export class MaintenanceReports {
  readonly #listeners = new Set<MaintenanceListener>();
  #pending: MaintenanceReport[] = [];
  #isHeldBack = false;

  /** Calls `listener` for each report from now on; returns how to stop that. */
  listen(listener: MaintenanceListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  add(report: MaintenanceReport): void {
    this.#pending.push(report);
    for (const listener of this.#listeners) {
      try {
        listener(report);
      } catch (cause) {
        // A listener's own failure must not fail the append; it is handed on like any other.
        this.#pending.push({ step: report.step, message: 'a maintenance listener failed', cause });
      }
    }
  }

  /**
   * Runs what upkeep itself asks of the handle: the results of those calls reach nobody, so what is to be told waits
   * for the next call of somebody else.
   */
  holdBack<Result>(work: () => Result): Result {
    this.#isHeldBack = true;
    try {
      return work();
    } finally {
      this.#isHeldBack = false;
    }
  }

  /** What has come since the last call. */
  take(): readonly MaintenanceReport[] {
    if (this.#isHeldBack) return [];
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }
}
