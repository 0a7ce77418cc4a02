import type { LogReader } from '@turnlog/log';

/** The time of a record, or of its neighbour where it has none. */
export class KnownTime {
  #lastMs: number | null;

  constructor({ state }: LogReader) {
    this.#lastMs = state.firstTsMs;
  }

  /** Null when no record of the log has a time. */
  of(tsMs: number | null): { readonly ms: number | null; readonly isUnknown: boolean } {
    if (tsMs !== null) this.#lastMs = tsMs;
    return { ms: this.#lastMs, isUnknown: tsMs === null };
  }
}
